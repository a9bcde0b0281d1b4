//! The built-in corpus. A split comes in; an endless stream of sentence pairs goes out, English and German realised from
//! the same tree, so that each sentence has one right translation. This room refuses to know files, vocabularies and models.

mod adjectives;
mod adverbs;
mod closed;
mod derive;
mod english;
mod features;
mod german;
mod lexicon;
mod names;
mod nouns;
mod numbers;
mod text;
mod tree;
mod verbs;

use std::collections::HashSet;
use std::ops::RangeInclusive;

use self::derive::Deriver;
use crate::random::stream;
use crate::spec::Split;

/// One in sixteen sentences belongs to dev and one to test, in every split that draws it.
const SPLIT_SHARES: u8 = 16;

/// Words of an English sentence; others are drawn again.
const SOURCE_WORDS: RangeInclusive<usize> = 3..=25;

/// Source and target text of one sentence.
pub type Pair = (String, String);

/// Sentence pairs of a split without end: no pair twice, and none that belongs to another split.
pub struct GrammarPairs {
    split: Split,
    deriver: Deriver,
    seen: HashSet<[u8; 16]>,
}

impl GrammarPairs {
    #[must_use]
    pub fn new(split: Split) -> Self {
        let deriver = Deriver::new(stream(&["ablate", "grammar", split.name()]));
        Self {
            split,
            deriver,
            seen: HashSet::new(),
        }
    }
}

impl Iterator for GrammarPairs {
    type Item = Pair;

    fn next(&mut self) -> Option<Pair> {
        loop {
            let tree = self.deriver.sentence();
            let source = english::sentence(&tree);
            let key = key(&source);
            let words = source.split(' ').count();
            if SOURCE_WORDS.contains(&words) && split_of(key) == self.split && self.seen.insert(key) {
                return Some((source, german::sentence(&tree)));
            }
        }
    }
}

fn key(source: &str) -> [u8; 16] {
    let mut key = [0; 16];
    key.copy_from_slice(&blake3::hash(source.as_bytes()).as_bytes()[..16]);
    key
}

fn split_of(key: [u8; 16]) -> Split {
    match key[0] % SPLIT_SHARES {
        0 => Split::Dev,
        1 => Split::Test,
        _ => Split::Train,
    }
}

#[cfg(test)]
mod tests;
