//! A run that is killed at random moments and continued, against the same run left alone: every bit must be the same.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime};

use rand::RngExt;
use tempfile::TempDir;
use thiserror::Error;

use super::agreement::first_difference;
use crate::plan::Run;
use crate::random::stream;
use crate::record::RunFolder;
use crate::run::RunError;
use crate::spec::{Experiment, render};
use crate::threads::cores;

/// Time between two looks at a child process.
const BETWEEN_LOOKS: Duration = Duration::from_millis(5);

/// Kills beyond those asked for, while no continuation from a checkpoint was seen.
const MORE_KILLS: u64 = 20;

/// The suites of the two runs that are compared.
const CALM: &str = "calm";
const KILLED: &str = "killed";

/// A process that runs one row of a suite.
#[derive(Debug)]
pub struct Launch<'a> {
    pub suite: &'a str,
    pub run: &'a Run,
    pub threads: usize,
    /// Folder of suites.
    pub experiments: &'a Path,
    /// Folder of results.
    pub results: &'a Path,
}

/// Link of a trial to the program around it.
pub trait Host {
    /// The command of a process that stops when its standard input is closed.
    fn command(&self, launch: &Launch) -> Command;

    /// Whether to give up.
    fn is_interrupted(&self) -> bool;

    /// Called when the run without interruption starts.
    fn calm(&mut self);

    /// Called when the other run has been killed `kills` times.
    fn killed(&mut self, kills: u64);
}

/// Evidence that a trial found.
#[derive(Debug, PartialEq, Eq)]
pub struct Proof {
    pub kills: u64,
    /// Steps after which the run was continued from a checkpoint, in order.
    pub resumed: Vec<usize>,
    /// Runs that were killed and reached their end.
    pub runs: u64,
}

/// Why a trial proved nothing.
#[derive(Debug, Error)]
pub enum ResumeError {
    #[error("--steps {steps} is less than the row's warm-up of {warmup_steps} steps")]
    ShorterThanWarmup { steps: usize, warmup_steps: usize },
    #[error("--steps {steps} is more than the row's own {own} steps")]
    LongerThanRow { steps: usize, own: usize },
    #[error(transparent)]
    Run(#[from] RunError),
    #[error("a child process: {0}")]
    Child(io::Error),
    #[error("the run ended with {0}; nothing is proven")]
    Ended(ExitStatus),
    #[error(
        "the continued run differs from the one without interruption; {what}\n  both are kept in {}",
        .folder.display()
    )]
    Differs { what: String, folder: PathBuf },
    #[error("killed {kills} times, and never continued from a checkpoint; nothing is proven")]
    NeverResumed { kills: u64 },
    #[error("interrupted")]
    Interrupted,
}

/// Trains the run without interruption and compares it with the same run killed `kills` times or more, in a temporary
/// folder. `steps` shortens the training.
///
/// # Errors
/// If the two runs differ, or the trial proves nothing.
pub fn resume(run: &Run, steps: Option<usize>, kills: u64, host: &mut dyn Host) -> Result<Proof, ResumeError> {
    let mut trial = Trial::prepare(run, steps, kills, host)?;
    trial.host.calm();
    let started = Instant::now();
    let ended = trial.wait(trial.start(CALM, cores().get(), Stdio::inherit())?, None)?;
    succeed(ended.expect("the wait had no limit"))?;
    let calm = started.elapsed();

    let mut proof = Proof {
        kills: 0,
        resumed: Vec::new(),
        runs: 0,
    };
    // A kill before the first checkpoint proves nothing about resuming: there must be continuations of the other kind.
    while proof.kills < kills || (proof.resumed.is_empty() && proof.kills < kills + MORE_KILLS) {
        proof.kills = trial.run_killed(calm, proof.kills)?;
        trial.compare()?;
        proof.resumed.extend(trial.resumed_after()?);
        proof.runs += 1;
    }
    if proof.resumed.is_empty() {
        return Err(ResumeError::NeverResumed { kills: proof.kills });
    }
    proof.resumed.sort_unstable();
    Ok(proof)
}

/// One row in a temporary folder, under two suites.
struct Trial<'a> {
    run: &'a Run,
    kills: u64,
    host: &'a mut dyn Host,
    folder: TempDir,
}

impl<'a> Trial<'a> {
    fn prepare(run: &'a Run, steps: Option<usize>, kills: u64, host: &'a mut dyn Host) -> Result<Self, ResumeError> {
        let experiment = shortened(&run.experiment, steps)?;
        let folder = TempDir::with_prefix("ablate-verify-").map_err(RunError::io("a temporary folder"))?;
        let trial = Self {
            run,
            kills,
            host,
            folder,
        };
        let suite = format!(
            "title = \"verify-resume\"\nbase = \"bases/run.toml\"\nseeds = [{}]\n\n[[row]]\nid = \"{}\"\n",
            run.seed, run.row
        );
        let experiments = trial.experiments();
        fs::create_dir_all(experiments.join("bases")).map_err(RunError::io(&experiments))?;
        for (name, text) in [
            ("bases/run.toml", render(&experiment)),
            ("calm.toml", suite.clone()),
            ("killed.toml", suite),
        ] {
            let path = experiments.join(name);
            fs::write(&path, text).map_err(RunError::io(&path))?;
        }
        Ok(trial)
    }

