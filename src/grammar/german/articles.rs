//! Articles and pronouns: the words that show gender, case and number.

use crate::grammar::adjectives::Inflection;
use crate::grammar::features::{Agreement, Case, Declension, Gender, Number, Person};
use crate::grammar::numbers;
use crate::grammar::tree::{Determiner, Possessor, Pronoun};

/// The word before the noun, and what it leaves for the adjective to show.
pub fn determiner(determiner: &Determiner, declension: Declension) -> (String, Inflection) {
    let plural = declension.number == Number::Plural;
    match determiner {
        Determiner::Definite => (definite(declension).to_owned(), Inflection::Weak),
        Determiner::Indefinite if plural => (String::new(), Inflection::Strong),
        Determiner::Indefinite => (ein_word("ein", declension), Inflection::Mixed),
        Determiner::Negative => (ein_word("kein", declension), Inflection::Mixed),
        Determiner::Possessive(possessor) => (ein_word(possessive_stem(*possessor), declension), Inflection::Mixed),
        Determiner::This => (der_word("dies", declension), Inflection::Weak),
        Determiner::Every => (
            der_word(if plural { "all" } else { "jed" }, declension),
            Inflection::Weak,
        ),
        Determiner::Many => (der_word("viel", declension), Inflection::Strong),
        Determiner::Some => (der_word("einig", declension), Inflection::Strong),
        Determiner::Number(number) => (numbers::german(*number), Inflection::Strong),
        Determiner::Genitive(_) => (String::new(), Inflection::Strong),
    }
}

pub fn definite(declension: Declension) -> &'static str {
    match declension.strong_ending() {
        "e" => "die",
        "en" => "den",
        "er" => "der",
        "em" => "dem",
        _ if declension.case == Case::Genitive => "des",
        _ => "das",
    }
}

/// The article, but for the dative plural "denen" (and genitives, which no tree asks for).
pub fn relative_pronoun(declension: Declension) -> &'static str {
    match (declension.number, declension.case) {
        (Number::Plural, Case::Dative) => "denen",
        _ => definite(declension),
    }
}

pub fn personal_pronoun(pronoun: Pronoun, case: Case) -> &'static str {
    let [nominative, accusative, dative] = match pronoun {
        Pronoun::I => ["ich", "mich", "mir"],
        Pronoun::You => ["du", "dich", "dir"],
        Pronoun::We => ["wir", "uns", "uns"],
        Pronoun::They => ["sie", "sie", "ihnen"],
        Pronoun::Third {
            german: Gender::Masculine,
            ..
        } => ["er", "ihn", "ihm"],
        Pronoun::Third {
            german: Gender::Feminine,
            ..
        } => ["sie", "sie", "ihr"],
        Pronoun::Third {
            german: Gender::Neuter, ..
        } => ["es", "es", "ihm"],
    };
    match case {
        Case::Nominative => nominative,
        Case::Accusative => accusative,
        Case::Dative => dative,
        Case::Genitive => unreachable!("no verb of the lexicon governs a genitive pronoun"),
    }
}

pub fn reflexive_pronoun(agreement: Agreement) -> &'static str {
    match (agreement.person, agreement.number) {
        (Person::First, Number::Singular) => "mich",
        (Person::First, Number::Plural) => "uns",
        (Person::Second, Number::Singular) => "dich",
        (Person::Second, Number::Plural) | (Person::Third, _) => "sich",
    }
}

/// "in dem" is "im", "zu der" is "zur".
pub fn contraction(preposition: &str, article: &str) -> Option<&'static str> {
    match (preposition, article) {
        ("in", "dem") => Some("im"),
        ("an", "dem") => Some("am"),
        ("zu", "dem") => Some("zum"),
        ("von", "dem") => Some("vom"),
        ("zu", "der") => Some("zur"),
        ("in", "das") => Some("ins"),
        ("an", "das") => Some("ans"),
        _ => None,
    }
}

/// "auf" with "it" is "darauf", with "what" it is "worauf".
pub fn pronominal_adverb(start: &str, preposition: &str) -> String {
    let link = if preposition.starts_with(['a', 'i', 'u', 'ü']) {
        "r"
    } else {
        ""
    };
    format!("{start}{link}{preposition}")
}

fn possessive_stem(possessor: Possessor) -> &'static str {
    match possessor {
        Possessor::My => "mein",
        Possessor::Your => "dein",
        Possessor::His => "sein",
        Possessor::Her | Possessor::Their => "ihr",
        Possessor::Our => "unser",
    }
}

fn der_word(stem: &str, declension: Declension) -> String {
    format!("{stem}{}", declension.strong_ending())
}

fn ein_word(stem: &str, declension: Declension) -> String {
    match (declension.number, declension.case, declension.gender) {
        (Number::Singular, Case::Nominative, Gender::Masculine)
        | (Number::Singular, Case::Nominative | Case::Accusative, Gender::Neuter) => stem.to_owned(),
        _ => der_word(stem, declension),
    }
}
