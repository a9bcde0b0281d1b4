//! Adjectives, and the endings they take.

use super::features::{Case, Declension, Gender, Number};
use super::nouns::Class;

pub const ADJECTIVE_ROWS: &str = include_str!("adjectives.txt");

#[derive(Debug, PartialEq, Eq)]
pub struct Adjective {
    pub english: &'static str,
    pub english_comparative: String,
    /// Form after "sein".
    pub german: &'static str,
    german_stem: &'static str,
    pub german_comparative: &'static str,
    pub describes: Vec<Class>,
}

/// Share of gender and case that the word before the adjective has already shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Inflection {
    /// Nothing: no article, a number, a name's genitive.
    Strong,
    /// All of it: der, dieser, jeder, alle.
    Weak,
    /// Some of it: ein, kein, mein.
    Mixed,
}

impl Adjective {
    pub fn from_cells(cells: &[&'static str]) -> Self {
        let [
            english,
            comparative,
            german,
            german_stem,
            german_comparative,
            describes,
            ..,
        ] = *cells
        else {
            panic!("an adjective has six cells: {cells:?}");
        };
        Self {
            english,
            english_comparative: if comparative.is_empty() {
                format!("more {english}")
            } else {
                comparative.to_owned()
            },
            german,
            german_stem,
            german_comparative,
            describes: Class::from_names(describes),
        }
    }

    pub fn attributive(&self, inflection: Inflection, declension: Declension) -> String {
        format!("{}{}", self.german_stem, ending(inflection, declension))
    }
}

fn ending(inflection: Inflection, declension: Declension) -> &'static str {
    match inflection {
        Inflection::Strong => strong_ending(declension),
        Inflection::Weak => weak_ending(declension),
        Inflection::Mixed => match (declension.number, declension.case) {
            (Number::Singular, Case::Nominative | Case::Accusative) => strong_ending(declension),
            _ => "en",
        },
    }
}

fn weak_ending(Declension { gender, case, number }: Declension) -> &'static str {
    match (number, case, gender) {
        (Number::Singular, Case::Nominative, _)
        | (Number::Singular, Case::Accusative, Gender::Feminine | Gender::Neuter) => "e",
        _ => "en",
    }
}

/// As "dieser" ends, but for the genitive, which the noun shows.
fn strong_ending(declension: Declension) -> &'static str {
    match declension.strong_ending() {
        "es" if declension.case == Case::Genitive => "en",
        ending => ending,
    }
}
