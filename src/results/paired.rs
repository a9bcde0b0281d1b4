//! The difference of a row to the baseline, and its evidence.

use super::student_t::{two_sided_p, two_sided_quantile};

/// BLEU of a row minus BLEU of the baseline, over the seeds that both finished.
///
/// The difference is taken seed by seed, so effects of a seed on both rows (order of batches, dropped units) cancel.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Difference {
    pub mean: f64,
    /// Number of seeds that both rows finished.
    pub seeds: usize,
    /// `None` with a single seed, which shows nothing about the spread between seeds.
    pub evidence: Option<Evidence>,
}

/// A paired t test of the difference.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Evidence {
    pub standard_error: f64,
    /// The 95 % interval is the mean plus or minus this.
    pub half_width_95: f64,
    /// Two-sided p-value of this row alone.
    pub p_value: f64,
    /// p-value after Holm's correction for the number of rows tested.
    pub p_holm: f64,
}

impl Difference {
    /// Takes the mean of the seeds' differences and, if there are several, their sample standard deviation.
    pub(super) fn new(mean: f64, sd: Option<f64>, seeds: usize) -> Self {
        let evidence = sd.filter(|_| seeds >= 2).map(|sd| Evidence::new(mean, sd, seeds));
        Self { mean, seeds, evidence }
    }

    /// Returns whether the 95 % interval excludes zero; `None` with a single seed.
    #[must_use]
    pub fn excludes_zero(&self) -> Option<bool> {
        self.evidence.map(|evidence| self.mean.abs() > evidence.half_width_95)
    }
}

impl Evidence {
    fn new(mean: f64, sd: f64, seeds: usize) -> Self {
        let standard_error = sd / (seeds as f64).sqrt();
        // Seeds that all agree on no difference give 0/0: no evidence.
        let t = if mean == 0.0 { 0.0 } else { mean / standard_error };
        let p_value = two_sided_p(t, seeds - 1);
        let half_width_95 = standard_error * two_sided_quantile(0.05, seeds - 1);
        Self {
            standard_error,
            half_width_95,
            p_value,
            p_holm: p_value,
        }
    }
}

/// Corrects the p-values of all rows that were tested, in place.
///
/// Source: S. Holm, "A simple sequentially rejective multiple test procedure", 1979.
pub(super) fn correct_for_many(tests: &mut [&mut Evidence]) {
    tests.sort_by(|a, b| a.p_value.total_cmp(&b.p_value));
    let count = tests.len();
    let mut largest_so_far: f64 = 0.0;
    for (rank, test) in tests.iter_mut().enumerate() {
        largest_so_far = largest_so_far.max(test.p_value * (count - rank) as f64).min(1.0);
        test.p_holm = largest_so_far;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() <= 1e-12
    }

    /// `r = ttest_1samp([-1.0, -0.5, -1.3, -0.8], 0)` and `r.confidence_interval(0.95)` of scipy 1.17.1.
    #[test]
    fn four_seeds_give_the_interval_and_p_value_of_scipy() {
        let (mean, sd) = (-0.9, (0.34_f64 / 3.0).sqrt());
        let evidence = Difference::new(mean, Some(sd), 4).evidence.unwrap();
        assert!(close(evidence.p_value, 0.012_794_859_436_346_876), "{evidence:?}");
        assert!(
            close(mean - evidence.half_width_95, -1.435_685_536_271_415_8),
            "{evidence:?}"
        );
        assert!(
            close(mean + evidence.half_width_95, -0.364_314_463_728_584),
            "{evidence:?}"
        );
    }

    #[test]
    fn one_seed_is_no_test() {
        assert_eq!(Difference::new(-3.0, None, 1).excludes_zero(), None);
    }

    #[test]
    fn seeds_that_all_agree_on_nothing_show_nothing() {
        let difference = Difference::new(0.0, Some(0.0), 3);
        assert_eq!(difference.excludes_zero(), Some(false));
        assert!(close(difference.evidence.unwrap().p_value, 1.0));
    }

    /// By hand: 4 * 0.01, 3 * 0.02, 2 * 0.03 (not below the one
    /// before), 1 * 0.2.
    #[test]
    fn holm_multiplies_the_smallest_p_most_and_keeps_the_order() {
        let evidence = |p_value| Evidence {
            standard_error: 1.0,
            half_width_95: 1.0,
            p_value,
            p_holm: p_value,
        };
        let mut tests = [0.03, 0.2, 0.01, 0.02].map(evidence);
        correct_for_many(&mut tests.iter_mut().collect::<Vec<_>>());
        for (test, expected) in tests.iter().zip([0.06, 0.2, 0.04, 0.06]) {
            assert!(close(test.p_holm, expected), "{test:?}, expected {expected}");
        }
    }
}
