//! The operations of [`Ops`] fused for the CPU. Each file holds one operation: a typed shell that talks to dfdx's
//! tape, thin enough to compile once per shape, and beneath it kernels that take lengths and compile once.
//!
//! dfdx lets an outside crate copy tensor data but not borrow it, so every operation copies its inputs once, and does
//! as much as it can with the copy. Reductions run in a fixed order: the same input gives the same bits.

mod attention;
mod elementwise;
mod embedding;
mod feed_forward;
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
mod view;

pub use inference::CpuInference;
pub use memory::keep_freed_memory;
pub use product::has_bf16;
#[cfg(test)]
pub use product::skip_without_bf16;
pub use rate::sustained_flops_per_s;

use dfdx::optim::AdamConfig;
use dfdx::prelude::*;
use rayon::prelude::*;

use super::{Buffer, OnDevice, Ops, Optimizer, ParameterState};
use crate::spec::Precision;
use crate::threads::map;

impl OnDevice for Cpu {
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
}

impl Optimizer for Cpu {
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
}

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
}

#[cfg(test)]
mod tests;
