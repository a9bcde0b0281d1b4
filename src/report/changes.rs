//! What a row changes, laid out as in Table 3 of the paper: a cell is filled where the row differs from the base.

use super::ReportContext;
use super::table::{Align, Column};
use crate::results::Comparison;
use crate::spec;

/// Returns a column for each key that has its own and that some row changes, and one for all other changes.
pub(super) fn columns(comparison: &Comparison, context: &ReportContext) -> Vec<Column> {
    let own = spec::columns().into_iter();
    let changed = own.filter(|(key, _)| is_changed(comparison, key.path));
    let mut columns: Vec<_> = changed
        .map(|(key, title)| own_column(comparison, context, key.path, title))
        .collect();
    let other: Vec<_> = comparison
        .rows
        .iter()
        .map(|row| listed(&row.changes, |key| own_title(key).is_none()))
        .collect();
    if other.iter().any(|cell| !cell.is_empty()) {
        columns.push(Column::new("other", Align::Left, other));
    }
    columns
}

/// Returns one column with all changes of each row.
pub(super) fn compact(comparison: &Comparison) -> Column {
    let cells = comparison
        .rows
        .iter()
        .map(|row| listed(&row.changes, |_| true))
        .collect();
    Column::new("changes", Align::Left, cells)
}

/// Lists the baseline's values of the keys that have a column of their own and that no row changes.
pub(super) fn unchanged(comparison: &Comparison, context: &ReportContext) -> String {
    let own = spec::columns().into_iter();
    let constant = own.filter(|(key, _)| !is_changed(comparison, key.path));
    let values = constant.filter_map(|(key, title)| Some(format!("{title} = {}", base_value(context, key.path)?)));
    values.collect::<Vec<_>>().join(", ")
}

fn own_column(comparison: &Comparison, context: &ReportContext, key: &str, title: &str) -> Column {
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

fn own_title(path: &str) -> Option<&'static str> {
    Some(spec::key(path)?.column?.title)
}

/// `h=1 warmup_steps=8000`
fn listed(changes: &[(String, String)], is_wanted: impl Fn(&str) -> bool) -> String {
    let wanted = changes.iter().filter(|(key, _)| is_wanted(key));
    let text = wanted.map(|(key, value)| {
        let last_part = key.rsplit('.').next().unwrap_or(key);
        format!("{}={value}", own_title(key).unwrap_or(last_part))
    });
    text.collect::<Vec<_>>().join(" ")
}
