//! The position-wise feed-forward network as one operation: the hidden rows are made, used and differentiated in place.

use dfdx::prelude::*;

use super::lanes::add;
use super::product::{Output, View, product};
use super::scratch::Scratch;
use super::tape::{scratch_values, take_gradient};
use crate::ops::{FeedForward, FeedForwardWeights, Recording, Rows, Size};

impl FeedForward for Cpu {
    fn feed_forward<D: Size, F: Size>(
        recording: &mut Recording<Self>,
        x: &Rows<D, Self>,
        weights: &FeedForwardWeights<D, F, Self>,
    ) -> Rows<D, Self> {
        let network = Network {
            d: D::SIZE,
            f: F::SIZE,
            inner: scratch_values(weights.inner),
            outer: scratch_values(weights.outer),
        };
        let input = scratch_values(x);
        let hidden = network.hidden(&input, &scratch_values(weights.inner_bias));
        let y = network.forward(&hidden, &scratch_values(weights.outer_bias));
        let y = x.device().tensor_from_vec(y, *x.shape());
        if recording.is_on() {
            let (x, y) = (x.ghost(), y.ghost());
            let (inner, inner_bias) = (weights.inner.ghost(), weights.inner_bias.ghost());
            let (outer, outer_bias) = (weights.outer.ghost(), weights.outer_bias.ghost());
            recording.add(move |gradients| {
                let d_y = take_gradient!(gradients, y);
                let mut d_hidden = Scratch::of(hidden.len());
                network.close(&d_y, &hidden, &mut d_hidden);
                add_rows(gradients.get_or_alloc_mut(&outer_bias)?, &d_y);
                network.outer_gradient(&d_y, &hidden, gradients.get_or_alloc_mut(&outer)?);
                add_rows(gradients.get_or_alloc_mut(&inner_bias)?, &d_hidden);
                network.inner_gradient(&d_hidden, &input, gradients.get_or_alloc_mut(&inner)?);
                network.input_gradient(&d_hidden, gradients.get_or_alloc_mut(&x)?);
                Ok(())
            });
        }
        y
    }
}

/// The network without types.
struct Network {
    d: usize,
    f: usize,
    /// `[F, D]`.
    inner: Scratch,
    /// `[D, F]`.
    outer: Scratch,
}

impl Network {
    /// `max(0, x . inner^T + bias)`: `[N, D] -> [N, F]`.
    fn hidden(&self, x: &[f32], bias: &[f32]) -> Scratch {
        let rows = x.len() / self.d;
        let mut hidden = Scratch::of(rows * self.f);
        let inner = View::new(&self.inner, self.f, self.d);
        product(
            View::new(x, rows, self.d),
            inner.transposed(),
            &mut hidden,
            Output::Overwrite,
        );
        for row in hidden.chunks_exact_mut(self.f) {
            for (hidden, bias) in row.iter_mut().zip(bias) {
                *hidden = (*hidden + bias).max(0.0);
            }
        }
        hidden
    }

    /// `hidden . outer^T + bias`: `[N, F] -> [N, D]`.
    fn forward(&self, hidden: &[f32], bias: &[f32]) -> Vec<f32> {
        let rows = hidden.len() / self.f;
        let mut y = bias.repeat(rows);
        let outer = View::new(&self.outer, self.d, self.f);
        product(View::new(hidden, rows, self.f), outer.transposed(), &mut y, Output::Add);
        y
    }

    /// The gradient before the activation: nothing flows back where nothing came out.
    fn close(&self, d_y: &[f32], hidden: &[f32], d_hidden: &mut [f32]) {
        let rows = d_y.len() / self.d;
        let outer = View::new(&self.outer, self.d, self.f);
        product(View::new(d_y, rows, self.d), outer, d_hidden, Output::Overwrite);
        for (d_hidden, hidden) in d_hidden.iter_mut().zip(hidden) {
            *d_hidden = if *hidden > 0.0 { *d_hidden } else { 0.0 };
        }
    }

    /// `d_y^T [D, N] . hidden [N, F] -> [D, F]`.
    fn outer_gradient(&self, d_y: &[f32], hidden: &[f32], d_outer: &mut [f32]) {
        let rows = d_y.len() / self.d;
        let d_y = View::new(d_y, rows, self.d);
        product(d_y.transposed(), View::new(hidden, rows, self.f), d_outer, Output::Add);
    }

    /// `d_hidden^T [F, N] . x [N, D] -> [F, D]`.
    fn inner_gradient(&self, d_hidden: &[f32], x: &[f32], d_inner: &mut [f32]) {
        let rows = x.len() / self.d;
        let d_hidden = View::new(d_hidden, rows, self.f);
        product(d_hidden.transposed(), View::new(x, rows, self.d), d_inner, Output::Add);
    }

    /// `d_hidden [N, F] . inner [F, D] -> [N, D]`.
    fn input_gradient(&self, d_hidden: &[f32], d_x: &mut [f32]) {
        let rows = d_hidden.len() / self.f;
        let inner = View::new(&self.inner, self.f, self.d);
        product(View::new(d_hidden, rows, self.f), inner, d_x, Output::Add);
    }
}

/// Adds every row to `sums`.
fn add_rows(sums: &mut [f32], rows: &[f32]) {
    for row in rows.chunks_exact(sums.len()) {
        add(sums, row);
    }
}
