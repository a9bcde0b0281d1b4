//! The number by which a run ranks its weights.

use super::RunError;
use super::measure::greedy_dev_bleu;
use crate::data::Dataset;
use crate::model::{BatchLoss, Seq2Seq};
use crate::spec::{BestBy, Experiment};
use crate::train::Judge;

/// Judges a model as the experiment's `selection.best_by` says.
pub struct DevJudge<'a> {
    pub experiment: &'a Experiment,
    pub dataset: &'a Dataset,
}

impl Judge<RunError> for DevJudge<'_> {
    fn badness(&mut self, model: &dyn Seq2Seq, dev: &BatchLoss) -> Result<f64, RunError> {
        match self.experiment.selection.best_by {
            BestBy::Loss => Ok(dev.nll()),
            BestBy::Bleu => Ok(-greedy_dev_bleu(self.dataset, model, self.experiment)?),
        }
    }
}

/// The BLEU that a judge's number stands for, if it judges by BLEU.
pub fn bleu_of(best_by: BestBy, badness: f64) -> Option<f64> {
    match best_by {
        BestBy::Loss => None,
        BestBy::Bleu => Some(-badness),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use tempfile::TempDir;

    use super::*;
    use crate::data::load;
    use crate::train::tests::{experiment, model};

    /// A corpus of three letters, whose vocabulary the test model of `train` can hold.
    fn corpus(folder: &TempDir) -> Experiment {
        for file in ["train.a", "train.b", "dev.a", "dev.b", "test.a", "test.b"] {
            fs::write(folder.path().join(file), "ab ba ab\nba ba\n").expect("a temporary folder can be written");
        }
        let files = "corpus = 'text', train_source = 'train.a', train_target = 'train.b', dev_source = 'dev.a', \
                     dev_target = 'dev.b', test_source = 'test.a', test_target = 'test.b'";
        experiment(&[("corpus = 'grammar-en-de', train_pairs = 10", files)])
    }

    #[test]
    fn a_model_is_judged_by_its_dev_loss_or_by_the_bleu_of_its_greedy_translations() {
        let folder = TempDir::new().expect("a temporary folder");
        let mut experiment = corpus(&folder);
        let dataset = load(&experiment.data, Some(folder.path()), &folder.path().join("cache")).expect("a corpus");
        let (model, dev) = (
            model(),
            BatchLoss {
                nll_sum: 6.0,
                tokens: 4,
                ..BatchLoss::default()
            },
        );
        let badness = |experiment: &Experiment| {
            let mut judge = DevJudge {
                experiment,
                dataset: &dataset,
            };
            judge.badness(&*model, &dev).expect("a model that translates")
        };
        let loss = badness(&experiment);
        assert_eq!((loss, bleu_of(BestBy::Loss, loss)), (1.5, None));

        experiment.selection.best_by = BestBy::Bleu;
        let bleu = greedy_dev_bleu(&dataset, &*model, &experiment).expect("translations");
        let found = badness(&experiment);
        assert_eq!((found, bleu_of(BestBy::Bleu, found)), (-bleu, Some(bleu)));
    }
}
