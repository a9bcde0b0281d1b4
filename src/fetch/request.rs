//! The request for a corpus, and the events on the way.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::entry::Corpus;
use super::patience::Patience;
use super::source::Mirror;

/// A corpus to fetch, and the way to do it.
#[derive(Debug)]
pub struct Request<'a> {
    pub corpus: &'a Corpus,
    pub data_dir: &'a Path,
    pub mirror: Option<&'a Mirror>,
    pub patience: Patience,
}

/// One thing that happened.
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
    /// The file was there, and is right.
    Present {
        file: PathBuf,
    },
    Note(String),
}

/// Hears what goes on.
pub type Report<'a> = dyn FnMut(Event) + 'a;
