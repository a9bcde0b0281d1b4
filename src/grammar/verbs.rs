//! Verbs: what they govern, and their forms in both languages.

use super::features::{Agreement, Case, Number, Person};
use super::nouns::{Class, add_s};

pub const VERB_ROWS: &str = include_str!("verbs.txt");

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tense {
    Present,
    /// English simple past, German perfect (or preterite, for the few verbs that prefer it).
    Past,
    Future,
}

impl Tense {
    pub fn from_name(name: &str) -> Self {
        match name {
            "present" => Self::Present,
            "past" => Self::Past,
            "future" => Self::Future,
            _ => panic!("no tense is called {name:?}"),
        }
    }
}

/// Complements that a verb needs beside its subject.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Government {
    Nothing,
    /// A place to go to.
    Goal,
    Object(Case),
    /// The object of English is the subject of German: "she likes it", "es gefällt ihr".
    Swapped,
    DativeAndAccusative,
    Prepositional(&'static str, Case),
    /// A clause with "dass".
    That,
    /// A clause with "ob".
    Whether,
    /// An infinitive with "zu".
    Infinitive,
}

/// [`Government`] without its details.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Frame {
    Intransitive,
    Motion,
    OneObject,
    TwoObjects,
    That,
    Whether,
    Infinitive,
}

