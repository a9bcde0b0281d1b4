//! Which moments of a training measured best on the dev split.

use crate::spec::{AverageOf, Selection};

/// What the dev split said after an update.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measured {
    /// Updates done.
    pub step: usize,
    /// Smaller is better.
    pub badness: f64,
}

/// The moments whose weights a selection may still ask for.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Ranking {
    /// The best measurements so far, best first; of equals, the earlier.
    pub best: Vec<Measured>,
    /// Steps of the latest measurements, oldest first.
    pub latest: Vec<usize>,
    /// Measurements since the best one.
    pub since_best: usize,
}

impl Ranking {
    /// Takes in one more measurement. A badness that is no number is worse than any other.
    pub fn add(&mut self, measured: Measured, selection: &Selection) {
        let is_better = |other: &Measured| measured.badness.total_cmp(&other.badness).is_lt();
        self.since_best = if self.best.first().is_none_or(is_better) {
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

    /// Whether nothing has become better for as long as the selection waits.
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

    /// Whether the weights of a step may still be asked for.
    #[must_use]
    pub fn needs(&self, step: usize) -> bool {
        self.latest.contains(&step) || self.best.iter().any(|measured| measured.step == step)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranking(badness: &[f64], selection: &Selection) -> Ranking {
        let mut ranking = Ranking::default();
        for (i, &badness) in badness.iter().enumerate() {
            let step = 10 * (i + 1);
            ranking.add(Measured { step, badness }, selection);
        }
        ranking
    }

    #[test]
    fn the_best_is_the_earliest_of_equals_and_no_number_is_worst() {
        let one = Selection::default();
        assert_eq!(ranking(&[3.0, 1.0, 2.0, 1.0], &one).best_step(), Some(20));
        assert_eq!(ranking(&[f64::NAN, 9.0, f64::NAN], &one).best_step(), Some(20));
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
        let last = ranking(&badness, &select(AverageOf::Last));
        assert_eq!(last.averaged_steps(&select(AverageOf::Last)), [30, 40, 50]);
        assert_eq!(
            (last.best_step(), last.needs(20), last.needs(10)),
            (Some(20), true, false)
        );
        let best = ranking(&badness, &select(AverageOf::Best));
        assert_eq!(best.averaged_steps(&select(AverageOf::Best)), [20, 40, 50]);
        assert!(!best.needs(30));
        assert_eq!(
            ranking(&badness, &Selection::default()).averaged_steps(&Selection::default()),
            Vec::<usize>::new()
        );
    }
}
