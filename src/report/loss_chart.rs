//! Dev loss over training: one small panel per row, with the baseline behind it.
//!
//! Twenty lines in one chart cannot be told apart; twenty panels with one scale can be compared at a glance.

use maud::{Markup, html};

use super::scale::Scale;
use super::section::Section;
use crate::results::{Comparison, LossCurve};

const WIDTH: f64 = 240.0;
const HEIGHT: f64 = 160.0;
const LEFT: f64 = 36.0;
const RIGHT: f64 = WIDTH - 8.0;
const TOP: f64 = 22.0;
const BOTTOM: f64 = HEIGHT - 32.0;
const TICKS: usize = 5;
/// Share of the training after which a loss has settled. Earlier losses, and those of a run that diverges, are so high
/// that they would flatten the rest of the chart.
const SETTLED_AFTER: f64 = 0.25;

/// Returns all panels, or `None` if no row has a curve.
pub(super) fn section(curves: &[LossCurve], comparison: &Comparison) -> Option<Section> {
    let drawn: Vec<_> = curves.iter().filter(|curve| !curve.points.is_empty()).collect();
    let base = drawn.iter().copied().find(|curve| curve.row == comparison.baseline);
    let ranges = ranges(&drawn)?;
    Some(Section::chart(html! {
        figure {
            figcaption {
                "Dev loss in nats per target token over the training steps, mean over seeds. "
                span.key-row { "This row" } " against " span.key-base { (comparison.baseline_row().label) }
                "; top right: the last value. Losses above the frame are cut off."
            }
            div.panels { @for curve in &drawn { (panel(label(comparison, curve), curve, base, ranges)) } }
        }
    }))
}

type Range = (f64, f64);

/// Returns the steps and losses that all panels share: from the lowest loss up to the loss at which the median row has
/// settled.
fn ranges(curves: &[&LossCurve]) -> Option<(Range, Range)> {
    let points = || curves.iter().flat_map(|curve| &curve.points);
    let last_step = points().map(|&(step, _)| step).max()?;
    let mut settled: Vec<_> = curves.iter().filter_map(|curve| settled_loss(curve)).collect();
    settled.sort_by(f64::total_cmp);
    let high = *settled.get(settled.len() / 2)?;
    let low = points().map(|&(_, loss)| loss).fold(high, f64::min);
    let margin = 0.05 * (high - low);
    Some(((0.0, last_step as f64), (low - margin, high + margin)))
}

fn settled_loss(curve: &LossCurve) -> Option<f64> {
    let last_step = curve.points.last()?.0;
    curve
        .points
        .iter()
        .find(|&&(step, _)| step as f64 >= SETTLED_AFTER * last_step as f64)
        .map(|&(_, loss)| loss)
}

fn label<'a>(comparison: &'a Comparison, curve: &'a LossCurve) -> &'a str {
    comparison
        .rows
        .iter()
        .find(|row| row.id == curve.row)
        .map_or(&curve.row, |row| &row.label)
}

fn panel(label: &str, curve: &LossCurve, base: Option<&LossCurve>, (steps, losses): (Range, Range)) -> Markup {
    let (x, y) = (Scale::new(steps, (LEFT, RIGHT)), Scale::new(losses, (BOTTOM, TOP)));
    let last = curve
        .points
        .last()
        .map(|(_, loss)| format!("{loss:.3}"))
        .unwrap_or_default();
    html! {
        svg viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } role="img" aria-label={ "dev loss of " (label) } {
            text.title x=(LEFT) y="14" { (label) }
            text.value x=(RIGHT) y="14" text-anchor="end" { (last) }
            (axes(&x, &y))
            svg x=(LEFT) y=(TOP) width=(RIGHT - LEFT) height=(BOTTOM - TOP)
                viewBox={ (LEFT) " " (TOP) " " (RIGHT - LEFT) " " (BOTTOM - TOP) } {
                @if let Some(base) = base { polyline.base points=(points(base, &x, &y)) {} }
                polyline.row points=(points(curve, &x, &y)) { title { (label) " " (last) } }
            }
        }
    }
}

fn axes(x: &Scale, y: &Scale) -> Markup {
    html! {
        @for tick in y.ticks(TICKS) {
            line.grid x1=(LEFT) x2=(RIGHT) y1=(y.at(tick)) y2=(y.at(tick)) {}
            text x=(LEFT - 4.0) y=(y.at(tick) + 3.5) text-anchor="end" { (y.label(tick, TICKS)) }
        }
        @for tick in x.ticks(TICKS) {
            line.axis x1=(x.at(tick)) x2=(x.at(tick)) y1=(BOTTOM) y2=(BOTTOM + 3.0) {}
            text x=(x.at(tick)) y=(BOTTOM + 14.0) text-anchor="middle" { (x.label(tick, TICKS)) }
        }
        line.axis x1=(LEFT) x2=(RIGHT) y1=(BOTTOM) y2=(BOTTOM) {}
        text x=(f64::midpoint(LEFT, RIGHT)) y=(HEIGHT - 4.0) text-anchor="middle" { "step" }
    }
}

fn points(curve: &LossCurve, x: &Scale, y: &Scale) -> String {
    let places = curve
        .points
        .iter()
        .map(|&(step, loss)| format!("{},{}", x.at(step as f64), y.at(loss)));
    places.collect::<Vec<_>>().join(" ")
}
