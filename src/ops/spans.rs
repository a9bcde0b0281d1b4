//! Which rows attend to which.

use std::ops::Range;

use super::Packed;

/// What a query may see of its span's keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mask {
    /// All of them.
    Full,
    /// Those at its own position and before. With fewer queries than keys the queries are the last positions.
    Causal,
}

/// The rows of one sentence: its queries attend to its keys and to nothing else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    pub queries: Range<usize>,
    pub keys: Range<usize>,
}

/// All sentences of a batch. The query rows of the spans lie one after another and cover every row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spans {
    spans: Vec<Span>,
    mask: Mask,
}

impl Spans {
    /// # Panics
    /// If the query rows leave a gap, or a query has no key to see: both are bugs of the caller.
    #[must_use]
    pub fn new(spans: Vec<Span>, mask: Mask) -> Self {
        let mut next = 0;
        for span in &spans {
            assert_eq!(span.queries.start, next, "query rows must follow one another");
            let blind = match mask {
                Mask::Full => span.keys.is_empty(),
                Mask::Causal => span.keys.len() < span.queries.len(),
            };
            assert!(span.queries.is_empty() || !blind, "a query without a key: {span:?}");
            next = span.queries.end;
        }
        Self { spans, mask }
    }

    /// Every sentence attends to itself.
    #[must_use]
    pub fn within(sentences: &Packed, mask: Mask) -> Self {
        let itself = |index| Span {
            queries: sentences.rows(index),
            keys: sentences.rows(index),
        };
        Self::new((0..sentences.sentences()).map(itself).collect(), mask)
    }

    /// Every target sentence attends to its source sentence.
    #[must_use]
    pub fn across(target: &Packed, source: &Packed) -> Self {
        let pair = |index| Span {
            queries: target.rows(index),
            keys: source.rows(index),
        };
        Self::new((0..target.sentences()).map(pair).collect(), Mask::Full)
    }

    #[must_use]
    pub fn mask(&self) -> Mask {
        self.mask
    }

    pub fn iter(&self) -> std::slice::Iter<'_, Span> {
        self.spans.iter()
    }

    /// Which of the span's keys query `position` (0 is the span's first) may see.
    #[must_use]
    pub fn seen(&self, span: &Span, position: usize) -> Range<usize> {
        match self.mask {
            Mask::Full => 0..span.keys.len(),
            Mask::Causal => 0..span.keys.len() - span.queries.len() + position + 1,
        }
    }

    /// Which of the span's queries may see its key `key`.
    #[must_use]
    pub fn seers(&self, span: &Span, key: usize) -> Range<usize> {
        let first = match self.mask {
            Mask::Full => 0,
            Mask::Causal => (key + span.queries.len()).saturating_sub(span.keys.len()),
        };
        first..span.queries.len()
    }
}

impl<'a> IntoIterator for &'a Spans {
    type Item = &'a Span;
    type IntoIter = std::slice::Iter<'a, Span>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}
