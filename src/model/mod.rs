//! The Transformer of "Attention Is All You Need" with every size in its type: packed batches come in, losses,
//! gradients and next-token probabilities go out. [`Seq2Seq`] is the one door out of the typed world; whatever lies
//! behind it does not know a size. This room refuses to know files, schedules and training loops.

mod attention;
mod batch;
mod feed_forward;
mod init;
mod layers;
mod maps;
mod norm;
mod parameter;
mod positions;
mod prepared;
mod seq2seq;
mod session;
mod trainable;
mod transformer;

pub use batch::{BOS, Batch, EOS, RowsBefore, UNK};
pub use maps::{AttentionMaps, Map};
pub use positions::{Learned, Positional, Sinusoidal};
pub use seq2seq::{
    AdamStep, BatchLoss, Continuation, Decoder, NamedArray, RestoreError, Seq2Seq, Session, TrainingPass,
};
pub use trainable::Trainable;
pub use transformer::{Network, Transformer};

use parameter::Parameter;

#[cfg(test)]
mod tests;
