//! The training loop.

use std::time::Instant;

use rand::Rng;

use super::progress::Progress;
use super::ranking::Measured;
use super::roles::{Judge, Keeper, Observer, Stop, Update, Validation};
use crate::model::{AdamStep, Batch, BatchLoss, Seq2Seq, TrainingPass};
use crate::plan::Work;
use crate::random::stream;
use crate::spec::{Experiment, Schedule};
use crate::threads::map;

/// A loss this many times that of guessing blindly (`ln V`) is an explosion, not a slow start.
const EXPLODED: f64 = 3.0;

/// End of a training.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Outcome {
    Finished,
    /// The observer asked for it; a checkpoint holds the state.
    Interrupted,
    /// Loss or gradient is not a number any more, or the loss exploded; the update was not made.
    Diverged {
        step: usize,
        loss_nats: f64,
        gradient_norm: f64,
    },
}

/// Trains one experiment with one seed. `E` is why a judge or a keeper can fail, which ends the training.
pub struct Trainer<'a, E> {
    pub experiment: &'a Experiment,
    pub seed: u64,
    /// The micro-batches of update `step`, counted from 0.
    pub updates: &'a mut dyn FnMut(usize) -> Vec<Batch>,
    /// The dev split.
    pub dev: &'a [Batch],
    pub judge: &'a mut dyn Judge<E>,
    pub keeper: &'a mut dyn Keeper<E>,
    pub observer: &'a mut dyn Observer,
}

impl<E> Trainer<'_, E> {
    /// Continues from `progress`, which is changed as training proceeds, until `training.steps` updates are done or
    /// `selection.patience` has run out.
    ///
    /// # Errors
    /// The error of the judge or the keeper.
    pub fn train(&mut self, model: &mut dyn Seq2Seq, progress: &mut Progress) -> Result<Outcome, E> {
        let training = &self.experiment.training;
        while !progress.is_over(self.experiment) {
            let started = Instant::now();
            let update = match self.update(model, progress.step) {
                Ok(update) => update,
                Err(diverged) => return Ok(diverged),
            };
            progress.step = update.step;
            progress.tokens += update.losses.tokens;
            progress.work += update.work;
            progress.since_validation += update.losses;
            progress.elapsed_s += started.elapsed().as_secs_f64();

            let stop = self.observer.updated(&update);
            if progress.is_over(self.experiment) || progress.step.is_multiple_of(training.validate_every) {
                self.measure(model, &update, progress)?;
            }
            let done = progress.is_over(self.experiment);
            if done || stop == Stop::Now || progress.step.is_multiple_of(training.checkpoint_every) {
                self.keeper.keep_state(model, progress)?;
            }
            if stop == Stop::Now && !done {
                return Ok(Outcome::Interrupted);
            }
        }
        Ok(Outcome::Finished)
    }

    /// Update number `done` + 1, or why it was not made.
    fn update(&mut self, model: &mut dyn Seq2Seq, done: usize) -> Result<Update, Outcome> {
        let batches = (self.updates)(done);
        let tokens = batches.iter().map(Batch::target_tokens).sum();
        let regularization = &self.experiment.regularization;
        let mut losses = BatchLoss::default();
        for (i, batch) in batches.iter().enumerate() {
            losses += model.accumulate(
                batch,
                &TrainingPass {
                    dropout: regularization.dropout,
                    dropout_key: dropout_key(self.seed, done, i),
                    label_smoothing: regularization.label_smoothing,
                    update_tokens: tokens,
                    precision: self.experiment.training.precision,
                },
            );
        }
        let step = done + 1;
        let limit = EXPLODED * (model.vocabulary_size() as f64).ln();
        let (loss_nats, gradient_norm) = (losses.smoothed(), model.gradient_norm());
        if loss_nats.is_nan() || loss_nats > limit || !gradient_norm.is_finite() {
            return Err(Outcome::Diverged {
                step,
                loss_nats,
                gradient_norm,
            });
        }
        let adam = self.adam(step);
        model.update(&adam);
        let mut work = Work::default();
        for batch in &batches {
            work += batch.work(self.experiment.model.attention_window);
        }
        Ok(Update {
            step,
            work,
            losses,
            learning_rate: adam.learning_rate,
            gradient_norm,
        })
    }

    fn adam(&self, step: usize) -> AdamStep {
        let training = &self.experiment.training;
        AdamStep {
            step,
            learning_rate: Schedule::of(self.experiment).rate(step),
            beta1: training.adam_beta1,
            beta2: training.adam_beta2,
            epsilon: training.adam_epsilon,
        }
    }

    /// Measures the model on the dev split, and ranks the measurement.
    fn measure(&mut self, model: &mut dyn Seq2Seq, update: &Update, progress: &mut Progress) -> Result<(), E> {
        let step = update.step;
        let dev = evaluate(model, self.dev, self.experiment.regularization.label_smoothing);
        let validation = Validation {
            step,
            training: progress.since_validation,
            badness: self.judge.badness(model, &dev)?,
            dev,
            learning_rate: update.learning_rate,
            gradient_norm: update.gradient_norm,
            tokens_per_s: progress.tokens as f64 / progress.elapsed_s,
        };
        self.keeper.keep_measurement(&validation)?;
        self.observer.validated(&validation);
        progress.since_validation = BatchLoss::default();
        let measured = Measured {
            step,
            badness: validation.badness,
            loss_nats: dev.nll(),
        };
        let Experiment {
            selection, training, ..
        } = self.experiment;
        progress.ranking.add(measured, selection, training.warmup_steps);
        self.keeper.keep_weights(model, &progress.ranking, step)
    }
}

/// The losses of a split, without dropout.
#[must_use]
pub fn evaluate(model: &dyn Seq2Seq, batches: &[Batch], label_smoothing: f32) -> BatchLoss {
    let mut losses = BatchLoss::default();
    for of_batch in map(batches.iter().collect(), |batch| model.loss(batch, label_smoothing)) {
        losses += of_batch;
    }
    losses
}

/// Every pass of a run has masks of its own.
fn dropout_key(seed: u64, step: usize, micro_batch: usize) -> u64 {
    stream(&[
        &seed.to_string(),
        "dropout",
        &step.to_string(),
        &micro_batch.to_string(),
    ])
    .next_u64()
}
