//! Training one model: a model and a source of batches come in, a trained model goes out, with what was measured on
//! the way, checkpoints from which training continues as if it had never stopped, and weights to choose from. This room
//! refuses to know BLEU, and where its checkpoints are kept.

mod checkpoint;
mod ranking;
mod sealed;
mod snapshot;
mod tensors;
mod trainer;

pub use checkpoint::Checkpoint;
pub use ranking::{Measured, Ranking};
pub use sealed::CheckpointError;
pub use snapshot::{Average, Snapshot};
pub use tensors::{Tensors, open_tensors, values};
pub use trainer::{Observer, Outcome, Progress, Stop, Trainer, Update, Validation, evaluate};

/// Where weights live in a file.
const WEIGHT: &str = "weight/";

#[cfg(test)]
mod tests;
