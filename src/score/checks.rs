//! Faults of a text that make its score mislead. They are reported, never repaired.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::LazyLock;

use regex::Regex;

use super::lines::trim_end;

/// Text that a warning is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    Hypotheses,
    /// A reference stream, from 0.
    Reference(usize),
}

/// Warning about a text.
#[derive(Debug, Clone, PartialEq)]
pub enum Warning {
    /// Hypotheses end in a detached full stop, so they were not detokenised.
    LooksTokenized { lines: usize },
    /// The text holds HTML entities: occurrences of each.
    HtmlEntities {
        side: Side,
        counts: BTreeMap<String, usize>,
    },
    /// The share of capitals among cased letters is very different, as if one text had been lower-cased.
    CaseDiffers {
        hypotheses_percent: f64,
        reference_percent: f64,
    },
    /// Hypotheses without a word where the reference has some.
    EmptyHypotheses { lines: usize },
}

/// Everything suspicious about a corpus, in the order of `Warning`. Case and emptiness are compared with the first
/// reference.
#[must_use]
pub fn check_texts(hypotheses: &[String], references: &[&[String]]) -> Vec<Warning> {
    let reference = references.first().copied().unwrap_or_default();
    let entities = references
        .iter()
        .enumerate()
        .filter_map(|(stream, lines)| html_entities(Side::Reference(stream), lines));
    looks_tokenized(hypotheses)
        .into_iter()
        .chain(html_entities(Side::Hypotheses, hypotheses))
        .chain(entities)
        .chain(case_differs(hypotheses, reference))
        .chain(empty_hypotheses(hypotheses, reference))
        .collect()
}

/// sacreBLEU warns from 100 lines; a small corpus can be tokenised throughout and never get there.
fn looks_tokenized(hypotheses: &[String]) -> Option<Warning> {
    let lines = hypotheses.iter().filter(|line| line.ends_with(" .")).count();
    (lines >= 100 || lines * 2 > hypotheses.len()).then_some(Warning::LooksTokenized { lines })
}

fn html_entities(side: Side, lines: &[String]) -> Option<Warning> {
    static ENTITY: LazyLock<Regex> =
        LazyLock::new(|| Regex::new("&(?:[A-Za-z][A-Za-z0-9]*|#[0-9]+|#[xX][0-9A-Fa-f]+);").expect("a valid pattern"));
    let mut counts = BTreeMap::new();
    for entity in lines.iter().flat_map(|line| ENTITY.find_iter(line)) {
        *counts.entry(entity.as_str().to_owned()).or_insert(0) += 1;
    }
    (!counts.is_empty()).then_some(Warning::HtmlEntities { side, counts })
}

/// Capitals are some 3 percent of English and 6 percent of German letters: a factor of two between translations of
/// the same text is not chance, unless there is hardly a capital in either.
fn case_differs(hypotheses: &[String], reference: &[String]) -> Option<Warning> {
    let (hypotheses_percent, reference_percent) = (capitals_percent(hypotheses)?, capitals_percent(reference)?);
    let fewer = hypotheses_percent.min(reference_percent);
    let more = hypotheses_percent.max(reference_percent);
    (more > 2.0 * fewer && more - fewer > 1.0).then_some(Warning::CaseDiffers {
        hypotheses_percent,
        reference_percent,
    })
}

fn capitals_percent(lines: &[String]) -> Option<f64> {
    let letters = || lines.iter().flat_map(|line| line.chars());
    let capitals = letters().filter(|c| c.is_uppercase()).count();
    let cased = capitals + letters().filter(|c| c.is_lowercase()).count();
    (cased > 0).then(|| 100.0 * capitals as f64 / cased as f64)
}

