//! The position-wise feed-forward network as one operation.

use dfdx::prelude::*;

use super::address::address;
use super::context::{context, of};
use super::elementwise::add_column_sums;
use super::product::{Operand, Output, product};
use super::tape::{gradient_address, rows, take_gradient};
use crate::ops::{FeedForwardWeights, Rows};

pub fn feed_forward<const D: usize, const F: usize, T: Tape<f32, Cuda>>(
    x: Rows<D, Cuda, T>,
    weights: &FeedForwardWeights<D, F, Cuda>,
) -> Rows<D, Cuda, T> {
    let context = context();
    let (x, mut tape) = x.split_tape();
    let (device, n) = (x.device().clone(), x.shape().0);
    let input = Operand::of(&context, address(&x), n * D, D);
    let inner = Operand::of(&context, address(weights.inner), F * D, D);
    let outer = Operand::of(&context, address(weights.outer), D * F, F);
    let hidden = context.uninitialized::<f32>(n * F);
    let y: Rows<D, Cuda> = rows(&device, n);
    let relu = |on: bool, numbers: usize, width: usize, bias, rows| {
        // SAFETY: so many numbers in rows of the width, and a bias of it.
        unsafe { context.launch_over("add_bias", numbers, (numbers, width as i32, i32::from(on), bias, rows)) };
    };
    // SAFETY: x [N, D] . inner^T [D, F] -> hidden [N, F]
    unsafe {
        let out = (of(&hidden), F);
        product(
            &context,
            [n, F, D],
            input.view(),
            inner.view().transposed(),
            out,
            Output::Overwrite,
        );
    }
    relu(true, n * F, F, address(weights.inner_bias), of(&hidden));
    let hidden_operand = Operand::of(&context, of(&hidden), n * F, F);
    // SAFETY: hidden [N, F] . outer^T [F, D] -> y [N, D]
    unsafe {
        let out = (address(&y), D);
        let view = hidden_operand.view();
        product(
            &context,
            [n, D, F],
            view,
            outer.view().transposed(),
            out,
            Output::Overwrite,
        );
    }
    relu(false, n * D, D, address(weights.outer_bias), address(&y));
    if T::OWNS_TAPE {
        // The operands may be the tensors' own memory.
        let kept = (x.clone(), weights.inner.clone(), weights.outer.clone());
        let (x, y) = (x.ghost(), y.ghost());
        let (d_inner, d_inner_bias) = (weights.inner.ghost(), weights.inner_bias.ghost());
        let (d_outer, d_outer_bias) = (weights.outer.ghost(), weights.outer_bias.ghost());
        tape.add_backward_op(move |gradients| {
            let d_y = take_gradient!(gradients, device, y);
            let d_y_operand = Operand::of(&context, of(&d_y), n * D, D);
            let d_hidden = context.uninitialized::<f32>(n * F);
            add_column_sums(
                &context,
                [n, D],
                of(&d_y),
                None,
                gradient_address!(gradients, d_outer_bias),
            );
            // SAFETY: d_y^T [D, N] . hidden [N, F] -> d_outer [D, F], and d_y [N, D] . outer [D, F] -> d_hidden [N, F]
            unsafe {
                let (view, out) = (d_y_operand.view(), (gradient_address!(gradients, d_outer), F));
                product(
                    &context,
                    [D, F, n],
                    view.transposed(),
                    hidden_operand.view(),
                    out,
                    Output::Add,
                );
                let out = (of(&d_hidden), F);
                product(&context, [n, F, D], view, outer.view(), out, Output::Overwrite);
                context.launch_over("close_relu", n * F, (n * F, &hidden, &d_hidden));
            }
            add_column_sums(
                &context,
                [n, F],
                of(&d_hidden),
                None,
                gradient_address!(gradients, d_inner_bias),
            );
            let d_hidden_operand = Operand::of(&context, of(&d_hidden), n * F, F);
            // SAFETY: d_hidden^T [F, N] . x [N, D] -> d_inner [F, D], and d_hidden [N, F] . inner [F, D] -> d_x [N, D]
            unsafe {
                let (view, out) = (d_hidden_operand.view(), (gradient_address!(gradients, d_inner), D));
                product(&context, [F, D, n], view.transposed(), input.view(), out, Output::Add);
                let out = (gradient_address!(gradients, x), D);
                product(&context, [n, D, F], view, inner.view(), out, Output::Add);
            }
            drop(kept);
            Ok(())
        });
    }
    y.put_tape(tape)
}
