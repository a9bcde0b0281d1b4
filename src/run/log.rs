//! `log.txt`: what a run said, for people.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;

use super::RunError;
use crate::clock;

/// An open log; a run that continues adds to it.
#[derive(Debug)]
pub struct Log {
    file: File,
}

impl Log {
    pub fn open(path: &Path) -> Result<Self, RunError> {
        let file = OpenOptions::new()
            .create(true)
            .append(true)
            .open(path)
            .map_err(RunError::io(path))?;
        Ok(Self { file })
    }

    /// Adds a line. A log that cannot be written is no reason to lose a run.
    pub fn line(&mut self, text: &str) {
        let _ = writeln!(self.file, "{} {text}", clock::now());
    }
}
