//! The report as one page that needs nothing else: no script, no font, no network.

use maud::{DOCTYPE, Markup, PreEscaped, html as page};

use super::section::{Content, Section};
use super::table::{Align, Column, Shown};

const STYLE: &str = include_str!("style.css");

/// Returns the sections as a page.
#[must_use]
pub fn html(title: &str, sections: &[Section]) -> String {
    let markup = page! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                h1 { (title) }
                @for section in sections.iter().filter(|section| section.shown != Shown::Terminal) {
                    @if let Some(heading) = section.heading { h2 { (heading) } }
                    (content(&section.content))
                }
            }
        }
    };
    markup.into_string()
}

fn content(content: &Content) -> Markup {
    match content {
        Content::Table { columns, baseline } => table(columns, *baseline),
        Content::Chart(figure) => figure.clone(),
        Content::Sentences(sentences) => page! { ul { @for item in sentences { li { (code_marked(item)) } } } },
    }
}

fn table(columns: &[Column], baseline: Option<usize>) -> Markup {
    let columns: Vec<_> = columns
        .iter()
        .filter(|column| column.shown != Shown::Terminal)
        .collect();
    let rows = columns.first().map_or(0, |column| column.cells.len());
    page! {
        div.scroll {
            table {
                thead {
                    tr { @for column in &columns { th.right[column.align == Align::Right] scope="col" { (column.title) } } }
                }
                tbody {
                    @for i in 0..rows {
                        tr.baseline[baseline == Some(i)] {
                            @for column in &columns { (cell(column, &column.cells[i])) }
                        }
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

/// Marks the text between backquotes as code.
fn code_marked(text: &str) -> Markup {
    page! {
        @for (i, part) in text.split('`').enumerate() {
            @if i % 2 == 1 { code { (part) } } @else { (part) }
        }
    }
}
