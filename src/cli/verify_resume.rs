//! `ablate verify-resume`: proves on this machine that a killed run continues bit for bit.

use std::fs;
use std::process::{Child, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use rand::RngExt;
use tempfile::TempDir;

use super::args::{ExperimentsDir, Place, ResultsDir, VerifyResumeArgs};
use super::failure::Failure;
use super::interrupt::Interrupt;
use super::output::{put, tell};
use super::run::command;
use super::suites;
use crate::plan::Run;
use crate::random::stream;
use crate::record::RunFolder;
use crate::run::{Device, check, first_difference};
use crate::spec::{Experiment, render};
use crate::threads::cores;

/// Between two looks at a child.
const PATIENCE: Duration = Duration::from_millis(5);

/// Kills beyond those asked for, where none of those was followed by a continuation from a checkpoint.
const MORE_KILLS: u64 = 20;

/// The suites of the two runs that are compared.
const CALM: &str = "calm";
const KILLED: &str = "killed";

pub fn verify_resume(args: &VerifyResumeArgs) -> Result<(), Failure> {
    let (suite, run) = suites::run(&args.experiments, &args.run)?;
    let device = suites::devices(&suite, args.device)[0];
    check(&suite.name, &run, device, args.data_dir.data_dir.as_deref())?;
    let trial = Trial::prepare(args, &run, device)?;

    tell(format_args!("a run without interruption, with {} threads:", cores()));
    let started = Instant::now();
    let ended = trial.wait(trial.start(CALM, cores().get(), Stdio::inherit())?, None)?;
    succeed(ended.expect("nothing but its end was waited for"))?;
    let calm = started.elapsed();

    let bar = ProgressBar::new(u64::from(args.kills));
    bar.set_style(ProgressStyle::with_template("{bar:16} killed {pos} of {len} times").expect("a template of ours"));
    let (mut runs, mut resumed) = (0, Vec::new());
    let kills = u64::from(args.kills);
    // A kill before the first checkpoint proves nothing about resuming: there must be continuations of the other kind.
    while bar.position() < kills || (resumed.is_empty() && bar.position() < kills + MORE_KILLS) {
        trial.run_killed(calm, &bar)?;
        trial.compare()?;
        resumed.extend(trial.resumed_after()?);
        runs += 1;
    }
    bar.finish_and_clear();
    if resumed.is_empty() {
        return Err(Failure::Unproven(format!(
            "killed {} times, and never continued from a checkpoint; nothing is proven",
            bar.position()
        )));
    }
    resumed.sort_unstable();
    let steps: Vec<String> = resumed.iter().map(usize::to_string).collect();
    put(format_args!(
        "{} with seed {}: kills: {}, continuations after steps {}, runs that reached the end: {runs}\n\
         History, weights, Adam's moments, hypotheses and scores are those of the run without interruption, bit for bit.\n",
        run.row,
        run.seed,
        bar.position(),
        steps.join(", "),
    ));
    Ok(())
}

/// One row in a folder of its own, under two suites.
struct Trial<'a> {
    args: &'a VerifyResumeArgs,
    run: Run,
    device: Device,
    folder: TempDir,
    /// In that folder, but for the corpora.
    place: Place,
    interrupt: Interrupt,
}

impl<'a> Trial<'a> {
    fn prepare(args: &'a VerifyResumeArgs, run: &Run, device: Device) -> Result<Self, Failure> {
        let folder = tempfile::Builder::new()
            .prefix("ablate-verify-")
            .tempdir()
            .map_err(|error| Failure::Io(format!("a temporary folder: {error}")))?;
        let experiment = shortened(&run.experiment, args.steps.map(|steps| steps as usize))?;
        let suite = format!(
            "title = \"verify-resume\"\nbase = \"bases/run.toml\"\nseeds = [{}]\n\n[[row]]\nid = \"{}\"\n",
            run.seed, run.row
        );
        let experiments = folder.path().join("experiments");
        fs::create_dir_all(experiments.join("bases")).map_err(Failure::io(&experiments))?;
        for (name, text) in [
            ("bases/run.toml", render(&experiment)),
            ("calm.toml", suite.clone()),
            ("killed.toml", suite),
        ] {
            let path = experiments.join(name);
            fs::write(&path, text).map_err(Failure::io(&path))?;
        }
        let place = Place {
            experiments: ExperimentsDir { experiments },
            results: ResultsDir {
                results: folder.path().join("results"),
                reports: None,
            },
            data_dir: args.data_dir.clone(),
            device: None,
        };
        Ok(Self {
            args,
            device,
            run: run.clone(),
            folder,
            place,
            interrupt: Interrupt::listen(|| (), || ()),
        })
    }

