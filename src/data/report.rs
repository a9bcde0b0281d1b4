//! What was found in a corpus: counted, so that nothing is dropped or repaired in silence.

use std::collections::HashSet;

use super::batches::EncodedPairs;
use super::lines::Repairs;
use super::splits::{Pair, Splits};
use super::text::SplitText;
use crate::model::UNK;
use crate::ops::Packed;

const NO_BREAK_SPACE: char = '\u{A0}';
/// One side longer than this many times the other, in characters, may be no translation.
const LENGTH_RATIO_LIMIT: usize = 3;
/// Below this many characters a ratio says nothing.
const LENGTH_RATIO_MIN_CHARACTERS: usize = 30;

/// The findings of all splits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CorpusReport {
    pub splits: Splits<SplitReport>,
    /// Pieces asked for.
    pub vocab_size: usize,
    /// Pieces that could be made; ids from here to `vocab_size` are never used.
    pub pieces: usize,
    pub vocabulary: VocabularyOrigin,
}

/// Where the vocabulary came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VocabularyOrigin {
    Trained,
    Cached,
    /// Trained anew, because the cached file was damaged.
    Repaired,
}

/// The findings of one split, in pairs unless a side is named.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SplitReport {
    pub pairs: usize,
    pub source: SideReport,
    pub target: SideReport,
    /// Equal to an earlier pair of the split.
    pub duplicates: usize,
    /// With a source that training has as well.
    pub sources_in_training: usize,
    pub length_ratio_outliers: usize,
    /// Left out of training because a side is empty; never counted in dev and test, which keep all pairs.
    pub skipped_empty: usize,
    /// Left out of training because a side has more pieces than `data.max_length`.
    pub skipped_too_long: usize,
}

/// The findings of one side of a split, in lines unless pieces are named.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SideReport {
    pub repairs: Repairs,
    pub empty_lines: usize,
    pub no_break_space_lines: usize,
    /// With `&quot;`, `&#39;` and the like: a text that was escaped for the web.
    pub html_entity_lines: usize,
    pub pieces: usize,
    pub unknown_pieces: usize,
    pub longest_pieces: usize,
}

pub fn split_report(text: &SplitText, ids: &EncodedPairs, training_sources: &HashSet<&str>) -> SplitReport {
    let pairs = &text.pairs;
    let distinct: HashSet<&Pair> = pairs.iter().collect();
    SplitReport {
        pairs: pairs.len(),
        source: side_report(
            pairs.iter().map(|(source, _)| source.as_str()),
            text.source_repairs,
            &ids.source,
        ),
        target: side_report(
            pairs.iter().map(|(_, target)| target.as_str()),
            text.target_repairs,
            &ids.target,
        ),
        duplicates: pairs.len() - distinct.len(),
        sources_in_training: pairs
            .iter()
            .filter(|(source, _)| training_sources.contains(source.as_str()))
            .count(),
        length_ratio_outliers: pairs.iter().filter(|pair| is_length_ratio_outlier(pair)).count(),
        skipped_empty: 0,
        skipped_too_long: 0,
    }
}

fn side_report<'a>(lines: impl Iterator<Item = &'a str>, repairs: Repairs, ids: &Packed) -> SideReport {
    let mut report = SideReport {
        repairs,
        pieces: ids.tokens(),
        unknown_pieces: ids.ids().iter().filter(|id| **id == UNK).count(),
        longest_pieces: (0..ids.sentences())
            .map(|index| ids.rows(index).len())
            .max()
            .unwrap_or(0),
        ..SideReport::default()
    };
    for line in lines {
        report.empty_lines += usize::from(is_blank(line));
        report.no_break_space_lines += usize::from(line.contains(NO_BREAK_SPACE));
        report.html_entity_lines += usize::from(has_html_entity(line));
    }
    report
}

/// Nothing to translate: no character but white space.
pub fn is_blank(line: &str) -> bool {
    line.trim().is_empty()
}

fn is_length_ratio_outlier((source, target): &Pair) -> bool {
    let (source, target) = (source.chars().count(), target.chars().count());
    let (shorter, longer) = (source.min(target), source.max(target));
    longer >= LENGTH_RATIO_MIN_CHARACTERS && longer > LENGTH_RATIO_LIMIT * shorter
}

/// An ampersand, a name or number, and a semicolon.
fn has_html_entity(line: &str) -> bool {
    line.split('&').skip(1).any(|rest| {
        let name = rest.split(';').next().unwrap_or_default();
        let digits = name.strip_prefix('#').unwrap_or(name);
        name.len() < rest.len() && !digits.is_empty() && digits.chars().all(|letter| letter.is_ascii_alphanumeric())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn html_entities_are_told_from_ampersands() {
        for line in ["a &quot;b&quot;", "it&#39;s", "&amp;", "x &#x27; y"] {
            assert!(has_html_entity(line), "{line}");
        }
        for line in ["a & b", "A&B", "&;", "& ;", "&&", "&a b;"] {
            assert!(!has_html_entity(line), "{line}");
        }
    }

    #[test]
    fn a_side_three_times_as_long_is_an_outlier_unless_both_are_short() {
        let pair = |source: usize, target: usize| ("x".repeat(source), "ü".repeat(target));
        assert!(is_length_ratio_outlier(&pair(10, 31)));
        assert!(is_length_ratio_outlier(&pair(40, 0)));
        assert!(!is_length_ratio_outlier(&pair(10, 30)));
        assert!(!is_length_ratio_outlier(&pair(1, 20)));
    }
}
