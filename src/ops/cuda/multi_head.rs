//! Multi-head attention with its projections as one operation.

use std::rc::Rc;

use cudarc::driver::CudaSlice;
use cudarc::driver::sys::CUdeviceptr;
use dfdx::prelude::*;

use super::address::address;
use super::attention::{Heads, Kernel, Operands};
use super::context::{Context, context, of};
use super::product::{Operand, Output, View, product};
use super::tape::{gradient_address, rows, take_gradient};
use crate::ops::{Attention, AttentionWeights, HeadSizes, Recording, Rows, Size, Spans};

impl Attention for Cuda {
    fn multi_head_attention<D: Size, HK: Size, HV: Size>(
        recording: &mut Recording<Self>,
        x: &Rows<D, Self>,
        memory: Option<&Rows<D, Self>>,
        weights: &AttentionWeights<D, HK, HV, Self>,
        heads: usize,
        spans: &Spans,
    ) -> Rows<D, Self> {
        let context = context();
        let (d, keys, values) = (D::SIZE, HK::SIZE, HV::SIZE);
        let (device, n) = (x.device().clone(), x.shape().0);
        let sizes = Sizes {
            heads: HeadSizes::split(heads, keys, values),
            width: d,
            rows: n,
            memory_rows: memory.map(|memory| memory.shape().0),
        };
        let rows_of = |tensor: &Rows<D, Cuda>| Operand::of(&context, address(tensor), tensor.shape().0 * d, d);
        let block = Block {
            kernel: Kernel::new(&context, spans, sizes.heads),
            x: rows_of(x),
            memory: memory.map(rows_of),
            query: Operand::of(&context, address(weights.query), keys * d, d),
            key: Operand::of(&context, address(weights.key), keys * d, d),
            value: Operand::of(&context, address(weights.value), values * d, d),
            output: Operand::of(&context, address(weights.output), d * values, values),
            sizes,
            context,
        };
        let y: Rows<D, Cuda> = rows(&device, n);
        let kept = block.forward(address(&y));
        if recording.is_on() {
            // The operands may be the tensors' own memory.
            let held = (x.clone(), memory.cloned());
            let held_weights = [weights.query.clone(), weights.key.clone()];
            let held_value_weights = (weights.value.clone(), weights.output.clone());
            let (x, memory, y) = (x.ghost(), memory.map(Tensor::ghost), y.ghost());
            let (query, key) = (weights.query.ghost(), weights.key.ghost());
            let (value, output) = (weights.value.ghost(), weights.output.ghost());
            recording.add(move |gradients| {
                let d_y = take_gradient!(gradients, device, y);
                let made = BlockGradients {
                    memory: match &memory {
                        Some(memory) => Some(gradient_address!(gradients, *memory)),
                        None => None,
                    },
                    x: gradient_address!(gradients, x),
                    query: gradient_address!(gradients, query),
                    key: gradient_address!(gradients, key),
                    value: gradient_address!(gradients, value),
                    output: gradient_address!(gradients, output),
                };
                block.backward(&kept, of(&d_y), &made);
                drop((held, held_weights, held_value_weights));
                Ok(())
            });
        }
        y
    }
}

#[derive(Clone, Copy)]
struct Sizes {
    heads: HeadSizes,
    /// D.
    width: usize,
    /// N.
    rows: usize,
    /// M, where keys and values are made from other rows.
    memory_rows: Option<usize>,
}

/// The operation without types.
struct Block {
    context: Rc<Context>,
    kernel: Kernel,
    sizes: Sizes,
    x: Operand,
    memory: Option<Operand>,
    query: Operand,
    key: Operand,
    value: Operand,
    output: Operand,
}

/// What the backward pass needs.
struct Kept {
    projected: Projected,
    weights: CudaSlice<f32>,
    mixed: Operand,
    /// What `mixed` points at, if it was not rounded.
    _mixed: Option<CudaSlice<f32>>,
}

