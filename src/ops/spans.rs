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
    list: Vec<Span>,
    mask: Mask,
    /// A query sees at most so many keys on each side of its own position; without, as many as there are.
    window: Option<usize>,
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
        Self {
            list: spans,
            mask,
            window: None,
        }
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

    /// Restricts what every query sees to `window` keys on each side of its own position (section 4, restricted
    /// self-attention).
    #[must_use]
    pub fn windowed(self, window: Option<usize>) -> Self {
        Self { window, ..self }
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

    /// The keys on each side that a query sees at most.
    #[must_use]
    pub fn window(&self) -> Option<usize> {
        self.window
    }

    pub fn iter(&self) -> std::slice::Iter<'_, Span> {
        self.list.iter()
    }

    /// Which of the span's keys query `position` (0 is the span's first) may see.
    #[must_use]
    pub fn seen(&self, span: &Span, position: usize) -> Range<usize> {
        // With fewer queries than keys the queries are the last positions.
        let own = span.keys.len() - span.queries.len().min(span.keys.len()) + position;
        let end = match self.mask {
            Mask::Full => span.keys.len(),
            Mask::Causal => own + 1,
        };
        match self.window {
            None => 0..end,
            Some(window) => own.saturating_sub(window)..end.min(own + window + 1),
        }
    }

    /// Which of the span's queries may see its key `key`.
    #[must_use]
    pub fn seers(&self, span: &Span, key: usize) -> Range<usize> {
        let queries = span.queries.len();
        let own = (key + queries).saturating_sub(span.keys.len());
        let first = match self.mask {
            Mask::Full => 0,
            Mask::Causal => own,
        };
        match self.window {
            None => first..queries,
            Some(window) => first.max(own.saturating_sub(window))..queries.min(own + window + 1),
        }
    }
}

impl<'a> IntoIterator for &'a Spans {
    type Item = &'a Span;
    type IntoIter = std::slice::Iter<'a, Span>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_shows_so_many_keys_on_each_side_and_a_causal_one_none_after() {
        let sentence = Packed::from_sentences([[0; 7]]);
        let of = |mask, window| Spans::within(&sentence, mask).windowed(window);
        let seen = |spans: Spans| -> Vec<Range<usize>> {
            let span = spans.iter().next().expect("a sentence").clone();
            (0..7).map(|position| spans.seen(&span, position)).collect()
        };
        assert_eq!(seen(of(Mask::Full, None)), vec![0..7; 7]);
        assert_eq!(
            seen(of(Mask::Full, Some(2))),
            [0..3, 0..4, 0..5, 1..6, 2..7, 3..7, 4..7]
        );
        assert_eq!(
            seen(of(Mask::Causal, Some(2))),
            [0..1, 0..2, 0..3, 1..4, 2..5, 3..6, 4..7]
        );
        assert_eq!(
            seen(of(Mask::Causal, Some(0))),
            [0..1, 1..2, 2..3, 3..4, 4..5, 5..6, 6..7]
        );
    }

    #[test]
    fn whoever_sees_a_key_is_seen_to_see_it() {
        let sentence = Packed::from_sentences([[0; 9]]);
        for mask in [Mask::Full, Mask::Causal] {
            for window in [None, Some(0), Some(1), Some(4), Some(20)] {
                let spans = Spans::within(&sentence, mask).windowed(window);
                let span = spans.iter().next().expect("a sentence");
                for (query, key) in (0..9).flat_map(|query| (0..9).map(move |key| (query, key))) {
                    let sees = spans.seen(span, query).contains(&key);
                    assert_eq!(
                        spans.seers(span, key).contains(&query),
                        sees,
                        "{mask:?} {window:?} {query} {key}"
                    );
                }
            }
        }
    }
}
