//! What a row changes, laid out as in Table 3 of the paper: a cell is filled where the row differs from the base.

use super::ReportContext;
use super::table::{Align, Column};
use crate::results::Comparison;

/// (key, title) of the paper's columns, in its order.
const PAPER_COLUMNS: [(&str, &str); 10] = [
    ("model.layers", "N"),
    ("model.d_model", "d_model"),
    ("model.d_ff", "d_ff"),
    ("model.heads", "h"),
    ("model.d_k", "d_k"),
    ("model.d_v", "d_v"),
    ("regularization.dropout", "P_drop"),
    ("regularization.label_smoothing", "ε_ls"),
    ("model.positional", "PE"),
    ("training.steps", "steps"),
];

/// The paper's columns that some row changes, and one for all other changes, if there are any.
pub(super) fn columns(comparison: &Comparison, context: &ReportContext) -> Vec<Column> {
    let changed = PAPER_COLUMNS.into_iter().filter(|(key, _)| is_changed(comparison, key));
    let mut columns: Vec<_> = changed
        .map(|(key, title)| paper_column(comparison, context, key, title))
        .collect();
    let other: Vec<_> = comparison
        .rows
        .iter()
        .map(|row| listed(&row.changes, |key| title_of(key).is_none()))
        .collect();
    if other.iter().any(|cell| !cell.is_empty()) {
        columns.push(Column::new("other", Align::Left, other));
    }
    columns
}

/// All changes of a row in one cell.
pub(super) fn compact(comparison: &Comparison) -> Column {
    let cells = comparison
        .rows
        .iter()
        .map(|row| listed(&row.changes, |_| true))
        .collect();
    Column::new("changes", Align::Left, cells)
}

/// The base values of the paper's columns that no row changes, as text.
pub(super) fn unchanged(comparison: &Comparison, context: &ReportContext) -> String {
    let constant = PAPER_COLUMNS
        .into_iter()
        .filter(|(key, _)| !is_changed(comparison, key));
    let values = constant.filter_map(|(key, title)| Some(format!("{title} = {}", base_value(context, key)?)));
    values.collect::<Vec<_>>().join(", ")
}

fn paper_column(comparison: &Comparison, context: &ReportContext, key: &str, title: &str) -> Column {
    let cells = comparison.rows.iter().map(|row| {
        let change = row
            .changes
            .iter()
            .find(|(changed, _)| changed == key)
            .map(|(_, value)| value.as_str());
        let base = || base_value(context, key).filter(|_| row.id == comparison.baseline);
        change.or_else(base).unwrap_or_default().to_owned()
    });
    Column::new(title, Align::Right, cells.collect())
}

fn is_changed(comparison: &Comparison, key: &str) -> bool {
    comparison
        .rows
        .iter()
        .flat_map(|row| &row.changes)
        .any(|(changed, _)| changed == key)
}

fn base_value<'a>(context: &'a ReportContext, key: &str) -> Option<&'a str> {
    context
        .base
        .iter()
        .find(|(found, _)| found == key)
        .map(|(_, value)| value.as_str())
}

fn title_of(key: &str) -> Option<&'static str> {
    PAPER_COLUMNS
        .into_iter()
        .find(|(known, _)| *known == key)
        .map(|(_, title)| title)
}

/// `h=1 warmup_steps=8000`
fn listed(changes: &[(String, String)], is_wanted: impl Fn(&str) -> bool) -> String {
    let wanted = changes.iter().filter(|(key, _)| is_wanted(key));
    let text = wanted.map(|(key, value)| {
        let last_part = key.rsplit('.').next().unwrap_or(key);
        format!("{}={value}", title_of(key).unwrap_or(last_part))
    });
    text.collect::<Vec<_>>().join(" ")
}
