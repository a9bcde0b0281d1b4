//! Sections: the parts of a report, each a table, a chart or a list of sentences.

use maud::Markup;

use super::table::{Column, Shown};

/// One part of a report.
#[derive(Debug, Clone)]
pub struct Section {
    /// Heading on pages; a terminal shows none.
    pub heading: Option<&'static str>,
    pub shown: Shown,
    pub content: Content,
}

/// Content of a section.
#[derive(Debug, Clone)]
pub enum Content {
    Table {
        columns: Vec<Column>,
        /// Row to be marked as the baseline.
        baseline: Option<usize>,
    },
    /// An HTML figure; Markdown and terminals leave it out.
    Chart(Markup),
    /// Sentences with code between backquotes.
    Sentences(Vec<String>),
}

impl Section {
    /// Returns a list of sentences, or `None` if there are none.
    pub(super) fn sentences(heading: Option<&'static str>, shown: Shown, sentences: Vec<String>) -> Option<Self> {
        (!sentences.is_empty()).then_some(Self {
            heading,
            shown,
            content: Content::Sentences(sentences),
        })
    }

    pub(super) fn chart(figure: Markup) -> Self {
        Self {
            heading: None,
            shown: Shown::Pages,
            content: Content::Chart(figure),
        }
    }
}
