//! `activation(x . W^T + b)` with its three gradients, the activation's derivative applied on the way.

use dfdx::prelude::*;

use super::lanes::add;
use super::product::{Output, View, product};
use super::tape::{put_gradient, take_gradient, values};
use crate::ops::{Activation, Matrix, Rows, Vector};

pub fn linear<const I: usize, const O: usize, T: Tape<f32, Cpu>>(
    x: Rows<I, Cpu, T>,
    weight: &Matrix<O, I, Cpu>,
    bias: Option<&Vector<O, Cpu>>,
    activation: Activation,
) -> Rows<O, Cpu, T> {
    let (x, mut tape) = x.split_tape();
    let n = x.shape().0;
    let (input, weights) = (values(&x), values(weight));
    let output = forward(
        &input,
        &weights,
        bias.map(values).as_deref(),
        Sizes { n, i: I, o: O },
        activation,
    );
    let kept = (T::OWNS_TAPE && activation == Activation::Relu).then(|| output.clone());
    let y = x.device().tensor_from_vec(output, (n, Const::<O>));
    if T::OWNS_TAPE {
        let (x, weight, bias, y) = (x.ghost(), weight.ghost(), bias.map(Tensor::ghost), y.ghost());
        tape.add_backward_op(move |gradients| {
            let sizes = Sizes { n, i: I, o: O };
            let mut d_y = take_gradient!(gradients, y);
            if let Some(output) = kept {
                close_gates(&mut d_y, &output);
            }
            if let Some(bias) = bias {
                let mut d_bias = take_gradient!(gradients, bias);
                d_y.chunks_exact(O).for_each(|row| add(&mut d_bias, row));
                put_gradient!(gradients, bias, d_bias);
            }
            input_gradient(&d_y, &weights, sizes, gradients.get_or_alloc_mut(&x)?);
            weight_gradient(&d_y, &input, sizes, gradients.get_or_alloc_mut(&weight)?);
            Ok(())
        });
    }
    y.put_tape(tape)
}

#[derive(Clone, Copy)]
struct Sizes {
    n: usize,
    i: usize,
    o: usize,
}

fn forward(x: &[f32], weight: &[f32], bias: Option<&[f32]>, sizes: Sizes, activation: Activation) -> Vec<f32> {
    let Sizes { n, i, o } = sizes;
    let mut y = bias.map_or_else(|| vec![0.0; n * o], |bias| bias.repeat(n));
    // x [N, I] . weight^T [I, O] -> y [N, O]
    product(
        View::new(x, n, i),
        View::new(weight, o, i).transposed(),
        &mut y,
        Output::Add,
    );
    if activation == Activation::Relu {
        for y in &mut y {
            *y = y.max(0.0);
        }
    }
    y
}

/// The derivative of `ReLU`: nothing flows back where nothing came out.
fn close_gates(d_y: &mut [f32], y: &[f32]) {
    for (d_y, y) in d_y.iter_mut().zip(y) {
        *d_y = if *y > 0.0 { *d_y } else { 0.0 };
    }
}

fn input_gradient(d_y: &[f32], weight: &[f32], Sizes { n, i, o }: Sizes, d_x: &mut [f32]) {
    // d_y [N, O] . weight [O, I] -> d_x [N, I]
    product(View::new(d_y, n, o), View::new(weight, o, i), d_x, Output::Add);
}

fn weight_gradient(d_y: &[f32], x: &[f32], Sizes { n, i, o }: Sizes, d_weight: &mut [f32]) {
    // d_y^T [O, N] . x [N, I] -> d_weight [O, I]
    product(
        View::new(d_y, n, o).transposed(),
        View::new(x, n, i),
        d_weight,
        Output::Add,
    );
}
