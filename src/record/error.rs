//! Everything that can go wrong with the files of a run.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

/// Reason why a file of a run could not be read or written.
#[derive(Debug, Error)]
pub enum RecordError {
    #[error("cannot read {}: {source}", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("cannot write {}: {source}", path.display())]
    Write { path: PathBuf, source: io::Error },
    #[error("cannot rename {} to {}: {source}", from.display(), to.display())]
    Rename {
        from: PathBuf,
        to: PathBuf,
        source: io::Error,
    },
    #[error("{}: {}", path.display(), source.message())]
    Toml {
        path: PathBuf,
        source: Box<toml::de::Error>,
    },
    #[error("{}: {source}", path.display())]
    History { path: PathBuf, source: csv::Error },
}

impl RecordError {
    pub(super) fn read(path: &Path) -> impl FnOnce(io::Error) -> Self {
        |source| Self::Read {
            path: path.to_owned(),
            source,
        }
    }

    pub(super) fn write(path: &Path) -> impl FnOnce(io::Error) -> Self {
        |source| Self::Write {
            path: path.to_owned(),
            source,
        }
    }

    pub(super) fn toml(path: &Path) -> impl FnOnce(toml::de::Error) -> Self {
        |source| Self::Toml {
            path: path.to_owned(),
            source: Box::new(source),
        }
    }
}
