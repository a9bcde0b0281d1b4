//! The progress of a training.

use super::ranking::Ranking;
use crate::model::BatchLoss;
use crate::plan::Work;
use crate::spec::Experiment;

/// Progress of a training. With the weights and Adam's moments it is all that a continuation needs: batches and dropout
/// masks follow from the seed and the step.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Progress {
    /// Updates done.
    pub step: usize,
    /// Target tokens trained on.
    pub tokens: usize,
    /// Sources and targets that were read.
    pub work: Work,
    /// Training losses since the last validation.
    pub since_validation: BatchLoss,
    /// Measurements on the dev split that may still matter.
    pub ranking: Ranking,
    /// Wall time of the updates over all continuations, without the time of measuring and keeping.
    pub elapsed_s: f64,
}

impl Progress {
    /// Whether all updates are done, or patience has run out.
    #[must_use]
    pub fn is_over(&self, experiment: &Experiment) -> bool {
        self.step >= experiment.training.steps || self.ranking.has_run_out(experiment.selection.patience)
    }
}