    fn experiments(&self) -> PathBuf {
        self.folder.path().join("experiments")
    }

    fn results(&self) -> PathBuf {
        self.folder.path().join("results")
    }

    fn run_folder(&self, suite: &str) -> RunFolder {
        RunFolder::new(&self.results(), suite, &self.run.row, self.run.seed)
    }

    /// Starts a process. It stops when this one is gone, because this one holds the other end of its standard input.
    fn start(&self, suite: &str, threads: usize, stderr: Stdio) -> Result<Child, ResumeError> {
        let mut command = self.host.command(&Launch {
            suite,
            run: self.run,
            threads,
            experiments: &self.experiments(),
            results: &self.results(),
        });
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(stderr);
        command.spawn().map_err(ResumeError::Child)
    }

    /// Returns how the child ended. Kills it after `limit`, and returns nothing then.
    fn wait(&self, mut child: Child, limit: Option<Duration>) -> Result<Option<ExitStatus>, ResumeError> {
        let started = Instant::now();
        loop {
            let ended = child.try_wait().map_err(ResumeError::Child)?;
            let is_interrupted = self.host.is_interrupted();
            let is_over = limit.is_some_and(|limit| started.elapsed() >= limit);
            if ended.is_none() && (is_interrupted || is_over) {
                child.kill().and_then(|()| child.wait()).map_err(ResumeError::Child)?;
            }
            if is_interrupted {
                return Err(ResumeError::Interrupted);
            }
            if ended.is_some() || is_over {
                return Ok(ended);
            }
            sleep(BETWEEN_LOOKS);
        }
    }

    /// The steps after which the killed run was continued, as its log says: not from the start, and with updates left.
    fn resumed_after(&self) -> Result<Vec<usize>, ResumeError> {
        let path = self.run_folder(KILLED).log();
        let log = fs::read_to_string(&path).map_err(RunError::io(&path))?;
        let starts = log.lines().filter_map(|line| {
            let (step, steps) = line.split_once("training from step ")?.1.split_once(" to ")?;
            Some((step.parse::<usize>().ok()?, steps.parse::<usize>().ok()?))
        });
        let resumed = starts.filter(|(step, steps)| (1..*steps).contains(step));
        Ok(resumed.map(|(step, _)| step).collect())
    }

    /// Starts a fresh run and kills it at random moments of the time that the calm one took, until it ends by itself or
    /// all kills are done. Odd continuations have all threads, even ones have one: a continuation may have another number.
    /// `before` kills were done before; returns how many are done now.
    fn run_killed(&mut self, calm: Duration, before: u64) -> Result<u64, ResumeError> {
        let path = self.run_folder(KILLED).path().to_owned();
        if path.exists() {
            fs::remove_dir_all(&path).map_err(RunError::io(&path))?;
        }
        let now = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
        let mut random = stream(&["verify-resume", &now.as_nanos().to_string()]);
        let mut kills = before;
        loop {
            let is_killed = kills < self.kills.max(before + 1);
            let limit = is_killed.then(|| calm.mul_f64(random.random_range(0.0..1.0)));
            let threads = if kills.is_multiple_of(2) { 1 } else { cores().get() };
            match self.wait(self.start(KILLED, threads, Stdio::null())?, limit)? {
                Some(status) => return succeed(status).map(|()| kills),
                None => kills += 1,
            }
            self.host.killed(kills);
        }
    }

    fn compare(&self) -> Result<(), ResumeError> {
        let [calm, killed] = [CALM, KILLED].map(|suite| self.run_folder(suite));
        let Some(what) = first_difference(&calm, &killed, self.run.experiment.evaluation.split)? else {
            return Ok(());
        };
        // Both are needed to find the reason.
        let folder = self.folder.path().with_extension("differs");
        fs::rename(self.folder.path(), &folder).map_err(RunError::io(&folder))?;
        Err(ResumeError::Differs { what, folder })
    }
}

/// The experiment with at most `steps` updates, and at least ten checkpoints on the way, which change no result.
fn shortened(experiment: &Experiment, steps: Option<usize>) -> Result<Experiment, ResumeError> {
    let mut shortened = experiment.clone();
    let training = &mut shortened.training;
    if let Some(steps) = steps {
        let (warmup_steps, own) = (training.warmup_steps, training.steps);
        if steps < warmup_steps {
            return Err(ResumeError::ShorterThanWarmup { steps, warmup_steps });
        }
        if steps > own {
            return Err(ResumeError::LongerThanRow { steps, own });
        }
        training.steps = steps;
    }
    training.validate_every = training.validate_every.min(training.steps);
    training.checkpoint_every = training.checkpoint_every.min(training.steps.div_ceil(10));
    // No more than there is to choose from now.
    let (measurements, selection) = (training.measurements(), &mut shortened.selection);
    selection.average = selection.average.min(measurements);
    if selection.patience >= measurements {
        selection.patience = 0;
    }
    Ok(shortened)
}

fn succeed(status: ExitStatus) -> Result<(), ResumeError> {
    if status.success() {
        Ok(())
    } else {
        Err(ResumeError::Ended(status))
    }
}