fn empty_hypotheses(hypotheses: &[String], reference: &[String]) -> Option<Warning> {
    let is_empty = |line: &str| trim_end(line).is_empty();
    let pairs = hypotheses.iter().zip(reference);
    let lines = pairs
        .filter(|(hypothesis, reference)| is_empty(hypothesis) && !is_empty(reference))
        .count();
    (lines > 0).then_some(Warning::EmptyHypotheses { lines })
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Hypotheses => write!(f, "the hypotheses"),
            Self::Reference(stream) => write!(f, "reference {}", stream + 1),
        }
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LooksTokenized { lines } => {
                write!(
                    f,
                    "{lines} hypotheses end in a detached full stop: score detokenised text"
                )
            }
            Self::HtmlEntities { side, counts } => {
                let counts: Vec<_> = counts
                    .iter()
                    .map(|(entity, count)| format!("{count} x {entity}"))
                    .collect();
                write!(f, "HTML entities in {side}: {}", counts.join(", "))
            }
            Self::CaseDiffers {
                hypotheses_percent,
                reference_percent,
            } => write!(
                f,
                "{hypotheses_percent:.1} % of the letters are capitals in the hypotheses, \
                 but {reference_percent:.1} % in the reference"
            ),
            Self::EmptyHypotheses { lines } => write!(f, "{lines} hypotheses are empty where the reference is not"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &[&str]) -> Vec<String> {
        text.iter().map(|&line| line.to_owned()).collect()
    }

    fn check(hypotheses: &[&str], reference: &[&str]) -> Vec<Warning> {
        check_texts(&lines(hypotheses), &[&lines(reference)])
    }

    #[test]
    fn ordinary_text_is_not_suspicious() {
        let text = ["Ein Hund & eine Katze spielen.", "AT&T und 5 < 6.", "&; &#; & amp; ."];
        assert_eq!(check(&text, &text), []);
    }

    #[test]
    fn a_hundred_detached_full_stops_are_reported_in_any_corpus() {
        let mut text = vec!["no stop"; 900];
        text.extend(["a stop ."; 99]);
        assert_eq!(check(&text, &text), []);
        text.push("a stop .");
        assert_eq!(check(&text, &text), [Warning::LooksTokenized { lines: 100 }]);
    }

    #[test]
    fn a_small_corpus_is_tokenized_when_most_lines_are() {
        assert_eq!(check(&["a .", "b"], &["a.", "b"]), []);
        assert_eq!(
            check(&["a .", "b ."], &["a.", "b."]),
            [Warning::LooksTokenized { lines: 2 }]
        );
    }

    #[test]
    fn entities_are_counted_on_each_side() {
        let warnings = check(&["&quot;a&quot; &#39;b&#x27;", "&amp;"], &["\"a\" 'b'", "&apos;"]);
        let counts = |entities: &[(&str, usize)]| entities.iter().map(|&(e, n)| (e.to_owned(), n)).collect();
        let hypotheses = counts(&[("&#39;", 1), ("&#x27;", 1), ("&amp;", 1), ("&quot;", 2)]);
        let reference = counts(&[("&apos;", 1)]);
        assert_eq!(
            warnings,
            [
                Warning::HtmlEntities {
                    side: Side::Hypotheses,
                    counts: hypotheses
                },
                Warning::HtmlEntities {
                    side: Side::Reference(0),
                    counts: reference
                },
            ]
        );
        assert_eq!(warnings[1].to_string(), "HTML entities in reference 1: 1 x &apos;");
    }

    #[test]
    fn a_lower_cased_text_against_a_cased_one_is_reported() {
        let cased = ["Der Hund und die Katze", "Ein Mann"];
        let lower = ["der hund und die katze", "ein mann"];
        let percent = 100.0 * 5.0 / 25.0;
        let warning = |hypotheses_percent, reference_percent| {
            vec![Warning::CaseDiffers {
                hypotheses_percent,
                reference_percent,
            }]
        };
        assert_eq!(check(&lower, &cased), warning(0.0, percent));
        assert_eq!(check(&cased, &lower), warning(percent, 0.0));
        assert_eq!(check(&cased, &cased), []);
        assert_eq!(check(&lower, &lower), []);
    }

    #[test]
    fn only_lines_the_reference_has_count_as_empty() {
        let warnings = check(&["", "\u{a0}", "", "d"], &["a", "b", " ", "d"]);
        assert_eq!(warnings, [Warning::EmptyHypotheses { lines: 2 }]);
    }
}
