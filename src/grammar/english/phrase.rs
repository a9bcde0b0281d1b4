//! English noun phrases and adverbials.

use super::clause;
use crate::grammar::features::Number;
use crate::grammar::numbers;
use crate::grammar::text::Text;
use crate::grammar::tree::{Common, Determiner, Gap, Human, Natural, NounPhrase, Place, Possessor, Pronoun, When};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    Subject,
    Object,
}

/// A phrase with its relative clause; a gap is silent.
pub fn noun_phrase(phrase: &NounPhrase, role: Role) -> Text {
    match phrase {
        NounPhrase::Pronoun(pronoun) => Text::of(personal_pronoun(*pronoun, role)),
        NounPhrase::Named(name) => Text::of(&name.spelling),
        NounPhrase::Common(common) => common_phrase(common),
        NounPhrase::Both(first, second) => {
            let mut text = noun_phrase(first, role);
            text.push("and").append(&noun_phrase(second, role));
            text
        }
        NounPhrase::Gap(_) => Text::default(),
    }
}

pub fn gap_pronoun(gap: Gap, role: Role) -> &'static str {
    match (gap, role) {
        (Gap::Relative { human: Human::No, .. }, _) => "that",
        (Gap::Relative { human: Human::Yes, .. } | Gap::Who, Role::Subject) => "who",
        (Gap::Relative { human: Human::Yes, .. } | Gap::Who, Role::Object) => "whom",
        (Gap::What, _) => "what",
    }
}

pub fn location(place: &Place) -> Text {
    match place {
        Place::Town(town) => Text::of(&format!("in {town}")),
        Place::Home => Text::of("at home"),
        Place::Common(common) => prepositional_phrase(common.prepositions().english_at, common),
    }
}

pub fn goal(place: &Place) -> Text {
    match place {
        Place::Town(town) => Text::of(&format!("to {town}")),
        Place::Home => Text::of("home"),
        Place::Common(common) => prepositional_phrase("to", common),
    }
}

pub fn time(when: When) -> String {
    match when {
        When::Adverb(adverb) => adverb.english.to_owned(),
        When::Clock(hour) => format!("at {} o'clock", numbers::english(hour)),
        When::Ago(count, unit) => format!("{} {} ago", numbers::english(count), unit.english),
        When::Ahead(count, unit) => format!("in {} {}", numbers::english(count), unit.english),
    }
}

fn prepositional_phrase(preposition: &str, common: &Common) -> Text {
    let mut text = Text::of(preposition);
    text.append(&common_phrase(common));
    text
}

fn common_phrase(common: &Common) -> Text {
    let adjective = common.adjective.map_or("", |adjective| adjective.english);
    let noun = common.noun.english(common.number);
    let next = if adjective.is_empty() { noun } else { adjective };
    let mut text = Text::of(&determiner(common, next));
    text.push(adjective).push(noun);
    if let Some(relative) = &common.relative {
        text.append(&clause::relative(relative));
    }
    text
}

fn determiner(common: &Common, next_word: &str) -> String {
    let plural = common.number == Number::Plural;
    match &common.determiner {
        Determiner::Definite => "the".to_owned(),
        Determiner::Indefinite if plural => String::new(),
        Determiner::Negative if plural => "any".to_owned(),
        Determiner::Indefinite | Determiner::Negative => indefinite_article(next_word).to_owned(),
        Determiner::This => if plural { "these" } else { "this" }.to_owned(),
        Determiner::Every => if plural { "all" } else { "every" }.to_owned(),
        Determiner::Many => "many".to_owned(),
        Determiner::Some => "some".to_owned(),
        Determiner::Number(number) => numbers::english(*number),
        Determiner::Possessive(possessor) => possessive(*possessor).to_owned(),
        Determiner::Genitive(owner) => noun_phrase(owner, Role::Subject).with_ending("'s"),
    }
}

/// By the first letter: no word of the lexicon has a silent one, nor a "u" as in "useful".
fn indefinite_article(next_word: &str) -> &'static str {
    if next_word.starts_with(['a', 'e', 'i', 'o', 'u']) {
        "an"
    } else {
        "a"
    }
}

fn possessive(possessor: Possessor) -> &'static str {
    match possessor {
        Possessor::My => "my",
        Possessor::Your => "your",
        Possessor::His => "his",
        Possessor::Her => "her",
        Possessor::Our => "our",
        Possessor::Their => "their",
    }
}

fn personal_pronoun(pronoun: Pronoun, role: Role) -> &'static str {
    let [subject, object] = match pronoun {
        Pronoun::I => ["I", "me"],
        Pronoun::You => ["you", "you"],
        Pronoun::We => ["we", "us"],
        Pronoun::They => ["they", "them"],
        Pronoun::Third {
            english: Natural::He, ..
        } => ["he", "him"],
        Pronoun::Third {
            english: Natural::She, ..
        } => ["she", "her"],
        Pronoun::Third {
            english: Natural::It, ..
        } => ["it", "it"],
    };
    match role {
        Role::Subject => subject,
        Role::Object => object,
    }
}
