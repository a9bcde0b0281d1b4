//! Layer normalisation, and the kernels that the fused residual connection shares with it.

use dfdx::prelude::*;

use super::lanes::{add, dot, fma, shift, sum};
use super::tape::{put_gradient, take_gradient, values};
use crate::ops::{LAYER_NORM_EPSILON, Rows, Vector};

pub fn layer_norm<const D: usize, T: Tape<f32, Cpu>>(
    x: Rows<D, Cpu, T>,
    gain: &Vector<D, Cpu>,
    bias: &Vector<D, Cpu>,
) -> Rows<D, Cpu, T> {
    let (x, mut tape) = x.split_tape();
    let gains = values(gain);
    let (rows, normalized) = forward(values(&x), &gains, &values(bias));
    let y = x.device().tensor_from_vec(rows, *x.shape());
    if T::OWNS_TAPE {
        let (x, gain, bias, y) = (x.ghost(), gain.ghost(), bias.ghost(), y.ghost());
        tape.add_backward_op(move |gradients| {
            let mut d_y = take_gradient!(gradients, y);
            let mut d_gain = take_gradient!(gradients, gain);
            let mut d_bias = take_gradient!(gradients, bias);
            backward(&mut d_y, &normalized, &gains, &mut d_gain, &mut d_bias);
            put_gradient!(gradients, gain, d_gain);
            put_gradient!(gradients, bias, d_bias);
            add(gradients.get_or_alloc_mut(&x)?, &d_y);
            Ok(())
        });
    }
    y.put_tape(tape)
}

/// What the backward pass needs.
pub struct Normalized {
    /// `(x - mean) / deviation`, `[N, D]`.
    rows: Vec<f32>,
    /// One over the deviation of each row, `[N]`.
    inverse_deviations: Vec<f32>,
}

/// `[N, D]` to normalised, scaled and shifted rows.
pub fn forward(mut x: Vec<f32>, gain: &[f32], bias: &[f32]) -> (Vec<f32>, Normalized) {
    let d = gain.len();
    let mut y = vec![0.0; x.len()];
    let inverse_deviations = x
        .chunks_exact_mut(d)
        .zip(y.chunks_exact_mut(d))
        .map(|(x, y)| {
            let mean = sum(x) / d as f32;
            shift(x, -mean);
            let inverse_deviation = (dot(x, x) / d as f32 + LAYER_NORM_EPSILON).sqrt().recip();
            for (i, (x, y)) in x.iter_mut().zip(y).enumerate() {
                *x *= inverse_deviation;
                *y = fma(*x, gain[i], bias[i]);
            }
            inverse_deviation
        })
        .collect();
    (
        y,
        Normalized {
            rows: x,
            inverse_deviations,
        },
    )
}

/// Turns the gradient of the output into that of the input, in place, and adds to those of gain and bias.
pub fn backward(d: &mut [f32], normalized: &Normalized, gain: &[f32], d_gain: &mut [f32], d_bias: &mut [f32]) {
    let width = gain.len();
    let rows = normalized.rows.chunks_exact(width).zip(&normalized.inverse_deviations);
    for (d, (x, inverse_deviation)) in d.chunks_exact_mut(width).zip(rows) {
        add(d_bias, d);
        for i in 0..width {
            d_gain[i] = fma(d[i], x[i], d_gain[i]);
            d[i] *= gain[i];
        }
        let mean = sum(d) / width as f32;
        let slope = dot(d, x) / width as f32;
        for (d, x) in d.iter_mut().zip(x) {
            *d = (*d - mean - x * slope) * inverse_deviation;
        }
    }
}
