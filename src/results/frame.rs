//! Records as a polars frame, and the frame as `results/<suite>.csv`.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use polars::prelude::*;
use polars_io::prelude::{CsvReadOptions, CsvWriter, SerReader, SerWriter};

use super::{ResultsError, RunRecord, RunStatus};
use crate::durable;
use crate::record::{is_bleu, is_ppl};

/// One frame row per record, in their order.
///
/// # Errors
/// When a run appears twice, a finished one lacks a possible BLEU score, perplexity or signature, or another has one.
pub fn from_records(records: &[RunRecord]) -> Result<DataFrame, ResultsError> {
    checked(unchecked(records)?)
}

/// Writes the frame as CSV in one step: a missing value is an empty cell, columns with times come last.
///
/// # Errors
/// When the file system refuses.
pub fn write_csv(frame: &DataFrame, path: &Path) -> Result<(), ResultsError> {
    let mut bytes = Vec::new();
    CsvWriter::new(&mut bytes).finish(&mut frame.clone())?;
    durable::write(path, &bytes).map_err(|source| ResultsError::Write {
        path: path.to_owned(),
        source,
    })
}

/// Reads what [`write_csv`] wrote.
///
/// # Errors
/// When the file cannot be read, has other columns, or holds what [`from_records`] refuses.
pub fn read_csv(path: &Path) -> Result<DataFrame, ResultsError> {
    let schema = unchecked(&[])?.schema().clone();
    check_header(path, &schema)?;
    let file = File::open(path).map_err(|source| ResultsError::Read {
        path: path.to_owned(),
        source,
    })?;
    let options = CsvReadOptions::default().with_schema(Some(schema));
    let read = options.into_reader_with_file_handle(file).finish();
    checked(read.map_err(|source| ResultsError::Table {
        path: path.to_owned(),
        source,
    })?)
}

fn unchecked(records: &[RunRecord]) -> PolarsResult<DataFrame> {
    df!(
        "suite" => texts(records, |r| Some(&r.suite)),
        "row" => texts(records, |r| Some(&r.row)),
        "seed" => counts(records, |r| Some(r.seed)),
        "status" => texts(records, |r| Some(r.status.name())),
        "steps" => counts(records, |r| r.steps),
        "tokens" => counts(records, |r| r.tokens),
        "parameters" => counts(records, |r| r.parameters),
        "training_flops" => numbers(records, |r| r.training_flops),
        "weights" => texts(records, |r| r.weights.as_deref()),
        "ppl" => numbers(records, |r| r.ppl),
        "bleu" => numbers(records, |r| r.bleu),
        "signature" => texts(records, |r| r.signature.as_deref()),
        "bleu_13a" => numbers(records, |r| r.bleu_13a),
        "bleu_13a_lc" => numbers(records, |r| r.bleu_13a_lc),
        "bleu_intl" => numbers(records, |r| r.bleu_intl),
        "bleu_compound" => numbers(records, |r| r.bleu_compound),
        "dev_ppl" => numbers(records, |r| r.dev_ppl),
        "bleu_last" => numbers(records, |r| r.bleu_last),
        "bleu_best" => numbers(records, |r| r.bleu_best),
        "bleu_average" => numbers(records, |r| r.bleu_average),
        "best_step" => counts(records, |r| r.best_step),
        "averaged_steps" => texts(records, |r| r.averaged_steps.as_deref()),
        "skipped_pairs" => counts(records, |r| r.skipped_pairs),
        "unknown_pieces" => counts(records, |r| r.unknown_pieces),
        "spec_hash" => texts(records, |r| Some(&r.spec_hash)),
        "data_hash" => texts(records, |r| r.data_hash.as_deref()),
        "note" => texts(records, |r| r.note.as_deref()),
        "wall_s" => numbers(records, |r| r.wall_s),
        "tokens_per_s" => numbers(records, |r| r.tokens_per_s),
        "device_flops" => numbers(records, |r| r.device_flops),
    )
}

fn texts(records: &[RunRecord], of: impl Fn(&RunRecord) -> Option<&str>) -> Vec<Option<&str>> {
    records.iter().map(of).collect()
}

fn counts(records: &[RunRecord], of: impl Fn(&RunRecord) -> Option<u64>) -> Vec<Option<u64>> {
    records.iter().map(of).collect()
}

fn numbers(records: &[RunRecord], of: impl Fn(&RunRecord) -> Option<f64>) -> Vec<Option<f64>> {
    records.iter().map(of).collect()
}

/// Polars takes the names from the schema, whatever the file calls its columns.
fn check_header(path: &Path, schema: &Schema) -> Result<(), ResultsError> {
    let mut found = String::new();
    let unreadable = |source| ResultsError::Read {
        path: path.to_owned(),
        source,
    };
    let mut file = BufReader::new(File::open(path).map_err(unreadable)?);
    file.read_line(&mut found).map_err(unreadable)?;
    let found = found.trim_end().to_owned();
    let expected = schema
        .iter_names()
        .map(PlSmallStr::as_str)
        .collect::<Vec<_>>()
        .join(",");
    if found == expected {
        Ok(())
    } else {
        Err(ResultsError::Header {
            path: path.to_owned(),
            found,
            expected,
        })
    }
}

/// Only a finished run has a result, and has it once.
fn checked(frame: DataFrame) -> Result<DataFrame, ResultsError> {
    let (rows, seeds) = (frame.column("row")?.str()?, frame.column("seed")?.u64()?);
    let (statuses, signatures) = (frame.column("status")?.str()?, frame.column("signature")?.str()?);
    let (ppl, bleu) = (frame.column("ppl")?.f64()?, frame.column("bleu")?.f64()?);
    let mut seen = BTreeSet::new();
    for i in 0..frame.height() {
        let (row, seed) = (rows.get(i).unwrap_or_default(), seeds.get(i).unwrap_or_default());
        if !seen.insert((row, seed)) {
            return Err(ResultsError::RunTwice {
                row: row.to_owned(),
                seed,
            });
        }
        let status = statuses.get(i).unwrap_or_default();
        let unknown = || ResultsError::UnknownStatus {
            row: row.to_owned(),
            seed,
            found: status.to_owned(),
        };
        let status = RunStatus::of_name(status).ok_or_else(unknown)?;
        check_result(status, ppl.get(i), bleu.get(i), signatures.get(i)).map_err(|(column, found)| {
            ResultsError::NotAResult {
                row: row.to_owned(),
                seed,
                column,
                found,
            }
        })?;
    }
    Ok(frame)
}

/// The first value at fault, by column.
fn check_result(
    status: RunStatus,
    ppl: Option<f64>,
    bleu: Option<f64>,
    signature: Option<&str>,
) -> Result<(), (&'static str, Option<f64>)> {
    let is_done = status == RunStatus::Done;
    let is_right = |value: Option<f64>, is_possible: fn(f64) -> bool| match value {
        Some(value) => is_done && is_possible(value),
        None => !is_done,
    };
    if !is_right(ppl, is_ppl) {
        Err(("ppl", ppl))
    } else if !is_right(bleu, is_bleu) {
        Err(("bleu", bleu))
    } else if is_done && signature.is_none() {
        Err(("signature", None))
    } else {
        Ok(())
    }
}
