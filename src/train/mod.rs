//! Training of one model. A model and a source of batches come in; a trained model goes out, and on the way measurements,
//! checkpoints from which training continues as if it had never stopped, and weights to choose from. This room refuses to
//! know BLEU, and where anything is kept.

mod checkpoint;
mod progress;
mod ranking;
mod roles;
mod sealed;
mod snapshot;
mod tensors;
mod trainer;

pub use checkpoint::Checkpoint;
pub use progress::Progress;
pub use ranking::{Measured, Ranking};
pub use roles::{Judge, Keeper, Observer, Stop, Update, Validation};
pub use sealed::CheckpointError;
pub use snapshot::{Average, Snapshot};
pub use tensors::{Tensors, open_tensors, values};
pub use trainer::{Outcome, Trainer, evaluate};

/// Prefix of the weights in a file.
const WEIGHT: &str = "weight/";

#[cfg(test)]
pub(crate) mod tests;
