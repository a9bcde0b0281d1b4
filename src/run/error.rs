//! Why a run could not go on.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

use super::export::ExportError;
use crate::data::DataError;
use crate::lock::LockError;
use crate::plan::ShapeKey;
use crate::record::{RecordError, RunFolder};
use crate::score::ScoreError;
use crate::spec::{Faults, Precision};
use crate::train::CheckpointError;

#[derive(Debug, Error)]
pub enum RunError {
    #[error(transparent)]
    Data(#[from] DataError),
    #[error(transparent)]
    Results(#[from] RecordError),
    #[error(transparent)]
    Score(#[from] ScoreError),
    #[error(transparent)]
    Export(#[from] ExportError),
    /// This binary holds no model of the shape.
    #[error("this binary was not built with the shape of the row ({shape}); {}", remedy(.suite))]
    NotBuilt { suite: String, shape: ShapeKey },
    #[error("{what}")]
    Device { what: String },
    /// The device does not have the precision that the row asks for.
    #[error(
        "row `{row}`: `training.precision = \"{}\"`, but {what}; allowed here: {}",
        .precision.name(), names(.allowed)
    )]
    Precision {
        row: String,
        precision: Precision,
        /// Reason why the device does not have it.
        what: String,
        /// Precisions that the device has.
        allowed: Vec<Precision>,
    },
    /// The run's own `spec.toml` was changed.
    #[error(transparent)]
    Spec(Box<Faults>),
    #[error("there is no checkpoint in {}", .folder.display())]
    NoCheckpoint { folder: PathBuf },
    /// The newest checkpoint of a finished run is not the one that was scored.
    #[error(
        "{}: the newest whole checkpoint is of step {found}, the scores in the table are of step {scored}; bring that \
         checkpoint back, or delete {} and run the row again, which trains what is missing",
        .folder.checkpoints().display(), .folder.done().display()
    )]
    NotScored {
        folder: RunFolder,
        found: usize,
        scored: usize,
    },
    /// The run's or the export's own vocabulary cannot be used.
    #[error("{}: {source}", .path.display())]
    Tokenizer { path: PathBuf, source: DataError },
    /// The vocabulary has more tokens than the model.
    #[error(
        "{}: {found} tokens, but `data.vocab_size = {allowed}` in the spec.toml beside it: the two files belong to \
         different runs",
        .path.display()
    )]
    Vocabulary {
        path: PathBuf,
        found: usize,
        allowed: usize,
    },
    /// Another process works in the folder.
    #[error("another process works on this run: {0}")]
    Busy(LockError),
    #[error("{}: {source}", .path.display())]
    Checkpoint { path: PathBuf, source: CheckpointError },
    /// Weights that a selection asks for are lost.
    #[error(
        "{}: {what}; the suite's [selection] asks for these weights: bring the file back, or delete the run's folder to \
         train again from the start",
        .path.display()
    )]
    Snapshot { path: PathBuf, what: String },
    #[error("{}: {source}", .path.display())]
    Io { path: PathBuf, source: io::Error },
}

impl RunError {
    /// For `map_err`.
    pub fn io(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        |source| Self::Io {
            path: path.into(),
            source,
        }
    }
}

fn remedy(suite: &str) -> String {
    if suite.is_empty() {
        "add a suite whose `base` is this spec.toml, then rebuild".to_owned()
    } else {
        format!("build it with `cargo run --release -- sweep {suite}`")
    }
}

fn names(precisions: &[Precision]) -> String {
    let names: Vec<String> = precisions
        .iter()
        .map(|precision| format!("\"{}\"", precision.name()))
        .collect();
    names.join(", ")
}

impl From<LockError> for RunError {
    fn from(error: LockError) -> Self {
        match error {
            LockError::Io { path, source } => Self::io(path)(source),
            held @ LockError::Held { .. } => Self::Busy(held),
        }
    }
}
