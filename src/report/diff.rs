//! Two results files side by side, for a terminal.

use std::collections::BTreeSet;

use super::table::{Align, Column, to_plain};
use crate::results::{Change, Refusal, ResultsDiff, RowDiff};

/// One line per row that both files have: before, after and the difference, or why there is none.
#[must_use]
pub fn results_diff(diff: &ResultsDiff) -> String {
    let column =
        |title, of: fn(&RowDiff) -> String| Column::new(title, Align::Right, diff.rows.iter().map(of).collect());
    let ids = Column::new("row", Align::Left, diff.rows.iter().map(|row| row.id.clone()).collect());
    let table = to_plain(&[
        ids,
        column("PPL", |row| cell(&row.ppl)),
        column("BLEU", |row| cell(&row.bleu)),
    ]);
    let single = |which: &str, ids: &[String]| match ids {
        [] => String::new(),
        ids => format!("only in the {which}: {}\n", ids.join(", ")),
    };
    format!(
        "{table}{}{}",
        single("first", &diff.only_before),
        single("second", &diff.only_after)
    )
}

fn cell(change: &Result<Change, Refusal>) -> String {
    match change {
        Ok(Change { before, after }) => {
            format!(
                "{:.2} -> {:.2} ({:+.2})",
                before.mean,
                after.mean,
                after.mean - before.mean
            )
        }
        Err(Refusal::NoResultBefore) => "no result in the first".to_owned(),
        Err(Refusal::NoResultAfter) => "no result in the second".to_owned(),
        Err(Refusal::OtherData { before, after }) => format!("other data: {}", both(before, after)),
        Err(Refusal::OtherSignature { before, after }) => format!("other signature: {}", both(before, after)),
    }
}

fn both(before: &BTreeSet<String>, after: &BTreeSet<String>) -> String {
    let list = |labels: &BTreeSet<String>| labels.iter().map(String::as_str).collect::<Vec<_>>().join(" and ");
    format!("{} -> {}", list(before), list(after))
}
