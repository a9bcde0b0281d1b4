//! One planned run as a row of the results table.

use super::{FinishedRun, Provenance, RunFolder, RunState};

/// A run that the plan asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedRun {
    pub suite: String,
    pub row: String,
    pub seed: u64,
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
    /// On the evaluation split, per target piece, unsmoothed.
    pub ppl: Option<f64>,
    /// On the evaluation split, under `signature`.
    pub bleu: Option<f64>,
    /// The sacreBLEU signature of `bleu`.
    pub signature: Option<String>,
    pub bleu_13a_lc: Option<f64>,
    pub bleu_intl: Option<f64>,
    pub bleu_compound: Option<f64>,
    pub dev_ppl: Option<f64>,
    pub skipped_pairs: Option<u64>,
    pub unknown_pieces: Option<u64>,
    pub spec_hash: String,
    pub data_hash: Option<String>,
    /// Why there is no result, in one line.
    pub note: Option<String>,
    pub wall_s: Option<f64>,
    pub tokens_per_s: Option<f64>,
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
            RunState::Done(finished) => Self::of_finished(empty, *finished),
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
            ppl: None,
            bleu: None,
            signature: None,
            bleu_13a_lc: None,
            bleu_intl: None,
            bleu_compound: None,
            dev_ppl: None,
            skipped_pairs: None,
            unknown_pieces: None,
            spec_hash: planned.spec_hash.clone(),
            data_hash: None,
            note: None,
            wall_s: None,
            tokens_per_s: None,
        }
    }

    fn of_finished(planned: Self, FinishedRun { score, provenance }: FinishedRun) -> Self {
        Self {
            status: RunStatus::Done,
            steps: Some(score.steps),
            tokens: Some(score.tokens),
            parameters: Some(score.parameters),
            ppl: Some(score.ppl),
            bleu: Some(score.bleu.standard.score),
            signature: Some(score.bleu.standard.signature),
            bleu_13a_lc: Some(score.bleu.lowercase.score),
            bleu_intl: Some(score.bleu.international.score),
            bleu_compound: Some(score.bleu.compound.score),
            dev_ppl: score.dev_ppl,
            skipped_pairs: score.skipped_pairs,
            unknown_pieces: score.unknown_pieces,
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
