//! The weights on the way that a selection may ask for at the end.

use std::fs;
use std::path::PathBuf;

use super::RunError;
use super::checkpoints::file_name;
use crate::atomic;
use crate::model::Seq2Seq;
use crate::train::{Average, Ranking, Snapshot};

/// The folder they lie in, seen by one run.
#[derive(Debug)]
pub struct Snapshots {
    folder: PathBuf,
    identity: String,
}

impl Snapshots {
    /// Makes the folder.
    pub fn new(folder: PathBuf, identity: String) -> Result<Self, RunError> {
        fs::create_dir_all(&folder).map_err(RunError::io(&folder))?;
        atomic::remove_leftovers(&folder).map_err(RunError::io(&folder))?;
        Ok(Self { folder, identity })
    }

    /// Keeps the weights of the measurement just ranked, then drops those that no longer matter. A run continued from
    /// an earlier checkpoint does not miss them: it comes to the same ranking.
    pub fn keep(&self, model: &mut dyn Seq2Seq, ranking: &Ranking, step: usize) -> Result<(), RunError> {
        if ranking.needs(step) {
            let path = self.path(step);
            let snapshot = Snapshot::of(model, step, &self.identity);
            atomic::write(&path, &snapshot.to_bytes()).map_err(RunError::io(path))?;
        }
        let entries = fs::read_dir(&self.folder).map_err(RunError::io(&self.folder))?;
        for entry in entries {
            let path = entry.map_err(RunError::io(&self.folder))?.path();
            let is_needed = |step: usize| path == self.path(step);
            let best = ranking.best.iter().map(|measured| measured.step);
            if !ranking.latest.iter().copied().chain(best).any(is_needed) {
                fs::remove_file(&path).map_err(RunError::io(&path))?;
            }
        }
        Ok(())
    }

    /// The mean of the weights after these updates.
    pub fn average(&self, steps: &[usize]) -> Result<Snapshot, RunError> {
        let [first, others @ ..] = steps else {
            unreachable!("a ranking that was measured has a best step");
        };
        let mut average = Average::starting_with(self.read(*first)?);
        for &step in others {
            average.add(&self.read(step)?);
        }
        Ok(average.finish())
    }

    /// A finished run has what it asked for.
    pub fn remove(self) -> Result<(), RunError> {
        fs::remove_dir_all(&self.folder).map_err(RunError::io(self.folder))
    }

    fn read(&self, step: usize) -> Result<Snapshot, RunError> {
        let path = self.path(step);
        let bytes = fs::read(&path).map_err(RunError::io(&path))?;
        Snapshot::from_bytes(&bytes).map_err(|source| RunError::Checkpoint { path, source })
    }

    fn path(&self, step: usize) -> PathBuf {
        self.folder.join(file_name(step, &self.identity))
    }
}
