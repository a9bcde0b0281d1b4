//! The results of a suite, read from the folders of its runs.

use std::path::Path;

use super::{Comparison, LossCurve, PlannedRun, ResultsError, ResultsTable, RowTarget, RunRecord, mean_dev_curve};
use crate::plan::{Plan, Run};
use crate::record::{History, RunFolder};
use crate::spec::{Change, Row, Suite, Value};

impl ResultsTable {
    /// Reads one record for every planned run of the suite from its folder below `results`.
    ///
    /// # Errors
    /// When [`ResultsTable::new`] refuses the records.
    pub fn of_suite(suite: &Suite, results: &Path) -> Result<Self, ResultsError> {
        let record = |run: Run| {
            let folder = RunFolder::new(results, &suite.name, &run.row, run.seed);
            let planned = PlannedRun {
                suite: suite.name.clone(),
                row: run.row,
                seed: run.seed,
                steps: run.experiment.training.steps as u64,
                spec_hash: run.spec_hash,
            };
            RunRecord::read(&folder, &planned)
        };
        Self::new(Plan::of(suite).runs.into_iter().map(record).collect())
    }
}

impl Comparison {
    /// Compares every row of the suite with its baseline and with the paper.
    ///
    /// # Errors
    /// As [`Comparison::new`].
    pub fn of_suite(suite: &Suite, table: &ResultsTable) -> Result<Self, ResultsError> {
        let targets: Vec<_> = suite.rows.iter().map(RowTarget::of).collect();
        Self::new(table, &suite.baseline, &targets)
    }
}

impl RowTarget {
    fn of(row: &Row) -> Self {
        let change = |change: &Change| {
            let value = change.row.as_ref().map_or_else(|| "unused".to_owned(), Value::bare);
            (change.key.to_owned(), value)
        };
        Self {
            id: row.id.clone(),
            label: row.label.clone(),
            note: row.note.clone(),
            changes: row.changes.iter().map(change).collect(),
            paper_ppl: row.paper.ppl,
            paper_bleu: row.paper.bleu,
            paper_params_millions: row.paper.params_millions,
        }
    }
}

/// Reads the mean dev loss of every row over those of its seeds that have a history below `results`.
#[must_use]
pub fn loss_curves(suite: &Suite, results: &Path) -> Vec<LossCurve> {
    let history = |row: &Row, seed: u64| {
        let folder = RunFolder::new(results, &suite.name, &row.id, seed);
        History::read(&folder.history()).ok()
    };
    let curve = |row: &Row| {
        let histories = suite.seeds.iter().filter_map(|&seed| history(row, seed));
        mean_dev_curve(&row.id, &histories.collect::<Vec<_>>())
    };
    suite.rows.iter().map(curve).collect()
}