    fn run_folder(&self, suite: &str) -> RunFolder {
        RunFolder::new(&self.place.results.results, suite, &self.run.row, self.run.seed)
    }

    /// This program again. It stops when this process is gone, because it holds the other end of its standard input.
    fn start(&self, suite: &str, threads: usize, stderr: Stdio) -> Result<Child, Failure> {
        let mut command = command(suite, &self.run, threads, &self.place, self.device);
        command.arg("--tied");
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(stderr);
        let failed = |error| Failure::Io(format!("a child process cannot be started: {error}"));
        command.spawn().map_err(failed)
    }

    /// How the child ended, or nothing if it was still running after `limit`.
    fn wait(&self, mut child: Child, limit: Option<Duration>) -> Result<Option<ExitStatus>, Failure> {
        let started = Instant::now();
        loop {
            let failed = |error| Failure::Io(format!("a child process: {error}"));
            let ended = child.try_wait().map_err(failed)?;
            let is_interrupted = self.interrupt.wishes() > 0;
            let is_over = limit.is_some_and(|limit| started.elapsed() >= limit);
            if ended.is_none() && (is_interrupted || is_over) {
                child.kill().and_then(|()| child.wait()).map_err(failed)?;
            }
            if is_interrupted {
                return Err(Failure::Abandoned);
            }
            if ended.is_some() || is_over {
                return Ok(ended);
            }
            sleep(PATIENCE);
        }
    }

    /// The steps after which continuations of the killed run went on, as its log tells: not from the start, and with
    /// something left to train.
    fn resumed_after(&self) -> Result<Vec<usize>, Failure> {
        let path = self.run_folder(KILLED).log();
        let log = fs::read_to_string(&path).map_err(Failure::io(&path))?;
        let starts = log.lines().filter_map(|line| {
            let (step, steps) = line.split_once("training from step ")?.1.split_once(" to ")?;
            Some((step.parse::<usize>().ok()?, steps.parse::<usize>().ok()?))
        });
        let resumed = starts.filter(|(step, steps)| (1..*steps).contains(step));
        Ok(resumed.map(|(step, _)| step).collect())
    }

    /// A fresh run, killed at random moments of the time that the calm one took, until it ends by itself or has been
    /// killed often enough. One thread and all of them take turns: a continuation may have another number.
    fn run_killed(&self, calm: Duration, bar: &ProgressBar) -> Result<(), Failure> {
        let path = self.run_folder(KILLED).path().to_owned();
        if path.exists() {
            fs::remove_dir_all(&path).map_err(Failure::io(&path))?;
        }
        let now = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
        let mut random = stream(&["verify-resume", &now.as_nanos().to_string()]);
        let first = bar.position();
        loop {
            let is_killed = bar.position() < u64::from(self.args.kills).max(first + 1);
            let limit = is_killed.then(|| calm.mul_f64(random.random_range(0.0..1.0)));
            let threads = if bar.position().is_multiple_of(2) {
                1
            } else {
                cores().get()
            };
            match self.wait(self.start(KILLED, threads, Stdio::null())?, limit)? {
                Some(status) => return succeed(status),
                None => bar.inc(1),
            }
        }
    }

    fn compare(&self) -> Result<(), Failure> {
        let [calm, killed] = [CALM, KILLED].map(|suite| self.run_folder(suite));
        match first_difference(&calm, &killed, self.run.experiment.evaluation.split)? {
            None => Ok(()),
            Some(what) => {
                // Whoever looks into it needs both.
                let kept = self.folder.path().with_extension("differs");
                fs::rename(self.folder.path(), &kept).map_err(Failure::io(&kept))?;
                Err(Failure::Unproven(format!(
                    "the continued run differs from the one without interruption; {what}\n  both are kept in {}",
                    kept.display()
                )))
            }
        }
    }
}

/// The experiment with at most `steps` updates, and at least ten checkpoints on the way, which change no result.
fn shortened(experiment: &Experiment, steps: Option<usize>) -> Result<Experiment, Failure> {
    let mut shortened = experiment.clone();
    let training = &mut shortened.training;
    if let Some(steps) = steps {
        if steps < training.warmup_steps {
            return Err(Failure::Usage(format!(
                "--steps {steps} is less than the row's warm-up of {} steps",
                training.warmup_steps
            )));
        }
        if steps > training.steps {
            return Err(Failure::Usage(format!(
                "--steps {steps} is more than the row's own {} steps",
                training.steps
            )));
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

fn succeed(status: ExitStatus) -> Result<(), Failure> {
    if status.success() {
        Ok(())
    } else {
        Err(Failure::Io(format!("the run ended with {status}; nothing is proven")))
    }
}
