//! The operations of [`Ops`] fused for the CPU. Each file holds one operation: a typed shell that talks to dfdx's
//! tape, thin enough to compile once per shape, and beneath it kernels that take lengths and compile once.
//!
//! dfdx lets an outside crate copy tensor data but not borrow it, so every operation copies its inputs once, and does
//! as much as it can with the copy. Reductions run in a fixed order: the same input gives the same bits.

mod add_norm;
mod attention;
mod dropout;
mod gather;
mod lanes;
mod layer_norm;
mod linear;
mod loss;
mod product;
mod tape;

use dfdx::prelude::*;

use super::{Activation, Dropout, LossTarget, Matrix, Ops, Rows, Spans, TokenLoss, Vector};

impl Ops for Cpu {
    fn write(&self, buffer: &mut <Self as Storage<f32>>::Vec, values: &[f32]) {
        buffer.copy_from_slice(values);
    }

    fn norm_squared<S: Shape>(x: Tensor<S, f32, Self>) -> f64 {
        tape::values(&x).iter().map(|&x| f64::from(x) * f64::from(x)).sum()
    }

    fn gather<const V: usize, const D: usize, T: Tape<f32, Self>>(
        table: &Matrix<V, D, Self>,
        ids: &[u32],
        scale: f32,
    ) -> Rows<D, Self, T> {
        gather::gather(table, ids, scale)
    }

    fn linear<const I: usize, const O: usize, T: Tape<f32, Self>>(
        x: Rows<I, Self, T>,
        weight: &Matrix<O, I, Self>,
        bias: Option<&Vector<O, Self>>,
        activation: Activation,
    ) -> Rows<O, Self, T> {
        linear::linear(x, weight, bias, activation)
    }

    fn attention<const H: usize, const K: usize, const VD: usize, const HK: usize, const HV: usize, T>(
        queries: Rows<HK, Self, T>,
        keys: Rows<HK, Self, T>,
        values: Rows<HV, Self, T>,
        spans: &Spans,
    ) -> Rows<HV, Self, T>
    where
        T: Tape<f32, Self>,
    {
        attention::attention(queries, keys, values, spans, H)
    }

    fn dropout<const D: usize, T: Tape<f32, Self>>(x: Rows<D, Self, T>, dropout: Dropout) -> Rows<D, Self, T> {
        dropout::dropout(x, dropout)
    }

    fn layer_norm<const D: usize, T: Tape<f32, Self>>(
        x: Rows<D, Self, T>,
        gain: &Vector<D, Self>,
        bias: &Vector<D, Self>,
    ) -> Rows<D, Self, T> {
        layer_norm::layer_norm(x, gain, bias)
    }

    fn add_norm<const D: usize, T: Tape<f32, Self>>(
        x: Rows<D, Self, T>,
        sublayer: Rows<D, Self, T>,
        dropout: Dropout,
        gain: &Vector<D, Self>,
        bias: &Vector<D, Self>,
    ) -> Rows<D, Self, T> {
        add_norm::add_norm(x, sublayer, dropout, gain, bias)
    }

    fn smoothed_loss<const V: usize, const D: usize, T: Tape<f32, Self>>(
        x: Rows<D, Self, T>,
        table: &Matrix<V, D, Self>,
        target: LossTarget,
    ) -> TokenLoss<Self, T> {
        loss::smoothed_loss(x, table, target)
    }

    fn log_probabilities<const V: usize, const D: usize>(x: Rows<D, Self>, table: &Matrix<V, D, Self>) -> Vec<f32> {
        loss::log_probabilities(&x, table)
    }
}

#[cfg(test)]
mod tests;
