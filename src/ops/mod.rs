//! The tape operations a Transformer is made of: tensors and packed rows come in, tensors that remember their
//! backward pass go out. Every operation exists once as plain dfdx (module [`plain`], any device, the oracle), once fused
//! for the CPU (module [`cpu`]), and once for CUDA (module `cuda`, with that feature). This room refuses to know what a model is.

pub mod cpu;
#[cfg(feature = "cuda")]
pub mod cuda;
mod dropout;
mod inference;
mod lineage;
mod packed;
pub mod plain;
mod plain_inference;
mod precision;
mod spans;

pub use dropout::{Dropout, DropoutStream};
pub use inference::{HeadSizes, Inference, Ranked, RankedRow};
pub use lineage::Lineage;
pub use packed::Packed;
pub use plain_inference::PlainInference;
pub use spans::{Mask, Span, Spans};

use std::fmt::Debug;

use dfdx::optim::AdamConfig;
use dfdx::prelude::*;

use crate::spec::Precision;
use crate::threads::Shareable;

/// Activations: `N` packed tokens by `D` features.
pub type Rows<const D: usize, Dev, T = NoneTape> = Tensor<(usize, Const<D>), f32, Dev, T>;
/// A weight of `O` outputs by `I` inputs, `PyTorch`'s layout.
pub type Matrix<const O: usize, const I: usize, Dev> = Tensor<Rank2<O, I>, f32, Dev>;
/// A bias, gain or offset.
pub type Vector<const O: usize, Dev> = Tensor<Rank1<O>, f32, Dev>;

/// Numbers on a device.
pub type Buffer<Dev> = <Dev as Storage<f32>>::Vec;

/// What follows a linear map.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Activation {
    Identity,
    Relu,
}

/// Added to the variance in [`Ops::layer_norm`]: `PyTorch`'s default, the paper names none.
pub const LAYER_NORM_EPSILON: f32 = 1e-5;

/// What [`Ops::smoothed_loss`] is told besides the rows.
#[derive(Debug, Clone, Copy)]
pub struct LossTarget<'a> {
    /// The right class of each row.
    pub labels: &'a [u32],
    /// `epsilon_ls`: mass spread evenly over all classes, the right one included (`PyTorch`'s convention).
    pub smoothing: f32,
    /// Factor on the sum over rows, one over the target tokens of the whole update.
    pub scale: f32,
}

/// Sums over rows, and the tensor whose backward pass trains the model.
#[derive(Debug)]
pub struct TokenLoss<Dev: Storage<f32>, T> {
    /// `scale * smoothed_sum`, on the tape.
    pub loss: Tensor<Rank0, f32, Dev, T>,
    /// Label-smoothed cross-entropy summed over rows, in nats.
    pub smoothed_sum: f64,
    /// Negative log-likelihood of the right class summed over rows, in nats: what perplexity is made of.
    pub nll_sum: f64,
}

/// The four projections of multi-head attention, none of which has a bias (section 3.2.2).
#[derive(Debug)]
pub struct AttentionWeights<'a, const D: usize, const HK: usize, const HV: usize, Dev: Storage<f32>> {
    pub query: &'a Matrix<HK, D, Dev>,
    pub key: &'a Matrix<HK, D, Dev>,
    pub value: &'a Matrix<HV, D, Dev>,
    pub output: &'a Matrix<D, HV, Dev>,
}

/// Weights and biases of the position-wise feed-forward network (section 3.3).
#[derive(Debug)]
pub struct FeedForwardWeights<'a, const D: usize, const F: usize, Dev: Storage<f32>> {
    pub inner: &'a Matrix<F, D, Dev>,
    pub inner_bias: &'a Vector<F, Dev>,
    pub outer: &'a Matrix<D, F, Dev>,
    pub outer_bias: &'a Vector<D, Dev>,
}

/// A trained tensor of whatever shape, as [`Ops::update`] sees it.
pub trait Trained<Dev: Ops>: Shareable + Debug {
    /// One step of Adam as dfdx does it, `t` counted from 1.
    fn adam(&mut self, t: i32, config: &AdamConfig, gradient: &Buffer<Dev>, moments: [&mut Buffer<Dev>; 2]);
}

impl<S: Shape, Dev: Ops> Trained<Dev> for Tensor<S, f32, Dev> {
    fn adam(&mut self, t: i32, config: &AdamConfig, gradient: &Buffer<Dev>, [first, second]: [&mut Buffer<Dev>; 2]) {
        config
            .try_update(t, self, first, second, gradient)
            .expect("the device has memory for its own parameters");
    }
}

