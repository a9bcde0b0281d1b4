//! Layer normalisation, alone and in one pass with the paper's residual connection: `LayerNorm(x + Dropout(sublayer))`.

use dfdx::prelude::*;

use super::elementwise::add_masked;
use super::lanes::{add, dot, fma, shift, sum};
use super::tape::{put_gradient, take_gradient, values};
use crate::ops::{Dropout, LAYER_NORM_EPSILON, LayerNorm, NormWeights, Recording, Rows, Size};

impl LayerNorm for Cpu {
    fn layer_norm<D: Size>(
        recording: &mut Recording<Self>,
        x: &Rows<D, Self>,
        weights: &NormWeights<D, Self>,
    ) -> Rows<D, Self> {
        let factors = values(weights.weight);
        let (rows, normalized) = forward(values(x), &factors, &values(weights.bias));
        let y = x.device().tensor_from_vec(rows, *x.shape());
        if recording.is_on() {
            let (x, weight, bias, y) = (x.ghost(), weights.weight.ghost(), weights.bias.ghost(), y.ghost());
            recording.add(move |gradients| {
                let mut d_y = take_gradient!(gradients, y);
                let mut d_weight = take_gradient!(gradients, weight);
                let mut d_bias = take_gradient!(gradients, bias);
                backward(&mut d_y, &normalized, &factors, &mut d_weight, &mut d_bias);
                put_gradient!(gradients, weight, d_weight);
                put_gradient!(gradients, bias, d_bias);
                add(gradients.get_or_alloc_mut(&x)?, &d_y);
                Ok(())
            });
        }
        y
    }

    fn add_norm<D: Size>(
        recording: &mut Recording<Self>,
        x: &Rows<D, Self>,
        sublayer: &Rows<D, Self>,
        dropout: Dropout,
        weights: &NormWeights<D, Self>,
    ) -> Rows<D, Self> {
        let mut sums = values(x);
        add_masked(&mut sums, &values(sublayer), dropout);
        let factors = values(weights.weight);
        let (rows, normalized) = forward(sums, &factors, &values(weights.bias));
        let y = x.device().tensor_from_vec(rows, *x.shape());
        if recording.is_on() {
            let (x, sublayer, y) = (x.ghost(), sublayer.ghost(), y.ghost());
            let (weight, bias) = (weights.weight.ghost(), weights.bias.ghost());
            recording.add(move |gradients| {
                let mut d = take_gradient!(gradients, y);
                let mut d_weight = take_gradient!(gradients, weight);
                let mut d_bias = take_gradient!(gradients, bias);
                backward(&mut d, &normalized, &factors, &mut d_weight, &mut d_bias);
                put_gradient!(gradients, weight, d_weight);
                put_gradient!(gradients, bias, d_bias);
                add(gradients.get_or_alloc_mut(&x)?, &d);
                add_masked(gradients.get_or_alloc_mut(&sublayer)?, &d, dropout);
                Ok(())
            });
        }
        y
    }
}

/// What the backward pass needs.
struct Normalized {
    /// `(x - mean) / deviation`, `[N, D]`.
    rows: Vec<f32>,
    /// One over the deviation of each row, `[N]`.
    inverse_deviations: Vec<f32>,
}

/// `[N, D]` to normalised, scaled and shifted rows.
fn forward(mut x: Vec<f32>, weight: &[f32], bias: &[f32]) -> (Vec<f32>, Normalized) {
    let d = weight.len();
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
                *y = fma(*x, weight[i], bias[i]);
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

/// Turns the gradient of the output into that of the input, in place, and adds to those of weight and bias.
fn backward(d: &mut [f32], normalized: &Normalized, weight: &[f32], d_weight: &mut [f32], d_bias: &mut [f32]) {
    let width = weight.len();
    let rows = normalized.rows.chunks_exact(width).zip(&normalized.inverse_deviations);
    for (d, (x, inverse_deviation)) in d.chunks_exact_mut(width).zip(rows) {
        add(d_bias, d);
        for i in 0..width {
            d_weight[i] = fma(d[i], x[i], d_weight[i]);
            d[i] *= weight[i];
        }
        let mean = sum(d) / width as f32;
        let slope = dot(d, x) / width as f32;
        for (d, x) in d.iter_mut().zip(x) {
            *d = (*d - mean - x * slope) * inverse_deviation;
        }
    }
}
