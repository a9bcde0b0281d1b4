//! The state of a run's training, and where it is kept.

use super::checkpoints::{Checkpoints, identity};
use super::snapshots::Snapshots;
use super::{Job, RunError};
use crate::model::Seq2Seq;
use crate::train::Progress;

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
}
