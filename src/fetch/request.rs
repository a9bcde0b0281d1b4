//! What is asked for, and what is told on the way.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::entry::Corpus;
use super::patience::Patience;
use super::source::Mirror;

/// What is to be fetched, and how.
#[derive(Debug)]
pub struct Request<'a> {
    pub corpus: &'a Corpus,
    pub data_dir: &'a Path,
    pub mirror: Option<&'a Mirror>,
    pub patience: Patience,
}

/// What goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    Downloading {
        archive: String,
        done: u64,
        total: Option<u64>,
    },
    Retrying {
        archive: String,
        why: String,
        pause: Duration,
    },
    Verifying {
        archive: String,
    },
    Making {
        file: PathBuf,
    },
    Made {
        file: PathBuf,
        lines: u64,
    },
    /// It was there, and is right.
    Present {
        file: PathBuf,
    },
    Note(String),
}
