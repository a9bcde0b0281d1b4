//! A whole run on the CPU, on the device, and begun on the one and ended on the other: the same result within noise.

use std::path::Path;

use tempfile::TempDir;

use super::Check;
use crate::plan::Run;
use crate::record::{Ending, RunFolder};
use crate::run::{Device, Environment, Event, Job, Listener, RunError, Scores, execute};

/// Largest difference of BLEU that is allowed, as between two seeds.
const ALLOWED_BLEU: f64 = 2.0;
/// Largest relative difference of perplexity that is allowed.
const ALLOWED_PPL: f64 = 0.05;

/// Hears which run starts.
pub type Tell<'a> = dyn FnMut(&str) + 'a;

/// Trains, translates and scores the run three times, in a temporary folder.
///
/// # Errors
/// If a run does not end.
pub fn whole_run(
    device: Device,
    suite: &str,
    run: &Run,
    data_dir: Option<&Path>,
    tell: &mut Tell,
) -> Result<Vec<Check>, RunError> {
    let scratch = TempDir::with_prefix("ablate-selftest-").map_err(RunError::io("a temporary folder"))?;
    let job = |name: &str, device| Job {
        suite: suite.to_owned(),
        run: run.clone(),
        folder: RunFolder::new(&scratch.path().join(name), suite, &run.row, run.seed),
        data_dir: data_dir.map(Path::to_owned),
        cache_dir: scratch.path().join("cache"),
        device,
    };
    let half = run.experiment.training.steps / 2;
    tell("a run on the CPU");
    let right = Score::of(&job("cpu", Device::Cpu), usize::MAX)?;
    tell(&format!("a run on {device}"));
    let found = Score::of(&job("device", device), usize::MAX)?;
    tell(&format!("a run on the CPU until update {half}, and then on {device}"));
    Score::of(&job("both", Device::Cpu), half)?;
    let both = Score::of(&job("both", device), usize::MAX)?;
    let checks = found.against(&right, &device.to_string());
    Ok([checks, both.against(&right, &format!("the CPU and then {device}"))].concat())
}

/// Scores of a run; NaN if it was stopped.
#[derive(Clone, Copy)]
struct Score {
    ppl: f64,
    bleu: f64,
}

impl Score {
    /// Runs the job, until `step` at most.
    fn of(job: &Job, step: usize) -> Result<Self, RunError> {
        let mut listener = Until { step, reached: 0 };
        Ok(match execute(job, &Environment::here(), &mut listener)? {
            Event::Ended(Ending::Done(Scores { ppl, bleu })) => Self { ppl, bleu },
            _ => Self {
                ppl: f64::NAN,
                bleu: f64::NAN,
            },
        })
    }

    fn against(self, right: &Self, on: &str) -> Vec<Check> {
        vec![
            Check {
                name: format!("run on {on}: perplexity {:.3}, on the CPU {:.3}", self.ppl, right.ppl),
                difference: infinite_if_none((self.ppl / right.ppl - 1.0).abs()),
                allowed: ALLOWED_PPL,
            },
            Check {
                name: format!("run on {on}: BLEU {:.2}, on the CPU {:.2}", self.bleu, right.bleu),
                difference: infinite_if_none((self.bleu - right.bleu).abs()),
                allowed: ALLOWED_BLEU,
            },
        ]
    }
}

/// Replaces NaN by infinity, so that it never counts as agreement.
fn infinite_if_none(difference: f64) -> f64 {
    if difference.is_nan() { f64::INFINITY } else { difference }
}

/// Stops a run that has reached a step.
struct Until {
    step: usize,
    reached: usize,
}

impl Listener for Until {
    fn hear(&mut self, event: &Event) {
        if let Event::Update { step, .. } | Event::Validated { step, .. } = event {
            self.reached = *step;
        }
    }

    fn wants_stop(&self) -> bool {
        self.reached >= self.step
    }
}
