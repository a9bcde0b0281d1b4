//! Multi-head attention as one operation: one copy of the input, and one product for all projections of the same rows.

use dfdx::prelude::*;

use super::attention::{Heads, Kernel, Operands, Part};
use super::lanes::add_to;
use super::product::{Output, View, product};
use super::scratch::Scratch;
use super::tape::{put_gradient, scratch_values, take_gradient};
use crate::ops::{Attention, AttentionWeights, HeadSizes, Recording, Rows, Size, Spans};

impl Attention for Cpu {
    fn multi_head_attention<D: Size, HK: Size, HV: Size>(
        recording: &mut Recording<Self>,
        x: &Rows<D, Self>,
        memory: Option<&Rows<D, Self>>,
        weights: &AttentionWeights<D, HK, HV, Self>,
        heads: usize,
        spans: &Spans,
    ) -> Rows<D, Self> {
        let block = Block {
            kernel: Kernel::new(spans, HeadSizes::split(heads, HK::SIZE, HV::SIZE)),
            sizes: [D::SIZE, HK::SIZE, HV::SIZE],
            projections: stack(weights),
            output: scratch_values(weights.output),
        };
        let (y, kept) = block.forward(scratch_values(x), memory.map(scratch_values), recording.is_on());
        let y = x.device().tensor_from_vec(y, *x.shape());
        if recording.is_on() {
            let (x, memory, y) = (x.ghost(), memory.map(Tensor::ghost), y.ghost());
            let (query, key) = (weights.query.ghost(), weights.key.ghost());
            let (value, output) = (weights.value.ghost(), weights.output.ghost());
            recording.add(move |gradients| {
                let d_y = take_gradient!(gradients, y);
                let mut d = BlockGradients {
                    x: take_gradient!(gradients, x),
                    memory: match &memory {
                        Some(memory) => take_gradient!(gradients, *memory),
                        None => Vec::new(),
                    },
                    query: take_gradient!(gradients, query),
                    key: take_gradient!(gradients, key),
                    value: take_gradient!(gradients, value),
                    output: take_gradient!(gradients, output),
                };
                block.backward(&kept, &d_y, &mut d);
                put_gradient!(gradients, x, d.x);
                if let Some(memory) = memory {
                    put_gradient!(gradients, memory, d.memory);
                }
                put_gradient!(gradients, query, d.query);
                put_gradient!(gradients, key, d.key);
                put_gradient!(gradients, value, d.value);
                put_gradient!(gradients, output, d.output);
                Ok(())
            });
        }
        y
    }
}

/// Query, key and value projections one above the other, `[2 H*K + H*VD, D]`.
fn stack<D: Size, HK: Size, HV: Size>(weights: &AttentionWeights<D, HK, HV, Cpu>) -> Scratch {
    let mut stacked = Scratch::of((2 * HK::SIZE + HV::SIZE) * D::SIZE);
    let (query, rest) = stacked.split_at_mut(HK::SIZE * D::SIZE);
    let (key, value) = rest.split_at_mut(HK::SIZE * D::SIZE);
    weights.query.copy_into(query);
    weights.key.copy_into(key);
    weights.value.copy_into(value);
    stacked
}

/// The operation without types.
struct Block {
    kernel: Kernel,
    /// `D`, `H*K` and `H*VD`.
    sizes: [usize; 3],
    /// `[2 H*K + H*VD, D]`.
    projections: Scratch,
    /// `[D, H*VD]`.
    output: Scratch,
}

/// What the backward pass needs. Without a memory the projected keys and values lie behind the queries, row by row.
struct Kept {
    x: Scratch,
    memory: Option<Scratch>,
    projected: Scratch,
    projected_memory: Option<Scratch>,
    weights: Scratch,
    mixed: Scratch,
}

struct BlockGradients {
    x: Vec<f32>,
    memory: Vec<f32>,
    query: Vec<f32>,
    key: Vec<f32>,
    value: Vec<f32>,
    output: Vec<f32>,
}

impl Block {
    fn forward(&self, x: Scratch, memory: Option<Scratch>, keep: bool) -> (Vec<f32>, Kept) {
        let [d, keys, values] = self.sizes;
        let (queries, rest) = self.projections.split_at(keys * d);
        let projected = match memory {
            None => project(&x, &self.projections, d),
            Some(_) => project(&x, queries, d),
        };
        let projected_memory = memory.as_ref().map(|memory| project(memory, rest, d));
        let rows = x.len() / d;
        let mut mixed = Scratch::of(rows * values);
        let operands = self.operands(&projected, projected_memory.as_deref());
        let weights = self.kernel.forward(&operands, keep, &mut mixed);
        let mut y = vec![0.0; rows * d];
        // mixed [N, H*VD] . output^T [H*VD, D] -> y [N, D]
        product(
            View::new(&mixed, rows, values),
            View::new(&self.output, d, values).transposed(),
            &mut y,
            Output::Overwrite,
        );
        let kept = Kept {
            x,
            memory,
            projected,
            projected_memory,
            weights,
            mixed,
        };
        (y, kept)
    }

