//! What a run folder says about its run, whatever happened to it.

use super::{Marker, Outcome, Provenance, RecordError, RunFolder, RunScore};

/// A result, and how it came to be.
#[derive(Debug, Clone, PartialEq)]
pub struct FinishedRun {
    pub score: RunScore,
    pub provenance: Provenance,
}

/// The state of a run, seen from the spec as it is now.
#[derive(Debug, Clone, PartialEq)]
pub enum RunState {
    /// No folder.
    Absent,
    /// A folder without a marker: the run goes on, or was stopped and can continue.
    Unfinished,
    /// A file that a finished run must have cannot be read; as good as unfinished.
    Damaged {
        reason: String,
    },
    /// The spec was edited since; the folder belongs to this other hash and must be kept.
    Stale {
        spec_hash: String,
    },
    Diverged {
        step: u64,
    },
    Failed {
        reason: String,
    },
    Done(Box<FinishedRun>),
}

impl RunState {
    /// Reads the state of the run in `folder`; `spec_hash` is that of the spec as it is now.
    ///
    /// Never fails: a folder that cannot be read is [`RunState::Damaged`], with the reason.
    #[must_use]
    pub fn read(folder: &RunFolder, spec_hash: &str) -> Self {
        if !folder.path().exists() {
            return Self::Absent;
        }
        match read_marker(folder) {
            Ok(Some(marker)) if marker.spec_hash != spec_hash => Self::Stale {
                spec_hash: marker.spec_hash,
            },
            Ok(Some(marker)) if marker.seed != folder.seed() => Self::Damaged {
                reason: format!("the marker is of seed {}", marker.seed),
            },
            Ok(Some(marker)) => Self::of_outcome(folder, marker.outcome),
            Ok(None) => Self::of_unmarked(folder, spec_hash, Self::Unfinished),
            Err(error) => Self::of_unmarked(
                folder,
                spec_hash,
                Self::Damaged {
                    reason: error.to_string(),
                },
            ),
        }
    }

    fn of_outcome(folder: &RunFolder, outcome: Outcome) -> Self {
        match outcome {
            Outcome::Diverged { step } => Self::Diverged { step },
            Outcome::Failed { reason } => Self::Failed { reason },
            Outcome::Done => match read_finished(folder) {
                Ok(finished) => Self::of_score(finished),
                Err(error) => Self::Damaged {
                    reason: error.to_string(),
                },
            },
        }
    }

    fn of_score(finished: FinishedRun) -> Self {
        match finished.score.impossible_number() {
            None => Self::Done(Box::new(finished)),
            Some((name, value)) => Self::Damaged {
                reason: format!("score.toml: {value} cannot be a {name}"),
            },
        }
    }

    /// Without a marker only the provenance tells which spec the checkpoints belong to; before it is written there are
    /// none, and nothing to protect.
    fn of_unmarked(folder: &RunFolder, spec_hash: &str, state: Self) -> Self {
        if !folder.provenance().exists() {
            return state;
        }
        match Provenance::read(&folder.provenance()) {
            Ok(provenance) if provenance.spec_hash != spec_hash => Self::Stale {
                spec_hash: provenance.spec_hash,
            },
            Ok(_) => state,
            Err(error) => Self::Damaged {
                reason: error.to_string(),
            },
        }
    }
}

/// A result is worth more than a failure, should a killed retry have left both markers.
fn read_marker(folder: &RunFolder) -> Result<Option<Marker>, RecordError> {
    match Marker::read(&folder.done())? {
        Some(marker) => Ok(Some(marker)),
        None => Marker::read(&folder.failed()),
    }
}

fn read_finished(folder: &RunFolder) -> Result<FinishedRun, RecordError> {
    Ok(FinishedRun {
        score: RunScore::read(&folder.score())?,
        provenance: Provenance::read(&folder.provenance())?,
    })
}
