//! The sentences below the table: what the numbers mean, and what they do not.

use std::collections::BTreeSet;

use super::section::Section;
use super::table::Shown;
use super::{Budget, ReportContext, changes};
use crate::results::{Agreement, Comparison, RowComparison, RunStatus, UnfinishedRun};

/// Significance level of the tests.
const ALPHA: f64 = 0.05;

/// Returns the suite's notes on rows, the reasons why runs have no result, and the rows that have other data than the
/// baseline.
pub(super) fn notes(comparison: &Comparison) -> Option<Section> {
    let of_row = |row: &RowComparison| {
        let own = row.note.as_ref().map(|note| format!("{}: {note}", row.label));
        let lines = own
            .into_iter()
            .chain(remarks(row))
            .chain(missing_runs(row))
            .chain(other_data(comparison, row));
        lines.collect::<Vec<_>>()
    };
    let notes = comparison.rows.iter().flat_map(of_row).collect();
    Section::sentences(Some("Runs and rows to know about"), Shown::Everywhere, notes)
}

fn remarks(row: &RowComparison) -> impl Iterator<Item = String> {
    let told = |(seed, remark): &(u64, String)| format!("{}, seed {seed}: {remark}", row.label);
    row.remarks.iter().map(told)
}

fn missing_runs(row: &RowComparison) -> Vec<String> {
    let told: Vec<_> = row
        .unfinished
        .iter()
        .filter(|run| run.status != RunStatus::Missing)
        .collect();
    let same_reason = |a: &&UnfinishedRun, b: &&UnfinishedRun| (a.status, &a.note) == (b.status, &b.note);
    told.chunk_by(same_reason)
        .map(|runs| format!("{}, {}", row.label, seeds_and_reason(runs)))
        .collect()
}

fn seeds_and_reason(runs: &[&UnfinishedRun]) -> String {
    let seeds: Vec<_> = runs.iter().map(|run| run.seed.to_string()).collect();
    let word = if seeds.len() == 1 { "seed" } else { "seeds" };
    // A log line may contain markup, which has no effect inside code.
    let note = runs[0]
        .note
        .as_deref()
        .map(|note| format!(": `{}`", note.replace('`', "'")))
        .unwrap_or_default();
    format!(
        "{word} {}: {}{note}",
        seeds.join(", "),
        runs[0].status.name().to_uppercase()
    )
}

fn other_data(comparison: &Comparison, row: &RowComparison) -> Option<String> {
    let baseline = &comparison.baseline_row().data_hashes;
    let differs = !row.data_hashes.is_empty() && !baseline.is_empty() && row.data_hashes != *baseline;
    differs.then(|| {
        format!(
            "{}: trained or scored on other data than {}",
            row.label,
            comparison.baseline_row().label
        )
    })
}

/// Returns how to read the table: only the sentences that apply to it.
pub(super) fn explanations(comparison: &Comparison, context: &ReportContext) -> Option<Section> {
    let sentences = [
        unchanged(comparison, context),
        Some(numbers(comparison)),
        weights(comparison),
        operations(comparison),
        differences(comparison),
        no_evidence(comparison),
        many_tests(comparison),
        rank(comparison),
        scaled(comparison, context),
        data(comparison),
    ];
    let sentences = sentences.into_iter().flatten().collect();
    Section::sentences(Some("How to read this"), Shown::Pages, sentences)
}

fn unchanged(comparison: &Comparison, context: &ReportContext) -> Option<String> {
    let values = changes::unchanged(comparison, context);
    (!values.is_empty()).then(|| format!("Same in every row: {values}."))
}

fn numbers(comparison: &Comparison) -> String {
    let spread = "Mean ± sample standard deviation over the finished seeds; the paper's figure is in parentheses. \
        PPL is per target token, from the unsmoothed loss.";
    match &comparison.signature {
        Some(signature) => format!("{spread} BLEU signature: `{signature}`."),
        None => spread.to_owned(),
    }
}