/// The English past is one word; German has a participle and its auxiliary, or a preterite.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GermanPast {
    WithHaben(&'static str),
    WithSein(&'static str),
    Preterite(&'static str),
}

#[derive(Debug, PartialEq, Eq)]
pub struct Verb {
    /// The inflected word.
    pub english: &'static str,
    english_past: &'static str,
    /// Word that follows the verb: "up", "for", "asleep".
    pub particle: &'static str,
    pub particle_order: ParticleOrder,
    pub reflexive: Reflexive,
    /// The separable prefix, or nothing.
    pub prefix: &'static str,
    /// Infinitive without the prefix.
    pub infinitive: &'static str,
    changed_stem: Option<&'static str>,
    pub past: GermanPast,
    pub government: Government,
    pub subjects: Vec<Class>,
    pub objects: Vec<Class>,
}

/// Place of a pronoun object: "looks for it", "picks it up".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParticleOrder {
    BeforeObject,
    AfterPronoun,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reflexive {
    No,
    Yes,
}

impl Verb {
    pub fn from_cells(cells: &[&'static str]) -> Self {
        let [
            english,
            english_past,
            german,
            changed_stem,
            past,
            government,
            subjects,
            objects,
            ..,
        ] = *cells
        else {
            panic!("a verb has eight cells: {cells:?}");
        };
        let (english, particle) = english.split_once(' ').unwrap_or((english, ""));
        let (reflexive, german) = german
            .strip_prefix("sich ")
            .map_or((Reflexive::No, german), |verb| (Reflexive::Yes, verb));
        let (prefix, infinitive) = german.split_once('+').unwrap_or(("", german));
        Self {
            english,
            english_past,
            particle: particle.trim_start_matches('~'),
            particle_order: if particle.starts_with('~') {
                ParticleOrder::AfterPronoun
            } else {
                ParticleOrder::BeforeObject
            },
            reflexive,
            prefix,
            infinitive,
            changed_stem: (!changed_stem.is_empty()).then_some(changed_stem),
            past: GermanPast::from_cell(past),
            government: Government::from_cell(government),
            subjects: Class::from_names(subjects),
            objects: Class::from_names(objects),
        }
    }

    pub fn frame(&self) -> Frame {
        match self.government {
            Government::Nothing => Frame::Intransitive,
            Government::Goal => Frame::Motion,
            Government::Object(_) | Government::Swapped | Government::Prepositional(..) => Frame::OneObject,
            Government::DativeAndAccusative => Frame::TwoObjects,
            Government::That => Frame::That,
            Government::Whether => Frame::Whether,
            Government::Infinitive => Frame::Infinitive,
        }
    }

    /// False where past and base look alike, so that "they read" would have two translations.
    pub fn has_distinct_past(&self) -> bool {
        self.english != self.english_past
    }

    pub fn english_present(&self, agreement: Agreement) -> String {
        match (agreement.is_third_singular(), self.english) {
            (false, base) => base.to_owned(),
            (true, "have") => "has".to_owned(),
            (true, "go") => "goes".to_owned(),
            (true, base) => add_s(base),
        }
    }

    pub fn english_past(&self) -> &'static str {
        self.english_past
    }

    /// The finite present without its separable prefix.
    pub fn german_present(&self, agreement: Agreement) -> String {
        match (agreement.number, agreement.person) {
            (Number::Plural, _) => self.infinitive.to_owned(),
            (_, Person::First) => self.first_singular(),
            (_, Person::Second) => self.second_singular(),
            (_, Person::Third) => self.third_singular(),
        }
    }

    /// "lesen", "anrufen".
    pub fn whole_infinitive(&self) -> String {
        format!("{}{}", self.prefix, self.infinitive)
    }

    /// "zu lesen", "anzurufen".
    pub fn zu_infinitive(&self) -> String {
        let gap = if self.prefix.is_empty() { " " } else { "" };
        format!("{}zu{gap}{}", self.prefix, self.infinitive)
    }

    fn stem(&self) -> &'static str {
        let without_n = self.infinitive.strip_suffix('n').expect("every infinitive ends in n");
        without_n.strip_suffix('e').unwrap_or(without_n)
    }

    fn first_singular(&self) -> String {
        match self.infinitive {
            "wissen" => "weiß".to_owned(),
            _ => match self.stem().strip_suffix("el") {
                Some(start) => format!("{start}le"),
                None => format!("{}e", self.stem()),
            },
        }
    }

    fn second_singular(&self) -> String {
        match (self.infinitive, self.changed_stem) {
            ("haben", _) => "hast".to_owned(),
            ("wissen", _) => "weißt".to_owned(),
            (_, Some(stem)) if ends_in_s(stem) => format!("{stem}t"),
            (_, Some(stem)) => format!("{stem}st"),
            (_, None) if ends_in_s(self.stem()) => format!("{}t", self.stem()),
            (_, None) => format!("{}{}st", self.stem(), linking_e(self.stem())),
        }
    }

    fn third_singular(&self) -> String {
        match (self.infinitive, self.changed_stem) {
            ("haben", _) => "hat".to_owned(),
            ("wissen", _) => "weiß".to_owned(),
            (_, Some(stem)) => format!("{stem}t"),
            (_, None) => format!("{}{}t", self.stem(), linking_e(self.stem())),
        }
    }
}

impl GermanPast {
    fn from_cell(cell: &'static str) -> Self {
        match cell.split_once(' ') {
            Some(("hat", participle)) => Self::WithHaben(participle),
            Some(("ist", participle)) => Self::WithSein(participle),
            Some(_) => panic!("a perfect is made with hat or ist: {cell:?}"),
            None => Self::Preterite(cell),
        }
    }
}

impl Government {
    fn from_cell(cell: &'static str) -> Self {
        match cell {
            "none" => Self::Nothing,
            "goal" => Self::Goal,
            "acc" => Self::Object(Case::Accusative),
            "dat" => Self::Object(Case::Dative),
            "swapped" => Self::Swapped,
            "dat acc" => Self::DativeAndAccusative,
            "dass" => Self::That,
            "ob" => Self::Whether,
            "zu" => Self::Infinitive,
            _ => match cell.split_once(' ') {
                Some((preposition, "acc")) => Self::Prepositional(preposition, Case::Accusative),
                Some((preposition, "dat")) => Self::Prepositional(preposition, Case::Dative),
                _ => panic!("no verb governs {cell:?}"),
            },
        }
    }
}

fn ends_in_s(stem: &str) -> bool {
    stem.ends_with(['s', 'ß', 'z', 'x'])
}

/// arbeit-e-t, find-e-t, öffn-e-t.
fn linking_e(stem: &str) -> &'static str {
    let needs_e = ["t", "d", "ffn", "chn", "gn", "tm"]
        .iter()
        .any(|end| stem.ends_with(end));
    if needs_e { "e" } else { "" }
}
