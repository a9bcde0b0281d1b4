//! Nouns and how they decline.

use super::features::{Case, Gender, Number};

pub const NOUN_ROWS: &str = include_str!("nouns.txt");

/// Class of a noun. It decides which verbs and adjectives the noun meets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    Person,
    Animal,
    Object,
    Clothing,
    Device,
    Opening,
    Text,
    Food,
    Vehicle,
    Event,
    Place,
}

impl Class {
    pub fn from_name(name: &str) -> Self {
        match name {
            "person" => Self::Person,
            "animal" => Self::Animal,
            "object" => Self::Object,
            "clothing" => Self::Clothing,
            "device" => Self::Device,
            "opening" => Self::Opening,
            "text" => Self::Text,
            "food" => Self::Food,
            "vehicle" => Self::Vehicle,
            "event" => Self::Event,
            "place" => Self::Place,
            _ => panic!("no class of nouns is called {name:?}"),
        }
    }

    pub fn from_names(names: &str) -> Vec<Self> {
        names.split_whitespace().map(Self::from_name).collect()
    }
}

/// The prepositions of a place: "at the station", "am Bahnhof", "zum Bahnhof".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlacePrepositions {
    pub english_at: &'static str,
    pub german_at: &'static str,
    pub german_to: &'static str,
}

#[derive(Debug, PartialEq, Eq)]
pub struct Noun {
    pub class: Class,
    pub english: &'static str,
    english_plural: String,
    pub gender: Gender,
    pub german: &'static str,
    german_plural: &'static str,
    /// Every singular case but the nominative, for the weak masculines (der Student, den Studenten).
    weak: Option<&'static str>,
    pub place: Option<PlacePrepositions>,
}

impl Noun {
    pub fn from_cells(cells: &[&'static str]) -> Self {
        let [class, english, plural, gender, german, german_plural, last, ..] = *cells else {
            panic!("a noun has seven cells: {cells:?}");
        };
        let class = Class::from_name(class);
        let place = (class == Class::Place).then(|| match last.split_whitespace().collect::<Vec<_>>()[..] {
            [english_at, german_at, german_to] => PlacePrepositions {
                english_at,
                german_at,
                german_to,
            },
            _ => panic!("a place has three prepositions: {cells:?}"),
        });
        Self {
            class,
            english,
            english_plural: if plural.is_empty() {
                add_s(english)
            } else {
                plural.to_owned()
            },
            gender: gender_from_letter(gender),
            german,
            german_plural,
            weak: (place.is_none() && !last.is_empty()).then_some(last),
            place,
        }
    }

    pub fn english(&self, number: Number) -> &str {
        match number {
            Number::Singular => self.english,
            Number::Plural => &self.english_plural,
        }
    }

    pub fn german(&self, case: Case, number: Number) -> String {
        match (number, case) {
            (Number::Plural, Case::Dative) => dative_plural(self.german_plural),
            (Number::Plural, _) => self.german_plural.to_owned(),
            (Number::Singular, Case::Nominative) => self.german.to_owned(),
            (Number::Singular, Case::Genitive) if self.weak.is_none() => self.strong_genitive(),
            (Number::Singular, _) => self.weak.unwrap_or(self.german).to_owned(),
        }
    }

    fn strong_genitive(&self) -> String {
        let ending = match self.gender {
            Gender::Feminine => "",
            _ if self.german.ends_with('e') => "s",
            _ if self.german.ends_with(['s', 'ß', 'x', 'z']) || is_one_syllable(self.german) => "es",
            _ => "s",
        };
        format!("{}{ending}", self.german)
    }
}

fn gender_from_letter(letter: &str) -> Gender {
    match letter {
        "m" => Gender::Masculine,
        "f" => Gender::Feminine,
        "n" => Gender::Neuter,
        _ => panic!("no gender is called {letter:?}"),
    }
}

/// The English plural of a noun and the third person of a verb follow one spelling rule.
pub fn add_s(word: &str) -> String {
    let consonant_y = word
        .strip_suffix('y')
        .filter(|stem| !stem.ends_with(['a', 'e', 'o', 'u']));
    match consonant_y {
        Some(stem) => format!("{stem}ies"),
        None if ["s", "x", "ch", "sh"].iter().any(|end| word.ends_with(end)) => format!("{word}es"),
        None => format!("{word}s"),
    }
}

fn dative_plural(plural: &str) -> String {
    let ending = if plural.ends_with(['n', 's']) { "" } else { "n" };
    format!("{plural}{ending}")
}

fn is_one_syllable(word: &str) -> bool {
    let is_vowel = |letter: char| "aeiouyäöü".contains(letter);
    let lower = word.to_lowercase();
    lower
        .split(|letter| !is_vowel(letter))
        .filter(|vowels| !vowels.is_empty())
        .count()
        == 1
}
