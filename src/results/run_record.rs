//! One planned run as a row of the results table.

use crate::record::{FinishedRun, Provenance, RunFolder, RunState, WeightsScore};
use crate::spec::Weights;

/// A run that the plan asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedRun {
    pub suite: String,
    pub row: String,
    pub seed: u64,
    /// Updates of a training that goes to its end.
    pub steps: u64,
    /// Hash of the resolved spec as it is now.
    pub spec_hash: String,
}

/// What became of a planned run; of those without a result, what needs a person most comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RunStatus {
    Done,
    Diverged,
    Failed,
    /// There is a result, of a spec that was edited since.
    Stale,
    Unfinished,
    Missing,
}

impl RunStatus {
    const ALL: [Self; 6] = [
        Self::Done,
        Self::Diverged,
        Self::Failed,
        Self::Stale,
        Self::Unfinished,
        Self::Missing,
    ];

    /// The status that the `status` column calls `name`.
    pub(super) fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.name() == name)
    }

    /// The word in the `status` column.
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

/// One row of `results/<suite>.csv`. Only a run that is done has a perplexity or a BLEU score.
#[derive(Debug, Clone, PartialEq)]
pub struct RunRecord {
    pub suite: String,
    pub row: String,
    pub seed: u64,
    pub status: RunStatus,
    /// Updates made: all of them, or those before the run diverged.
    pub steps: Option<u64>,
    /// Target pieces trained on.
    pub tokens: Option<u64>,
    pub parameters: Option<u64>,
    /// Counted operations of training.
    pub training_flops: Option<f64>,
    /// Which weights `ppl` and the scores belong to: `last`, `best` or `average`.
    pub weights: Option<String>,
    /// On the evaluation split, per target piece, unsmoothed.
    pub ppl: Option<f64>,
    /// On the evaluation split, under `signature`.
    pub bleu: Option<f64>,
    /// The sacreBLEU signature of `bleu`.
    pub signature: Option<String>,
    pub bleu_13a: Option<f64>,
    pub bleu_13a_lc: Option<f64>,
    pub bleu_intl: Option<f64>,
    pub bleu_compound: Option<f64>,
    pub dev_ppl: Option<f64>,
    /// What the last, the best and the averaged weights score under `signature`, where there was a choice.
    pub bleu_last: Option<f64>,
    pub bleu_best: Option<f64>,
    pub bleu_average: Option<f64>,
    pub best_step: Option<u64>,
    /// The updates after which the averaged weights were taken, with spaces between them.
    pub averaged_steps: Option<String>,
    pub skipped_pairs: Option<u64>,
    pub unknown_pieces: Option<u64>,
    pub spec_hash: String,
    pub data_hash: Option<String>,
    /// Why there is no result, or what is special about it, in one line.
    pub note: Option<String>,
    pub wall_s: Option<f64>,
    pub tokens_per_s: Option<f64>,
    /// The paper's kind of operations (its Table 2): time of training x devices x the rate that the device sustains.
    pub device_flops: Option<f64>,
}

impl RunRecord {
    /// Reads what became of `planned` from its folder.
    #[must_use]
    pub fn read(folder: &RunFolder, planned: &PlannedRun) -> Self {
        let empty = Self::without_result(planned);
        let ended_early = |status, steps, note| {
            let provenance = Provenance::read(&folder.provenance()).ok();
            Self {
                status,
                steps,
                note,
                data_hash: provenance.map(|found| found.data_hash),
                ..empty.clone()
            }
        };
        match RunState::read(folder, &planned.spec_hash) {
            RunState::Absent => empty,
            RunState::Unfinished => Self {
                status: RunStatus::Unfinished,
                ..empty
            },
            RunState::Damaged { reason } => Self {
                status: RunStatus::Unfinished,
                note: Some(one_line(&reason)),
                ..empty
            },
            RunState::Stale { spec_hash } => {
                let note = format!("the spec was edited: the folder holds a run of spec {spec_hash:.8}");
                Self {
                    status: RunStatus::Stale,
                    note: Some(note),
                    ..empty
                }
            }
            RunState::Diverged { step } => {
                ended_early(RunStatus::Diverged, Some(step), Some(format!("at step {step}")))
            }
            RunState::Failed { reason } => ended_early(RunStatus::Failed, None, Some(one_line(&reason))),
            RunState::Done(finished) => {
                let (steps, all) = (finished.score.steps, planned.steps);
                let note = (steps < all).then(|| format!("ended at step {steps} of {all}: patience ran out"));
                Self {
                    note,
                    ..Self::of_finished(empty, *finished)
                }
            }
        }
    }

    fn without_result(planned: &PlannedRun) -> Self {
        Self {
            suite: planned.suite.clone(),
            row: planned.row.clone(),
            seed: planned.seed,
            status: RunStatus::Missing,
            steps: None,
            tokens: None,
            parameters: None,
            training_flops: None,
            weights: None,
            ppl: None,
            bleu: None,
            signature: None,
            bleu_13a: None,
            bleu_13a_lc: None,
            bleu_intl: None,
            bleu_compound: None,
            dev_ppl: None,
            bleu_last: None,
            bleu_best: None,
            bleu_average: None,
            best_step: None,
            averaged_steps: None,
            skipped_pairs: None,
            unknown_pieces: None,
            spec_hash: planned.spec_hash.clone(),
            data_hash: None,
            note: None,
            wall_s: None,
            tokens_per_s: None,
            device_flops: None,
        }
    }

    fn of_finished(planned: Self, FinishedRun { score, provenance }: FinishedRun) -> Self {
        let of = |weights: Weights| score.of_weights.iter().find(|found| found.weights == weights.name());
        let bleu_of = |weights| of(weights).map(|found| found.bleu);
        let in_table = score.in_table().clone();
        let steps = |found: &WeightsScore| found.steps.iter().map(u64::to_string).collect::<Vec<_>>().join(" ");
        Self {
            status: RunStatus::Done,
            steps: Some(score.steps),
            tokens: Some(score.tokens),
            parameters: Some(score.parameters),
            training_flops: score.training_flops,
            bleu_last: bleu_of(Weights::Last),
            bleu_best: bleu_of(Weights::Best),
            bleu_average: bleu_of(Weights::Average),
            best_step: of(Weights::Best).and_then(|found| found.steps.first().copied()),
            averaged_steps: of(Weights::Average).map(steps),
            weights: score.weights,
            ppl: Some(score.ppl),
            bleu: Some(in_table.score),
            signature: Some(in_table.signature),
            bleu_13a: Some(score.bleu.standard.score),
            bleu_13a_lc: Some(score.bleu.lowercase.score),
            bleu_intl: Some(score.bleu.international.score),
            bleu_compound: Some(score.bleu.compound.score),
            dev_ppl: score.dev_ppl,
            skipped_pairs: score.skipped_pairs,
            unknown_pieces: score.unknown_pieces,
            device_flops: provenance.device_flops(),
            data_hash: Some(provenance.data_hash),
            wall_s: provenance.wall_s,
            tokens_per_s: provenance.tokens_per_s,
            ..planned
        }
    }
}

/// A CSV that people read line by line has no line breaks inside a cell.
fn one_line(text: &str) -> String {
    let lines: Vec<_> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    lines.join(" | ")
}
