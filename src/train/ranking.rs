//! Ranking of the measurements on the dev split.

use crate::spec::{AverageOf, Selection};

/// Measurement on the dev split after an update.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measured {
    /// Updates done.
    pub step: usize,
    /// Number to rank by; smaller is better.
    pub badness: f64,
    /// Loss that decides between equals, such as the BLEU of 0 at the start of every training.
    pub loss_nats: f64,
}

impl Measured {
    /// Whether this is strictly better. NaN is worse than any number.
    fn is_better_than(&self, other: &Self) -> bool {
        let rank = |measured: &Self| {
            let number = |value: f64| if value.is_nan() { f64::INFINITY } else { value };
            (number(measured.badness), number(measured.loss_nats))
        };
        rank(self) < rank(other)
    }
}

/// Measurements whose weights a selection may still ask for.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Ranking {
    /// The best measurements so far, best first; of equals in both, the earlier.
    pub best: Vec<Measured>,
    /// Steps of the latest measurements, oldest first.
    pub latest: Vec<usize>,
    /// Measurements since the best one, without those of the warm-up.
    pub since_best: usize,
}

impl Ranking {
    /// Adds a measurement. Patience is not counted during warm-up, the first `warmup_steps` updates.
    pub fn add(&mut self, measured: Measured, selection: &Selection, warmup_steps: usize) {
        let is_better = |other: &Measured| measured.is_better_than(other);
        let is_warm = measured.step > warmup_steps;
        self.since_best = if !is_warm || self.best.first().is_none_or(is_better) {
            0
        } else {
            self.since_best + 1
        };
        let at = self.best.partition_point(|other| !is_better(other));
        self.best.insert(at, measured);
        self.latest.push(measured.step);

        let of = |wanted| {
            if selection.average_of == wanted {
                selection.average
            } else {
                0
            }
        };
        self.best.truncate(of(AverageOf::Best).max(1));
        let outdated = self.latest.len().saturating_sub(of(AverageOf::Last));
        self.latest.drain(..outdated);
    }

    /// Whether `patience` measurements have brought nothing better.
    #[must_use]
    pub fn has_run_out(&self, patience: usize) -> bool {
        patience > 0 && self.since_best >= patience
    }

    /// The step of the best measurement.
    #[must_use]
    pub fn best_step(&self) -> Option<usize> {
        self.best.first().map(|measured| measured.step)
    }

    /// The steps whose weights are averaged, in order.
    #[must_use]
    pub fn averaged_steps(&self, selection: &Selection) -> Vec<usize> {
        let mut steps: Vec<usize> = match selection.average_of {
            AverageOf::Last => self.latest.clone(),
            AverageOf::Best => self.best.iter().map(|measured| measured.step).collect(),
        };
        steps.truncate(selection.average);
        steps.sort_unstable();
        steps
    }

    /// The steps whose weights may still be asked for.
    pub fn steps(&self) -> impl Iterator<Item = usize> {
        let best = self.best.iter().map(|measured| measured.step);
        best.chain(self.latest.iter().copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranking(badness: &[f64], selection: &Selection) -> Ranking {
        let mut ranking = Ranking::default();
        for (i, &badness) in badness.iter().enumerate() {
            let measured = Measured {
                step: 10 * (i + 1),
                badness,
                loss_nats: 0.0,
            };
            ranking.add(measured, selection, 0);
        }
        ranking
    }

    #[test]
    fn the_best_is_the_earliest_of_equals_and_no_number_is_worst() {
        let one = Selection::default();
        assert_eq!(ranking(&[3.0, 1.0, 2.0, 1.0], &one).best_step(), Some(20));
        // The hardware makes both signs.
        for nan in [f64::NAN, -f64::NAN] {
            assert_eq!(ranking(&[nan, 9.0, nan], &one).best_step(), Some(20));
        }
        assert_eq!(ranking(&[], &one).best_step(), None);
    }

    #[test]
    fn patience_runs_out_after_so_many_measurements_without_a_better_one() {
        let one = Selection::default();
        assert!(!ranking(&[2.0, 1.0, 1.0], &one).has_run_out(2));
        assert!(ranking(&[2.0, 1.0, 1.0, 1.5], &one).has_run_out(2));
        assert!(!ranking(&[2.0, 1.0, 1.5, 0.5], &one).has_run_out(2));
        assert!(!ranking(&[1.0, 2.0, 2.0, 2.0], &one).has_run_out(0));
    }

    #[test]
    fn the_last_and_the_best_to_average_are_the_ones_that_are_kept() {
        let badness = [5.0, 1.0, 4.0, 2.0, 3.0];
        let select = |average_of| Selection {
            average: 3,
            average_of,
            ..Selection::default()
        };
        let needs = |ranking: &Ranking, step| ranking.steps().any(|needed| needed == step);
        let last = ranking(&badness, &select(AverageOf::Last));
        assert_eq!(last.averaged_steps(&select(AverageOf::Last)), [30, 40, 50]);
        assert_eq!(
            (last.best_step(), needs(&last, 20), needs(&last, 10)),
            (Some(20), true, false)
        );
        let best = ranking(&badness, &select(AverageOf::Best));
        assert_eq!(best.averaged_steps(&select(AverageOf::Best)), [20, 40, 50]);
        assert!(!needs(&best, 30));
        assert_eq!(
            ranking(&badness, &Selection::default()).averaged_steps(&Selection::default()),
            Vec::<usize>::new()
        );
    }

    #[test]
    fn equals_are_told_apart_by_their_loss_and_the_warm_up_tries_no_patience() {
        let one = Selection::default();
        let mut ranking = Ranking::default();
        for (step, loss_nats) in [(10, 5.0), (20, 6.0), (30, 4.0), (40, 4.5), (50, 4.5)] {
            let measured = Measured {
                step,
                badness: 0.0,
                loss_nats,
            };
            ranking.add(measured, &one, 40);
        }
        assert_eq!((ranking.best_step(), ranking.since_best), (Some(30), 1));
    }
}
