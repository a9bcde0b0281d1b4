//! The last file a run writes: that it ended, and how.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{RecordError, RunFolder, toml_file};
use crate::durable;

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "lowercase")]
pub enum Outcome {
    /// `score.toml` holds the result.
    Done,
    /// The loss stopped being a number, or exploded, at this step.
    Diverged { step: u64 },
    /// How the process ended, and the last lines of its complaints.
    Failed { reason: String },
}

/// The content of `DONE` or `FAILED`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Marker {
    pub spec_hash: String,
    pub seed: u64,
    #[serde(flatten)]
    pub outcome: Outcome,
}

impl Marker {
    /// Ends the run in `folder`: call it last, when every other file is in place.
    ///
    /// # Errors
    /// When the file system refuses.
    pub fn write(&self, folder: &RunFolder) -> Result<(), RecordError> {
        let (this, other) = match self.outcome {
            Outcome::Done => (folder.done(), folder.failed()),
            Outcome::Diverged { .. } | Outcome::Failed { .. } => (folder.failed(), folder.done()),
        };
        remove_if_there(&other)?;
        toml_file::write(&this, self)
    }

    /// Makes an ended run unfinished again, for another attempt in the same folder.
    ///
    /// # Errors
    /// When the file system refuses.
    pub fn remove(folder: &RunFolder) -> Result<(), RecordError> {
        remove_if_there(&folder.done())?;
        remove_if_there(&folder.failed())
    }

    /// The marker at `path`, or `None` where there is none.
    ///
    /// # Errors
    /// When the file is there and is not a marker.
    pub(super) fn read(path: &Path) -> Result<Option<Self>, RecordError> {
        match toml_file::read(path) {
            Err(RecordError::Read { source, .. }) if source.kind() == ErrorKind::NotFound => Ok(None),
            marker => marker.map(Some),
        }
    }
}

fn remove_if_there(path: &Path) -> Result<(), RecordError> {
    durable::if_there(fs::remove_file(path)).map_err(RecordError::write(path))
}
