//! The dev loss of a row over its training, for a chart.

use std::collections::BTreeMap;

use crate::record::{HistoryRow, HistorySplit};

/// Dev loss of a row, averaged over its seeds.
#[derive(Debug, Clone, PartialEq)]
pub struct LossCurve {
    pub row: String,
    /// (step, `loss_nats`), by increasing step.
    pub points: Vec<(u64, f64)>,
}

/// Returns the mean curve of `row` from one history per seed, at the steps that every seed has measured.
///
/// A mean over fewer seeds would jump where a seed ends. A loss that is not finite counts as not measured.
#[must_use]
pub fn mean_dev_curve(row: &str, seeds: &[Vec<HistoryRow>]) -> LossCurve {
    let mut losses_by_step: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
    for measured in seeds.iter().flatten().filter(|row| row.split == HistorySplit::Dev) {
        if let Some(loss_nats) = measured.loss_nats.filter(|loss| loss.is_finite()) {
            losses_by_step.entry(measured.step).or_default().push(loss_nats);
        }
    }
    let mean = |losses: Vec<f64>| losses.iter().sum::<f64>() / losses.len() as f64;
    let complete = losses_by_step
        .into_iter()
        .filter(|(_, losses)| losses.len() == seeds.len());
    LossCurve {
        row: row.to_owned(),
        points: complete.map(|(step, losses)| (step, mean(losses))).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dev(step: u64, loss_nats: f64) -> HistoryRow {
        HistoryRow {
            step,
            split: HistorySplit::Dev,
            loss_nats: Some(loss_nats),
            ppl: None,
            lr: None,
            grad_norm: None,
            tokens_per_s: None,
            bleu: None,
        }
    }

    #[test]
    fn the_mean_is_taken_where_every_seed_has_a_finite_dev_loss() {
        let first = vec![dev(10, 4.0), dev(20, 3.0), dev(30, 2.0)];
        let train = HistoryRow {
            split: HistorySplit::Train,
            ..dev(10, 100.0)
        };
        let second = vec![train, dev(10, 5.0), dev(20, f64::NAN), dev(30, 2.5), dev(40, 1.0)];
        assert_eq!(mean_dev_curve("base", &[first, second]).points, [(10, 4.5), (30, 2.25)]);
    }
}
