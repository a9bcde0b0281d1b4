//! Whether two runs came to the same end.

use std::fs;
use std::path::Path;

use super::RunError;
use super::checkpoints::newest_of;
use crate::results::{History, HistoryRow, RunFolder};
use crate::spec::{Split, Weights};

/// The first thing in which two finished runs of one experiment and seed differ, or nothing if history, scores,
/// hypotheses, weights, those chosen, and Adam's moments are the same bits. Times are not compared.
///
/// # Errors
/// If one of them lacks a file, or a file cannot be read.
pub fn first_difference(one: &RunFolder, other: &RunFolder, split: Split) -> Result<Option<String>, RunError> {
    let mut found = history(one, other)?;
    let others = Weights::ALL.map(|weights| format!("{}.{}", split.name(), weights.name()));
    for name in [split.name()].into_iter().chain(others.iter().map(String::as_str)) {
        let files = [one, other].map(|folder| folder.hypotheses(name));
        // Those of weights that were not scored are in neither.
        if name == split.name() || files.iter().any(|path| path.exists()) {
            found = found.or(line(&files[0], &files[1])?);
        }
    }
    found = found.or(line(&one.score(), &other.score())?);
    let chosen = [one.weights(), other.weights()];
    if found.is_none() && chosen.iter().any(|path| path.exists()) {
        let [one, other] = chosen.map(|path| fs::read(&path).map_err(RunError::io(path)));
        found = (one? != other?).then(|| "weights.safetensors".to_owned());
    }
    if found.is_none() {
        // A damaged one is passed over, and then the older one differs.
        let newest = |folder| newest_of(folder, |_| ());
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

/// Where two text files part.
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
