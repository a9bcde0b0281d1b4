//! One or two words on a row.

use crate::results::{Agreement, Comparison, RowComparison, RunStatus};

/// What can be said of `row`: never more than its runs show.
pub(super) fn verdict(comparison: &Comparison, row: &RowComparison) -> String {
    if row.bleu.is_none() {
        return status(row);
    }
    let words = match row.agreement {
        Some(Agreement::Agrees) => "agrees",
        Some(Agreement::Disagrees) => "disagrees",
        Some(Agreement::NoEvidence) => "no evidence",
        Some(Agreement::OneSeed) => "one seed: no test",
        Some(Agreement::PaperSeesNone) => "paper sees none",
        None if row.id == comparison.baseline => "baseline",
        None => own_direction(row),
    };
    words.to_owned()
}

/// Without a figure of the paper there is still ours.
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

/// What stands in place of a number when no run of the row has one.
pub(super) fn status(row: &RowComparison) -> String {
    // Of several, the one that a person has to act on first.
    let worst = row.unfinished.iter().map(|run| run.status).min();
    match worst {
        None | Some(RunStatus::Missing) => "NOT RUN".to_owned(),
        Some(status) => status.name().to_uppercase(),
    }
}
