//! The sections of every report, in their order.

use super::section::{Content, Section};
use super::table::Shown;
use super::{ReportContext, cells, changes, difference_chart, explain, loss_chart};
use crate::results::{Comparison, LossCurve};

/// Returns the report of a suite as sections; those without content are left out.
#[must_use]
pub fn sections(comparison: &Comparison, context: &ReportContext, curves: &[LossCurve]) -> Vec<Section> {
    let sections = [
        Some(results(comparison, context)),
        explain::notes(comparison),
        difference_chart::section(comparison),
        loss_chart::section(curves, comparison),
        explain::explanations(comparison, context),
    ];
    sections.into_iter().flatten().collect()
}

/// The table of results. On a narrow terminal all columns but row, BLEU and verdict may give way.
fn results(comparison: &Comparison, context: &ReportContext) -> Section {
    let mut columns = vec![cells::row_labels(comparison)];
    let changes = changes::columns(comparison, context).into_iter();
    columns.extend(changes.map(|column| column.shown(Shown::Pages)));
    columns.extend([
        changes::compact(comparison).shown(Shown::Terminal).giving_way(3),
        cells::runs(comparison).giving_way(2),
        cells::parameters(comparison).giving_way(0),
    ]);
    columns.extend(cells::training_flops(comparison));
    columns.extend([cells::perplexity(comparison).giving_way(1), cells::bleu(comparison)]);
    columns.extend(cells::bleu_of_weights(comparison));
    columns.extend([cells::difference(comparison).giving_way(4), cells::verdicts(comparison)]);
    Section {
        heading: None,
        shown: Shown::Everywhere,
        content: Content::Table {
            columns,
            baseline: comparison.rows.iter().position(|row| row.id == comparison.baseline),
        },
    }
}
