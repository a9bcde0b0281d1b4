//! The table for a terminal.

use super::table::{Column, plain_width, to_plain};
use super::{cells, changes, explain};
use crate::results::Comparison;

/// Below this a cut list of changes says nothing.
const MIN_CHANGES_WIDTH: usize = 8;

/// As many columns as fit in `width` characters, the most telling ones first kept, and the runs without a result below.
#[must_use]
pub fn terminal(comparison: &Comparison, width: usize) -> String {
    let table = to_plain(&fitting_columns(comparison, width));
    let notes: Vec<_> = explain::notes(comparison).iter().map(|note| cut(note, width)).collect();
    if notes.is_empty() {
        table
    } else {
        format!("{table}\n{}\n", notes.join("\n"))
    }
}

fn fitting_columns(comparison: &Comparison, width: usize) -> Vec<Column> {
    // In reading order, each with the rank at which it gives way; row, BLEU and the verdict never do.
    let mut columns = vec![
        (cells::row_labels(comparison), None),
        (changes::compact(comparison), Some(3)),
        (cells::runs(comparison), Some(2)),
        (cells::parameters(comparison), Some(0)),
        (cells::perplexity(comparison), Some(1)),
        (cells::bleu(comparison), None),
        (cells::difference(comparison), Some(4)),
        (cells::verdicts(comparison), None),
    ];
    loop {
        let plain: Vec<_> = columns.iter().map(|(column, _)| column.clone()).collect();
        if let Some(fitted) = with_changes_cut(plain.clone(), width) {
            return fitted;
        }
        let first_to_go = columns.iter().filter_map(|&(_, rank)| rank).min();
        match first_to_go {
            Some(rank) => columns.retain(|&(_, found)| found != Some(rank)),
            None => return plain,
        }
    }
}

/// The columns in at most `width`, with the list of changes cut if that is enough.
fn with_changes_cut(mut columns: Vec<Column>, width: usize) -> Option<Vec<Column>> {
    let excess = plain_width(&columns).saturating_sub(width);
    if excess == 0 {
        return Some(columns);
    }
    let changes = columns.iter_mut().find(|column| column.title == "changes")?;
    let room = changes
        .width()
        .checked_sub(excess)
        .filter(|&room| room >= MIN_CHANGES_WIDTH)?;
    changes.cells.iter_mut().for_each(|cell| *cell = cut(cell, room));
    Some(columns)
}

fn cut(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    text.chars().take(width.saturating_sub(1)).chain(['…']).collect()
}
