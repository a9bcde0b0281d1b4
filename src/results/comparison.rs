//! Every row of a suite beside the baseline and the paper.

use std::collections::BTreeSet;

use super::{BleuOfWeights, Difference, RankAgreement, RunStatus, Spread};

/// What the suite says about a row: how it differs from the baseline, and what the paper reports for it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RowTarget {
    pub id: String,
    /// How reports call the row, if not by its id.
    pub label: Option<String>,
    /// What the suite wants said about the row.
    pub note: Option<String>,
    /// (key, value) of what the row changes, as in `("model.heads", "1")`.
    pub changes: Vec<(String, String)>,
    pub paper_ppl: Option<f64>,
    pub paper_bleu: Option<f64>,
    pub paper_params_millions: Option<f64>,
}

/// The results of a suite, ready to be shown.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    pub baseline: String,
    /// In the suite's order.
    pub rows: Vec<RowComparison>,
    /// The one signature that every BLEU score here has; `None` when nothing is finished.
    pub signature: Option<String>,
    /// Order by BLEU, over the rows that have both ours and the paper's.
    pub rank: Option<RankAgreement>,
}

/// One row of the table.
#[derive(Debug, Clone, PartialEq)]
pub struct RowComparison {
    pub id: String,
    /// How reports call the row.
    pub label: String,
    pub note: Option<String>,
    pub changes: Vec<(String, String)>,
    pub runs: RunCount,
    pub parameters: Option<u64>,
    /// Counted operations of training, the mean over the finished seeds.
    pub training_flops: Option<f64>,
    pub ppl: Option<Spread>,
    pub bleu: Option<Spread>,
    pub of_weights: BleuOfWeights,
    /// BLEU minus the baseline's; `None` for the baseline, and without a common seed.
    pub difference: Option<Difference>,
    pub paper: PaperFigures,
    /// `None` for the baseline, without a difference of ours, or without one of the paper's.
    pub agreement: Option<Agreement>,
    /// Runs without a result.
    pub unfinished: Vec<UnfinishedRun>,
    /// What is special about runs with one, each with its seed.
    pub remarks: Vec<(u64, String)>,
    /// Of the finished runs: more than one, or another than the baseline's, and the row is not like for like.
    pub data_hashes: BTreeSet<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunCount {
    pub done: usize,
    pub planned: usize,
}

/// A run that has no number in the table, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnfinishedRun {
    pub seed: u64,
    pub status: RunStatus,
    pub note: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PaperFigures {
    pub ppl: Option<f64>,
    pub bleu: Option<f64>,
    pub params_millions: Option<f64>,
    /// BLEU minus that of the paper's own base.
    pub difference: Option<f64>,
}

/// Whether our difference to the baseline has the direction of the paper's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Agreement {
    Agrees,
    Disagrees,
    /// Our 95 % interval contains zero.
    NoEvidence,
    OneSeed,
    /// We see a difference; the paper reports the same score as for its base.
    PaperSeesNone,
}

impl Comparison {
    /// The row that the others are compared with.
    #[must_use]
    pub fn baseline_row(&self) -> &RowComparison {
        self.rows
            .iter()
            .find(|row| row.id == self.baseline)
            .expect("a comparison holds its baseline")
    }
}
