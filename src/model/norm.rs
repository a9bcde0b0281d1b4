//! Layer normalisation and the residual connection around every sub-layer.

use dfdx::prelude::*;

use super::init::Init;
use super::parameter::{Visit, host};
use crate::ops::{Dropout, Inference, Ops, Rows, Vector};
use crate::spec::Norm;

pub struct LayerNorm<Dev: Ops, const D: usize> {
    gain: Vector<D, Dev>,
    bias: Vector<D, Dev>,
}

impl<Dev: Ops, const D: usize> LayerNorm<Dev, D> {
    pub fn new(init: &Init<Dev>) -> Self {
        Self {
            gain: init.ones(),
            bias: init.zeros(),
        }
    }

    pub fn forward<T: Tape<f32, Dev>>(&self, x: Rows<D, Dev, T>) -> Rows<D, Dev, T> {
        Dev::layer_norm(x, &self.gain, &self.bias)
    }

    /// `LayerNorm(x + Dropout(sublayer(x)))` as in the paper, or `x + Dropout(sublayer(LayerNorm(x)))`.
    pub fn residual<T: Tape<f32, Dev>>(
        &self,
        placement: Norm,
        dropout: Dropout,
        x: Rows<D, Dev, T>,
        sublayer: impl FnOnce(Rows<D, Dev, T>) -> Rows<D, Dev, T>,
    ) -> Rows<D, Dev, T> {
        let skip = x.retaped::<T>();
        match placement {
            Norm::Post => Dev::add_norm(skip, sublayer(x), dropout, &self.gain, &self.bias),
            Norm::Pre => Dev::add(skip, Dev::dropout(sublayer(self.forward(x)), dropout)),
        }
    }

    pub fn prepared<I: Inference>(&self, device: &I) -> I::Norm {
        device.prepare_norm(host(&self.gain), host(&self.bias))
    }

    pub fn visit<'m>(&'m mut self, name: &str, visit: &mut Visit<'_, 'm, Dev>) {
        visit(format!("{name}.weight"), &mut self.gain);
        visit(format!("{name}.bias"), &mut self.bias);
    }
}
