//! Speed of training large models: the paper's base and big model at the paper's 25 000 tokens an update.

use std::ops::Range;
use std::time::Instant;

use super::inputs::{Pair, batch, pairs};
use super::training::one_update;
use crate::plan::training_flops;
use crate::run::{Device, RunError};
use crate::spec::{Experiment, Precision};

/// Target tokens of an update (section 5.1).
const TOKENS: usize = 25_000;
/// Tokens of a sentence: about as long as those of WMT 2014 are.
const LENGTHS: Range<usize> = 5..60;
const WARM_UP: usize = 3;
const UPDATES: usize = 10;

/// One measurement.
#[derive(Debug, Clone, PartialEq)]
pub struct Speed {
    /// Seconds of an update, the median.
    pub seconds: f64,
    /// Target tokens of an update.
    pub tokens: usize,
    /// Counted operations of an update.
    pub flops: f64,
    /// Losses of the first and the last update in nats, to show that the measured steps trained.
    pub losses: [f64; 2],
}

impl Speed {
    #[must_use]
    pub fn tokens_per_s(&self) -> f64 {
        self.tokens as f64 / self.seconds
    }

    #[must_use]
    pub fn flops_per_s(&self) -> f64 {
        self.flops / self.seconds
    }
}

/// The sentences that every measurement trains on.
#[must_use]
pub fn sentences(vocabulary: usize) -> Vec<Pair> {
    pairs(&["speed"], vocabulary, &LENGTHS, TOKENS)
}

/// Updates of the experiment's model.
///
/// # Errors
/// If the device cannot be opened, or the program was not built with this shape.
pub fn speed(device: Device, suite: &str, experiment: &Experiment, precision: Precision) -> Result<Speed, RunError> {
    let mut model = device.build(suite, experiment, 1)?;
    let batch = batch(&sentences(experiment.data.vocab_size));
    // In passes, as training does.
    let parts = batch.shares(batch.target_tokens().div_ceil(experiment.training.micro_batch_tokens));
    let mut losses = Vec::new();
    let mut seconds: Vec<f64> = (0..WARM_UP + UPDATES)
        .map(|index| {
            let started = Instant::now();
            // The norm of the gradient waits for all that comes before it; the update is part of the next.
            losses.push(one_update(&mut *model, &parts, index, precision).loss);
            started.elapsed().as_secs_f64()
        })
        .skip(WARM_UP)
        .collect();
    seconds.sort_by(f64::total_cmp);
    Ok(Speed {
        seconds: seconds[UPDATES / 2],
        tokens: batch.target_tokens(),
        flops: training_flops(experiment, &batch.work(experiment.model.attention_window)),
        losses: [losses[0], losses[WARM_UP + UPDATES - 1]],
    })
}
