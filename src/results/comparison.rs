//! The comparison of every row with the baseline and the paper.

use std::collections::BTreeSet;

use super::{BleuOfWeights, Difference, RankAgreement, RunStatus, Spread};

/// A row as the suite describes it: its changes to the baseline, and the figures that the paper reports for it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RowTarget {
    pub id: String,
    /// Name of the row in reports, if it is not the id.
    pub label: Option<String>,
    /// The suite's remark on the row.
    pub note: Option<String>,
    /// (key, value) of each change, as in `("model.heads", "1")`.
    pub changes: Vec<(String, String)>,
    pub paper_ppl: Option<f64>,
    pub paper_bleu: Option<f64>,
    pub paper_params_millions: Option<f64>,
}

/// The results of a suite, ready to be shown.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    pub baseline: String,
    /// Rows, in the suite's order.
    pub rows: Vec<RowComparison>,
    /// Signature of all BLEU scores here; `None` if no run is finished.
    pub signature: Option<String>,
    /// Agreement with the paper on the order by BLEU, over the rows that have both scores.
    pub rank: Option<RankAgreement>,
}

/// One row of the table.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RowComparison {
    pub id: String,
    /// Name of the row in reports.
    pub label: String,
    pub note: Option<String>,
    pub changes: Vec<(String, String)>,
    pub runs: RunCount,
    pub parameters: Option<u64>,
    /// Counted operations of training, averaged over the finished seeds.
    pub training_flops: Option<f64>,
    pub ppl: Option<Spread>,
    pub bleu: Option<Spread>,
    pub of_weights: BleuOfWeights,
    /// BLEU minus the baseline's; `None` for the baseline, or without a common seed.
    pub difference: Option<Difference>,
    pub paper: PaperFigures,
    /// `None` for the baseline, or if our difference or the paper's is missing.
    pub agreement: Option<Agreement>,
    /// Runs without a result.
    pub unfinished: Vec<UnfinishedRun>,
    /// Remarks on runs with a result, each with its seed.
    pub remarks: Vec<(u64, String)>,
    /// Data hashes of the finished runs. If they are not the baseline's, the row cannot be compared with it.
    pub data_hashes: BTreeSet<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RunCount {
    pub done: usize,
    pub planned: usize,
}

/// A run without a result, and the reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnfinishedRun {
    pub seed: u64,
    pub status: RunStatus,
    pub note: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct PaperFigures {
    pub ppl: Option<f64>,
    pub bleu: Option<f64>,
    pub params_millions: Option<f64>,
    /// BLEU minus that of the paper's base.
    pub difference: Option<f64>,
}

/// Agreement of our difference to the baseline with the paper's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Agreement {
    Agrees,
    Disagrees,
    /// Our 95 % interval contains zero.
    NoEvidence,
    OneSeed,
    /// We find a difference; the paper reports the same score as for its base.
    PaperSeesNone,
}

impl Comparison {
    /// Returns the row that the others are compared with.
    #[must_use]
    pub fn baseline_row(&self) -> &RowComparison {
        self.rows
            .iter()
            .find(|row| row.id == self.baseline)
            .expect("a comparison holds its baseline")
    }
}
