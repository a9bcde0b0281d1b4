//! Adverbials that are one fixed phrase in each language.

use super::verbs::Tense;

pub const ADVERB_ROWS: &str = include_str!("adverbs.txt");

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AdverbKind {
    Time,
    Frequency,
    Manner,
}

#[derive(Debug, PartialEq, Eq)]
pub struct Adverb {
    pub kind: AdverbKind,
    pub english: &'static str,
    pub german: &'static str,
    tenses: Vec<Tense>,
}

impl Adverb {
    pub fn from_cells(cells: &[&'static str]) -> Self {
        let [kind, english, german, tenses, ..] = *cells else {
            panic!("an adverb has four cells: {cells:?}");
        };
        let kind = match kind {
            "time" => AdverbKind::Time,
            "frequency" => AdverbKind::Frequency,
            "manner" => AdverbKind::Manner,
            _ => panic!("no kind of adverbs is called {kind:?}"),
        };
        Self {
            kind,
            english,
            german,
            tenses: tenses.split_whitespace().map(Tense::from_name).collect(),
        }
    }

    pub fn goes_with(&self, tense: Tense) -> bool {
        self.tenses.contains(&tense)
    }
}
