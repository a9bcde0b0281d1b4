//! Counts of everything odd in a corpus, so that nothing is dropped or repaired in silence.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use super::lines::Repairs;
use super::splits::Splits;
use super::text::{ContentHash, Reading};
use crate::model::UNK;

const NO_BREAK_SPACE: char = '\u{A0}';
/// Ratio of lengths in characters above which a pair may not be a translation.
const LENGTH_RATIO_LIMIT: usize = 3;
/// Least length in characters for which a ratio is meaningful.
const LENGTH_RATIO_MIN_CHARACTERS: usize = 30;

/// The findings of all splits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CorpusReport {
    pub splits: Splits<SplitReport>,
    /// Number of tokens that the spec asks for.
    pub vocab_size: usize,
    /// Number of tokens that could be learned; ids from here to `vocab_size` are never used.
    pub tokens: usize,
    pub vocabulary: Origin,
    /// Origin of the encoded training pairs.
    pub training: Origin,
}

/// Origin of prepared data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    Made,
    Cached,
    /// Made again, because the cached file was damaged.
    Repaired,
}

impl Origin {
    /// Origin of data that was made; `was_there` says whether a damaged file existed.
    pub(super) fn made(was_there: bool) -> Self {
        if was_there { Self::Repaired } else { Self::Made }
    }
}

/// The findings of one split, in pairs unless a side is named.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SplitReport {
    pub pairs: usize,
    pub source: SideReport,
    pub target: SideReport,
    /// Pairs equal to an earlier pair of the split.
    pub duplicates: usize,
    /// Pairs whose source is also in training.
    pub sources_in_training: usize,
    pub length_ratio_outliers: usize,
    /// Left out of training because a side is empty; never counted in dev and test, which keep all pairs.
    pub skipped_empty: usize,
    /// Left out of training because a side has more tokens than `data.max_length`.
    pub skipped_too_long: usize,
}

/// The findings of one side of a split, in lines unless the name says tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SideReport {
    pub repairs: Repairs,
    pub empty_lines: usize,
    pub no_break_space_lines: usize,
    /// Lines with `&quot;`, `&#39;` and the like: the text was escaped for the web.
    pub html_entity_lines: usize,
    #[serde(alias = "pieces")]
    pub tokens: usize,
    #[serde(alias = "unknown_pieces")]
    pub unknown_tokens: usize,
    /// Number of tokens of the longest sentence.
    #[serde(alias = "longest_pieces")]
    pub longest_tokens: usize,
}

/// One side of a pair, and its tokens.
#[derive(Debug, Clone, Copy)]
pub struct Side<'a> {
    pub text: &'a str,
    pub ids: &'a [u32],
}

/// Counts what is odd about a split, pair by pair.
#[derive(Default)]
pub struct Survey {
    report: SplitReport,
    /// Half a hash of each pair is enough to know it again.
    seen: HashSet<[u8; 16]>,
}

impl Survey {
    pub fn add(&mut self, source: Side, target: Side) {
        self.report.pairs += 1;
        self.report.source.add(source);
        self.report.target.add(target);
        self.report.length_ratio_outliers += usize::from(is_length_ratio_outlier(source.text, target.text));
        let mut hash = ContentHash::default();
        hash.add(source.text, target.text);
        let half = *hash.finish().as_bytes().first_chunk().expect("a hash has 32 bytes");
        self.report.duplicates += usize::from(!self.seen.insert(half));
    }

    /// Whether training leaves the pair just added out, which is counted.
    pub fn skips(&mut self, source: Side, target: Side, max_length: usize) -> bool {
        if is_blank(source.text) || is_blank(target.text) {
            self.report.skipped_empty += 1;
            true
        } else if source.ids.len().max(target.ids.len()) > max_length {
            self.report.skipped_too_long += 1;
            true
        } else {
            false
        }
    }

    pub fn finish(self, reading: &Reading) -> SplitReport {
        let mut report = self.report;
        report.source.repairs = reading.source_repairs;
        report.target.repairs = reading.target_repairs;
        report
    }
}

impl SideReport {
    fn add(&mut self, Side { text: line, ids }: Side) {
        self.tokens += ids.len();
        self.unknown_tokens += ids.iter().filter(|id| **id == UNK).count();
        self.longest_tokens = self.longest_tokens.max(ids.len());
        self.empty_lines += usize::from(is_blank(line));
        self.no_break_space_lines += usize::from(line.contains(NO_BREAK_SPACE));
        self.html_entity_lines += usize::from(has_html_entity(line));
    }
}

/// Whether a line has no character but white space.
fn is_blank(line: &str) -> bool {
    line.trim().is_empty()
}

fn is_length_ratio_outlier(source: &str, target: &str) -> bool {
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
        let is_outlier =
            |source: usize, target: usize| is_length_ratio_outlier(&"x".repeat(source), &"ü".repeat(target));
        assert!(is_outlier(10, 31));
        assert!(is_outlier(40, 0));
        assert!(!is_outlier(10, 30));
        assert!(!is_outlier(1, 20));
    }
}
