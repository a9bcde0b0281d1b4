//! Snapshots: weights from during the training that a selection may ask for at the end.

use std::fs;
use std::path::{Path, PathBuf};

use super::RunError;
use super::checkpoints::{file_name, name_ending};
use crate::durable;
use crate::model::Seq2Seq;
use crate::train::{Average, CheckpointError, Ranking, Snapshot};

/// Folder of snapshots, as one run sees it.
#[derive(Debug)]
pub struct Snapshots {
    folder: PathBuf,
    identity: String,
}

impl Snapshots {
    /// Makes the folder.
    pub fn new(folder: PathBuf, identity: String) -> Result<Self, RunError> {
        fs::create_dir_all(&folder).map_err(RunError::io(&folder))?;
        durable::remove_leftovers(&folder).map_err(RunError::io(&folder))?;
        Ok(Self { folder, identity })
    }

    /// Keeps the weights of the measurement just ranked, then drops those that no longer matter. A run continued from
    /// an earlier checkpoint does not miss them: it comes to the same ranking.
    pub fn keep(&self, model: &mut dyn Seq2Seq, ranking: &Ranking, step: usize) -> Result<(), RunError> {
        if ranking.steps().any(|needed| needed == step) {
            let path = self.path(step);
            let snapshot = Snapshot::of(model, step, &self.identity);
            durable::write(&path, &snapshot.to_bytes()).map_err(RunError::io(path))?;
        }
        let wanted: Vec<PathBuf> = ranking.steps().map(|step| self.path(step)).collect();
        let entries = fs::read_dir(&self.folder).map_err(RunError::io(&self.folder))?;
        for entry in entries {
            let path = entry.map_err(RunError::io(&self.folder))?.path();
            if self.is_own(&path) && !wanted.contains(&path) {
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

    pub fn read(&self, step: usize) -> Result<Snapshot, RunError> {
        let path = self.path(step);
        let lost = |what: String| RunError::Snapshot {
            path: path.clone(),
            what,
        };
        let bytes = fs::read(&path).map_err(|error| lost(error.to_string()))?;
        let snapshot = Snapshot::from_bytes(&bytes).and_then(|snapshot| snapshot.of_run(&self.identity));
        let snapshot = snapshot.map_err(|error| lost(error.to_string()))?;
        if snapshot.steps != [step] {
            return Err(lost(CheckpointError::OtherRun.to_string()));
        }
        Ok(snapshot)
    }

    /// The snapshots of another corpus may lie here too, and are left alone.
    fn is_own(&self, path: &Path) -> bool {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.ends_with(&name_ending(&self.identity))
    }

    fn path(&self, step: usize) -> PathBuf {
        self.folder.join(file_name(step, &self.identity))
    }
}