    fn operands<'a>(&self, projected: &'a [f32], projected_memory: Option<&'a [f32]>) -> Operands<'a> {
        let [_, keys, values] = self.sizes;
        match projected_memory {
            None => Operands {
                q: Heads::inside(projected, 0, 2 * keys + values),
                k: Heads::inside(projected, keys, 2 * keys + values),
                v: Heads::inside(projected, 2 * keys, 2 * keys + values),
            },
            Some(memory) => Operands {
                q: Heads::inside(projected, 0, keys),
                k: Heads::inside(memory, 0, keys + values),
                v: Heads::inside(memory, keys, keys + values),
            },
        }
    }

    fn backward(&self, kept: &Kept, d_y: &[f32], d: &mut BlockGradients) {
        let [width, keys, values] = self.sizes;
        let rows = d_y.len() / width;
        let d_y = View::new(d_y, rows, width);
        // d_y [N, D] . output [D, H*VD] -> d_mixed [N, H*VD]
        let mut d_mixed = Scratch::of(rows * values);
        let output = View::new(&self.output, width, values);
        product(d_y, output, &mut d_mixed, Output::Overwrite);
        // d_y^T [D, N] . mixed [N, H*VD] -> d_output [D, H*VD]
        let mixed = View::new(&kept.mixed, rows, values);
        product(d_y.transposed(), mixed, &mut d.output, Output::Add);

        let operands = self.operands(&kept.projected, kept.projected_memory.as_deref());
        let mut d_projected = Scratch::zeros(kept.projected.len());
        let (queries, rest) = self.projections.split_at(keys * width);
        if let (Some(memory), Some(projected_memory)) = (&kept.memory, &kept.projected_memory) {
            let mut d_memory = Scratch::zeros(projected_memory.len());
            let add = |part, row, column, d, length| match part {
                Part::Query => add_to(&mut d_projected[row * keys + column..], d, length),
                Part::Key => add_to(&mut d_memory[row * (keys + values) + column..], d, length),
                Part::Value => add_to(&mut d_memory[row * (keys + values) + keys + column..], d, length),
            };
            self.kernel.backward(&operands, &kept.weights, &d_mixed, add);
            project_back(&d_projected, queries, &kept.x, width, &mut d.x, &mut [&mut d.query]);
            let parts = &mut [&mut d.key, &mut d.value];
            project_back(&d_memory, rest, memory, width, &mut d.memory, parts);
        } else {
            let add = |part, row, column, d, length| {
                let offset = match part {
                    Part::Query => 0,
                    Part::Key => keys,
                    Part::Value => 2 * keys,
                };
                add_to(
                    &mut d_projected[row * (2 * keys + values) + offset + column..],
                    d,
                    length,
                );
            };
            self.kernel.backward(&operands, &kept.weights, &d_mixed, add);
            let parts = &mut [&mut d.query, &mut d.key, &mut d.value];
            project_back(&d_projected, &self.projections, &kept.x, width, &mut d.x, parts);
        }
    }
}

/// `x [N, D] . weights^T [D, O] -> [N, O]`.
fn project(x: &[f32], weights: &[f32], d: usize) -> Scratch {
    let (rows, outputs) = (x.len() / d, weights.len() / d);
    let mut y = Scratch::of(rows * outputs);
    product(
        View::new(x, rows, d),
        View::new(weights, outputs, d).transposed(),
        &mut y,
        Output::Overwrite,
    );
    y
}

/// Backward of [`project`]; the gradient of the weights is split into those of the matrices that were stacked.
fn project_back(d_y: &[f32], weights: &[f32], x: &[f32], d: usize, d_x: &mut [f32], d_weights: &mut [&mut Vec<f32>]) {
    let (rows, outputs) = (x.len() / d, weights.len() / d);
    let d_y = View::new(d_y, rows, outputs);
    // d_y [N, O] . weights [O, D] -> d_x [N, D]
    product(d_y, View::new(weights, outputs, d), d_x, Output::Add);
    let mut first = 0;
    for d_part in d_weights {
        let part = first..first + d_part.len() / d;
        first = part.end;
        // d_y^T [O, N] . x [N, D] -> d_part [O, D]
        product(
            d_y.columns(part).transposed(),
            View::new(x, rows, d),
            d_part,
            Output::Add,
        );
    }
}
