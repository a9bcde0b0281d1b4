//! Keeps what a training must not lose: its history, the weights that a selection may ask for, and checkpoints.

use super::RunError;
use super::checkpoints::Checkpoints;
use super::judge::bleu_of;
use super::snapshots::Snapshots;
use crate::model::{BatchLoss, Seq2Seq};
use crate::record::{History, HistoryRow, HistorySplit};
use crate::spec::BestBy;
use crate::train::{Keeper, Progress, Ranking, Validation};

pub struct FolderKeeper<'a> {
    pub history: History,
    pub checkpoints: &'a Checkpoints,
    /// Snapshots, if the run selects among its weights.
    pub snapshots: Option<&'a Snapshots>,
    pub best_by: BestBy,
}

impl Keeper<RunError> for FolderKeeper<'_> {
    fn keep_measurement(&mut self, validation: &Validation) -> Result<(), RunError> {
        let row = |split, losses: &BatchLoss| HistoryRow {
            step: validation.step as u64,
            split,
            loss_nats: Some(losses.nll()),
            ppl: Some(losses.perplexity()),
            lr: None,
            grad_norm: None,
            tokens_per_s: None,
            bleu: None,
        };
        self.history.append(&HistoryRow {
            lr: Some(validation.learning_rate),
            grad_norm: Some(validation.gradient_norm),
            tokens_per_s: Some(validation.tokens_per_s),
            ..row(HistorySplit::Train, &validation.training)
        })?;
        self.history.append(&HistoryRow {
            bleu: bleu_of(self.best_by, validation.badness),
            ..row(HistorySplit::Dev, &validation.dev)
        })?;
        Ok(())
    }

    fn keep_weights(&mut self, model: &mut dyn Seq2Seq, ranking: &Ranking, step: usize) -> Result<(), RunError> {
        match self.snapshots {
            Some(snapshots) => snapshots.keep(model, ranking, step),
            None => Ok(()),
        }
    }

    fn keep_state(&mut self, model: &mut dyn Seq2Seq, progress: &Progress) -> Result<(), RunError> {
        self.history.sync()?;
        self.checkpoints.save(model, progress)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use tempfile::TempDir;

    use super::*;
    use crate::spec::Selection;
    use crate::train::Measured;
    use crate::train::tests::model;

    #[test]
    fn history_best_weights_and_newest_state_are_kept_and_other_weights_are_dropped() {
        let folder = TempDir::new().expect("a temporary folder");
        let path = |name: &str| folder.path().join(name);
        fs::create_dir(path("checkpoints")).expect("a folder that can be written");
        let identity = || "identity".to_owned();
        let checkpoints = Checkpoints::new(path("checkpoints"), identity());
        let snapshots = Snapshots::new(path("snapshots"), identity()).expect("a folder of snapshots");
        let mut keeper = FolderKeeper {
            history: History::open(&path("history.csv")).expect("an empty history"),
            checkpoints: &checkpoints,
            snapshots: Some(&snapshots),
            best_by: BestBy::Bleu,
        };
        let (mut model, mut progress) = (model(), Progress::default());
        for (step, bleu) in [(10, 20.0), (20, 30.0), (30, 25.0)] {
            let losses = BatchLoss {
                nll_sum: 1.0,
                tokens: 2,
                ..BatchLoss::default()
            };
            let validation = Validation {
                step,
                training: losses,
                dev: losses,
                badness: -bleu,
                learning_rate: 0.1,
                gradient_norm: 1.0,
                tokens_per_s: 100.0,
            };
            keeper
                .keep_measurement(&validation)
                .expect("a history that can be written");
            let measured = Measured {
                step,
                badness: -bleu,
                loss_nats: 0.5,
            };
            progress.step = step;
            progress.ranking.add(measured, &Selection::default(), 0);
            let kept = keeper.keep_weights(&mut *model, &progress.ranking, step);
            kept.expect("a folder that can be written");
            let kept = keeper.keep_state(&mut *model, &progress);
            kept.expect("a folder that can be written");
        }
        let rows = History::read(&path("history.csv")).expect("a whole history");
        let bleu: Vec<_> = rows.iter().map(|row| row.bleu).collect();
        assert_eq!(bleu, [None, Some(20.0), None, Some(30.0), None, Some(25.0)]);
        let is_kept = [10, 20, 30].map(|step| snapshots.read(step).is_ok());
        assert_eq!(is_kept, [false, true, false]);
        let newest = checkpoints
            .newest(|note| panic!("{note}"))
            .expect("a folder that can be read");
        assert_eq!(newest.map(|checkpoint| checkpoint.progress), Some(progress));
    }
}
