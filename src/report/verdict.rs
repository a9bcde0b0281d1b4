//! The verdict on a row, in a few words.

use crate::results::{Agreement, Comparison, RowComparison, RunStatus};

/// Returns the verdict on `row`, which says no more than its runs show.
pub(super) fn verdict(comparison: &Comparison, row: &RowComparison) -> String {
    if row.bleu.is_none() {
        return status(row);
    }
    let words = match row.agreement {
        Some(Agreement::Agrees) => "agrees",
        Some(Agreement::Disagrees) => "disagrees",
        Some(Agreement::NoEvidence) => "no evidence",
        Some(Agreement::OneSeed) => "one seed: no test",
        Some(Agreement::PaperSeesNone) => "paper: no difference",
        None if row.id == comparison.baseline => "baseline",
        None => own_direction(row),
    };
    words.to_owned()
}

/// Returns the direction of our difference, for rows that the paper does not have.
fn own_direction(row: &RowComparison) -> &'static str {
    let Some(difference) = row.difference else {
        return "no common seed";
    };
    match difference.excludes_zero() {
        None => "one seed: no test",
        Some(false) => "no evidence",
        Some(true) if difference.mean > 0.0 => "higher",
        Some(true) => "lower",
    }
}

/// Returns the text in place of a number if no run of the row has a result.
pub(super) fn status(row: &RowComparison) -> String {
    // The status that a person must act on first.
    let worst = row.unfinished.iter().map(|run| run.status).min();
    match worst {
        None | Some(RunStatus::Missing) => "NOT RUN".to_owned(),
        Some(status) => status.name().to_uppercase(),
    }
}
