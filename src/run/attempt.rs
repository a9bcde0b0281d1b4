//! One process's share of a run, with its log and listener.

use std::time::Instant;

use super::log::Log;
use super::watch::Listener;
use super::{Environment, Event, Job, RunError};

/// One process's share of a run.
pub struct Attempt<'a> {
    pub job: &'a Job,
    pub log: Log,
    pub listener: &'a mut dyn Listener,
    pub started: Instant,
}

impl<'a> Attempt<'a> {
    /// Opens the log.
    ///
    /// # Errors
    /// If the log cannot be opened.
    pub fn begin(job: &'a Job, environment: &Environment, listener: &'a mut dyn Listener) -> Result<Self, RunError> {
        let mut log = Log::open(&job.folder.log())?;
        let (suite, row, seed) = (&job.suite, &job.run.row, job.run.seed);
        log.line(&format!("{suite} {row}, seed {seed}: {}", environment.command));
        listener.hear(&Event::Preparing);
        Ok(Self {
            job,
            log,
            listener,
            started: Instant::now(),
        })
    }

    /// Writes a note to the log and passes it to the listener.
    pub fn note(&mut self, text: String) {
        self.log.line(&text);
        self.listener.hear(&Event::Note { text });
    }
}