/// Queries, keys and values of all rows side by side; with a memory, its keys and values lie apart.
struct Projected {
    rows: CudaSlice<f32>,
    memory: Option<CudaSlice<f32>>,
}

/// Addresses of the gradients.
struct BlockGradients {
    x: CUdeviceptr,
    memory: Option<CUdeviceptr>,
    query: CUdeviceptr,
    key: CUdeviceptr,
    value: CUdeviceptr,
    output: CUdeviceptr,
}

impl Sizes {
    /// Numbers in a row of the projected rows, and of the projected memory.
    fn strides(self) -> [usize; 2] {
        let (keys, values) = (self.heads.keys(), self.heads.values());
        match self.memory_rows {
            None => [2 * keys + values, 0],
            Some(_) => [keys, keys + values],
        }
    }

    /// The rows that keys and values are made of, and how far into a projected row they begin.
    fn key_side(self) -> (usize, usize) {
        match self.memory_rows {
            None => (self.rows, self.heads.keys()),
            Some(rows) => (rows, 0),
        }
    }
}

impl Block {
    fn projected(&self, allocate: impl Fn(usize) -> CudaSlice<f32>) -> Projected {
        let [stride, memory_stride] = self.sizes.strides();
        Projected {
            rows: allocate(self.sizes.rows * stride),
            memory: self.sizes.memory_rows.map(|rows| allocate(rows * memory_stride)),
        }
    }

    /// Where the heads lie in projected rows, or in their gradient.
    fn operands(&self, projected: &Projected) -> Operands {
        let HeadSizes { key, value, .. } = self.sizes.heads;
        let [stride, memory_stride] = self.sizes.strides();
        let (rows, stride_of_keys) = match &projected.memory {
            None => (&projected.rows, stride),
            Some(memory) => (memory, memory_stride),
        };
        let (_, first) = self.sizes.key_side();
        Operands {
            queries: Heads::at(of(&projected.rows), stride, 0, key),
            keys: Heads::at(of(rows), stride_of_keys, first, key),
            values: Heads::at(of(rows), stride_of_keys, first + self.sizes.heads.keys(), value),
        }
    }

    fn forward(&self, y: CUdeviceptr) -> Kept {
        let Sizes { heads, width, rows, .. } = self.sizes;
        let (keys, values) = (heads.keys(), heads.values());
        let projected = self.projected(|length| self.context.uninitialized(length));
        let [stride, memory_stride] = self.sizes.strides();
        let (key_rows, first) = self.sizes.key_side();
        let (read, written, key_stride) = match (&self.memory, &projected.memory) {
            (Some(memory), Some(written)) => (memory, written, memory_stride),
            _ => (&self.x, &projected.rows, stride),
        };
        self.project(rows, keys, &self.x, &self.query, (of(&projected.rows), stride));
        self.project(
            key_rows,
            keys,
            read,
            &self.key,
            (column(of(written), first), key_stride),
        );
        let of_values = (column(of(written), first + keys), key_stride);
        self.project(key_rows, values, read, &self.value, of_values);

        let mixed = self.context.uninitialized::<f32>(rows * values);
        let mixed_heads = Heads::at(of(&mixed), values, 0, heads.value);
        let weights = self.kernel.forward(&self.operands(&projected), mixed_heads);
        let operand = Operand::of(&self.context, of(&mixed), rows * values, values);
        // SAFETY: mixed [N, H*VD] . output^T [H*VD, D] -> y [N, D]
        unsafe {
            let (left, right) = (operand.view(), self.output.view().transposed());
            product(
                &self.context,
                [rows, width, values],
                left,
                right,
                (y, width),
                Output::Overwrite,
            );
        }
        Kept {
            projected,
            weights,
            _mixed: (!operand.is_rounded()).then_some(mixed),
            mixed: operand,
        }
    }

