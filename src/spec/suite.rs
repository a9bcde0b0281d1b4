//! A valid suite: resolved rows, compared with their baseline, every value with its place.

use std::collections::BTreeMap;

use super::device::DeviceWish;
use super::experiment::Experiment;
use super::keys::{Effect, keys};
use super::resolve::Setting;
use super::value::Value;

/// A table of experiments.
#[derive(Debug, Clone, PartialEq)]
pub struct Suite {
    /// The file's name without its extension; also the name of the folder of results.
    pub name: String,
    pub title: String,
    /// Device to train on, unless the command names one.
    pub device: Option<DeviceWish>,
    /// Distinct seeds; every row runs once with each.
    pub seeds: Vec<u64>,
    /// Id of the row that the others are compared with.
    pub baseline: String,
    /// Rows in the order of the file, with grids expanded in place; never empty.
    pub rows: Vec<Row>,
}

/// One row of the table.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Unique in the suite, even without regard to case, and a valid name of a folder.
    pub id: String,
    /// Name of the row in reports, if it is not the id.
    pub label: Option<String>,
    pub note: Option<String>,
    pub experiment: Experiment,
    pub paper: PaperTarget,
    /// Differences from the baseline, in the order of the schema.
    pub changes: Vec<Change>,
    /// Every key that a file sets, by path; all others have their defaults.
    pub places: BTreeMap<&'static str, Setting>,
}

/// Figures of the paper for a row; `None` where its table is blank.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct PaperTarget {
    /// Perplexity per target token.
    pub ppl: Option<f64>,
    pub bleu: Option<f64>,
    pub params_millions: Option<f64>,
}

/// One key in which a row differs from the baseline. `None` where the key has no effect or is absent.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    pub key: &'static str,
    pub baseline: Option<Value>,
    pub row: Option<Value>,
}

impl Suite {
    /// Returns the row that the others are compared with.
    #[must_use]
    pub fn baseline_row(&self) -> &Row {
        self.row(&self.baseline).expect("a suite's baseline is one of its rows")
    }

    #[must_use]
    pub fn row(&self, id: &str) -> Option<&Row> {
        self.rows.iter().find(|row| row.id == id)
    }
}

/// Returns the keys in which `row` differs from `baseline`, without bookkeeping that only follows from the length of
/// training.
pub(super) fn changes(baseline: &Experiment, row: &Experiment, set: &BTreeMap<&'static str, Setting>) -> Vec<Change> {
    keys()
        .filter(|key| key.effect != Effect::Bookkeeping || set.contains_key(key.path))
        .map(|key| Change {
            key: key.path,
            baseline: key.value_in(baseline),
            row: key.value_in(row),
        })
        .filter(|change| change.baseline != change.row)
        .collect()
}
