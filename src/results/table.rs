//! `results/<suite>.csv`: one line per run, written and read by the names of its columns.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use csv::{DeserializeErrorKind, ErrorKind, StringRecord};

use super::{ResultsError, RunRecord, RunStatus};
use crate::durable;
use crate::record::{is_bleu, is_ppl};

/// Columns that a file must have; of the others, those that are missing are empty.
const REQUIRED: [&str; 3] = ["row", "seed", "status"];

/// (former name, name) of columns that were renamed.
const RENAMED: [(&str, &str); 1] = [("unknown_pieces", "unknown_tokens")];

/// Records that can be compared: every run appears once, and exactly the finished runs have a result.
#[derive(Debug, Clone, PartialEq)]
pub struct ResultsTable {
    records: Vec<RunRecord>,
}

impl ResultsTable {
    /// Checks the records and keeps their order.
    ///
    /// # Errors
    /// When a run appears twice, when a finished run lacks a possible BLEU score, perplexity or signature, or when
    /// another run has one.
    pub fn new(records: Vec<RunRecord>) -> Result<Self, ResultsError> {
        let mut seen = BTreeSet::new();
        for record in &records {
            let (row, seed) = (record.row.clone(), record.seed);
            if !seen.insert((&record.row, seed)) {
                return Err(ResultsError::RunTwice { row, seed });
            }
            if let Some((column, found)) = not_a_result(record) {
                return Err(ResultsError::NotAResult {
                    row,
                    seed,
                    column,
                    found,
                });
            }
        }
        Ok(Self { records })
    }

    /// Reads a CSV by the names in its header: ignores columns that it does not know, in any order.
    ///
    /// # Errors
    /// When the file or a cell cannot be read, when `row`, `seed` or `status` is missing, when two columns have the same
    /// name, or when [`ResultsTable::new`] refuses the records.
    pub fn read(path: &Path) -> Result<Self, ResultsError> {
        let bytes = fs::read(path).map_err(|source| ResultsError::Read {
            path: path.to_owned(),
            source,
        })?;
        Self::new(records(path, &bytes)?).map_err(|fault| ResultsError::In {
            path: path.to_owned(),
            fault: Box::new(fault),
        })
    }

    /// Writes the table as CSV in one step: a missing value is an empty cell, and times come last.
    ///
    /// # Errors
    /// When the file system refuses.
    pub fn write(&self, path: &Path) -> Result<(), ResultsError> {
        let csv = if self.records.is_empty() {
            header()
        } else {
            to_csv(&self.records)
        };
        durable::write(path, &csv).map_err(|source| ResultsError::Write {
            path: path.to_owned(),
            source,
        })
    }

    #[must_use]
    pub fn records(&self) -> &[RunRecord] {
        &self.records
    }
}

fn to_csv(records: &[RunRecord]) -> Vec<u8> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for record in records {
        writer.serialize(record).expect("a record has a CSV form");
    }
    writer.into_inner().expect("a vector takes all bytes")
}

/// The first line, which the writer adds only to records.
fn header() -> Vec<u8> {
    let mut csv = to_csv(&[RunRecord::default()]);
    let end = csv.iter().position(|&byte| byte == b'\n');
    csv.truncate(end.map_or(0, |end| end + 1));
    csv
}

fn records(path: &Path, bytes: &[u8]) -> Result<Vec<RunRecord>, ResultsError> {
    let fault = |source| ResultsError::Csv {
        path: path.to_owned(),
        source,
    };
    let mut reader = csv::Reader::from_reader(bytes);
    let columns = columns(path, reader.headers().map_err(fault)?)?;
    let mut records = Vec::new();
    for cells in reader.records() {
        let cells = cells.map_err(fault)?;
        let record = cells.deserialize(Some(&columns));
        records.push(record.map_err(|error| bad_cell(path, &columns, &cells, &error))?);
    }
    Ok(records)
}

/// The names in the header, those of today for renamed columns.
fn columns(path: &Path, header: &StringRecord) -> Result<StringRecord, ResultsError> {
    let today = |name| {
        RENAMED
            .iter()
            .find(|(former, _)| *former == name)
            .map_or(name, |renamed| renamed.1)
    };
    let columns: StringRecord = header.iter().map(today).collect();
    let mut seen = BTreeSet::new();
    if let Some(twice) = columns.iter().find(|name| !name.is_empty() && !seen.insert(*name)) {
        return Err(ResultsError::ColumnTwice {
            path: path.to_owned(),
            column: twice.to_owned(),
        });
    }
    match REQUIRED.into_iter().find(|name| !seen.contains(name)) {
        Some(column) => Err(ResultsError::NoColumn {
            path: path.to_owned(),
            column,
            found: header.iter().collect::<Vec<_>>().join(","),
        }),
        None => Ok(columns),
    }
}

fn bad_cell(path: &Path, columns: &StringRecord, cells: &StringRecord, error: &csv::Error) -> ResultsError {
    let ErrorKind::Deserialize { err, .. } = error.kind() else {
        unreachable!("the cells of a record are text already");
    };
    // A number that cannot be read has a place; of the other cells only the status can be wrong.
    let at_status = || columns.iter().position(|name| name == "status");
    let at = err.field().map(|at| at as usize).or_else(at_status).unwrap_or_default();
    ResultsError::Cell {
        path: path.to_owned(),
        line: cells.position().map_or(0, csv::Position::line),
        column: columns[at].to_owned(),
        found: cells[at].to_owned(),
        why: match err.kind() {
            DeserializeErrorKind::ParseInt(_) => "not a whole number".to_owned(),
            DeserializeErrorKind::ParseFloat(_) => "not a number".to_owned(),
            _ => format!(
                "not a status; allowed: {}",
                RunStatus::ALL.map(RunStatus::name).join(", ")
            ),
        },
    }
}

/// The first value at fault, by column.
fn not_a_result(record: &RunRecord) -> Option<(&'static str, Option<f64>)> {
    let is_done = record.status == RunStatus::Done;
    let is_right = |value: Option<f64>, is_possible: fn(f64) -> bool| match value {
        Some(value) => is_done && is_possible(value),
        None => !is_done,
    };
    if !is_right(record.ppl, is_ppl) {
        Some(("ppl", record.ppl))
    } else if !is_right(record.bleu, is_bleu) {
        Some(("bleu", record.bleu))
    } else if is_done && record.signature.is_none() {
        Some(("signature", None))
    } else {
        None
    }
}
