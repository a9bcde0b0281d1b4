//! The state of a run, read from its folder.

use super::{Ending, Marker, Provenance, RecordError, RunFolder, RunScore};

/// A result and its provenance.
#[derive(Debug, Clone, PartialEq)]
pub struct FinishedRun {
    pub score: RunScore,
    pub provenance: Provenance,
}

/// The state of a run, seen from the spec as it is now.
#[derive(Debug, Clone, PartialEq)]
pub enum RunState {
    /// The run has no folder.
    Absent,
    /// The folder has no marker: the run goes on, or was stopped and can be continued.
    Unfinished,
    /// A file that a finished run must have cannot be read; the run is treated as unfinished.
    Damaged {
        reason: String,
    },
    /// The spec was edited after this run; the folder belongs to the spec with this hash and must be kept.
    Stale {
        spec_hash: String,
    },
    Ended(Ending<Box<FinishedRun>>),
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
            Ok(Some(marker)) => Self::of_ending(folder, marker.ending),
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

    /// Returns whether the run has a result.
    #[must_use]
    pub fn is_done(&self) -> bool {
        matches!(self, Self::Ended(Ending::Done(_)))
    }

    fn of_ending(folder: &RunFolder, ending: Ending) -> Self {
        match ending {
            Ending::Diverged { step } => Self::Ended(Ending::Diverged { step }),
            Ending::Failed { reason } => Self::Ended(Ending::Failed { reason }),
            Ending::Done(()) => match read_finished(folder) {
                Ok(finished) => Self::of_score(finished),
                Err(error) => Self::Damaged {
                    reason: error.to_string(),
                },
            },
        }
    }

    fn of_score(finished: FinishedRun) -> Self {
        match finished.score.impossible_number() {
            None => Self::Ended(Ending::Done(Box::new(finished))),
            Some((name, value)) => Self::Damaged {
                reason: format!("score.toml: {value} cannot be a {name}"),
            },
        }
    }

    /// Without a marker only the provenance names the spec of the checkpoints. Before it is written there are no
    /// checkpoints to protect.
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

/// Prefers a result to a failure, because a killed retry may leave both markers.
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
