//! The operations of [`Ops`] fused for the CPU. Each file holds one operation: a typed shell that talks to dfdx's
//! tape, thin enough to compile once per shape, and beneath it kernels that take lengths and compile once.
//!
//! dfdx lets an outside crate copy tensor data but not borrow it, so every operation copies its inputs once, and does
//! as much as it can with the copy. Reductions run in a fixed order: the same input gives the same bits.

mod add_norm;
mod attention;
mod dropout;
mod feed_forward;
mod gather;
mod inference;
mod lanes;
mod layer_norm;
mod loss;
mod memory;
mod multi_head;
mod product;
mod rate;
mod scratch;
mod tape;
mod tiles;

pub use inference::CpuInference;
pub use memory::keep_freed_memory;
pub use product::has_bf16;
#[cfg(test)]
pub use product::skip_without_bf16;
pub use rate::sustained_flops_per_s;

use dfdx::optim::AdamConfig;
use dfdx::prelude::*;
use rayon::prelude::*;

use super::{
    AttentionWeights, Buffer, Dropout, FeedForwardWeights, LossTarget, Matrix, Ops, ParameterState, Rows, Spans,
    TokenLoss, Vector, plain,
};
use crate::spec::Precision;
use crate::threads::map;

impl Ops for Cpu {
    type Inference = CpuInference;

    fn inference(&self) -> CpuInference {
        CpuInference
    }

    /// Two are worth it early, for the laptop with two cores; more only if each is large, because every share prepares
    /// the weights for itself and has gradients of its own.
    fn shares(target_tokens: usize) -> usize {
        match target_tokens {
            ..384 => 1,
            384..2048 => 2,
            _ => target_tokens / 1024,
        }
    }

    fn in_precision<R>(precision: Precision, work: impl FnOnce() -> R) -> R {
        product::in_precision(precision, work)
    }

    fn read(&self, buffer: &Buffer<Self>) -> Vec<f32> {
        buffer.to_vec()
    }

    fn write(&self, buffer: &mut Buffer<Self>, values: &[f32]) {
        buffer.copy_from_slice(values);
    }

    fn clear(&self, buffer: &mut Buffer<Self>) {
        buffer.fill(0.0);
    }

    fn accumulate(&self, sums: &mut Buffer<Self>, values: &Buffer<Self>) {
        lanes::add(sums, values);
    }

    /// Parts of a fixed size, added in their order: the same sum for any number of threads.
    fn norm_squared(gradients: &[Buffer<Self>]) -> f64 {
        let of_one = |gradient: &Buffer<Self>| -> f64 {
            let sums: Vec<f64> = gradient.par_chunks(1 << 16).map(lanes::sum_of_squares).collect();
            sums.into_iter().sum()
        };
        gradients.iter().map(of_one).sum()
    }

    fn update(t: i32, config: &AdamConfig, states: Vec<ParameterState<Self>>) {
        map(states, |state| {
            state.parameter.adam(t, config, state.gradient, state.moments);
            state.gradient.fill(0.0);
        });
    }

    fn gather<const V: usize, const D: usize, T: Tape<f32, Self>>(
        table: &Matrix<V, D, Self>,
        ids: &[u32],
        scale: f32,
    ) -> Rows<D, Self, T> {
        gather::gather(table, ids, scale)
    }

    fn constant_rows<const D: usize, T: Tape<f32, Self>>(&self, table: Vec<f32>, chosen: &[u32]) -> Rows<D, Self, T> {
        let rows = chosen.iter().flat_map(|&row| &table[row as usize * D..][..D]);
        self.tensor_from_vec(rows.copied().collect(), (chosen.len(), Const::<D>))
            .put_tape(T::default())
    }

    fn multi_head_attention<
        const D: usize,
        const H: usize,
        const K: usize,
        const VD: usize,
        const HK: usize,
        const HV: usize,
        T,
    >(
        x: Rows<D, Self, T>,
        memory: Option<&Rows<D, Self>>,
        weights: &AttentionWeights<D, HK, HV, Self>,
        spans: &Spans,
    ) -> Rows<D, Self, T>
    where
        T: Tape<f32, Self>,
    {
        multi_head::multi_head_attention(x, memory, weights, spans, H)
    }

    fn feed_forward<const D: usize, const F: usize, T: Tape<f32, Self>>(
        x: Rows<D, Self, T>,
        weights: &FeedForwardWeights<D, F, Self>,
    ) -> Rows<D, Self, T> {
        feed_forward::feed_forward(x, weights)
    }

    fn dropout<const D: usize, T: Tape<f32, Self>>(x: Rows<D, Self, T>, dropout: Dropout) -> Rows<D, Self, T> {
        dropout::dropout(x, dropout)
    }

    fn add<const D: usize, T: Tape<f32, Self>>(x: Rows<D, Self, T>, y: Rows<D, Self, T>) -> Rows<D, Self, T> {
        plain::add(x, y)
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
}

#[cfg(test)]
mod tests;
