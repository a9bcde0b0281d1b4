//! A tiny model on a tiny task: say the source backwards.

use std::convert::Infallible;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use dfdx::prelude::Cpu;

use super::*;
use crate::model::{Architecture, Batch, BatchLoss, Seq2Seq, Trainable, Transformer};
use crate::ops::Of;
use crate::spec::{Experiment, load_experiment};

const SPEC: &str = "
    model = { layers = 1, d_model = 16, d_ff = 32, heads = 2 }
    regularization = { dropout = 0.1, label_smoothing = 0.1 }
    data = { corpus = 'grammar-en-de', train_pairs = 10, vocab_size = 12, max_length = 10 }
    training = { steps = 60, batch_tokens = 64, warmup_steps = 20, learning_rate_factor = 0.8, validate_every = 10, checkpoint_every = 7 }";

pub fn experiment(changes: &[(&str, &str)]) -> Experiment {
    let text = changes
        .iter()
        .fold(SPEC.to_owned(), |text, (from, to)| text.replace(from, to));
    load_experiment(Path::new("spec.toml"), &|_| Ok(text.clone())).expect("a valid spec")
}

pub fn model() -> Box<dyn Seq2Seq> {
    let architecture = Architecture::new(1, 2, 12);
    let model = Transformer::<Cpu, Of<16, 32, 16, 16>>::new(&Cpu::default(), architecture, 5);
    Box::new(Trainable::new(model))
}

/// Two micro-batches of sentences that depend on the step.
fn updates(step: usize) -> Vec<Batch> {
    let micro_batch = |part: usize| {
        let word = |i: usize, j: usize| 3 + ((step * 31 + part * 17 + i * 7 + j * j * 5) % 9) as u32;
        let sources: Vec<Vec<u32>> = (0..6).map(|i| (0..=i % 4).map(|j| word(i, j)).collect()).collect();
        let targets: Vec<Vec<u32>> = sources
            .iter()
            .map(|source| source.iter().rev().copied().collect())
            .collect();
        Batch::from_pairs(
            &sources
                .iter()
                .zip(&targets)
                .map(|(s, t)| (&s[..], &t[..]))
                .collect::<Vec<_>>(),
        )
    };
    vec![micro_batch(0), micro_batch(1)]
}

/// Remembers everything, and asks to stop after a step.
#[derive(Default)]
struct Memory {
    opinion: Opinion,
    kept: Kept,
    heard: Heard,
}

/// Judges by what it claims of a measurement, counted from 1, or else by the dev loss.
#[derive(Default)]
struct Opinion {
    claim: Option<fn(usize) -> f64>,
    measurements: usize,
}

#[derive(Default)]
struct Kept {
    validations: Vec<Validation>,
    rankings: Vec<Ranking>,
    checkpoints: Vec<Checkpoint>,
}

#[derive(Default)]
struct Heard {
    stop_after: Option<usize>,
    updates: Vec<Update>,
}

impl Judge<Infallible> for Opinion {
    fn badness(&mut self, _: &dyn Seq2Seq, dev: &BatchLoss) -> Result<f64, Infallible> {
        self.measurements += 1;
        Ok(self.claim.map_or(dev.nll(), |claim| claim(self.measurements)))
    }
}

impl Keeper<Infallible> for Kept {
    fn keep_measurement(&mut self, validation: &Validation) -> Result<(), Infallible> {
        self.validations.push(Validation {
            tokens_per_s: 0.0,
            ..*validation
        });
        Ok(())
    }

    fn keep_weights(&mut self, _: &mut dyn Seq2Seq, ranking: &Ranking, _: usize) -> Result<(), Infallible> {
        self.rankings.push(ranking.clone());
        Ok(())
    }

    fn keep_state(&mut self, model: &mut dyn Seq2Seq, progress: &Progress) -> Result<(), Infallible> {
        let timeless = Progress {
            elapsed_s: 0.0,
            ..progress.clone()
        };
        self.checkpoints.push(Checkpoint::of(model, &timeless, "test"));
        Ok(())
    }
}

