//! The operations a Transformer is made of: tensors and packed rows come in, tensors go out, and a [`Recording`]
//! remembers their backward pass. This room refuses to know what a model is.
//!
//! Each operation has a file with its contract, a trait that every device implements; its oracle, the same in plain
//! dfdx; and a table of cases that tests, `selftest` and benchmarks run through. The CPU's fused kernels are in [`cpu`],
//! those for CUDA in `cuda`, with that feature.

mod attention;
pub mod cases;
pub mod cpu;
#[cfg(feature = "cuda")]
pub mod cuda;
mod dropout;
mod elementwise;
mod embedding;
mod feed_forward;
mod inference;
mod inference_cases;
mod layer_norm;
mod lineage;
mod loss;
mod optimizer;
mod packed;
mod plain;
mod plain_inference;
mod precision;
mod recording;
mod sizes;
mod spans;
mod tensors;

pub use attention::{Attention, AttentionWeights};
pub use dropout::{Dropout, DropoutStream};
pub use elementwise::Elementwise;
pub use embedding::Embedding;
pub use feed_forward::{FeedForward, FeedForwardWeights};
pub use inference::{Inference, Ranked, RankedRow};
pub use inference_cases::{InferenceCase, inference_cases};
pub use layer_norm::{LayerNorm, NormWeights};
pub use lineage::Lineage;
pub use loss::{Loss, LossTarget};
pub use optimizer::{Optimizer, ParameterState, Trained};
pub use packed::Packed;
pub use plain_inference::PlainInference;
pub use recording::Recording;
pub use sizes::{Of, Size, Sizes};
pub use spans::{Mask, Span, Spans};
pub use tensors::{
    Activation, Buffer, Fault, HeadSizes, LAYER_NORM_EPSILON, Matrix, OnDevice, Rows, Table, TokenLoss, Vector, host,
};

use cases::Case;
use dfdx::prelude::Const;

use crate::spec::Precision;

/// A device that a Transformer can run on: every operation, and how it translates. Nothing has a body to fall back on:
/// plain dfdx in the place of an operation would cost a device its speed without a word.
///
/// Weights are passed as they are: each operation records their gradients itself.
pub trait Ops: Attention + Elementwise + Embedding + FeedForward + LayerNorm + Loss + Optimizer {
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
}

/// The cases of all operations of training: odd sizes, empty sentences, single tokens, long ones.
#[must_use]
pub fn all_cases<Dev: Ops>() -> Vec<Case<Dev>> {
    let of_operations = [
        embedding::cases(),
        elementwise::cases(),
        layer_norm::cases(),
        feed_forward::cases(),
        attention::cases(),
        loss::cases(),
    ];
    of_operations.into_iter().flatten().collect()
}

/// The operations of a small model at the size of its batches: `rows` rows in sentences of `length`.
#[must_use]
pub fn benchmarks<const D: usize, const F: usize, Dev: Ops>(
    rows: usize,
    length: usize,
    heads: usize,
    classes: usize,
) -> Vec<Case<Dev>> {
    let sentences = vec![length; rows / length];
    let causal = attention::Setting::within(heads, &sentences);
    let full = attention::Setting {
        mask: Mask::Full,
        ..causal.clone()
    };
    let attention = [full, causal].map(attention::case::<Const<D>, Const<D>, Const<D>, Dev>);
    let mut cases = vec![embedding::benchmark::<Const<D>, Dev>(rows, classes)];
    cases.extend(attention);
    cases.push(feed_forward::case::<Const<D>, Const<F>, Dev>(rows));
    cases.extend(elementwise::both::<Const<D>, Dev>(rows));
    cases.extend(layer_norm::both::<Const<D>, Dev>(rows));
    cases.push(loss::case::<Const<D>, Dev>(rows, classes, 0.1));
    cases
}
