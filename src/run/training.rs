//! The state of a run's training, and where it is kept.

use super::checkpoints::{Checkpoints, identity};
use super::snapshots::Snapshots;
use super::{Job, RunError};
use crate::model::Seq2Seq;
use crate::spec::{Experiment, Selection, Weights};
use crate::train::Progress;

/// Progress of the run, and the places where it is kept.
pub struct Training {
    pub progress: Progress,
    pub checkpoints: Checkpoints,
    /// Snapshots, if the run selects among its weights.
    pub snapshots: Option<Snapshots>,
}

impl Training {
    /// Gives the model the newest usable checkpoint, if there is one. `note` hears of those that are skipped.
    ///
    /// # Errors
    /// If a checkpoint cannot be used, or nothing is left to train and weights that the scores need are lost.
    pub fn restore(
        job: &Job,
        data_hash: &str,
        model: &mut dyn Seq2Seq,
        note: impl FnMut(String),
    ) -> Result<Self, RunError> {
        let identity = identity(&job.run.spec_hash, job.run.seed, data_hash);
        let keeps_weights = job.run.experiment.selection.keeps_weights();
        let snapshots = keeps_weights.then(|| Snapshots::new(job.folder.snapshots(), identity.clone()));
        let snapshots = snapshots.transpose()?;
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
        let restored = Self {
            progress,
            checkpoints,
            snapshots,
        };
        restored.check_selected(&job.run.experiment)?;
        Ok(restored)
    }

    /// The weights that a selection scores beside the last, each with the updates that it is the mean of.
    pub fn selected(&self, selection: &Selection) -> Vec<(Weights, Vec<usize>)> {
        if self.snapshots.is_none() {
            return Vec::new();
        }
        let ranking = &self.progress.ranking;
        let best = ranking.best_step().map(|step| (Weights::Best, vec![step]));
        let average = (selection.average > 0).then(|| (Weights::Average, ranking.averaged_steps(selection)));
        best.into_iter().chain(average).collect()
    }

    /// Fails if the training is over and weights that the scores need are lost.
    fn check_selected(&self, experiment: &Experiment) -> Result<(), RunError> {
        let Some(snapshots) = self.snapshots.as_ref().filter(|_| self.progress.is_over(experiment)) else {
            return Ok(());
        };
        let selected = self.selected(&experiment.selection);
        let mut steps = selected.iter().flat_map(|(_, steps)| steps);
        steps.try_for_each(|&step| snapshots.read(step).map(drop))
    }
}
