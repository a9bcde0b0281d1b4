//! Whether two runs came to the same end.

use std::fs;
use std::path::Path;

use crate::record::{History, HistoryRow, RunFolder};
use crate::run::{RunError, newest_checkpoint};
use crate::spec::{Split, Weights};

/// Returns the first difference between two finished runs of one experiment and seed: of history, scores, hypotheses,
/// weights or Adam's moments, bit for bit. Times are not compared.
///
/// # Errors
/// If one of them lacks a file, or a file cannot be read.
pub fn first_difference(one: &RunFolder, other: &RunFolder, split: Split) -> Result<Option<String>, RunError> {
    let mut found = history(one, other)?;
    let folders = [one, other];
    let of_others = Weights::ALL.map(|weights| folders.map(|folder| folder.hypotheses_of(split.name(), weights)));
    // Neither folder has the hypotheses of weights that were not scored.
    let of_others = of_others
        .into_iter()
        .filter(|files| files.iter().any(|path| path.exists()));
    let in_table = [
        folders.map(|folder| folder.hypotheses(split.name())),
        folders.map(RunFolder::score),
    ];
    for [one, other] in in_table.into_iter().chain(of_others) {
        found = found.or(line(&one, &other)?);
    }
    let chosen = [one.weights(), other.weights()];
    if found.is_none() && chosen.iter().any(|path| path.exists()) {
        let [one, other] = chosen.map(|path| fs::read(&path).map_err(RunError::io(path)));
        found = (one? != other?).then(|| "weights.safetensors".to_owned());
    }
    if found.is_none() {
        // A damaged checkpoint is skipped, and then the older one differs.
        let newest = |folder| newest_checkpoint(folder, |_| ());
        let (one, other) = (newest(one)?, newest(other)?);
        found = one.first_difference(&other).map(|what| format!("checkpoint: {what}"));
    }
    Ok(found)
}

fn history(one: &RunFolder, other: &RunFolder) -> Result<Option<String>, RunError> {
    let timeless = |row: HistoryRow| HistoryRow {
        tokens_per_s: None,
        ..row
    };
    let read = |folder: &RunFolder| -> Result<Vec<HistoryRow>, RunError> {
        Ok(History::read(&folder.history())?.into_iter().map(timeless).collect())
    };
    let (one, other) = (read(one)?, read(other)?);
    let differing = one.iter().zip(&other).find(|(one, other)| one != other);
    let found = match differing {
        Some((row, _)) => Some(format!("history.csv: step {}", row.step)),
        None if one.len() != other.len() => Some(format!("history.csv: {} and {} rows", one.len(), other.len())),
        None => None,
    };
    Ok(found)
}

/// Returns the first line in which two text files differ.
fn line(one: &Path, other: &Path) -> Result<Option<String>, RunError> {
    let read = |path: &Path| fs::read(path).map_err(RunError::io(path));
    let (left, right) = (read(one)?, read(other)?);
    if left == right {
        return Ok(None);
    }
    let same = left.iter().zip(&right).take_while(|(a, b)| a == b);
    let number = 1 + same.filter(|(byte, _)| **byte == b'\n').count();
    let name = one.file_name().unwrap_or_default().to_string_lossy();
    Ok(Some(format!("{name}: line {number}")))
}
