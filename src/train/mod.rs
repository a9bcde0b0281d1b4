//! Training one model: a model and a source of batches come in, a trained model goes out, with what was measured on
//! the way and checkpoints from which training continues as if it had never stopped. This room refuses to know BLEU,
//! and where its checkpoints are kept.

mod checkpoint;
mod trainer;

pub use checkpoint::{Checkpoint, CheckpointError};
pub use trainer::{Observer, Outcome, Progress, Stop, Trainer, Update, Validation, evaluate};

#[cfg(test)]
mod tests;