impl Observer for Heard {
    fn updated(&mut self, update: &Update) -> Stop {
        self.updates.push(*update);
        if self.stop_after == Some(update.step) {
            Stop::Now
        } else {
            Stop::No
        }
    }

    fn validated(&mut self, validation: &Validation) {
        assert_eq!(self.updates.last().map(|update| update.step), Some(validation.step));
    }
}

impl Memory {
    fn claiming(claim: fn(usize) -> f64) -> Self {
        let mut memory = Self::default();
        memory.opinion.claim = Some(claim);
        memory
    }
}

fn train(experiment: &Experiment, model: &mut dyn Seq2Seq, progress: &mut Progress, memory: &mut Memory) -> Outcome {
    let dev = updates(1_000_000);
    let mut trainer = Trainer {
        experiment,
        seed: 1,
        updates: &mut updates,
        dev: &dev,
        judge: &mut memory.opinion,
        keeper: &mut memory.kept,
        observer: &mut memory.heard,
    };
    let Ok(outcome) = trainer.train(model, progress);
    outcome
}

fn trained(experiment: &Experiment) -> (Outcome, Memory) {
    let mut memory = Memory::default();
    let outcome = train(experiment, &mut *model(), &mut Progress::default(), &mut memory);
    (outcome, memory)
}

#[test]
fn training_lowers_the_dev_loss_and_measures_when_it_should() {
    let (outcome, memory) = trained(&experiment(&[]));
    assert_eq!(outcome, Outcome::Finished);
    let steps: Vec<usize> = memory
        .kept
        .validations
        .iter()
        .map(|validation| validation.step)
        .collect();
    assert_eq!(steps, [10, 20, 30, 40, 50, 60]);
    let (first, last) = (&memory.kept.validations[0], &memory.kept.validations[5]);
    assert!(
        last.dev.nll() < 0.8 * first.dev.nll(),
        "{} after {}",
        last.dev.nll(),
        first.dev.nll()
    );
    let kept: Vec<usize> = memory
        .kept
        .checkpoints
        .iter()
        .map(|checkpoint| checkpoint.progress.step)
        .collect();
    assert_eq!(kept, [7, 14, 21, 28, 35, 42, 49, 56, 60]);
    // Every window holds the tokens of its own ten updates and no others.
    let tokens =
        |steps: std::ops::Range<usize>| -> usize { steps.flat_map(updates).map(|batch| batch.target_tokens()).sum() };
    assert_eq!(memory.kept.validations[1].training.tokens, tokens(10..20));
}

#[test]
fn a_training_stopped_anywhere_and_continued_is_the_one_never_stopped() {
    let experiment = experiment(&[]);
    let (_, calm) = trained(&experiment);
    for stop in [1, 7, 9, 10, 33, 59] {
        let mut before = Memory::default();
        before.heard.stop_after = Some(stop);
        let outcome = train(&experiment, &mut *model(), &mut Progress::default(), &mut before);
        assert_eq!(outcome, Outcome::Interrupted);
        let bytes = before
            .kept
            .checkpoints
            .last()
            .expect("a checkpoint at the stop")
            .to_bytes();
        let checkpoint = Checkpoint::from_bytes(&bytes).expect("undamaged");
        assert_eq!(checkpoint.progress.step, stop);

        let mut fresh = model();
        checkpoint.restore(&mut *fresh).expect("the same model");
        let (mut progress, mut after) = (checkpoint.progress.clone(), Memory::default());
        assert_eq!(
            train(&experiment, &mut *fresh, &mut progress, &mut after),
            Outcome::Finished
        );
        assert_eq!(
            [before.kept.validations, after.kept.validations].concat(),
            calm.kept.validations,
            "stopped after {stop}"
        );
        assert_eq!(
            after.kept.rankings.last(),
            calm.kept.rankings.last(),
            "stopped after {stop}"
        );
        assert!(
            after.kept.checkpoints.last() == calm.kept.checkpoints.last(),
            "stopped after {stop}"
        );
    }
}

