//! Everything that can go wrong with results.

use std::error::Error;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use polars::error::PolarsError;

/// Why results could not be read, written or compared.
#[derive(Debug)]
pub enum ResultsError {
    Read {
        path: PathBuf,
        source: io::Error,
    },
    Write {
        path: PathBuf,
        source: io::Error,
    },
    Rename {
        from: PathBuf,
        to: PathBuf,
        source: io::Error,
    },
    Toml {
        path: PathBuf,
        source: Box<toml::de::Error>,
    },
    History {
        path: PathBuf,
        source: csv::Error,
    },
    Table {
        path: PathBuf,
        source: PolarsError,
    },
    Header {
        path: PathBuf,
        found: String,
        expected: String,
    },
    Frame(PolarsError),
    /// A value that cannot be a result: not finite, out of range, missing from a finished run, or present in another.
    NotAResult {
        row: String,
        seed: u64,
        column: &'static str,
        found: Option<f64>,
    },
    UnknownStatus {
        row: String,
        seed: u64,
        found: String,
    },
    RunTwice {
        row: String,
        seed: u64,
    },
    UnknownBaseline {
        baseline: String,
    },
    MixedSignatures {
        row: String,
        found: String,
        expected: String,
    },
}

impl ResultsError {
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

impl From<PolarsError> for ResultsError {
    fn from(source: PolarsError) -> Self {
        Self::Frame(source)
    }
}

impl fmt::Display for ResultsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read { path, source } => write!(f, "cannot read {}: {source}", path.display()),
            Self::Write { path, source } => write!(f, "cannot write {}: {source}", path.display()),
            Self::Rename { from, to, source } => {
                write!(f, "cannot rename {} to {}: {source}", from.display(), to.display())
            }
            Self::Toml { path, source } => write!(f, "{}: {}", path.display(), source.message()),
            Self::History { path, source } => write!(f, "{}: {source}", path.display()),
            Self::Table { path, source } => write!(f, "{}: {source}", path.display()),
            Self::Header { path, found, expected } => {
                write!(
                    f,
                    "{}: the columns are `{found}`, expected `{expected}`",
                    path.display()
                )
            }
            Self::Frame(source) => write!(f, "cannot compute the comparison: {source}"),
            Self::NotAResult {
                row,
                seed,
                column,
                found: Some(found),
            } => {
                write!(
                    f,
                    "row {row}, seed {seed}: {found} is not the {column} of a finished run"
                )
            }
            Self::NotAResult {
                row,
                seed,
                column,
                found: None,
            } => {
                write!(f, "row {row}, seed {seed}: a finished run without {column}")
            }
            Self::UnknownStatus { row, seed, found } => write!(f, "row {row}, seed {seed}: `{found}` is no status"),
            Self::RunTwice { row, seed } => write!(f, "row {row}, seed {seed} appears twice"),
            Self::UnknownBaseline { baseline } => write!(f, "the baseline {baseline} is not a row of the suite"),
            Self::MixedSignatures { row, found, expected } => {
                write!(
                    f,
                    "row {row} is scored with `{found}`, the rows before it with `{expected}`"
                )
            }
        }
    }
}

impl Error for ResultsError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Read { source, .. } | Self::Write { source, .. } | Self::Rename { source, .. } => Some(source),
            Self::Toml { source, .. } => Some(source),
            Self::History { source, .. } => Some(source),
            Self::Table { source, .. } | Self::Frame(source) => Some(source),
            _ => None,
        }
    }
}
