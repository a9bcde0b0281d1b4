//! The report for a terminal.

use super::section::{Content, Section};
use super::table::{Column, Shown, plain_width, to_plain};

/// Smallest useful width of a cut list of changes.
const MIN_CHANGES_WIDTH: usize = 8;

/// Returns the sections as plain text: of each table as many columns as fit in `width` characters, and sentences cut there.
#[must_use]
pub fn terminal(sections: &[Section], width: usize) -> String {
    let shown = sections.iter().filter(|section| section.shown != Shown::Pages);
    let texts = shown.filter_map(|section| match &section.content {
        Content::Table { columns, .. } => Some(to_plain(&fitting(columns, width))),
        Content::Sentences(sentences) => Some(sentences.iter().map(|sentence| cut(sentence, width) + "\n").collect()),
        Content::Chart(_) => None,
    });
    texts.collect::<Vec<String>>().join("\n")
}

/// Drops columns in their ranks' order until the others fit.
fn fitting(columns: &[Column], width: usize) -> Vec<Column> {
    let shown = columns.iter().filter(|column| column.shown != Shown::Pages);
    let mut columns: Vec<Column> = shown.cloned().collect();
    loop {
        if let Some(fitted) = with_changes_cut(columns.clone(), width) {
            return fitted;
        }
        match columns.iter().filter_map(|column| column.gives_way).min() {
            Some(rank) => columns.retain(|column| column.gives_way != Some(rank)),
            None => return columns,
        }
    }
}

/// Returns the columns in at most `width`, with the list of changes cut if that is enough.
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
