//! `ablate sweep`: trains every row of a suite, then prints its table.

use std::path::Path;
use std::time::Instant;

use super::args::{Place, SweepArgs};
use super::failure::Failure;
use super::interrupt::Interrupt;
use super::output::tell;
use super::progress::{Display, duration};
use super::run::command;
use super::{plan, report, suites};
use crate::durable;
use crate::lock::{Lock, LockError};
use crate::plan::Run;
use crate::record::{Ending, RunFolder, RunState};
use crate::run::{self, Device, Event};
use crate::spec::Suite;
use crate::sweep::{Sweep, Urgency, Watcher, longest_first};
use crate::threads::cores;

pub fn sweep(args: &SweepArgs) -> Result<(), Failure> {
    let started = Instant::now();
    let suite = suites::load(&args.place.experiments.experiments, &args.suite)?;
    let wanted = suites::runs(&suite, &args.rows, &args.seeds)?;
    let results: &Path = &args.place.results.results;
    let _lock = Lock::take(&results.join(&suite.name).join(".lock")).map_err(another_sweep)?;
    let total = wanted.len();
    let (done, open): (Vec<Run>, Vec<Run>) = wanted.into_iter().partition(|run| is_settled(&suite, run, args));
    let devices = suites::devices(&suite, args.place.device);
    check(&suite, &open, &args.place, &devices)?;
    if !open.is_empty() {
        plan::warn(&suite, None);
    }
    let mut watcher = Screen {
        display: Display::new(total, done.len()),
        interrupt: Interrupt::listen(Interrupt::announce, || ()),
    };
    announce(&watcher.display, &suite, total, open.len());
    let runs = longest_first(open);
    let jobs = args.jobs.map_or(runs_at_once(&devices).min(runs.len()), usize::from);
    let threads = args
        .threads
        .map_or_else(|| threads_of_each(cores().get(), jobs), usize::from);
    let nothing_to_do = runs.is_empty();
    let sweep = Sweep {
        suite: &suite.name,
        results,
        runs,
        jobs,
        command: &|run, place| {
            let device = devices[place % devices.len()];
            let mut command = command(&args.suite, run, threads, &args.place, device);
            command.args(["--progress", "json"]);
            command
        },
    };
    let ended = sweep.execute(&mut watcher)?;
    watcher.display.close();
    let sections = report::write(&suite, &args.place.results)?;
    report::print(&sections);
    if !nothing_to_do {
        let elapsed = duration(started.elapsed().as_secs_f64());
        tell(format_args!("{} in {elapsed}", count(ended)));
    }
    verdict(&watcher, &suite, results, &args.rows, &args.seeds)
}

/// Checks all open runs before the first one starts.
fn check(suite: &Suite, open: &[Run], place: &Place, devices: &[Device]) -> Result<(), Failure> {
    for run in open {
        for &device in devices {
            run::check(&suite.name, run, device, place.data_dir.data_dir.as_deref())?;
        }
    }
    Ok(())
}

/// Returns whether the run needs nothing more: it is done, or it diverged and would diverge again.
fn is_settled(suite: &Suite, run: &Run, args: &SweepArgs) -> bool {
    let folder = RunFolder::new(&args.place.results.results, &suite.name, &run.row, run.seed);
    match RunState::read(&folder, &run.spec_hash) {
        RunState::Ended(Ending::Done(_)) => true,
        RunState::Ended(Ending::Diverged { .. }) => !args.retry,
        _ => false,
    }
}

fn announce(display: &Display, suite: &Suite, total: usize, open: usize) {
    let settled = total - open;
    display.line(&match (open, settled) {
        (0, _) => format!("{}: nothing to do; {} ended before", suite.name, count(total)),
        (_, 0) => format!("{}: {} to do", suite.name, count(total)),
        _ => format!(
            "{}: {} to do; {settled} of {total} ended before",
            suite.name,
            count(open)
        ),
    });
}

fn count(runs: usize) -> String {
    format!("{runs} {}", if runs == 1 { "run" } else { "runs" })
}

/// Returns one run per core, or one per GPU, which is fastest for many runs.
fn runs_at_once(devices: &[Device]) -> usize {
    match devices {
        [Device::Cpu] => cores().get(),
        gpus => gpus.len(),
    }
}

/// Shares out the cores among the runs.
fn threads_of_each(cores: usize, jobs: usize) -> usize {
    (cores / jobs.max(1)).max(1)
}

/// Returns the failure that sets the exit code, if any.
fn verdict(watcher: &Screen, suite: &Suite, results: &Path, rows: &[String], seeds: &[u64]) -> Result<(), Failure> {
    if watcher.interrupt.wishes() > 0 {
        return Err(Failure::Interrupted);
    }
    let ended_well = |run: &Run| {
        let folder = RunFolder::new(results, &suite.name, &run.row, run.seed);
        RunState::read(&folder, &run.spec_hash).is_done()
    };
    if suites::runs(suite, rows, seeds)?.iter().all(ended_well) {
        Ok(())
    } else {
        Err(Failure::SomeRunsFailed)
    }
}

/// Shows a sweep on the terminal.
struct Screen {
    display: Display,
    interrupt: Interrupt,
}

impl Watcher for Screen {
    fn started(&mut self, run: &Run) {
        self.display.start(&run.id());
    }

    fn heard(&mut self, run: &Run, event: &Event) {
        self.display.show(&run.id(), event);
    }

    fn ended(&mut self, run: &Run, last: &Event) {
        self.display.end(&run.id(), last);
    }

    fn urgency(&self) -> Urgency {
        match self.interrupt.wishes() {
            0 => Urgency::GoOn,
            1 => Urgency::Stop,
            _ => Urgency::Abort,
        }
    }
}

fn another_sweep(error: LockError) -> Failure {
    Failure::Io(match error {
        LockError::Held { path, holder } => format!(
            "another sweep works in {}: {holder}; wait for its end, or choose another folder with --results",
            durable::folder_of(&path).display()
        ),
        other @ LockError::Io { .. } => other.to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gpu_has_one_run_at_a_time() {
        let gpus = [0, 1, 2].map(|ordinal| Device::Cuda { ordinal });
        assert_eq!(runs_at_once(&gpus), 3);
        assert_eq!(runs_at_once(&[Device::Cpu]), cores().get());
    }

    #[test]
    fn cores_are_shared_out_among_the_runs() {
        assert_eq!(threads_of_each(8, 3), 2);
        assert_eq!(threads_of_each(2, 1), 2);
        assert_eq!(threads_of_each(2, 20), 1);
        assert_eq!(threads_of_each(4, 0), 4);
    }
}
