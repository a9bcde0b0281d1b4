//! The state of a run's training, and where it is kept.

use std::path::Path;

use super::checkpoints::{Checkpoints, identity};
use super::snapshots::Snapshots;
use super::{Job, RunError};
use crate::atomic;
use crate::model::Seq2Seq;
use crate::train::{CheckpointError, Progress, Snapshot};

/// How far the run has come, and where it keeps that.
pub struct Training {
    pub progress: Progress,
    pub checkpoints: Checkpoints,
    /// Only of a run that selects among its weights.
    pub snapshots: Option<Snapshots>,
}

impl Training {
    /// Gives the model the newest checkpoint that can be used, if there is one. `note` hears of those passed over.
    pub fn restore(
        job: &Job,
        data_hash: &str,
        model: &mut dyn Seq2Seq,
        note: impl FnMut(String),
    ) -> Result<Self, RunError> {
        let identity = identity(&job.run.spec_hash, job.run.seed, data_hash);
        let keeps_weights = job.run.experiment.selection.keeps_weights();
        let snapshots = keeps_weights.then(|| Snapshots::new(job.folder.snapshots(), identity.clone()));
        let checkpoints = Checkpoints::new(job.folder.checkpoints(), identity);
        let progress = match checkpoints.newest(note)? {
            None => Progress::default(),
            Some(checkpoint) => {
                let path = job.folder.checkpoints();
                checkpoint
                    .restore(model)
                    .map_err(|source| RunError::Checkpoint { path, source })?;
                checkpoint.progress
            }
        };
        Ok(Self {
            progress,
            checkpoints,
            snapshots: snapshots.transpose()?,
        })
    }

    /// Whether the weights after these updates are still there.
    pub fn check(&self, steps: &[usize]) -> Result<(), RunError> {
        self.snapshots().check(steps)
    }

    /// Gives the model the mean of the weights after these updates.
    pub fn restore_average(&self, model: &mut dyn Seq2Seq, steps: &[usize]) -> Result<(), RunError> {
        let average = self.average(steps)?;
        average.restore(model).map_err(|error| RunError::Checkpoint {
            path: self.checkpoints.folder().to_owned(),
            source: CheckpointError::OtherModel(error),
        })
    }

    /// Writes that mean.
    pub fn write_average(&self, path: &Path, steps: &[usize]) -> Result<(), RunError> {
        atomic::write(path, &self.average(steps)?.to_bytes()).map_err(RunError::io(path))
    }

    fn average(&self, steps: &[usize]) -> Result<Snapshot, RunError> {
        self.snapshots().average(steps)
    }

    fn snapshots(&self) -> &Snapshots {
        self.snapshots.as_ref().expect("kept by a run that selects")
    }
}
