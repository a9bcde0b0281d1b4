//! The observer of a training: it keeps history and checkpoints, and passes on what a person wants to see.

use std::time::{Duration, Instant};

use super::checkpoints::Checkpoints;
use super::log::Log;
use super::{Event, RunError};
use crate::model::{BatchLoss, Seq2Seq};
use crate::results::{History, HistoryRow, HistorySplit};
use crate::train::{Observer, Progress, Stop, Update, Validation};

/// Hears what a run tells, and says whether it should stop.
pub trait Listener {
    fn hear(&mut self, event: &Event);

    /// Asked after every update; a run that stops writes a checkpoint first.
    fn wants_stop(&self) -> bool;
}

/// No screen needs more.
const BETWEEN_UPDATES: Duration = Duration::from_millis(100);

pub struct Watch<'a> {
    pub steps: usize,
    pub history: History,
    pub checkpoints: &'a Checkpoints,
    pub log: &'a mut Log,
    pub listener: &'a mut dyn Listener,
    pub pace: Pace,
}

/// How fast this process trains, and when it last told.
pub struct Pace {
    started: Instant,
    steps: usize,
    tokens: usize,
    told: Option<Instant>,
}

impl Pace {
    pub fn start() -> Self {
        Self {
            started: Instant::now(),
            steps: 0,
            tokens: 0,
            told: None,
        }
    }

    fn add(&mut self, update: &Update) {
        self.steps += 1;
        self.tokens += update.losses.tokens;
    }

    /// Whether it is time to tell again.
    fn is_due(&mut self) -> bool {
        let due = self.told.is_none_or(|told| told.elapsed() >= BETWEEN_UPDATES);
        if due {
            self.told = Some(Instant::now());
        }
        due
    }
}

impl Observer for Watch<'_> {
    type Error = RunError;

    fn updated(&mut self, update: &Update) -> Stop {
        self.pace.add(update);
        if self.pace.is_due() || update.step == self.steps {
            let elapsed_s = self.pace.started.elapsed().as_secs_f64();
            self.listener.hear(&Event::Update {
                step: update.step,
                steps: self.steps,
                loss_nats: update.losses.smoothed(),
                tokens_per_s: self.pace.tokens as f64 / elapsed_s,
                remaining_s: elapsed_s / self.pace.steps as f64 * (self.steps - update.step) as f64,
            });
        }
        if self.listener.wants_stop() {
            Stop::Now
        } else {
            Stop::No
        }
    }

    fn validated(&mut self, validation: &Validation) -> Result<(), RunError> {
        let row = |split, losses: &BatchLoss| HistoryRow {
            step: validation.step as u64,
            split,
            loss_nats: Some(losses.nll()),
            ppl: Some(losses.perplexity()),
            lr: None,
            grad_norm: None,
            tokens_per_s: None,
        };
        self.history.append(&HistoryRow {
            lr: Some(validation.learning_rate),
            grad_norm: Some(validation.gradient_norm),
            tokens_per_s: Some(validation.tokens_per_s),
            ..row(HistorySplit::Train, &validation.training)
        })?;
        self.history.append(&row(HistorySplit::Dev, &validation.dev))?;
        let dev_ppl = validation.dev.perplexity();
        let train_ppl = validation.training.perplexity();
        self.log.line(&format!(
            "step {}: ppl {train_ppl:.4} in training, {dev_ppl:.4} on dev",
            validation.step
        ));
        self.listener.hear(&Event::Validated {
            step: validation.step,
            dev_ppl,
        });
        Ok(())
    }

    fn checkpoint(&mut self, model: &mut dyn Seq2Seq, progress: &Progress) -> Result<(), RunError> {
        self.history.sync()?;
        self.checkpoints.save(model, progress)
    }
}
