//! Two result files side by side.

use std::collections::BTreeSet;

use super::section::{Content, Section};
use super::table::{Align, Column, Shown};
use crate::results::{Change, Refusal, ResultsDiff, RowDiff};

/// Returns a table with one line per row that both files have: before, after and the difference, or why there is none.
/// Rows of one file only are named below it.
#[must_use]
pub fn results_diff(diff: &ResultsDiff) -> Vec<Section> {
    let column =
        |title, align, of: fn(&RowDiff) -> String| Column::new(title, align, diff.rows.iter().map(of).collect());
    let table = Section {
        heading: None,
        shown: Shown::Everywhere,
        content: Content::Table {
            columns: vec![
                column("row", Align::Left, |row| row.id.clone()),
                column("PPL", Align::Right, |row| cell(&row.ppl)),
                column("BLEU", Align::Right, |row| cell(&row.bleu)),
            ],
            baseline: None,
        },
    };
    let single = [("first", &diff.only_before), ("second", &diff.only_after)];
    let single = single.into_iter().filter(|(_, ids)| !ids.is_empty());
    let single = single.map(|(which, ids)| format!("only in the {which} file: {}", ids.join(", ")));
    let below = Section::sentences(None, Shown::Everywhere, single.collect());
    std::iter::once(table).chain(below).collect()
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
        Err(Refusal::NoResultBefore) => "no result in the first file".to_owned(),
        Err(Refusal::NoResultAfter) => "no result in the second file".to_owned(),
        Err(Refusal::OtherData { before, after }) => format!("other data: {}", both(before, after)),
        Err(Refusal::OtherSignature { before, after }) => format!("other signature: {}", both(before, after)),
    }
}

fn both(before: &BTreeSet<String>, after: &BTreeSet<String>) -> String {
    let list = |labels: &BTreeSet<String>| labels.iter().map(String::as_str).collect::<Vec<_>>().join(" and ");
    format!("{} -> {}", list(before), list(after))
}
