//! The observer of a training: it passes on what a person wants to see.

use std::time::{Duration, Instant};

use super::Event;
use super::judge::bleu_of;
use super::log::Log;
use crate::spec::Experiment;
use crate::train::{Observer, Stop, Update, Validation};

/// Hears the events of a run, and says whether it should stop.
pub trait Listener {
    fn hear(&mut self, event: &Event);

    /// Asked after every update; a run that stops writes a checkpoint first.
    fn wants_stop(&self) -> bool;
}

/// Time between two events: no screen needs more.
const BETWEEN_UPDATES: Duration = Duration::from_millis(100);

pub struct Watch<'a> {
    pub experiment: &'a Experiment,
    pub log: &'a mut Log,
    pub listener: &'a mut dyn Listener,
    pub pace: Pace,
}

/// Speed of this process's training, and the time of its last event.
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

    fn validated(&mut self, validation: &Validation) {
        let (step, dev_ppl) = (validation.step, validation.dev.perplexity());
        let train_ppl = validation.training.perplexity();
        let bleu = bleu_of(self.experiment.selection.best_by, validation.badness);
        let bleu = bleu.map_or_else(String::new, |bleu| format!(", greedy BLEU {bleu:.2}"));
        self.log.line(&format!(
            "step {step}: ppl {train_ppl:.4} in training, {dev_ppl:.4} on dev{bleu}"
        ));
        self.listener.hear(&Event::Validated { step, dev_ppl });
    }
}