/// A parameter and what training keeps beside it.
pub struct ParameterState<'a, Dev: Ops> {
    pub parameter: &'a mut dyn Trained<Dev>,
    pub gradient: &'a mut Buffer<Dev>,
    /// First and second.
    pub moments: [&'a mut Buffer<Dev>; 2],
}

/// A device that a Transformer can run on. Nothing has a body to fall back on: plain dfdx in the place of an operation
/// would cost a device its speed without a word.
///
/// Weights are passed without a tape: each operation records their gradients itself. Like dfdx's own methods, these
/// panic when the device runs out of memory or fails: no run can go on from there.
pub trait Ops: Device<f32> + Storage<f32, Vec: Shareable> + Shareable {
    /// How the device translates.
    type Inference: Inference;

    fn inference(&self) -> Self::Inference;

    /// Into how many shares a batch is cut, each worked on by a thread of its own. It must not depend on the machine:
    /// where a batch is cut decides how its sums are rounded.
    #[must_use]
    fn shares(_target_tokens: usize) -> usize {
        1
    }

    /// Runs `work` with the operands of its products in this precision; everything else stays `f32`.
    ///
    /// # Panics
    /// If the device does not have it.
    fn in_precision<R>(precision: Precision, work: impl FnOnce() -> R) -> R;

    /// Copies a buffer to the host.
    fn read(&self, buffer: &Buffer<Self>) -> Vec<f32>;

    /// Overwrites a buffer of the device.
    fn write(&self, buffer: &mut Buffer<Self>, values: &[f32]);

    /// Sets every number of a buffer to zero.
    fn clear(&self, buffer: &mut Buffer<Self>);

    /// `sums += values`.
    fn accumulate(&self, sums: &mut Buffer<Self>, values: &Buffer<Self>);

    /// Sum of the squares of all gradients.
    fn norm_squared(gradients: &[Buffer<Self>]) -> f64;

    /// One step of Adam, `t` counted from 1, for every parameter; clears the gradients.
    fn update(t: i32, config: &AdamConfig, states: Vec<ParameterState<Self>>);

    /// Rows of `table` (`[V, D]`) chosen by `ids`, times `scale` (section 3.4).
    fn gather<const V: usize, const D: usize, T: Tape<f32, Self>>(
        table: &Matrix<V, D, Self>,
        ids: &[u32],
        scale: f32,
    ) -> Rows<D, Self, T>;

    /// Rows `chosen` of a table that is not trained, row after row.
    fn constant_rows<const D: usize, T: Tape<f32, Self>>(&self, table: Vec<f32>, chosen: &[u32]) -> Rows<D, Self, T>;

    /// Multi-head attention with its projections (section 3.2.2): each row of `x` (`[N, D]`) attends to the rows of
    /// `memory` (`[M, D]`) that `spans` shows it, or of `x` itself where there is no memory.
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
        T: Tape<f32, Self>;

    /// `max(0, x . inner^T + inner_bias) . outer^T + outer_bias` (equation 2): `[N, D] -> [N, F] -> [N, D]`.
    fn feed_forward<const D: usize, const F: usize, T: Tape<f32, Self>>(
        x: Rows<D, Self, T>,
        weights: &FeedForwardWeights<D, F, Self>,
    ) -> Rows<D, Self, T>;

    /// Inverted dropout: zero with probability `rate`, the rest divided by `1 - rate`.
    fn dropout<const D: usize, T: Tape<f32, Self>>(x: Rows<D, Self, T>, dropout: Dropout) -> Rows<D, Self, T>;

    /// `x + y`.
    fn add<const D: usize, T: Tape<f32, Self>>(x: Rows<D, Self, T>, y: Rows<D, Self, T>) -> Rows<D, Self, T>;

    /// Each row to mean 0 and variance 1, times `gain`, plus `bias`.
    fn layer_norm<const D: usize, T: Tape<f32, Self>>(
        x: Rows<D, Self, T>,
        gain: &Vector<D, Self>,
        bias: &Vector<D, Self>,
    ) -> Rows<D, Self, T>;

    /// `layer_norm(x + dropout(sublayer))`: the paper's residual connection (section 5.4).
    fn add_norm<const D: usize, T: Tape<f32, Self>>(
        x: Rows<D, Self, T>,
        sublayer: Rows<D, Self, T>,
        dropout: Dropout,
        gain: &Vector<D, Self>,
        bias: &Vector<D, Self>,
    ) -> Rows<D, Self, T>;

    /// Projection onto the classes, softmax and label-smoothed cross-entropy of every row (section 5.4).
    fn smoothed_loss<const V: usize, const D: usize, T: Tape<f32, Self>>(
        x: Rows<D, Self, T>,
        table: &Matrix<V, D, Self>,
        target: LossTarget,
    ) -> TokenLoss<Self, T>;
}