#[test]
fn training_ends_when_patience_has_run_out_and_stays_ended() {
    let patient = "checkpoint_every = 7 }\n    selection = { patience = 2, average = 2 }";
    let experiment = experiment(&[("checkpoint_every = 7 }", patient)]);
    let mut memory = Memory::claiming(|measurement| if measurement == 2 { 1.0 } else { 2.0 });
    let mut progress = Progress::default();
    assert_eq!(
        train(&experiment, &mut *model(), &mut progress, &mut memory),
        Outcome::Finished
    );
    assert_eq!((progress.step, progress.ranking.best_step()), (40, Some(20)));
    assert_eq!(progress.ranking.averaged_steps(&experiment.selection), [30, 40]);
    let last = memory.kept.checkpoints.pop().expect("one at the end");
    let read = Checkpoint::from_bytes(&last.to_bytes()).expect("undamaged");
    assert_eq!(read.progress.step, 40);

    let mut continued = Memory::default();
    let outcome = train(&experiment, &mut *model(), &mut read.progress.clone(), &mut continued);
    assert_eq!((outcome, continued.heard.updates.len()), (Outcome::Finished, 0));
}

#[test]
fn measuring_is_no_part_of_the_time_of_updates() {
    const PAUSE: Duration = Duration::from_millis(20);
    let mut memory = Memory::claiming(|_| {
        sleep(PAUSE);
        1.0
    });
    let (mut progress, started) = (Progress::default(), Instant::now());
    train(&experiment(&[]), &mut *model(), &mut progress, &mut memory);
    let between_s = started.elapsed().as_secs_f64() - progress.elapsed_s;
    assert!(between_s >= 6.0 * PAUSE.as_secs_f64(), "{between_s} s");
    assert!(progress.elapsed_s > 0.0);
}

#[test]
fn nothing_is_left_to_do_for_a_finished_training() {
    let mut progress = Progress {
        step: 60,
        ..Progress::default()
    };
    let mut memory = Memory::default();
    assert_eq!(
        train(&experiment(&[]), &mut *model(), &mut progress, &mut memory),
        Outcome::Finished
    );
    assert!(memory.heard.updates.is_empty() && memory.kept.checkpoints.is_empty());
}

#[test]
fn a_loss_that_is_no_number_ends_the_training_as_diverged() {
    let mut poisoned = model();
    let mut weights = poisoned.weights();
    weights[3].values[0] = f32::NAN;
    poisoned.restore_weights(&weights).expect("the same model");
    let mut memory = Memory::default();
    let outcome = train(&experiment(&[]), &mut *poisoned, &mut Progress::default(), &mut memory);
    assert!(
        matches!(outcome, Outcome::Diverged { step: 1, loss_nats, .. } if loss_nats.is_nan()),
        "{outcome:?}"
    );
    assert!(memory.heard.updates.is_empty() && memory.kept.validations.is_empty());
}

#[test]
fn a_loss_far_above_blind_guessing_ends_the_training_as_diverged() {
    let mut wild = model();
    let mut weights = wild.weights();
    weights[0].values.iter_mut().for_each(|value| *value *= 400.0);
    wild.restore_weights(&weights).expect("the same model");
    let outcome = train(
        &experiment(&[]),
        &mut *wild,
        &mut Progress::default(),
        &mut Memory::default(),
    );
    assert!(
        matches!(outcome, Outcome::Diverged { step: 1, loss_nats, .. } if loss_nats > 7.0),
        "{outcome:?}"
    );
}

#[test]
fn the_learning_rate_told_is_the_papers() {
    let (_, memory) = trained(&experiment(&[]));
    for update in &memory.heard.updates {
        // d_model^-0.5 * min(step^-0.5, step * warmup^-1.5), equation 3.
        let step = update.step as f64;
        let right = 0.8 * 0.25 * step.powf(-0.5).min(step * 20f64.powf(-1.5));
        assert!((update.learning_rate - right).abs() <= 1e-12);
    }
}
