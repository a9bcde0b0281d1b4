//! A valid suite: rows resolved, compared with their baseline, every value with the place it was set.

use std::collections::BTreeMap;

use super::device::DeviceWish;
use super::experiment::Experiment;
use super::keys::{Effect, keys};
use super::resolve::Setting;
use super::value::Value;

/// A table of experiments.
#[derive(Debug, Clone, PartialEq)]
pub struct Suite {
    /// The file's name without its extension; names the folder of results.
    pub name: String,
    pub title: String,
    /// Where it is to be trained, if the command does not say.
    pub device: Option<DeviceWish>,
    /// Distinct; every row runs once with each.
    pub seeds: Vec<u64>,
    /// The id of the row that the others are compared with.
    pub baseline: String,
    /// In the order of the file, grids expanded in place; never empty.
    pub rows: Vec<Row>,
}

/// One row of the table.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Unique in the suite, letter case aside; may name a folder.
    pub id: String,
    /// How reports call the row, if not by its id.
    pub label: Option<String>,
    pub note: Option<String>,
    pub experiment: Experiment,
    pub paper: PaperTarget,
    /// Where the row differs from the baseline, in the order of the schema.
    pub changes: Vec<Change>,
    /// Every key that a file sets, by path; a key that is absent has its default.
    pub places: BTreeMap<&'static str, Setting>,
}

/// What the paper reports for a row; `None` where its table is blank.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct PaperTarget {
    /// Per target piece.
    pub ppl: Option<f64>,
    pub bleu: Option<f64>,
    pub params_millions: Option<f64>,
}

/// One key in which a row differs from the baseline. `None` where the key has no effect.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    pub key: &'static str,
    pub baseline: Option<Value>,
    pub row: Option<Value>,
}

impl Suite {
    /// The row that the others are compared with.
    #[must_use]
    pub fn baseline_row(&self) -> &Row {
        self.row(&self.baseline).expect("a suite's baseline is one of its rows")
    }

    #[must_use]
    pub fn row(&self, id: &str) -> Option<&Row> {
        self.rows.iter().find(|row| row.id == id)
    }
}

/// The keys in which `row` differs from `baseline`. Bookkeeping that merely follows from a changed length of training
/// is nobody's change and left out.
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
