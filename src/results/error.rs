//! Everything that can go wrong with the results of a suite.

use std::io;
use std::path::PathBuf;

use polars::error::PolarsError;
use thiserror::Error;

/// Why results could not be read, written or compared.
#[derive(Debug, Error)]
pub enum ResultsError {
    #[error("cannot read {}: {source}", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("cannot write {}: {source}", path.display())]
    Write { path: PathBuf, source: io::Error },
    #[error("{}: {source}", path.display())]
    Table { path: PathBuf, source: PolarsError },
    #[error("{}: the columns are `{found}`, expected `{expected}`", path.display())]
    Header {
        path: PathBuf,
        found: String,
        expected: String,
    },
    #[error("cannot compute the comparison: {0}")]
    Frame(#[from] PolarsError),
    /// A value that cannot be a result: not finite, out of range, missing from a finished run, or present in another.
    #[error("row {row}, seed {seed}: {}", not_a_result(column, *found))]
    NotAResult {
        row: String,
        seed: u64,
        column: &'static str,
        found: Option<f64>,
    },
    #[error("row {row}, seed {seed}: `{found}` is no status")]
    UnknownStatus { row: String, seed: u64, found: String },
    #[error("row {row}, seed {seed} appears twice")]
    RunTwice { row: String, seed: u64 },
    #[error("the baseline {baseline} is not a row of the suite")]
    UnknownBaseline { baseline: String },
    #[error("row {row} is scored with `{found}`, the rows before it with `{expected}`")]
    MixedSignatures {
        row: String,
        found: String,
        expected: String,
    },
}

fn not_a_result(column: &str, found: Option<f64>) -> String {
    match found {
        Some(found) => format!("{found} is not the {column} of a finished run"),
        None => format!("a finished run without {column}"),
    }
}
