//! `ablate run`: one row with one seed, for a person or for a sweep.

use std::io::{Read, Write};
use std::num::NonZero;
use std::path::Path;
use std::process::{Command, exit};
use std::thread;

use super::args::{Place, ProgressStyle, RunArgs};
use super::failure::Failure;
use super::interrupt::Interrupt;
use super::progress::Display;
use super::suites;
use crate::plan::Run;
use crate::record::{Ending, RunFolder};
use crate::run::{Device, Environment, Event, Job, Listener, execute};
use crate::spec::Suite;
use crate::threads::{cores, use_threads};

pub fn run(args: &RunArgs) -> Result<(), Failure> {
    let (suite, run) = suites::run(&args.place.experiments, &args.run)?;
    let job = job(&suite, run, &args.place);
    let environment = Environment::here();
    let threads = args.threads.and_then(|threads| NonZero::new(usize::from(threads)));
    use_threads(threads.unwrap_or_else(cores));
    let event = match args.progress {
        ProgressStyle::Auto => {
            let interrupt = Interrupt::listen(Interrupt::announce, || exit(130));
            if args.tied {
                stop_with_standard_input(&interrupt);
            }
            let mut display = Display::new(1, 0);
            display.start(&job.run.id());
            execute(
                &job,
                &environment,
                &mut Person {
                    run: job.run.id(),
                    display,
                    interrupt,
                },
            )?
        }
        ProgressStyle::Json => {
            let interrupt = Interrupt::listen(|| (), || exit(130));
            stop_with_standard_input(&interrupt);
            execute(&job, &environment, &mut Machine { interrupt })?
        }
    };
    match event {
        Event::Ended(Ending::Diverged { step }) => Err(Failure::Diverged { step }),
        Event::Interrupted { .. } => Err(Failure::Interrupted),
        _ => Ok(()),
    }
}

fn job(suite: &Suite, run: Run, place: &Place) -> Job {
    let results: &Path = &place.results.results;
    Job {
        suite: suite.name.clone(),
        folder: RunFolder::new(results, &suite.name, &run.row, run.seed),
        run,
        data_dir: place.data_dir.data_dir.clone(),
        cache_dir: cache_dir(results),
        device: suites::devices(suite, place.device)[0],
    }
}

/// Command that starts this program for one run. `suite` is a name in the experiments folder of `place`, or a path.
pub fn command(suite: &str, run: &Run, threads: usize, place: &Place, device: Device) -> Command {
    let program = std::env::current_exe().expect("a running program has a path");
    let mut command = Command::new(program);
    command
        .args(["run", suite, &run.row, "--seed", &run.seed.to_string()])
        .args(["--threads", &threads.to_string(), "--device", &device.to_string()])
        .arg("--experiments")
        .arg(&place.experiments.experiments)
        .arg("--results")
        .arg(&place.results.results);
    if let Some(folder) = &place.data_dir.data_dir {
        command.arg("--data-dir").arg(folder);
    }
    command
}

/// Vocabularies are prepared once per corpus and shared by all runs.
pub fn cache_dir(results: &Path) -> std::path::PathBuf {
    results.join(".cache")
}

/// Stops the run when standard input is closed: the process that started the run has then ended.
fn stop_with_standard_input(interrupt: &Interrupt) {
    let interrupt = interrupt.clone();
    thread::spawn(move || {
        let mut ignored = [0; 64];
        while matches!(std::io::stdin().read(&mut ignored), Ok(1..)) {}
        interrupt.wish();
    });
}

/// Shows progress to a person.
struct Person {
    run: String,
    display: Display,
    interrupt: Interrupt,
}

impl Listener for Person {
    fn hear(&mut self, event: &Event) {
        self.display.show(&self.run, event);
        if event.is_last() {
            self.display.end(&self.run, event);
        }
    }

    fn wants_stop(&self) -> bool {
        self.interrupt.wishes() > 0
    }
}

/// Tells progress to another process.
struct Machine {
    interrupt: Interrupt,
}

impl Listener for Machine {
    fn hear(&mut self, event: &Event) {
        let line = serde_json::to_string(event).expect("an event has a JSON form");
        // A sweep that is gone hears nothing; its end is noticed on standard input.
        let _ = writeln!(std::io::stdout().lock(), "{line}");
    }

    fn wants_stop(&self) -> bool {
        self.interrupt.wishes() > 0
    }
}
