//! The scheduler: at most so many runs at once, the next one as soon as a place is free.

use std::collections::VecDeque;
use std::io;
use std::path::Path;
use std::process::{Command, ExitStatus};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use thiserror::Error;

use super::child::{Child, Message};
use crate::lock::Lock;
use crate::plan::Run;
use crate::record::{Marker, Outcome, RecordError, RunFolder, RunState};
use crate::run::Event;

/// How soon a wish to stop is noticed while all runs are silent.
const PATIENCE: Duration = Duration::from_millis(100);
/// The exit code of a run that ended at once when asked twice: 128 and the number of SIGINT, as shells have it.
const INTERRUPTED: i32 = 130;

/// Runs to be executed.
pub struct Sweep<'a> {
    pub suite: &'a str,
    pub results: &'a Path,
    /// In the order in which they start.
    pub runs: Vec<Run>,
    /// Runs at once.
    pub jobs: usize,
    /// The process that executes a run, tells its events on standard output as lines of JSON, and stops when its
    /// standard input is closed. It is told which of the places the run has, counted from 0.
    pub command: &'a dyn Fn(&Run, usize) -> Command,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq)]
pub enum Ending {
    /// With its last event: finished, diverged or interrupted.
    Ended(Event),
    /// Killed on request; it can be continued.
    Aborted,
    Failed {
        reason: String,
    },
}

/// Whether to go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Urgency {
    GoOn,
    /// Start nothing new, and let every run write a checkpoint.
    Stop,
    /// End at once.
    Abort,
}

/// Hears what happens.
pub trait Watcher {
    fn started(&mut self, run: &Run);

    fn heard(&mut self, run: &Run, event: &Event);

    fn ended(&mut self, run: &Run, ending: &Ending);

    /// Asked several times a second.
    fn urgency(&self) -> Urgency;
}

#[derive(Debug, Error)]
pub enum SweepError {
    #[error("{run} cannot be started: {source}")]
    Start { run: String, source: io::Error },
    #[error(transparent)]
    Record(#[from] RecordError),
}

/// A place for a run.
struct Worker {
    run: Run,
    folder: RunFolder,
    child: Child,
    /// The last event that says how the run ended.
    last: Option<Event>,
}

impl Sweep<'_> {
    /// Executes all runs, or those that were started before the watcher asked to stop. A run that failed leaves a
    /// marker with its last words.
    ///
    /// # Errors
    /// If a process cannot be started or a folder not be written; runs that go on are asked to stop.
    pub fn execute(self, watcher: &mut dyn Watcher) -> Result<Vec<(Run, Ending)>, SweepError> {
        let (sender, messages) = channel();
        let mut waiting: VecDeque<Run> = self.runs.iter().cloned().collect();
        let mut workers: Vec<Option<Worker>> = (0..self.jobs.max(1)).map(|_| None).collect();
        let mut ended = Vec::new();
        loop {
            let urgency = watcher.urgency();
            if urgency > Urgency::GoOn {
                waiting.clear();
                stop(&mut workers, urgency);
            }
            self.fill(&mut workers, &mut waiting, &sender, watcher)?;
            if workers.iter().all(Option::is_none) {
                return Ok(ended);
            }
            if let Some(mut worker) = next_closed(&messages, &mut workers, watcher) {
                let ending = conclude(&mut worker, urgency)?;
                watcher.ended(&worker.run, &ending);
                ended.push((worker.run, ending));
            }
        }
    }

    /// Starts runs in the places that are free.
    fn fill(
        &self,
        workers: &mut [Option<Worker>],
        waiting: &mut VecDeque<Run>,
        sender: &Sender<Message>,
        watcher: &mut dyn Watcher,
    ) -> Result<(), SweepError> {
        for (index, place) in workers.iter_mut().enumerate().filter(|(_, place)| place.is_none()) {
            let Some(run) = waiting.pop_front() else { break };
            let folder = RunFolder::new(self.results, self.suite, &run.row, run.seed);
            let child = Child::start((self.command)(&run, index), index, sender.clone())
                .map_err(|source| SweepError::Start { run: run.id(), source })?;
            watcher.started(&run);
            *place = Some(Worker {
                run,
                folder,
                child,
                last: None,
            });
        }
        Ok(())
    }
}

fn stop(workers: &mut [Option<Worker>], urgency: Urgency) {
    for worker in workers.iter_mut().flatten() {
        worker.child.ask_to_stop();
        if urgency == Urgency::Abort {
            worker.child.kill();
        }
    }
}

/// Passes events on until a process has closed its output or nobody says anything for a while.
fn next_closed(
    messages: &Receiver<Message>,
    workers: &mut [Option<Worker>],
    watcher: &mut dyn Watcher,
) -> Option<Worker> {
    match messages.recv_timeout(PATIENCE) {
        Ok(Message::Heard { worker, event }) => {
            if let Some(worker) = &mut workers[worker] {
                watcher.heard(&worker.run, &event);
                worker.last = Some(event);
            }
            None
        }
        Ok(Message::Closed { worker }) => workers[worker].take(),
        Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => None,
    }
}

/// How the run ended; a failure is written down, which the run itself cannot do any more.
fn conclude(worker: &mut Worker, urgency: Urgency) -> Result<Ending, SweepError> {
    let Worker {
        run,
        folder,
        child,
        last,
    } = worker;
    let status = child
        .wait()
        .map_err(|source| SweepError::Start { run: run.id(), source })?;
    match last.take() {
        Some(event) if event.is_end() => return Ok(Ending::Ended(event)),
        _ if urgency == Urgency::Abort || status.code() == Some(INTERRUPTED) => return Ok(Ending::Aborted),
        _ => {}
    }
    let reason = format!("{}\n{}", describe(status), child.complaints());
    // Whoever still works in the folder will say how that ended, and a result of another spec is not ours to mark.
    let is_ours = !matches!(
        RunState::read(folder, &run.spec_hash),
        RunState::Stale { .. } | RunState::Done(_)
    );
    if let (true, Ok(_lock)) = (is_ours, Lock::take(&folder.lock())) {
        folder.create()?;
        let outcome = Outcome::Failed { reason: reason.clone() };
        let marker = Marker {
            spec_hash: run.spec_hash.clone(),
            seed: run.seed,
            outcome,
        };
        marker.write(folder)?;
    }
    Ok(Ending::Failed { reason })
}

#[cfg(unix)]
fn describe(status: ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt;
    match (status.signal(), status.code()) {
        (Some(9), _) => "the process was killed (signal 9), by a person or for want of memory".to_owned(),
        (Some(signal), _) => format!("the process ended by signal {signal}"),
        (None, code) => format!("the process ended with exit code {}", code.unwrap_or_default()),
    }
}

#[cfg(not(unix))]
fn describe(status: ExitStatus) -> String {
    format!("the process ended with {status}")
}
