//! The Transformer of "Attention Is All You Need", with the sizes of its weight matrices in its type: packed batches come
//! in, losses, gradients and next-token probabilities go out. [`Seq2Seq`] is the one door out of the typed world; whatever
//! lies behind it does not know a size. This room refuses to know files, schedules and training loops.

mod architecture;
mod batch;
mod init;
mod maps;
mod network;
mod parameter;
mod positions;
mod seq2seq;
mod session;
mod trainable;
mod transformer;
mod translator;
mod weights;

pub use architecture::Architecture;
pub use batch::{BOS, Batch, EOS, RowsBefore, UNK};
pub use maps::{AttentionMaps, Map};
pub use seq2seq::{
    AdamStep, BatchLoss, Continuation, Decoder, NamedArray, RestoreError, Seq2Seq, Session, TrainingPass,
};
pub use trainable::Trainable;
pub use transformer::{Model, Transformer};

use parameter::Parameter;

#[cfg(test)]
mod tests;
