//! The order in which runs start.

use crate::plan::{Cost, Run};

/// Assumed length of a sentence in tokens; only ratios between runs matter here.
const MEAN_LENGTH: f64 = 25.0;

/// Sorts the runs by seed, so that a sweep cut short has trained every row, and within a seed by length, the longest
/// first, so that no long run is left for a single worker at the end.
#[must_use]
pub fn longest_first(mut runs: Vec<Run>) -> Vec<Run> {
    let mut seeds = Vec::new();
    for run in &runs {
        if !seeds.contains(&run.seed) {
            seeds.push(run.seed);
        }
    }
    let flops = |run: &Run| Cost::of(&run.experiment, MEAN_LENGTH).training_flops;
    runs.sort_by(|a, b| {
        let rank = |run: &Run| seeds.iter().position(|seed| *seed == run.seed);
        rank(a).cmp(&rank(b)).then(flops(b).total_cmp(&flops(a)))
    });
    runs
}
