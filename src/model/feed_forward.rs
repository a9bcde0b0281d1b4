//! The position-wise feed-forward network (section 3.3): `max(0, x W1 + b1) W2 + b2`.

use dfdx::prelude::*;

use super::init::Init;
use super::parameter::{Visit, host};
use super::prepared::PreparedFeedForward;
use crate::ops::{FeedForwardWeights, Inference, Matrix, Ops, Rows, Vector};

pub struct FeedForward<Dev: Ops, const D: usize, const F: usize> {
    inner: Matrix<F, D, Dev>,
    inner_bias: Vector<F, Dev>,
    outer: Matrix<D, F, Dev>,
    outer_bias: Vector<D, Dev>,
}

impl<Dev: Ops, const D: usize, const F: usize> FeedForward<Dev, D, F> {
    pub fn new(init: &Init<Dev>, name: &str) -> Self {
        Self {
            inner: init.xavier(&format!("{name}.inner")),
            inner_bias: init.zeros(),
            outer: init.xavier(&format!("{name}.outer")),
            outer_bias: init.zeros(),
        }
    }

    pub fn forward<T: Tape<f32, Dev>>(&self, x: Rows<D, Dev, T>) -> Rows<D, Dev, T> {
        let weights = FeedForwardWeights {
            inner: &self.inner,
            inner_bias: &self.inner_bias,
            outer: &self.outer,
            outer_bias: &self.outer_bias,
        };
        Dev::feed_forward(x, &weights) // [N, D] -> [N, F] -> [N, D]
    }

    pub fn prepared<I: Inference>(&self, device: &I) -> PreparedFeedForward<I> {
        PreparedFeedForward {
            inner: device.prepare_linear(host(&self.inner), D, Some(host(&self.inner_bias))),
            outer: device.prepare_linear(host(&self.outer), F, Some(host(&self.outer_bias))),
        }
    }

    pub fn visit<'m>(&'m mut self, name: &str, visit: &mut Visit<'_, 'm, Dev>) {
        visit(format!("{name}.inner.weight"), &mut self.inner);
        visit(format!("{name}.inner.bias"), &mut self.inner_bias);
        visit(format!("{name}.outer.weight"), &mut self.outer);
        visit(format!("{name}.outer.bias"), &mut self.outer_bias);
    }
}
