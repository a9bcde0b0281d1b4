//! One planned run as a row of the results table.

use serde::{Deserialize, Serialize, Serializer};

use crate::record::{Ending, FinishedRun, Provenance, RunFolder, RunState};
use crate::spec::Weights;

/// A run that the plan asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedRun {
    pub suite: String,
    pub row: String,
    pub seed: u64,
    /// Number of updates of a training that runs to its end.
    pub steps: u64,
    /// Hash of the present resolved spec.
    pub spec_hash: String,
}

/// State of a planned run. Of the states without a result, the one that a person must act on first comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RunStatus {
    Done,
    Diverged,
    Failed,
    /// The spec was edited after this run; the folder holds a run of the former spec.
    Stale,
    Unfinished,
    #[default]
    Missing,
}

impl RunStatus {
    pub(super) const ALL: [Self; 6] = [
        Self::Done,
        Self::Diverged,
        Self::Failed,
        Self::Stale,
        Self::Unfinished,
        Self::Missing,
    ];

    /// Returns the word in the `status` column.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Diverged => "diverged",
            Self::Failed => "failed",
            Self::Stale => "stale",
            Self::Unfinished => "unfinished",
            Self::Missing => "missing",
        }
    }
}

/// One row of `results/<suite>.csv`: the fields are the columns, in this order.
///
/// Only a run that is done has a perplexity or a BLEU score.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct RunRecord {
    pub suite: String,
    pub row: String,
    pub seed: u64,
    pub status: RunStatus,
    /// Number of updates: all of them, or those before the run diverged.
    pub steps: Option<u64>,
    /// Target tokens trained on.
    pub tokens: Option<u64>,
    pub parameters: Option<u64>,
    /// Counted operations of training.
    #[serde(serialize_with = "large")]
    pub training_flops: Option<f64>,
    /// Weights that `ppl` and the scores belong to: `last`, `best` or `average`.
    pub weights: Option<String>,
    /// Perplexity on the evaluation split, per target token, unsmoothed.
    #[serde(serialize_with = "large")]
    pub ppl: Option<f64>,
    /// BLEU on the evaluation split, under `signature`.
    pub bleu: Option<f64>,
    /// The sacreBLEU signature of `bleu`.
    pub signature: Option<String>,
    pub bleu_13a: Option<f64>,
    pub bleu_13a_lc: Option<f64>,
    pub bleu_intl: Option<f64>,
    pub bleu_compound: Option<f64>,
    #[serde(serialize_with = "large")]
    pub dev_ppl: Option<f64>,
    /// BLEU of the last, the best and the averaged weights under `signature`, where the run chooses among them.
    pub bleu_last: Option<f64>,
    pub bleu_best: Option<f64>,
    pub bleu_average: Option<f64>,
    pub best_step: Option<u64>,
    /// Updates after which the averaged weights were taken, with spaces between them.
    pub averaged_steps: Option<String>,
    pub skipped_pairs: Option<u64>,
    pub unknown_tokens: Option<u64>,
    pub spec_hash: String,
    pub data_hash: Option<String>,
    /// Reason why there is no result, or a remark on it, in one line.
    pub note: Option<String>,
    pub wall_s: Option<f64>,
    pub tokens_per_s: Option<f64>,
    /// The paper's kind of operations (its Table 2): time of training x devices x the rate that the device sustains.
    #[serde(serialize_with = "large")]
    pub device_flops: Option<f64>,
}

/// Writes numbers that may reach 1e16 with the sign of their exponent, `3.3e+18`, as in every table so far.
#[expect(clippy::ref_option, reason = "the signature that serde calls")]
fn large<S: Serializer>(value: &Option<f64>, serializer: S) -> Result<S::Ok, S::Error> {
    match value {
        Some(value) => {
            let text = format!("{value:?}");
            match text.split_once('e') {
                Some((digits, exponent)) if !exponent.starts_with('-') => {
                    serializer.serialize_str(&format!("{digits}e+{exponent}"))
                }
                _ => serializer.serialize_f64(*value),
            }
        }
        None => serializer.serialize_none(),
    }
}

