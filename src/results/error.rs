//! Everything that can go wrong with the results of a suite.

use std::io;
use std::path::PathBuf;

use polars::error::PolarsError;
use thiserror::Error;

/// Reason why results could not be read, written or compared.
#[derive(Debug, Error)]
pub enum ResultsError {
    #[error("cannot read {}: {source}", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("cannot write {}: {source}", path.display())]
    Write { path: PathBuf, source: io::Error },
    #[error("{}: {source}", path.display())]
    Csv { path: PathBuf, source: csv::Error },
    #[error("{}:1: the column `{column}` is missing; the columns, separated by commas, are `{found}`", path.display())]
    NoColumn {
        path: PathBuf,
        column: &'static str,
        found: String,
    },
    #[error("{}:1: two columns have the name `{column}`", path.display())]
    ColumnTwice { path: PathBuf, column: String },
    #[error("{}:{line}: column `{column}`: `{found}` is {why}", path.display())]
    Cell {
        path: PathBuf,
        line: u64,
        column: String,
        found: String,
        why: String,
    },
    /// The records of a file cannot be results.
    #[error("{}: {fault}", path.display())]
    In { path: PathBuf, fault: Box<Self> },
    #[error("cannot compute the comparison: {0}")]
    Frame(#[from] PolarsError),
    /// A value that cannot be a result: not finite, out of range, missing from a finished run, or present in another run.
    #[error("row {row}, seed {seed}: {}", not_a_result(column, *found))]
    NotAResult {
        row: String,
        seed: u64,
        column: &'static str,
        found: Option<f64>,
    },
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
        None => format!("a finished run has no {column}"),
    }
}
