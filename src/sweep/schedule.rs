//! The scheduler: starts the next run as soon as a place is free.

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
use crate::record::{Ending, Marker, RecordError, RunFolder, RunState};
use crate::run::Event;

/// Time after which a wish to stop is noticed while all runs are silent.
const PATIENCE: Duration = Duration::from_millis(100);
/// Exit code of a run that was interrupted twice and ended at once: 128 plus the number of SIGINT, as in shells.
const INTERRUPTED: i32 = 130;

/// Runs to be executed.
pub struct Sweep<'a> {
    pub suite: &'a str,
    pub results: &'a Path,
    /// Runs, in the order in which they start.
    pub runs: Vec<Run>,
    /// Number of runs at once.
    pub jobs: usize,
    /// Returns the command that executes a run in a place, counted from 0. Its process writes events to standard output
    /// as lines of JSON and stops when its standard input is closed.
    pub command: &'a dyn Fn(&Run, usize) -> Command,
}

/// Wish of the watcher to go on or to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Urgency {
    GoOn,
    /// Start no more runs, and let every run write a checkpoint.
    Stop,
    /// End at once.
    Abort,
}

/// Receives the events of all runs.
pub trait Watcher {
    fn started(&mut self, run: &Run);

    fn heard(&mut self, run: &Run, event: &Event);

    fn ended(&mut self, run: &Run, last: &Event);

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
    /// Last event so far.
    last: Option<Event>,
}

impl Sweep<'_> {
    /// Executes all runs, or those that were started before the watcher asked to stop. Returns how many ended.
    ///
    /// Leaves a marker in the folder of a run that failed, with the last lines on its standard error.
    ///
    /// # Errors
    /// When a process cannot be started or a folder cannot be written; asks the other runs to stop.
    pub fn execute(self, watcher: &mut dyn Watcher) -> Result<usize, SweepError> {
        let (sender, messages) = channel();
        let mut waiting: VecDeque<Run> = self.runs.iter().cloned().collect();
        let mut workers: Vec<Option<Worker>> = (0..self.jobs.max(1)).map(|_| None).collect();
        let mut ended = 0;
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
                let last = conclude(&mut worker, urgency)?;
                watcher.ended(&worker.run, &last);
                ended += 1;
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

/// Passes events on. Returns the worker whose process has closed its output, or `None` after a while.
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

/// Returns the last event of a run. Writes the marker of a failure, which the run itself cannot do.
fn conclude(worker: &mut Worker, urgency: Urgency) -> Result<Event, SweepError> {
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
        Some(event) if event.is_last() => return Ok(event),
        _ if urgency == Urgency::Abort || status.code() == Some(INTERRUPTED) => {
            return Ok(Event::Interrupted { step: None });
        }
        _ => {}
    }
    let reason = format!("{}\n{}", describe(status), child.complaints());
    // Another process in the folder marks it itself, and a result of another spec must stay.
    let state = RunState::read(folder, &run.spec_hash);
    let is_ours = !state.is_done() && !matches!(state, RunState::Stale { .. });
    if let (true, Ok(_lock)) = (is_ours, Lock::take(&folder.lock())) {
        folder.create()?;
        let marker = Marker {
            spec_hash: run.spec_hash.clone(),
            seed: run.seed,
            ending: Ending::Failed { reason: reason.clone() },
        };
        marker.write(folder)?;
    }
    Ok(Event::Ended(Ending::Failed { reason }))
}

#[cfg(unix)]
fn describe(status: ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt;
    match (status.signal(), status.code()) {
        (Some(9), _) => "the process was killed (SIGKILL); the machine may have run out of memory".to_owned(),
        (Some(signal), _) => format!("the process was ended by signal {signal}"),
        (None, code) => format!("the process ended with exit code {}", code.unwrap_or_default()),
    }
}

#[cfg(not(unix))]
fn describe(status: ExitStatus) -> String {
    format!("the process ended with {status}")
}
