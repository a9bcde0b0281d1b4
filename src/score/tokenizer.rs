//! Tokenisation of a line into the words that BLEU counts.

use std::borrow::Cow;

use super::compounds::tokenize_and_split_compounds;
use super::international::tokenize_international;
use super::mteval::tokenize_13a;

/// Tokeniser that prepares detokenised text for BLEU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Tokenizer {
    /// `13a`, of NIST's mteval-v13a: sacreBLEU's default and today's standard.
    #[default]
    Mteval13a,
    /// `none`: words are what white space separates.
    None,
    /// `intl`, of mteval-v14: Unicode punctuation and symbols are split off.
    ///
    /// Categories are those of Unicode 16, which the `regex` crate knows. sacreBLEU takes them from whichever version
    /// of the Python package `regex` is installed: with 2025.9.18 (also Unicode 16) no character is treated
    /// differently; with 2026.11.19 587 are, all of them unassigned in Unicode 16.
    International,
    /// `char`: every character but white space is a word.
    Character,
    /// `13a+compound-split`: `13a`, then hyphenated compounds are split as for the scores in "Attention Is All You
    /// Need". An approximation, and signed as such: the paper ran the Moses tokenizer where this runs `13a`.
    CompoundSplit13a,
}

impl Tokenizer {
    /// The name in a signature. The first four are sacreBLEU's.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Mteval13a => "13a",
            Self::None => "none",
            Self::International => "intl",
            Self::Character => "char",
            Self::CompoundSplit13a => "13a+compound-split",
        }
    }

    /// The line with white space around every word.
    pub(super) fn tokenize(self, line: &str) -> Cow<'_, str> {
        match self {
            Self::Mteval13a => tokenize_13a(line).into(),
            Self::None => line.into(),
            Self::International => tokenize_international(line).into(),
            Self::Character => line.chars().flat_map(|c| [c, ' ']).collect::<String>().into(),
            Self::CompoundSplit13a => tokenize_and_split_compounds(line).into(),
        }
    }
}
