//! The observer of a training: it keeps history and checkpoints, and passes on what a person wants to see.

use std::time::{Duration, Instant};

use super::checkpoints::Checkpoints;
use super::log::Log;
use super::measure::greedy_dev_bleu;
use super::snapshots::Snapshots;
use super::{Event, RunError};
use crate::data::Dataset;
use crate::model::{BatchLoss, Seq2Seq};
use crate::record::{History, HistoryRow, HistorySplit};
use crate::spec::{BestBy, Experiment};
use crate::train::{Observer, Progress, Ranking, Stop, Update, Validation};

/// Hears what a run tells, and says whether it should stop.
pub trait Listener {
    fn hear(&mut self, event: &Event);

    /// Asked after every update; a run that stops writes a checkpoint first.
    fn wants_stop(&self) -> bool;
}

/// No screen needs more.
const BETWEEN_UPDATES: Duration = Duration::from_millis(100);

pub struct Watch<'a> {
    pub experiment: &'a Experiment,
    pub dataset: &'a Dataset,
    pub history: History,
    pub checkpoints: &'a Checkpoints,
    /// Only of a run that selects among its weights.
    pub snapshots: Option<&'a Snapshots>,
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
        let steps = self.experiment.training.steps;
        if self.pace.is_due() || update.step == steps {
            let elapsed_s = self.pace.started.elapsed().as_secs_f64();
            self.listener.hear(&Event::Update {
                step: update.step,
                steps,
                loss_nats: update.losses.smoothed(),
                tokens_per_s: self.pace.tokens as f64 / elapsed_s,
                remaining_s: elapsed_s / self.pace.steps as f64 * (steps - update.step) as f64,
            });
        }
        if self.listener.wants_stop() {
            Stop::Now
        } else {
            Stop::No
        }
    }

    fn validated(&mut self, model: &dyn Seq2Seq, validation: &Validation) -> Result<f64, RunError> {
        let dev_bleu = match self.experiment.selection.best_by {
            BestBy::Loss => None,
            BestBy::Bleu => Some(greedy_dev_bleu(self.dataset, model, self.experiment)?),
        };
        let row = |split, losses: &BatchLoss| HistoryRow {
            step: validation.step as u64,
            split,
            loss_nats: Some(losses.nll()),
            ppl: Some(losses.perplexity()),
            lr: None,
            grad_norm: None,
            tokens_per_s: None,
            bleu: None,
        };
        self.history.append(&HistoryRow {
            lr: Some(validation.learning_rate),
            grad_norm: Some(validation.gradient_norm),
            tokens_per_s: Some(validation.tokens_per_s),
            ..row(HistorySplit::Train, &validation.training)
        })?;
        self.history.append(&HistoryRow {
            bleu: dev_bleu,
            ..row(HistorySplit::Dev, &validation.dev)
        })?;
        let dev_ppl = validation.dev.perplexity();
        let train_ppl = validation.training.perplexity();
        let bleu = dev_bleu.map_or_else(String::new, |bleu| format!(", greedy BLEU {bleu:.2}"));
        self.log.line(&format!(
            "step {}: ppl {train_ppl:.4} in training, {dev_ppl:.4} on dev{bleu}",
            validation.step
        ));
        self.listener.hear(&Event::Validated {
            step: validation.step,
            dev_ppl,
        });
        Ok(dev_bleu.map_or(validation.dev.nll(), |bleu| -bleu))
    }

    fn ranked(&mut self, model: &mut dyn Seq2Seq, ranking: &Ranking, step: usize) -> Result<(), RunError> {
        match self.snapshots {
            Some(snapshots) => snapshots.keep(model, ranking, step),
            None => Ok(()),
        }
    }

    fn checkpoint(&mut self, model: &mut dyn Seq2Seq, progress: &Progress) -> Result<(), RunError> {
        self.history.sync()?;
        self.checkpoints.save(model, progress)
    }
}