    /// x [N, D] . weight^T [D, O] -> out [N, O]
    fn project(&self, rows: usize, outputs: usize, x: &Operand, weight: &Operand, out: (CUdeviceptr, usize)) {
        let size = [rows, outputs, self.sizes.width];
        // SAFETY: rows of the width, a weight for it, and room for the outputs in each row of `out`.
        unsafe {
            product(
                &self.context,
                size,
                x.view(),
                weight.view().transposed(),
                out,
                Output::Overwrite,
            );
        };
    }

    fn backward(&self, kept: &Kept, d_y: CUdeviceptr, d: &BlockGradients) {
        let Sizes { heads, width, rows, .. } = self.sizes;
        let (keys, values) = (heads.keys(), heads.values());
        let (key_rows, first) = self.sizes.key_side();
        let d_y = Operand::of(&self.context, d_y, rows * width, width);
        let d_mixed = self.context.uninitialized::<f32>(rows * values);
        // SAFETY: d_y [N, D] . output [D, H*VD] -> d_mixed [N, H*VD], and d_y^T [D, N] . mixed [N, H*VD] -> d_output
        unsafe {
            let out = (of(&d_mixed), values);
            let size = [rows, values, width];
            product(
                &self.context,
                size,
                d_y.view(),
                self.output.view(),
                out,
                Output::Overwrite,
            );
            let (left, out) = (d_y.view().transposed(), (d.output, values));
            let size = [width, values, rows];
            product(&self.context, size, left, kept.mixed.view(), out, Output::Add);
        }
        // Rows that no span has get no gradient.
        let d_projected = self.projected(|length| {
            if self.kernel.covers_all_keys(key_rows) {
                self.context.uninitialized(length)
            } else {
                self.context.zeros(length)
            }
        });
        let d_mixed = Heads::at(of(&d_mixed), values, 0, heads.value);
        let (operands, d_operands) = (self.operands(&kept.projected), self.operands(&d_projected));
        self.kernel.backward(&operands, &kept.weights, d_mixed, &d_operands);

        let [stride, memory_stride] = self.sizes.strides();
        let of_rows = Operand::of(&self.context, of(&d_projected.rows), rows * stride, stride);
        let of_memory = d_projected
            .memory
            .as_ref()
            .map(|d_memory| Operand::of(&self.context, of(d_memory), key_rows * memory_stride, memory_stride));
        self.project_back([rows, keys], of_rows.view(), &self.query, (&self.x, d.x), d.query);
        let (d_keys, read) = match (&of_memory, &self.memory, d.memory) {
            (Some(d_keys), Some(memory), Some(d_memory)) => (d_keys, (memory, d_memory)),
            _ => (&of_rows, (&self.x, d.x)),
        };
        self.project_back([key_rows, keys], d_keys.columns_from(first), &self.key, read, d.key);
        let d_values = d_keys.columns_from(first + keys);
        self.project_back([key_rows, values], d_values, &self.value, read, d.value);
    }

    /// Backward of [`Self::project`].
    fn project_back(
        &self,
        [rows, outputs]: [usize; 2],
        d_y: View,
        weight: &Operand,
        (x, d_x): (&Operand, CUdeviceptr),
        d_weight: CUdeviceptr,
    ) {
        let width = self.sizes.width;
        // SAFETY: d_y [N, O] . weight [O, D] -> d_x [N, D], and d_y^T [O, N] . x [N, D] -> d_weight [O, D]
        unsafe {
            let size = [rows, width, outputs];
            product(&self.context, size, d_y, weight.view(), (d_x, width), Output::Add);
            let (size, out) = ([outputs, width, rows], (d_weight, width));
            product(&self.context, size, d_y.transposed(), x.view(), out, Output::Add);
        }
    }
}

/// The address of a column of the first row.
fn column(rows: CUdeviceptr, column: usize) -> CUdeviceptr {
    rows + 4 * column as u64
}
