//! Why a run could not go on.

use std::fmt;
use std::io;
use std::path::PathBuf;

use super::export::ExportError;
use crate::data::DataError;
use crate::lock::LockError;
use crate::plan::ShapeKey;
use crate::record::{RecordError, RunFolder};
use crate::score::ScoreError;
use crate::spec::{Faults, Precision};
use crate::train::CheckpointError;

#[derive(Debug)]
pub enum RunError {
    Data(DataError),
    Results(RecordError),
    Score(ScoreError),
    Export(ExportError),
    /// This binary holds no model of the shape.
    NotBuilt {
        suite: String,
        shape: ShapeKey,
    },
    Device {
        what: String,
    },
    /// The row asks for a precision that the device does not have.
    Precision {
        row: String,
        precision: Precision,
        /// Why not.
        what: String,
        /// Those that it has.
        allowed: Vec<Precision>,
    },
    /// The run's own `spec.toml` was changed.
    Spec(Box<Faults>),
    NoCheckpoint {
        folder: PathBuf,
    },
    /// The newest checkpoint of a finished run is not the one that was scored.
    NotScored {
        folder: RunFolder,
        found: usize,
        scored: usize,
    },
    /// The run's or the export's own vocabulary cannot be used.
    Tokenizer {
        path: PathBuf,
        source: DataError,
    },
    /// The vocabulary has more pieces than the model.
    Vocabulary {
        path: PathBuf,
        found: usize,
        allowed: usize,
    },
    /// Another process works in the folder.
    Busy(LockError),
    Checkpoint {
        path: PathBuf,
        source: CheckpointError,
    },
    /// Weights that a selection asks for are lost.
    Snapshot {
        path: PathBuf,
        what: String,
    },
    Io {
        path: PathBuf,
        source: io::Error,
    },
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

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Data(error) => error.fmt(f),
            Self::Results(error) => error.fmt(f),
            Self::Score(error) => error.fmt(f),
            Self::Export(error) => error.fmt(f),
            Self::NotBuilt { suite, shape } => {
                write!(f, "this binary was not built with the shape of the row ({shape}); ")?;
                if suite.is_empty() {
                    f.write_str("build it with a suite that has such a row, for one with this spec.toml as its base")
                } else {
                    write!(f, "build it with `cargo run --release -- sweep {suite}`")
                }
            }
            Self::Device { what } => f.write_str(what),
            Self::Precision {
                row,
                precision,
                what,
                allowed,
            } => {
                let names: Vec<String> = allowed
                    .iter()
                    .map(|allowed| format!("\"{}\"", allowed.name()))
                    .collect();
                write!(
                    f,
                    "row `{row}`: `training.precision = \"{}\"`, but {what}; allowed here: {}",
                    precision.name(),
                    names.join(", ")
                )
            }
            Self::Spec(faults) => faults.fmt(f),
            Self::NoCheckpoint { folder } => write!(f, "there is no checkpoint in {}", folder.display()),
            Self::NotScored { folder, found, scored } => write!(
                f,
                "{}: the newest whole checkpoint is of step {found}, the scores in the table are of step {scored}; bring that \
                 checkpoint back, or delete {} and run the row again, which trains what is missing",
                folder.checkpoints().display(),
                folder.done().display()
            ),
            Self::Vocabulary { path, found, allowed } => write!(
                f,
                "{}: {found} pieces, but `data.vocab_size = {allowed}` in the spec.toml beside it: they are not of one run",
                path.display()
            ),
            Self::Tokenizer { path, source } => write!(f, "{}: {source}", path.display()),
            Self::Busy(held) => write!(f, "another process works on this run: {held}"),
            Self::Checkpoint { path, source } => write!(f, "{}: {source}", path.display()),
            Self::Snapshot { path, what } => write!(
                f,
                "{}: {what}; the suite's [selection] asks for these weights: bring the file back, or delete the run's \
                 folder to train anew",
                path.display()
            ),
            Self::Io { path, source } => write!(f, "{}: {source}", path.display()),
        }
    }
}

impl std::error::Error for RunError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Data(error) | Self::Tokenizer { source: error, .. } => Some(error),
            Self::Results(error) => Some(error),
            Self::Score(error) => Some(error),
            Self::Export(error) => Some(error),
            Self::Checkpoint { source, .. } => Some(source),
            Self::Io { source, .. } => Some(source),
            Self::Spec(faults) => Some(faults),
            Self::NotBuilt { .. }
            | Self::NoCheckpoint { .. }
            | Self::NotScored { .. }
            | Self::Device { .. }
            | Self::Precision { .. }
            | Self::Snapshot { .. }
            | Self::Vocabulary { .. }
            | Self::Busy(_) => None,
        }
    }
}

impl From<LockError> for RunError {
    fn from(error: LockError) -> Self {
        match error {
            LockError::Io { path, source } => Self::io(path)(source),
            held @ LockError::Held { .. } => Self::Busy(held),
        }
    }
}

impl From<DataError> for RunError {
    fn from(error: DataError) -> Self {
        Self::Data(error)
    }
}

impl From<RecordError> for RunError {
    fn from(error: RecordError) -> Self {
        Self::Results(error)
    }
}

impl From<ScoreError> for RunError {
    fn from(error: ScoreError) -> Self {
        Self::Score(error)
    }
}

impl From<ExportError> for RunError {
    fn from(error: ExportError) -> Self {
        Self::Export(error)
    }
}
