//! Builds the comparison from the table and the suite's targets.

use std::collections::BTreeMap;

use super::paired::correct_for_many;
use super::summary::{self, RowSummary};
use super::{
    Agreement, Comparison, Difference, PaperFigures, RankAgreement, ResultsError, ResultsTable, RowComparison,
    RowTarget, RunRecord, RunStatus, UnfinishedRun, frame,
};

impl Comparison {
    /// Groups the table by row, in the order of `targets`, and compares each row with the row `baseline`.
    ///
    /// # Errors
    /// When `baseline` is not among `targets`, or the finished runs were scored under different signatures.
    pub fn new(table: &ResultsTable, baseline: &str, targets: &[RowTarget]) -> Result<Self, ResultsError> {
        let unknown = || ResultsError::UnknownBaseline {
            baseline: baseline.to_owned(),
        };
        let paper_base = targets
            .iter()
            .find(|target| target.id == baseline)
            .ok_or_else(unknown)?
            .paper_bleu;
        let records = table.records();
        let signature = one_signature(records, targets)?;
        let mut rows = targets
            .iter()
            .map(|target| RowComparison::empty(target, paper_base))
            .collect::<Vec<_>>();
        let frame = frame::of_finished(records)?;
        fill_summaries(&mut rows, summary::by_row(&frame)?);
        fill_runs(&mut rows, records);
        fill_differences(&mut rows, summary::differences_to(baseline, &frame)?);
        let both = rows
            .iter()
            .filter_map(|row| Some((row.bleu?.mean, row.paper.bleu?)))
            .collect::<Vec<_>>();
        Ok(Self {
            baseline: baseline.to_owned(),
            rows,
            signature,
            rank: RankAgreement::of(&both),
        })
    }
}

impl RowComparison {
    fn empty(target: &RowTarget, paper_base: Option<f64>) -> Self {
        Self {
            id: target.id.clone(),
            label: target.label.as_ref().unwrap_or(&target.id).clone(),
            note: target.note.clone(),
            changes: target.changes.clone(),
            paper: PaperFigures {
                ppl: target.paper_ppl,
                bleu: target.paper_bleu,
                params_millions: target.paper_params_millions,
                difference: target.paper_bleu.zip(paper_base).map(|(bleu, base)| bleu - base),
            },
            ..Self::default()
        }
    }
}

impl Agreement {
    fn of(ours: &Difference, paper: f64) -> Self {
        match ours.excludes_zero() {
            None => Self::OneSeed,
            Some(false) => Self::NoEvidence,
            Some(true) if paper == 0.0 => Self::PaperSeesNone,
            Some(true) if (ours.mean > 0.0) == (paper > 0.0) => Self::Agrees,
            Some(true) => Self::Disagrees,
        }
    }
}

fn one_signature(records: &[RunRecord], targets: &[RowTarget]) -> Result<Option<String>, ResultsError> {
    let mut found = summary::labels(records, |run| run.signature.as_ref());
    let by_row = targets.iter().flat_map(|target| {
        let signatures = found.remove(target.id.as_str()).unwrap_or_default();
        signatures.into_iter().map(|signature| (target.id.clone(), signature))
    });
    let mut expected: Option<String> = None;
    for (row, found) in by_row {
        match &expected {
            Some(expected) if *expected != found => {
                return Err(ResultsError::MixedSignatures {
                    row,
                    found,
                    expected: expected.clone(),
                });
            }
            _ => expected = Some(found),
        }
    }
    Ok(expected)
}

fn fill_summaries(rows: &mut [RowComparison], mut summaries: BTreeMap<String, RowSummary>) {
    for row in rows {
        if let Some(summary) = summaries.remove(&row.id) {
            row.runs.done = summary.done;
            row.parameters = summary.parameters;
            row.training_flops = summary.training_flops;
            row.of_weights = summary.of_weights;
            (row.ppl, row.bleu) = (Some(summary.ppl), Some(summary.bleu));
        }
    }
}

fn fill_runs(rows: &mut [RowComparison], records: &[RunRecord]) {
    let mut data_hashes = summary::labels(records, |run| run.data_hash.as_ref());
    for row in rows {
        row.data_hashes = data_hashes.remove(row.id.as_str()).unwrap_or_default();
        for run in records.iter().filter(|run| run.row == row.id) {
            row.runs.planned += 1;
            if run.status == RunStatus::Done {
                row.remarks.extend(run.note.clone().map(|note| (run.seed, note)));
            } else {
                row.unfinished.push(UnfinishedRun {
                    seed: run.seed,
                    status: run.status,
                    note: run.note.clone(),
                });
            }
        }
    }
}

fn fill_differences(rows: &mut [RowComparison], mut differences: BTreeMap<String, Difference>) {
    for row in rows.iter_mut() {
        row.difference = differences.remove(&row.id);
        let both = row.difference.zip(row.paper.difference);
        row.agreement = both.map(|(ours, paper)| Agreement::of(&ours, paper));
    }
    let mut tests: Vec<_> = rows
        .iter_mut()
        .filter_map(|row| row.difference.as_mut()?.evidence.as_mut())
        .collect();
    correct_for_many(&mut tests);
}
