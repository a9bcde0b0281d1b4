//! The report as Markdown that is readable as it stands.

use super::section::{Content, Section};
use super::table::{Column, Shown, to_markdown};

/// Returns the sections as Markdown below a title.
#[must_use]
pub fn markdown(title: &str, sections: &[Section]) -> String {
    let shown = sections.iter().filter(|section| section.shown != Shown::Terminal);
    let parts = shown.filter_map(|section| {
        let body = match &section.content {
            Content::Table { columns, .. } => to_markdown(&on_pages(columns)),
            Content::Sentences(sentences) => sentences.iter().flat_map(|text| ["- ", text, "\n"]).collect(),
            Content::Chart(_) => return None,
        };
        Some(match section.heading {
            Some(heading) => format!("\n{heading}:\n\n{body}"),
            None => format!("\n{body}"),
        })
    });
    format!("# {title}\n{}", parts.collect::<String>())
}

fn on_pages(columns: &[Column]) -> Vec<Column> {
    let shown = columns.iter().filter(|column| column.shown != Shown::Terminal);
    shown.cloned().collect()
}
