//! The English clause: subject, verb group, objects, goal, manner, place, time.

use super::phrase::{Role, gap_pronoun, goal, location, noun_phrase, time};
use super::verbs::{Group, Support, base};
use crate::grammar::features::Number;
use crate::grammar::text::Text;
use crate::grammar::tree::{Clause, Comparison, NounPhrase, Place, Polarity, Predicate, TimePosition};
use crate::grammar::verbs::{ParticleOrder, Tense, Verb};

pub fn statement(clause: &Clause) -> Text {
    let mut text = Text::default();
    if let Some(fronted) = clause
        .time
        .as_ref()
        .filter(|time| time.position == TimePosition::Fronted)
    {
        text.push(&time(fronted.when));
    }
    text.append(&noun_phrase(&clause.subject, Role::Subject))
        .append(&after_subject(clause));
    text
}

/// Inverted, unless the question word is the subject.
pub fn question(clause: &Clause, question_word: Option<&str>) -> Text {
    if let NounPhrase::Gap(gap) = clause.subject {
        let mut text = Text::of(gap_pronoun(gap, Role::Subject));
        text.append(&after_subject(clause));
        return text;
    }
    let group = Group::of(clause, Support::Needed);
    let mut text = question_word.map_or_else(|| object_gap(clause), Text::of);
    text.push(&group.auxiliary)
        .append(&noun_phrase(&clause.subject, Role::Subject));
    text.push(clause.frequency.map_or("", |adverb| adverb.english));
    text.push(&group.main).append(&after_verb(clause));
    text
}

/// "who sleeps", "whom she waits for".
pub fn relative(clause: &Clause) -> Text {
    let mut text = match clause.subject {
        NounPhrase::Gap(gap) => Text::of(gap_pronoun(gap, Role::Subject)),
        _ => object_gap(clause),
    };
    text.append(&statement(clause));
    text
}

/// "to read the book", "in order to read the book".
pub fn infinitive(clause: &Clause, opening: &str) -> Text {
    let mut text = Text::of(opening);
    text.push(base(&clause.predicate)).append(&after_verb(clause));
    text
}

/// "in the garden there is a dog".
pub fn existential(place: &Place, tense: Tense, what: &NounPhrase) -> Text {
    let be = match (tense, what.agreement().number) {
        (Tense::Past, Number::Singular) => "was",
        (Tense::Past, Number::Plural) => "were",
        (_, Number::Singular) => "is",
        (_, Number::Plural) => "are",
    };
    let mut text = location(place);
    text.push("there").push(be).append(&noun_phrase(what, Role::Subject));
    text
}

fn object_gap(clause: &Clause) -> Text {
    match &clause.predicate {
        Predicate::Verbal {
            object: Some(NounPhrase::Gap(gap)),
            ..
        } => Text::of(gap_pronoun(*gap, Role::Object)),
        _ => Text::default(),
    }
}

fn after_subject(clause: &Clause) -> Text {
    let support = match clause.polarity {
        Polarity::Negative => Support::Needed,
        Polarity::Positive => Support::NotNeeded,
    };
    let group = Group::of(clause, support);
    let mut text = Text::default();
    match (clause.polarity, group.auxiliary.as_str()) {
        (Polarity::Negative, "can") => text.push("cannot"),
        (Polarity::Negative, auxiliary) => text.push(auxiliary).push("not"),
        (Polarity::Positive, auxiliary) => text.push(auxiliary),
    };
    text.push(clause.frequency.map_or("", |adverb| adverb.english));
    text.push(&group.main).append(&after_verb(clause));
    text
}

fn after_verb(clause: &Clause) -> Text {
    let mut text = match &clause.predicate {
        Predicate::Verbal {
            verb,
            indirect,
            object,
            goal: to,
        } => {
            let mut text = objects(verb, indirect.as_ref(), object.as_ref());
            text.append(&to.as_ref().map(goal).unwrap_or_default());
            text
        }
        Predicate::Adjectival { adjective, comparison } => match comparison {
            None => Text::of(adjective.english),
            Some(Comparison::More(phrase)) => compared(&format!("{} than", adjective.english_comparative), phrase),
            Some(Comparison::Equal(phrase)) => compared(&format!("as {} as", adjective.english), phrase),
        },
    };
    text.push(clause.manner.map_or("", |adverb| adverb.english));
    text.append(&clause.place.as_ref().map(location).unwrap_or_default());
    if let Some(inside) = clause
        .time
        .as_ref()
        .filter(|time| time.position == TimePosition::Inside)
    {
        text.push(&time(inside.when));
    }
    text
}

fn compared(words: &str, phrase: &NounPhrase) -> Text {
    let mut text = Text::of(words);
    text.append(&noun_phrase(phrase, Role::Subject));
    text
}

fn objects(verb: &Verb, indirect: Option<&NounPhrase>, object: Option<&NounPhrase>) -> Text {
    let is_pronoun = matches!(object, Some(NounPhrase::Pronoun(_)));
    let say = |phrase: Option<&NounPhrase>| {
        phrase
            .map(|phrase| noun_phrase(phrase, Role::Object))
            .unwrap_or_default()
    };
    let mut text = Text::default();
    match (indirect, verb.particle_order) {
        (Some(_), _) if is_pronoun => text.append(&say(object)).push("to").append(&say(indirect)),
        (Some(_), _) => text.append(&say(indirect)).append(&say(object)),
        (None, ParticleOrder::AfterPronoun) if is_pronoun => text.append(&say(object)).push(verb.particle),
        (None, _) => text.push(verb.particle).append(&say(object)),
    };
    text
}
