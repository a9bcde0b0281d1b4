//! The training loop.

use std::time::Instant;

use rand::Rng;

use super::ranking::{Measured, Ranking};
use crate::model::{AdamStep, Batch, BatchLoss, Seq2Seq, TrainingPass};
use crate::plan::Work;
use crate::random::stream;
use crate::spec::{Experiment, Schedule};
use crate::threads::map;

/// A loss this many times that of guessing blindly (`ln V`) is an explosion, not a slow start.
const EXPLODED: f64 = 3.0;

/// How far a run has come. With the weights and Adam's moments it is all that a continuation needs: batches and
/// dropout masks follow from the seed and the step.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Progress {
    /// Updates done.
    pub step: usize,
    /// Target tokens trained on.
    pub tokens: usize,
    /// What was read of sources and targets.
    pub work: Work,
    /// Training losses since the last validation.
    pub since_validation: BatchLoss,
    /// What the dev split said so far.
    pub ranking: Ranking,
    /// Wall time of the updates, over all continuations; what is measured and kept between them takes time of its own.
    pub elapsed_s: f64,
}

impl Progress {
    /// Whether all updates are done, or patience has run out.
    #[must_use]
    pub fn is_over(&self, experiment: &Experiment) -> bool {
        self.step >= experiment.training.steps || self.ranking.has_run_out(experiment.selection.patience)
    }
}

/// What one update did.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Update {
    /// Counted from 1.
    pub step: usize,
    /// What it read.
    pub work: Work,
    pub losses: BatchLoss,
    pub learning_rate: f64,
    pub gradient_norm: f64,
}

/// What was measured between two updates.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Validation {
    pub step: usize,
    /// Over the updates since the last validation, with dropout.
    pub training: BatchLoss,
    /// Over the dev split, without dropout.
    pub dev: BatchLoss,
    pub learning_rate: f64,
    /// Of the update just done.
    pub gradient_norm: f64,
    pub tokens_per_s: f64,
}

/// Whether to go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    No,
    /// After a checkpoint.
    Now,
}

/// Hears what happens, keeps the checkpoints, and may ask for an end.
pub trait Observer {
    type Error;

    /// After every update.
    fn updated(&mut self, update: &Update) -> Stop;

    /// Keeps the measurement, and says how bad the model is: what it is ranked by, the smaller the better.
    ///
    /// # Errors
    /// Whatever keeps the measurement from being kept ends the training.
    fn validated(&mut self, model: &dyn Seq2Seq, validation: &Validation) -> Result<f64, Self::Error>;

    /// The model was measured and ranked after `step` updates; its weights may be asked for at the end.
    ///
    /// # Errors
    /// Whatever keeps the weights from being kept ends the training.
    fn ranked(&mut self, model: &mut dyn Seq2Seq, ranking: &Ranking, step: usize) -> Result<(), Self::Error>;

    /// # Errors
    /// Whatever keeps the checkpoint from being kept ends the training.
    fn checkpoint(&mut self, model: &mut dyn Seq2Seq, progress: &Progress) -> Result<(), Self::Error>;
}

/// How a training ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Outcome {
    Finished,
    /// The observer asked; a checkpoint holds the state.
    Interrupted,
    /// Loss or gradient is no number any more, or the loss exploded; the update was not made.
    Diverged {
        step: usize,
        loss_nats: f64,
        gradient_norm: f64,
    },
}

/// Trains one experiment with one seed.
pub struct Trainer<'a> {
    pub experiment: &'a Experiment,
    pub seed: u64,
    /// The micro-batches of update `step`, counted from 0.
    pub updates: &'a mut dyn FnMut(usize) -> Vec<Batch>,
    /// The dev split.
    pub dev: &'a [Batch],
}

impl Trainer<'_> {
    /// Goes on from `progress`, which is changed as training proceeds, until `training.steps` updates are done or
    /// `selection.patience` has run out.
    ///
    /// # Errors
    /// What the observer returns.
    pub fn train<O: Observer>(
        &mut self,
        model: &mut dyn Seq2Seq,
        progress: &mut Progress,
        observer: &mut O,
    ) -> Result<Outcome, O::Error> {
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

            let stop = observer.updated(&update);
            if progress.is_over(self.experiment) || progress.step.is_multiple_of(training.validate_every) {
                self.measure(model, &update, progress, observer)?;
            }
            let done = progress.is_over(self.experiment);
            if done || stop == Stop::Now || progress.step.is_multiple_of(training.checkpoint_every) {
                observer.checkpoint(model, progress)?;
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
            work += batch.work();
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

    /// Asks the dev split, and ranks what it said.
    fn measure<O: Observer>(
        &self,
        model: &mut dyn Seq2Seq,
        update: &Update,
        progress: &mut Progress,
        observer: &mut O,
    ) -> Result<(), O::Error> {
        let step = update.step;
        let validation = Validation {
            step,
            training: progress.since_validation,
            dev: evaluate(model, self.dev, self.experiment.regularization.label_smoothing),
            learning_rate: update.learning_rate,
            gradient_norm: update.gradient_norm,
            tokens_per_s: progress.tokens as f64 / progress.elapsed_s,
        };
        let badness = observer.validated(model, &validation)?;
        progress.since_validation = BatchLoss::default();
        let measured = Measured {
            step,
            badness,
            loss_nats: validation.dev.nll(),
        };
        let Experiment {
            selection, training, ..
        } = self.experiment;
        progress.ranking.add(measured, selection, training.warmup_steps);
        observer.ranked(model, &progress.ranking, step)
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