impl RunRecord {
    /// Reads the state of `planned` from its folder.
    #[must_use]
    pub fn read(folder: &RunFolder, planned: &PlannedRun) -> Self {
        let mut record = Self {
            suite: planned.suite.clone(),
            row: planned.row.clone(),
            seed: planned.seed,
            spec_hash: planned.spec_hash.clone(),
            ..Self::default()
        };
        let data_hash = || Some(Provenance::read(&folder.provenance()).ok()?.data_hash);
        match RunState::read(folder, &planned.spec_hash) {
            RunState::Absent => {}
            RunState::Unfinished => record.status = RunStatus::Unfinished,
            RunState::Damaged { reason } => {
                record.status = RunStatus::Unfinished;
                record.note = one_line(&reason);
            }
            RunState::Stale { spec_hash } => {
                record.status = RunStatus::Stale;
                record.note = Some(format!(
                    "the spec was edited: the folder holds a run of spec {spec_hash:.8}"
                ));
            }
            RunState::Ended(Ending::Diverged { step }) => {
                record.status = RunStatus::Diverged;
                record.steps = Some(step);
                record.note = Some(format!("at step {step}"));
                record.data_hash = data_hash();
            }
            RunState::Ended(Ending::Failed { reason }) => {
                record.status = RunStatus::Failed;
                record.note = one_line(&reason);
                record.data_hash = data_hash();
            }
            RunState::Ended(Ending::Done(finished)) => {
                let (steps, all) = (finished.score.steps, planned.steps);
                record.note = (steps < all).then(|| {
                    format!("stopped at step {steps} of {all}: no better measurement within `selection.patience`")
                });
                record.fill(*finished);
            }
        }
        record
    }

    fn fill(&mut self, FinishedRun { score, provenance }: FinishedRun) {
        let of = |weights: Weights| score.of_weights.iter().find(|found| found.weights == weights.name());
        let (last, best, average) = (of(Weights::Last), of(Weights::Best), of(Weights::Average));
        self.status = RunStatus::Done;
        self.steps = Some(score.steps);
        self.tokens = Some(score.tokens);
        self.parameters = Some(score.parameters);
        self.training_flops = score.training_flops;
        self.ppl = Some(score.ppl);
        self.bleu = Some(score.in_table().score);
        self.signature = Some(score.in_table().signature.clone());
        self.bleu_13a = Some(score.bleu.standard.score);
        self.bleu_13a_lc = Some(score.bleu.lowercase.score);
        self.bleu_intl = Some(score.bleu.international.score);
        self.bleu_compound = Some(score.bleu.compound.score);
        self.dev_ppl = score.dev_ppl;
        self.bleu_last = last.map(|found| found.bleu);
        self.bleu_best = best.map(|found| found.bleu);
        self.bleu_average = average.map(|found| found.bleu);
        self.best_step = best.and_then(|found| found.steps.first().copied());
        self.averaged_steps = average.map(|found| spaced(&found.steps));
        self.weights = score.weights;
        self.skipped_pairs = score.skipped_pairs;
        self.unknown_tokens = score.unknown_tokens;
        self.device_flops = provenance.device_flops();
        self.data_hash = Some(provenance.data_hash);
        self.wall_s = provenance.wall_s;
        self.tokens_per_s = provenance.tokens_per_s;
    }
}

fn spaced(steps: &[u64]) -> String {
    steps.iter().map(u64::to_string).collect::<Vec<_>>().join(" ")
}

/// Joins the lines: people read the CSV line by line, so a cell has no line breaks.
fn one_line(text: &str) -> Option<String> {
    let lines: Vec<_> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    (!lines.is_empty()).then(|| lines.join(" | "))
}
