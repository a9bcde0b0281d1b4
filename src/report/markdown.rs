//! The report as Markdown that is readable as it stands.

use super::table::{Column, to_markdown};
use super::{ReportContext, cells, changes, explain};
use crate::results::Comparison;

/// The table, the runs without a result, and how to read it.
#[must_use]
pub fn markdown(comparison: &Comparison, context: &ReportContext) -> String {
    let mut text = format!("# {}\n\n{}", context.title, to_markdown(&columns(comparison, context)));
    text += &list("Runs and rows to know about:", &explain::notes(comparison));
    text += &list("How to read this:", &explain::explanations(comparison, context));
    text
}

/// Every column of the report.
pub(super) fn columns(comparison: &Comparison, context: &ReportContext) -> Vec<Column> {
    let mut columns = vec![cells::row_labels(comparison)];
    columns.extend(changes::columns(comparison, context));
    columns.extend([cells::runs(comparison), cells::parameters(comparison)]);
    columns.extend(cells::training_flops(comparison));
    columns.extend([cells::perplexity(comparison), cells::bleu(comparison)]);
    columns.extend(cells::bleu_of_weights(comparison));
    columns.extend([cells::difference(comparison), cells::verdicts(comparison)]);
    columns
}

fn list(title: &str, items: &[String]) -> String {
    let bullets: Vec<_> = items.iter().map(|item| format!("- {item}")).collect();
    if bullets.is_empty() {
        String::new()
    } else {
        format!("\n{title}\n\n{}\n", bullets.join("\n"))
    }
}