fn weights(comparison: &Comparison) -> Option<String> {
    let any = comparison.rows.iter().any(|row| row.of_weights.last.is_some());
    any.then(|| {
        "last / best / average: mean BLEU of the weights after the last update, of the weights that measured best on \
         dev, and of the average that the row asks for. PPL and BLEU in the table belong to the row's \
         `selection.weights`. The CSV lists the steps."
            .to_owned()
    })
}

fn operations(comparison: &Comparison) -> Option<String> {
    let any = comparison.rows.iter().any(|row| row.training_flops.is_some());
    any.then(|| {
        "FLOPs: counted operations of the matrix products of training; a multiplication counts as one operation, and so \
         does an addition. The paper estimates operations as time x devices x sustained rate: `device_flops` in the CSV."
            .to_owned()
    })
}

fn differences(comparison: &Comparison) -> Option<String> {
    let baseline = &comparison.baseline_row().label;
    let any = comparison.rows.iter().any(|row| row.difference.is_some());
    any.then(|| {
        format!(
            "Δ BLEU is the row minus {baseline}, paired by seed over the seeds that both finished; ± is half of the \
             95 % t interval. `agrees`: the interval excludes zero, and Δ BLEU has the paper's sign. `disagrees`: the \
             interval excludes zero, and Δ BLEU has the opposite sign."
        )
    })
}

fn no_evidence(comparison: &Comparison) -> Option<String> {
    let any = comparison
        .rows
        .iter()
        .any(|row| row.agreement == Some(Agreement::NoEvidence));
    any.then(|| {
        "`no evidence`: the interval contains zero, so these runs do not show a difference from the baseline. They do \
         not show that there is none. The paper has one run per row, and most of its gaps are as small as the noise \
         between seeds, 0.2 to 0.5 BLEU."
            .to_owned()
    })
}

fn many_tests(comparison: &Comparison) -> Option<String> {
    let tested = comparison
        .rows
        .iter()
        .filter_map(|row| Some((row, row.difference?.evidence?)));
    let tested: Vec<_> = tested.collect();
    let left: Vec<_> = tested
        .iter()
        .filter(|(_, test)| test.p_holm < ALPHA)
        .map(|(row, _)| row.label.as_str())
        .collect();
    let named = if left.is_empty() {
        "no row".to_owned()
    } else {
        left.join(", ")
    };
    (tested.len() > 1).then(|| {
        let count = tested.len();
        format!(
            "{count} rows were tested at 95 % each. After Holm's correction for {count} tests, {named} still differ{} \
             from the baseline.",
            if left.len() > 1 { "" } else { "s" }
        )
    })
}

fn rank(comparison: &Comparison) -> Option<String> {
    let rank = comparison.rank?;
    Some(format!(
        "Our order of the rows by BLEU and the paper's: Kendall's tau-b = {:.2} over {} rows (1: same order, \
         0: no relation).",
        rank.tau, rank.rows
    ))
}

fn scaled(comparison: &Comparison, context: &ReportContext) -> Option<String> {
    let has_target = comparison
        .rows
        .iter()
        .any(|row| row.paper.bleu.is_some() || row.paper.ppl.is_some());
    (context.budget == Budget::Scaled && has_target).then(|| {
        "These rows are smaller than the paper's, or were trained less or on other data: use the paper's figures for \
         direction and rank only, not as values to reach."
            .to_owned()
    })
}

fn data(comparison: &Comparison) -> Option<String> {
    let hashes: BTreeSet<_> = comparison
        .rows
        .iter()
        .flat_map(|row| &row.data_hashes)
        .map(String::as_str)
        .collect();
    let list: Vec<_> = hashes.into_iter().map(|hash| format!("`{hash}`")).collect();
    (!list.is_empty()).then(|| format!("Data hash: {}.", list.join(", ")))
}
