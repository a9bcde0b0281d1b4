//! The open word classes, read from the tables beside this file.

use std::sync::LazyLock;

use super::adjectives::{ADJECTIVE_ROWS, Adjective};
use super::adverbs::{ADVERB_ROWS, Adverb, AdverbKind};
use super::nouns::{Class, NOUN_ROWS, Noun};
use super::verbs::{Frame, VERB_ROWS, Verb};

/// All words, in the order of their tables.
pub struct Lexicon {
    pub nouns: Vec<Noun>,
    pub verbs: Vec<Verb>,
    pub adjectives: Vec<Adjective>,
    pub adverbs: Vec<Adverb>,
}

pub static LEXICON: LazyLock<Lexicon> = LazyLock::new(|| Lexicon {
    nouns: rows(NOUN_ROWS).map(|cells| Noun::from_cells(&cells)).collect(),
    verbs: rows(VERB_ROWS).map(|cells| Verb::from_cells(&cells)).collect(),
    adjectives: rows(ADJECTIVE_ROWS)
        .map(|cells| Adjective::from_cells(&cells))
        .collect(),
    adverbs: rows(ADVERB_ROWS).map(|cells| Adverb::from_cells(&cells)).collect(),
});

impl Lexicon {
    pub fn nouns_of(&'static self, class: Class) -> impl Iterator<Item = &'static Noun> {
        self.nouns.iter().filter(move |noun| noun.class == class)
    }

    pub fn verbs_of(&'static self, frame: Frame) -> impl Iterator<Item = &'static Verb> {
        self.verbs.iter().filter(move |verb| verb.frame() == frame)
    }

    pub fn adverbs_of(&'static self, kind: AdverbKind) -> impl Iterator<Item = &'static Adverb> {
        self.adverbs.iter().filter(move |adverb| adverb.kind == kind)
    }
}

/// The cells of every row; a missing cell at the end of a row reads as an empty one.
fn rows(table: &'static str) -> impl Iterator<Item = Vec<&'static str>> {
    const LONGEST_ROW: usize = 8;
    table.lines().filter(|line| !line.starts_with('#')).map(|line| {
        let mut cells: Vec<_> = line.split('|').map(str::trim).collect();
        assert!(cells.len() <= LONGEST_ROW, "too many cells: {line}");
        cells.resize(LONGEST_ROW, "");
        cells
    })
}
