//! Roles beside the trainer: a judge gives the number that decides, a keeper keeps what must not be lost, an observer
//! watches and may ask for an end.

use super::progress::Progress;
use super::ranking::Ranking;
use crate::model::{BatchLoss, Seq2Seq};
use crate::plan::Work;

/// One update that was made.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Update {
    /// Counted from 1.
    pub step: usize,
    /// Sources and targets that it read.
    pub work: Work,
    pub losses: BatchLoss,
    pub learning_rate: f64,
    pub gradient_norm: f64,
}

/// One measurement between two updates.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Validation {
    pub step: usize,
    /// Losses of the updates since the last validation, with dropout.
    pub training: BatchLoss,
    /// Losses of the dev split, without dropout.
    pub dev: BatchLoss,
    /// Number that the measurement is ranked by; the smaller, the better.
    pub badness: f64,
    pub learning_rate: f64,
    /// Norm of the gradient of the update just done.
    pub gradient_norm: f64,
    pub tokens_per_s: f64,
}

/// Decides how good a model is. `E` is why it can fail.
pub trait Judge<E> {
    /// The number that a model is ranked by; the smaller, the better. `dev` holds its losses on the dev split.
    ///
    /// # Errors
    /// If the number cannot be computed; this ends the training.
    fn badness(&mut self, model: &dyn Seq2Seq, dev: &BatchLoss) -> Result<f64, E>;
}

/// Keeps what a run needs after a training, and what a continuation needs. An error ends the training.
pub trait Keeper<E> {
    /// Keeps one measurement.
    ///
    /// # Errors
    /// If it cannot be kept.
    fn keep_measurement(&mut self, validation: &Validation) -> Result<(), E>;

    /// Keeps the weights after `step` updates if the ranking may still ask for them, and drops those that it cannot ask
    /// for any more.
    ///
    /// # Errors
    /// If the weights cannot be kept.
    fn keep_weights(&mut self, model: &mut dyn Seq2Seq, ranking: &Ranking, step: usize) -> Result<(), E>;

    /// Keeps a checkpoint, after all measurements before it.
    ///
    /// # Errors
    /// If it cannot be kept.
    fn keep_state(&mut self, model: &mut dyn Seq2Seq, progress: &Progress) -> Result<(), E>;
}

/// Watches a training.
pub trait Observer {
    /// Called after every update.
    fn updated(&mut self, update: &Update) -> Stop;

    /// Called after every measurement.
    fn validated(&mut self, validation: &Validation);
}

/// Whether to continue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    No,
    /// Stop after a checkpoint.
    Now,
}
