//! Statistics of a sentence for BLEU, as integers that can be added.

use std::iter::Sum;
use std::ops::Add;

use super::config::BleuConfig;
use super::error::ScoreError;
use super::ngrams::{MAX_ORDER, Ngrams, clipped_matches};
use super::vocabulary::Vocabulary;

/// Counts of one sentence or, added up, of a corpus. Index `n - 1` holds what concerns n-grams of `n` words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Statistics {
    /// Words.
    pub hypothesis_length: u64,
    /// Words of the reference closest in length; the shorter of two equally close.
    pub reference_length: u64,
    /// Hypothesis n-grams that a reference has, each at most as often as the reference that has it most often.
    pub counts: [u64; MAX_ORDER],
    /// Hypothesis n-grams.
    pub totals: [u64; MAX_ORDER],
}

impl Add for Statistics {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            hypothesis_length: self.hypothesis_length + other.hypothesis_length,
            reference_length: self.reference_length + other.reference_length,
            counts: std::array::from_fn(|i| self.counts[i] + other.counts[i]),
            totals: std::array::from_fn(|i| self.totals[i] + other.totals[i]),
        }
    }
}

impl Sum for Statistics {
    fn sum<I: Iterator<Item = Self>>(sentences: I) -> Self {
        sentences.fold(Self::default(), Add::add)
    }
}

/// One `Statistics` per hypothesis, in order. Each of `references` is a stream with one line per hypothesis.
///
/// # Errors
///
/// `NoReferences`, `NoSentences`, or `LineCounts` for the first stream that has too few or too many lines.
pub fn sentence_statistics(
    hypotheses: &[String],
    references: &[&[String]],
    config: &BleuConfig,
) -> Result<Vec<Statistics>, ScoreError> {
    check_line_counts(hypotheses, references)?;
    let sentences = hypotheses.iter().enumerate();
    Ok(sentences
        .map(|(at, line)| of_sentence(line, references.iter().map(|stream| &stream[at]), config))
        .collect())
}

fn check_line_counts(hypotheses: &[String], references: &[&[String]]) -> Result<(), ScoreError> {
    if references.is_empty() {
        return Err(ScoreError::NoReferences);
    }
    if let Some(stream) = references.iter().position(|lines| lines.len() != hypotheses.len()) {
        let (hypothesis_lines, reference_lines) = (hypotheses.len(), references[stream].len());
        return Err(ScoreError::LineCounts {
            stream,
            hypothesis_lines,
            reference_lines,
        });
    }
    if hypotheses.is_empty() {
        Err(ScoreError::NoSentences)
    } else {
        Ok(())
    }
}

fn of_sentence<'a>(hypothesis: &str, references: impl Iterator<Item = &'a String>, config: &BleuConfig) -> Statistics {
    let hypothesis = config.preprocess(hypothesis);
    let references: Vec<_> = references.map(|line| config.preprocess(line)).collect();
    let mut vocabulary = Vocabulary::new();
    let hypothesis = Ngrams::new(&vocabulary.ids(&hypothesis));
    let references: Vec<Ngrams> = references
        .iter()
        .map(|line| Ngrams::new(&vocabulary.ids(line)))
        .collect();
    let length = hypothesis.words();
    Statistics {
        hypothesis_length: length as u64,
        reference_length: closest_length(length, &references) as u64,
        counts: std::array::from_fn(|i| clipped_matches(&hypothesis, &references, i + 1)),
        totals: std::array::from_fn(|i| length.saturating_sub(i) as u64),
    }
}

fn closest_length(hypothesis_length: usize, references: &[Ngrams]) -> usize {
    let lengths = references.iter().map(Ngrams::words);
    lengths
        .min_by_key(|&length| (length.abs_diff(hypothesis_length), length))
        .expect("there is a reference")
}
