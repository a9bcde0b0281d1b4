//! The report as one page that needs nothing else: no script, no font, no network.

use maud::{DOCTYPE, Markup, PreEscaped, html as page};

use super::difference_chart::difference_chart;
use super::loss_chart::loss_panels;
use super::table::{Align, Column};
use super::{ReportContext, explain, markdown};
use crate::results::{Comparison, LossCurve};

const STYLE: &str = include_str!("style.css");

/// The table, both charts, the runs without a result, and how to read it all.
#[must_use]
pub fn html(comparison: &Comparison, context: &ReportContext, curves: &[LossCurve]) -> String {
    let markup = page! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (context.title) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                h1 { (context.title) }
                div.scroll { (table(comparison, &markdown::columns(comparison, context))) }
                (list("Runs and rows to know about", &explain::notes(comparison)))
                (difference_chart(comparison))
                (loss_panels(curves, comparison))
                (list("How to read this", &explain::explanations(comparison, context)))
            }
        }
    };
    markup.into_string()
}

fn table(comparison: &Comparison, columns: &[Column]) -> Markup {
    page! {
        table {
            thead { tr { @for column in columns { th.right[column.align == Align::Right] scope="col" { (column.title) } } } }
            tbody {
                @for (i, row) in comparison.rows.iter().enumerate() {
                    tr.baseline[row.id == comparison.baseline] {
                        @for column in columns { (cell(column, &column.cells[i])) }
                    }
                }
            }
        }
    }
}

fn cell(column: &Column, text: &str) -> Markup {
    let is_verdict = column.title == "verdict";
    let is_status = is_verdict && text.chars().all(|c| !c.is_lowercase());
    page! {
        td.right[column.align == Align::Right] .agrees[is_verdict && text == "agrees"]
            .disagrees[is_verdict && text == "disagrees"] .status[is_status] { (text) }
    }
}

fn list(title: &str, items: &[String]) -> Markup {
    page! {
        @if !items.is_empty() {
            h2 { (title) }
            ul { @for item in items { li { (code_marked(item)) } } }
        }
    }
}

/// The sentences are written for Markdown: what stands between backquotes is code.
fn code_marked(text: &str) -> Markup {
    page! {
        @for (i, part) in text.split('`').enumerate() {
            @if i % 2 == 1 { code { (part) } } @else { (part) }
        }
    }
}
