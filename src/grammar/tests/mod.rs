//! Sentence pairs written by hand, each said from a tree built by hand.

mod corpus;
mod noun_phrases;
mod sentences;
mod verbs;
mod word_order;

use super::adverbs::Adverb;
use super::features::{Gender, Number};
use super::lexicon::LEXICON;
use super::names::Name;
use super::tree::{
    Clause, Common, Determiner, Form, NounPhrase, Polarity, Predicate, Pronoun, Sentence, Time, TimePosition, When,
};
use super::verbs::{Frame, Tense, Verb};
use super::{english, german};

const IT_FEMININE: NounPhrase = NounPhrase::Pronoun(Pronoun::Third {
    english: super::tree::Natural::It,
    german: Gender::Feminine,
});
const HE: NounPhrase = NounPhrase::Pronoun(Pronoun::Third {
    english: super::tree::Natural::He,
    german: Gender::Masculine,
});
const SHE: NounPhrase = NounPhrase::Pronoun(Pronoun::Third {
    english: super::tree::Natural::She,
    german: Gender::Feminine,
});
const I: NounPhrase = NounPhrase::Pronoun(Pronoun::I);
const YOU: NounPhrase = NounPhrase::Pronoun(Pronoun::You);
const THEY: NounPhrase = NounPhrase::Pronoun(Pronoun::They);

/// Checks a sentence in both languages: "English / German".
#[track_caller]
fn check(sentence: &Sentence, texts: &str) {
    let said = [english::sentence(sentence), german::sentence(sentence)];
    assert_eq!(said.join(" / "), texts);
}

/// Checks a clause as a statement.
#[track_caller]
fn says(clause: Clause, texts: &str) {
    check(&Sentence::Statement(clause), texts);
}

fn common(determiner: Determiner, noun: &str, number: Number) -> Common {
    let noun = LEXICON
        .nouns
        .iter()
        .find(|entry| entry.english == noun)
        .expect("a noun of the lexicon");
    Common::new(determiner, noun, number)
}

fn described(adjective: &str, common: Common) -> Common {
    let adjective = LEXICON.adjectives.iter().find(|entry| entry.english == adjective);
    Common {
        adjective: Some(adjective.expect("an adjective of the lexicon")),
        ..common
    }
}

fn the(noun: &str) -> NounPhrase {
    NounPhrase::Common(common(Determiner::Definite, noun, Number::Singular))
}

fn the_many(noun: &str) -> NounPhrase {
    NounPhrase::Common(common(Determiner::Definite, noun, Number::Plural))
}

fn a(noun: &str) -> NounPhrase {
    NounPhrase::Common(common(Determiner::Indefinite, noun, Number::Singular))
}

fn named(spelling: &str, gender: Gender) -> NounPhrase {
    NounPhrase::Named(Name {
        spelling: spelling.to_owned(),
        gender,
    })
}

/// By its German infinitive.
fn verb(infinitive: &str) -> &'static Verb {
    LEXICON
        .verbs
        .iter()
        .find(|verb| verb.whole_infinitive() == infinitive)
        .expect("a verb of the lexicon")
}

fn verb_of(frame: Frame, infinitive: &str) -> &'static Verb {
    let mut verbs = LEXICON.verbs_of(frame);
    verbs
        .find(|verb| verb.whole_infinitive() == infinitive)
        .expect("a verb of the lexicon")
}

fn adverb(english: &str) -> &'static Adverb {
    LEXICON
        .adverbs
        .iter()
        .find(|adverb| adverb.english == english)
        .expect("an adverb of the lexicon")
}

/// "She sleeps."
fn act(subject: NounPhrase, infinitive: &str) -> Clause {
    verbal(subject, infinitive, None, None)
}

/// "She sees him."
fn act_on(subject: NounPhrase, infinitive: &str, object: NounPhrase) -> Clause {
    verbal(subject, infinitive, None, Some(object))
}

/// "She gives him it."
fn give(subject: NounPhrase, infinitive: &str, indirect: NounPhrase, object: NounPhrase) -> Clause {
    verbal(subject, infinitive, Some(indirect), Some(object))
}

fn verbal(subject: NounPhrase, infinitive: &str, indirect: Option<NounPhrase>, object: Option<NounPhrase>) -> Clause {
    let predicate = Predicate::Verbal {
        verb: verb(infinitive),
        indirect,
        object,
        goal: None,
    };
    Clause::plain(subject, predicate, Form::Plain(Tense::Present))
}

/// "She is old."
fn be(subject: NounPhrase, adjective: &str) -> Clause {
    let adjective = LEXICON
        .adjectives
        .iter()
        .find(|entry| entry.english == adjective)
        .expect("an adjective");
    Clause::plain(
        subject,
        Predicate::Adjectival {
            adjective,
            comparison: None,
        },
        Form::Plain(Tense::Present),
    )
}

impl Clause {
    fn in_tense(self, tense: Tense) -> Self {
        let form = Form::Plain(tense);
        Self { form, ..self }
    }

    fn in_past(self) -> Self {
        self.in_tense(Tense::Past)
    }

    fn in_future(self) -> Self {
        self.in_tense(Tense::Future)
    }

    fn negated(self) -> Self {
        let polarity = Polarity::Negative;
        Self { polarity, ..self }
    }

    fn timed(self, time: &str, position: TimePosition) -> Self {
        let when = When::Adverb(adverb(time));
        let time = Some(Time { when, position });
        Self { time, ..self }
    }

    fn at(self, time: &str) -> Self {
        self.timed(time, TimePosition::Inside)
    }

    fn opened_by(self, time: &str) -> Self {
        self.timed(time, TimePosition::Fronted)
    }
}
