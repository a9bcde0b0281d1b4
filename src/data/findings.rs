//! The findings in a corpus as text: the whole report, and the warnings.

use std::fmt;

use super::report::{CorpusReport, Origin, SideReport, SplitReport};
use crate::spec::Split;

const SPLITS: [Split; 3] = [Split::Train, Split::Dev, Split::Test];
/// Percentage of pairs of odd lengths above which the two sides may be out of step.
const OUTLIERS_PERCENT: usize = 2;

impl CorpusReport {
    /// Warnings: findings that may mislead readers of a result on this corpus.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings: Vec<String> = SPLITS
            .into_iter()
            .flat_map(|split| self.split_warnings(split))
            .collect();
        if self.vocabulary == Origin::Repaired {
            warnings.push("the cached vocabulary was damaged and has been made again".to_owned());
        }
        if self.training == Origin::Repaired {
            warnings.push("the cached training pairs were damaged and have been made again".to_owned());
        }
        if self.tokens < self.vocab_size {
            let (tokens, asked) = (self.tokens, self.vocab_size);
            warnings.push(format!(
                "the corpus yields {tokens} tokens, not data.vocab_size = {asked}; the rest is never used"
            ));
        }
        warnings
    }

    fn split_warnings(&self, split: Split) -> Vec<String> {
        let report = self.splits.get(split);
        let name = split.name();
        let skipped = report.skipped_empty + report.skipped_too_long;
        let unknown = report.source.unknown_tokens + report.target.unknown_tokens;
        let entities = report.source.html_entity_lines + report.target.html_entity_lines;
        let counted = [
            (
                skipped,
                "pairs were skipped: a side is empty or longer than data.max_length",
            ),
            (unknown, "tokens are unknown to the vocabulary"),
            (
                entities,
                "lines hold HTML entities such as &quot;: the text was escaped for the web",
            ),
        ];
        let mut warnings: Vec<String> = counted
            .into_iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, what)| format!("{name}: {count} {what}"))
            .collect();
        if report.length_ratio_outliers * 100 > report.pairs * OUTLIERS_PERCENT {
            let count = report.length_ratio_outliers;
            warnings.push(format!(
                "{name}: {count} pairs have very different lengths; are the files in step?"
            ));
        }
        warnings
    }
}

impl fmt::Display for CorpusReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let origin = match self.vocabulary {
            Origin::Made => "trained now",
            Origin::Cached => "from the cache",
            Origin::Repaired => "trained again, because the cached one was damaged",
        };
        write!(f, "vocabulary: {} of {} tokens, {origin}", self.tokens, self.vocab_size)?;
        for split in SPLITS {
            write!(f, "\n{}: {}", split.name(), self.splits.get(split))?;
        }
        Ok(())
    }
}

impl fmt::Display for SplitReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} pairs", self.pairs)?;
        let counted = [
            (self.duplicates, "duplicates"),
            (self.sources_in_training, "sources also in training"),
            (self.length_ratio_outliers, "of very different lengths"),
            (self.skipped_empty, "skipped as empty"),
            (self.skipped_too_long, "skipped as too long"),
        ];
        write_counted(f, &counted)?;
        write!(f, "\n  source: {}\n  target: {}", self.source, self.target)
    }
}

impl fmt::Display for SideReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} tokens, the longest sentence {}",
            self.tokens, self.longest_tokens
        )?;
        let counted = [
            (self.unknown_tokens, "unknown tokens"),
            (self.empty_lines, "empty lines"),
            (self.no_break_space_lines, "lines with no-break spaces"),
            (self.html_entity_lines, "lines with HTML entities"),
            (self.repairs.crlf_lines, "CRLF line ends, taken as LF"),
            (self.repairs.byte_order_marks, "byte order marks, dropped"),
        ];
        write_counted(f, &counted)
    }
}

/// Writes only counts above 0.
fn write_counted(f: &mut fmt::Formatter<'_>, counted: &[(usize, &str)]) -> fmt::Result {
    counted
        .iter()
        .filter(|(count, _)| *count > 0)
        .try_for_each(|(count, what)| write!(f, ", {count} {what}"))
}
