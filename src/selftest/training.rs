//! A few updates of a whole model on the CPU and on the device, from the same weights, on the same sentences, with the
//! same dropout; then the same translations.

use std::ops::{ControlFlow, Range};

use super::Check;
use super::inputs::{batch, pairs};
use crate::decode::{Hypothesis, translate};
use crate::model::{AdamStep, Batch, BatchLoss, NamedArray, Seq2Seq, TrainingPass};
use crate::ops::cases::largest_difference;
use crate::run::{Device, RunError};
use crate::spec::{Experiment, Precision};

const UPDATES: usize = 10;
/// Target tokens of an update; the CPU cuts it into shares, which must change nothing.
const TOKENS: usize = 1000;
/// Tokens of a sentence.
const LENGTHS: Range<usize> = 1..40;
/// Largest difference of weights after the updates, relative to their size.
const ALLOWED_WEIGHTS: f64 = 5e-3;
/// The share of sentences whose best translation may differ, for a tie between two tokens.
const ALLOWED_TRANSLATIONS: f64 = 0.05;

/// Trains the experiment's model on both devices.
///
/// # Errors
/// If the device cannot be opened, or the program was not built with this shape.
pub fn training(device: Device, suite: &str, experiment: &Experiment, seed: u64) -> Result<Vec<Check>, RunError> {
    let build = |device: Device| device.build(suite, experiment, seed);
    let sentences = |update: usize| {
        let name = ["batch", &seed.to_string(), &update.to_string()];
        batch(&pairs(&name, experiment.data.vocab_size, &LENGTHS, TOKENS))
    };
    let batches: Vec<Batch> = (0..UPDATES).map(sentences).collect();
    let mut right = build(Device::Cpu)?;
    let right_curve = train(&mut *right, &batches, Precision::F32);
    let mut checks = Vec::new();
    for precision in Precision::ALL {
        if !device.has(precision) {
            continue;
        }
        let mut found = build(device)?;
        let found_curve = train(&mut *found, &batches, precision);
        checks.extend(of_curves(&found_curve, &right_curve, precision));
        if precision == Precision::F32 {
            checks.push(Check {
                name: "weights after them".to_owned(),
                difference: of_weights(&found.weights(), &right.weights()),
                allowed: ALLOWED_WEIGHTS,
            });
            checks.push(translations(&*found, &*right, &batches[0], experiment));
        }
    }
    Ok(checks)
}

/// Losses and norms of the gradient of every update, the worst of each, as shares of what is right. After the first
/// update they drift apart by rounding.
fn of_curves(found: &[Update], right: &[Update], precision: Precision) -> [Check; 2] {
    let worst = |of: fn(&Update) -> f64| {
        let pairs = found.iter().zip(right);
        pairs
            .map(|(found, right)| relative(of(found), of(right)))
            .fold(0.0, f64::max)
    };
    let [loss, norm] = match precision {
        Precision::F32 => [2e-4, 5e-3],
        Precision::Tf32 => [5e-3, 5e-2],
        Precision::Bf16 => [2e-2, 1e-1],
    };
    let name = format!(
        "{UPDATES} updates of {TOKENS} tokens with dropout, {}",
        precision.name()
    );
    [
        Check {
            name: format!("{name}: loss"),
            difference: worst(|update| update.loss),
            allowed: loss,
        },
        Check {
            name: format!("{name}: norm of the gradient"),
            difference: worst(|update| update.gradient_norm),
            allowed: norm,
        },
    ]
}

pub(super) struct Update {
    /// Mean per token, in nats.
    pub loss: f64,
    gradient_norm: f64,
}

fn train(model: &mut dyn Seq2Seq, batches: &[Batch], precision: Precision) -> Vec<Update> {
    let batches = batches.iter().enumerate();
    batches
        .map(|(index, batch)| one_update(model, std::slice::from_ref(batch), index, precision))
        .collect()
}

/// Update `index`, counted from 0, on a batch in parts.
pub(super) fn one_update(model: &mut dyn Seq2Seq, parts: &[Batch], index: usize, precision: Precision) -> Update {
    let pass = TrainingPass {
        dropout: 0.1,
        dropout_key: index as u64,
        label_smoothing: 0.1,
        update_tokens: parts.iter().map(Batch::target_tokens).sum(),
        precision,
    };
    let mut losses = BatchLoss::default();
    for part in parts {
        losses += model.accumulate(part, &pass);
    }
    let loss = losses.smoothed();
    let gradient_norm = model.gradient_norm();
    model.update(&AdamStep {
        step: index + 1,
        learning_rate: 1e-3,
        beta1: 0.9,
        beta2: 0.98,
        epsilon: 1e-9,
    });
    Update { loss, gradient_norm }
}

fn relative(found: f64, right: f64) -> f64 {
    let difference = (found - right).abs() / right.abs();
    if difference.is_nan() { f64::INFINITY } else { difference }
}

/// The worst tensor.
fn of_weights(found: &[NamedArray], right: &[NamedArray]) -> f64 {
    let pairs = found.iter().zip(right);
    pairs
        .map(|(found, right)| largest_difference(&found.values, &right.values))
        .fold(0.0, f64::max)
}

fn translations(found: &dyn Seq2Seq, right: &dyn Seq2Seq, batch: &Batch, experiment: &Experiment) -> Check {
    let sources: Vec<Vec<u32>> = (0..batch.source.sentences())
        .map(|index| batch.pair(index).0.to_vec())
        .collect();
    let [found, right] = [found, right].map(|model| {
        translate(model, &sources, &experiment.decoding, |_| ControlFlow::Continue(())).expect("nobody breaks off")
    });
    let best = |hypotheses: &[Hypothesis]| hypotheses.first().map(|best| best.tokens.clone());
    let different = found
        .iter()
        .zip(&right)
        .filter(|(found, right)| best(found) != best(right));
    Check {
        name: format!("share of {} sentences translated otherwise", sources.len()),
        difference: different.count() as f64 / sources.len() as f64,
        allowed: ALLOWED_TRANSLATIONS,
    }
}
