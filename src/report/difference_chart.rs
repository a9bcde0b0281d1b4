//! A chart of BLEU differences to the baseline: ours with its interval, and the paper's, row by row.

use maud::{Markup, html};

use super::scale::Scale;
use super::section::Section;
use super::verdict::verdict;
use crate::results::{Comparison, RowComparison};

const WIDTH: f64 = 720.0;
const LEFT: f64 = 110.0;
const RIGHT: f64 = WIDTH - 150.0;
const TOP: f64 = 10.0;
const ROW_HEIGHT: f64 = 24.0;
const TICKS: usize = 10;
/// Room for intervals on each side, in widths of everything else. Intervals from two seeds can be a hundred times wider
/// than anything else, so they may leave the frame.
const WIDEST_INTERVAL: f64 = 0.5;
/// Smallest reach to either side of zero, in BLEU: a smaller chart would show rounding.
const SMALLEST_REACH: f64 = 0.1;

/// Returns the chart, or `None` if no row has a difference.
pub(super) fn section(comparison: &Comparison) -> Option<Section> {
    let has_any = |row: &&RowComparison| row.difference.is_some() || row.paper.difference.is_some();
    let rows: Vec<_> = comparison
        .rows
        .iter()
        .filter(|row| row.id != comparison.baseline)
        .filter(has_any)
        .collect();
    let bottom = TOP + ROW_HEIGHT * rows.len() as f64;
    let x = Scale::new(range(&rows), (LEFT, RIGHT));
    let figure = html! {
        figure {
            figcaption {
                "BLEU difference to " (comparison.baseline_row().label) ": "
                span.key-row { "● ours" } ", with its 95 % interval if there are two or more seeds; "
                span.key-paper { "◇ the paper's" } ", one run each."
            }
            svg.wide viewBox={ "0 0 " (WIDTH) " " (bottom + 40.0) } role="img" aria-label="BLEU differences" {
                (axis(&x, bottom))
                @for (row, y) in rows.iter().zip(row_middles()) { (row_marks(comparison, row, &x, y)) }
            }
        }
    };
    (!rows.is_empty()).then(|| Section::chart(figure))
}

fn row_middles() -> impl Iterator<Item = f64> {
    (0..).map(|i| TOP + ROW_HEIGHT * (f64::from(i) + 0.5))
}

/// Returns a range that holds zero, all means, the paper's figures, and intervals up to [`WIDEST_INTERVAL`].
fn range(rows: &[&RowComparison]) -> (f64, f64) {
    let centres = rows
        .iter()
        .flat_map(|row| [row.difference.map(|ours| ours.mean), row.paper.difference])
        .flatten();
    let (low, high) = centres.fold((-SMALLEST_REACH, SMALLEST_REACH), widened);
    let room = WIDEST_INTERVAL * (high - low);
    let ends = rows.iter().filter_map(|row| row.difference).flat_map(|ours| {
        let half_width = ours.evidence.map_or(0.0, |evidence| evidence.half_width_95);
        [ours.mean - half_width, ours.mean + half_width].map(|end| end.clamp(low - room, high + room))
    });
    let (low, high) = ends.fold((low, high), widened);
    let margin = 0.03 * (high - low);
    (low - margin, high + margin)
}

fn widened((low, high): (f64, f64), value: f64) -> (f64, f64) {
    (low.min(value), high.max(value))
}

fn axis(x: &Scale, bottom: f64) -> Markup {
    html! {
        @for tick in x.ticks(TICKS) {
            line.grid x1=(x.at(tick)) x2=(x.at(tick)) y1=(TOP) y2=(bottom) {}
            text x=(x.at(tick)) y=(bottom + 15.0) text-anchor="middle" { (x.label(tick, TICKS)) }
        }
        line.axis x1=(x.at(0.0)) x2=(x.at(0.0)) y1=(TOP) y2=(bottom) {}
        text x=(f64::midpoint(LEFT, RIGHT)) y=(bottom + 33.0) text-anchor="middle" { "BLEU difference" }
    }
}

fn row_marks(comparison: &Comparison, row: &RowComparison, x: &Scale, y: f64) -> Markup {
    let words = verdict(comparison, row);
    html! {
        text.title x=(LEFT - 10.0) y=(y + 4.0) text-anchor="end" { (row.label) }
        @if let Some(paper) = row.paper.difference {
            path.paper d={ "M" (x.at(paper) - 5.0) " " (y) " l5 -5 l5 5 l-5 5 z" } {
                title { (row.label) ", the paper: " (format!("{paper:+.1}")) }
            }
        }
        @if let Some(ours) = row.difference {
            @if let Some(evidence) = ours.evidence {
                line.interval x1=(x.at(ours.mean - evidence.half_width_95).max(LEFT))
                    x2=(x.at(ours.mean + evidence.half_width_95).min(RIGHT)) y1=(y) y2=(y) {}
            }
            circle.ours cx=(x.at(ours.mean)) cy=(y) r="4" {
                title { (row.label) ", ours: " (format!("{:+.2}", ours.mean)) }
            }
        }
        text x=(RIGHT + 10.0) y=(y + 4.0) { (words) }
    }
}
