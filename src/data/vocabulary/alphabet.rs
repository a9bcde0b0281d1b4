//! The alphabet: characters that become tokens.

use std::collections::{BTreeMap, BTreeSet};

use super::special::SPECIAL_TOKENS;
use crate::data::error::DataError;

/// The most frequent characters. Where they are many (a large corpus has thousands), they may take half of the
/// vocabulary; rarer ones are then read as unknown.
pub struct Alphabet {
    known: BTreeSet<char>,
}

/// Losing more than one character in a thousand is no vocabulary but a mistake.
const COVERAGE_PER_MILLE: u64 = 999;

impl Alphabet {
    pub fn of(words: &BTreeMap<String, u64>, vocab_size: usize) -> Result<Self, DataError> {
        let by_frequency = by_frequency(words);
        let room = vocab_size.saturating_sub(SPECIAL_TOKENS.len()) / 2;
        let needed = covering(&by_frequency);
        if needed > room {
            let smallest = 2 * needed + SPECIAL_TOKENS.len();
            return Err(DataError::VocabularyTooSmall { vocab_size, smallest });
        }
        Ok(Self {
            known: by_frequency
                .into_iter()
                .take(room)
                .map(|(character, _)| character)
                .collect(),
        })
    }

    /// The runs of known characters.
    pub fn known_parts<'a>(&self, word: &'a str) -> impl Iterator<Item = &'a str> {
        word.split(|character| !self.known.contains(&character))
            .filter(|part| !part.is_empty())
    }
}

/// Most frequent first, ties in the order of the code points.
fn by_frequency(words: &BTreeMap<String, u64>) -> Vec<(char, u64)> {
    let mut counts: BTreeMap<char, u64> = BTreeMap::new();
    for (word, count) in words {
        for character in word.chars() {
            *counts.entry(character).or_default() += count;
        }
    }
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    counts
}

/// Number of characters that make up nearly all of the text.
fn covering(by_frequency: &[(char, u64)]) -> usize {
    let all: u64 = by_frequency.iter().map(|(_, count)| count).sum();
    let mut covered = 0;
    let enough = by_frequency.iter().position(|(_, count)| {
        covered += count;
        covered * 1000 >= all * COVERAGE_PER_MILLE
    });
    enough.map_or(0, |index| index + 1)
}
