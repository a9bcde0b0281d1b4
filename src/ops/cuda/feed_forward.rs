//! The position-wise feed-forward network as one operation.

use std::rc::Rc;

use cudarc::driver::CudaSlice;
use cudarc::driver::sys::CUdeviceptr;
use dfdx::prelude::*;

use super::address::address;
use super::context::{Context, context, int, of};
use super::elementwise::{Columns, add_column_sums};
use super::product::{Operand, Output, View, product};
use super::tape::{gradient_address, rows, take_gradient};
use crate::ops::{FeedForward, FeedForwardWeights, Recording, Rows, Size, precision};
use crate::spec::Precision;

impl FeedForward for Cuda {
    fn feed_forward<D: Size, F: Size>(
        recording: &mut Recording<Self>,
        x: &Rows<D, Self>,
        weights: &FeedForwardWeights<D, F, Self>,
    ) -> Rows<D, Self> {
        let context = context();
        let (d, f) = (D::SIZE, F::SIZE);
        let (device, n) = (x.device().clone(), x.shape().0);
        let network = Network {
            sizes: [n, d, f],
            input: Operand::of(&context, address(x), n * d, d),
            inner: Operand::of(&context, address(weights.inner), f * d, d),
            outer: Operand::of(&context, address(weights.outer), d * f, f),
            context,
        };
        let hidden = network.hidden(address(weights.inner_bias));
        let y: Rows<D, Cuda> = rows(&device, n);
        network.forward(&hidden, address(weights.outer_bias), address(&y));
        if recording.is_on() {
            // The operands may be the tensors' own memory.
            let held = (x.clone(), weights.inner.clone(), weights.outer.clone());
            let (x, y) = (x.ghost(), y.ghost());
            let (inner, inner_bias) = (weights.inner.ghost(), weights.inner_bias.ghost());
            let (outer, outer_bias) = (weights.outer.ghost(), weights.outer_bias.ghost());
            recording.add(move |gradients| {
                let d_y = take_gradient!(gradients, device, y);
                let made = NetworkGradients {
                    input: gradient_address!(gradients, x),
                    inner: gradient_address!(gradients, inner),
                    inner_bias: gradient_address!(gradients, inner_bias),
                    outer: gradient_address!(gradients, outer),
                    outer_bias: gradient_address!(gradients, outer_bias),
                };
                network.backward(&hidden, of(&d_y), &made);
                drop(held);
                Ok(())
            });
        }
        y
    }
}

/// The operation without types.
struct Network {
    context: Rc<Context>,
    /// N, D and F.
    sizes: [usize; 3],
    /// `[N, D]`.
    input: Operand,
    /// `[F, D]`.
    inner: Operand,
    /// `[D, F]`.
    outer: Operand,
}

/// `max(0, x . inner^T + inner_bias)`, `[N, F]`, as products read it.
enum Hidden {
    Exact(CudaSlice<f32>),
    Rounded(CudaSlice<u16>),
}

impl Hidden {
    fn view(&self, width: usize) -> View {
        match self {
            Self::Exact(numbers) => View::of(numbers, width),
            Self::Rounded(numbers) => View::of_rounded(numbers, width),
        }
    }
}

/// Addresses of the gradients.
struct NetworkGradients {
    input: CUdeviceptr,
    inner: CUdeviceptr,
    inner_bias: CUdeviceptr,
    outer: CUdeviceptr,
    outer_bias: CUdeviceptr,
}

impl Network {
    fn hidden(&self, bias: CUdeviceptr) -> Hidden {
        let [n, d, f] = self.sizes;
        let context = &self.context;
        let numbers = context.uninitialized::<f32>(n * f);
        // SAFETY: x [N, D] . inner^T [D, F] -> hidden [N, F], and a bias [F]
        unsafe {
            let (right, out) = (self.inner.view().transposed(), (of(&numbers), f));
            product(context, [n, f, d], self.input.view(), right, out, Output::Overwrite);
            if precision::current() == Precision::Bf16 {
                let rounded = context.uninitialized::<u16>(n * f);
                context.launch_by_row("relu_to_bf16", n, (int(f), bias, &numbers, &rounded));
                return Hidden::Rounded(rounded);
            }
            context.launch_by_row("add_bias", n, (int(f), 1i32, bias, &numbers));
        }
        Hidden::Exact(numbers)
    }

    fn forward(&self, hidden: &Hidden, bias: CUdeviceptr, y: CUdeviceptr) {
        let [n, d, f] = self.sizes;
        let context = &self.context;
        // SAFETY: hidden [N, F] . outer^T [F, D] -> y [N, D], and a bias [D]
        unsafe {
            let right = self.outer.view().transposed();
            product(context, [n, d, f], hidden.view(f), right, (y, d), Output::Overwrite);
            context.launch_by_row("add_bias", n, (int(d), 0i32, bias, y));
        }
    }

    /// The gradient of what the hidden rows were before they were cut off.
    fn hidden_gradient(&self, hidden: &Hidden, d_y: View) -> Hidden {
        let [n, d, f] = self.sizes;
        let context = &self.context;
        let numbers = context.uninitialized::<f32>(n * f);
        // SAFETY: d_y [N, D] . outer [D, F] -> d_hidden [N, F], as many numbers as there are hidden ones
        unsafe {
            let out = (of(&numbers), f);
            product(context, [n, f, d], d_y, self.outer.view(), out, Output::Overwrite);
            match hidden {
                Hidden::Exact(hidden) => {
                    context.launch_over("close_relu", n * f, (n * f, hidden, &numbers));
                    Hidden::Exact(numbers)
                }
                Hidden::Rounded(hidden) => {
                    let rounded = context.uninitialized::<u16>(n * f);
                    context.launch_over("close_relu_to_bf16", n * f, (n * f, hidden, &numbers, &rounded));
                    Hidden::Rounded(rounded)
                }
            }
        }
    }

    fn backward(&self, hidden: &Hidden, d_y: CUdeviceptr, gradients: &NetworkGradients) {
        let [n, d, f] = self.sizes;
        let context = &self.context;
        add_column_sums(context, [n, d], Columns::Of(d_y), gradients.outer_bias);
        let d_y = Operand::of(context, d_y, n * d, d);
        let d_hidden = self.hidden_gradient(hidden, d_y.view());
        let columns = match &d_hidden {
            Hidden::Exact(numbers) => Columns::Of(of(numbers)),
            Hidden::Rounded(numbers) => Columns::OfRounded(numbers),
        };
        add_column_sums(context, [n, f], columns, gradients.inner_bias);
        let d_hidden = d_hidden.view(f);
        // SAFETY: d_y^T [D, N] . hidden [N, F] -> d_outer [D, F], d_hidden^T [F, N] . x [N, D] -> d_inner [F, D], and
        // d_hidden [N, F] . inner [F, D] -> d_x [N, D]
        unsafe {
            let (left, out) = (d_y.view().transposed(), (gradients.outer, f));
            product(context, [d, f, n], left, hidden.view(f), out, Output::Add);
            let (left, out) = (d_hidden.transposed(), (gradients.inner, d));
            product(context, [f, d, n], left, self.input.view(), out, Output::Add);
            let out = (gradients.input, d);
            product(context, [n, d, f], d_hidden, self.inner.view(), out, Output::Add);
        }
    }
}
