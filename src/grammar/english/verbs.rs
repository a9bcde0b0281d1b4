//! The English verb group: an auxiliary that asks and negates, and the rest.

use crate::grammar::features::{Agreement, Number, Person};
use crate::grammar::tree::{Clause, EnglishModal, Form, ModalTense, Predicate};
use crate::grammar::verbs::{Tense, Verb};

pub struct Group {
    /// Empty where the main verb is finite itself.
    pub auxiliary: String,
    pub main: String,
}

/// Whether "do" must step in: in questions and negations, for verbs without an auxiliary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Support {
    Needed,
    NotNeeded,
}

impl Group {
    pub fn of(clause: &Clause, support: Support) -> Self {
        let agreement = clause.subject.agreement();
        let base = base(&clause.predicate);
        match (clause.form, &clause.predicate) {
            (Form::Plain(Tense::Future), _) => Self::new("will", base),
            (Form::Plain(Tense::Past), Predicate::Adjectival { .. }) => Self::new(be_past(agreement), ""),
            (Form::Plain(Tense::Present) | Form::Fond, Predicate::Adjectival { .. }) => {
                Self::new(be_present(agreement), "")
            }
            (Form::Plain(tense), Predicate::Verbal { verb, .. }) => Self::plain(verb, tense, support, agreement),
            (Form::Fond, _) => {
                let like = EnglishModal::Full {
                    base: "like to",
                    third: "likes to",
                    past: "liked to",
                };
                Self::modal(like, ModalTense::Present, base, support, agreement)
            }
            (Form::Modal(modal, tense), _) => Self::modal(modal.english, tense, base, support, agreement),
        }
    }

    fn new(auxiliary: &str, main: &str) -> Self {
        Self {
            auxiliary: auxiliary.to_owned(),
            main: main.to_owned(),
        }
    }

    fn plain(verb: &Verb, tense: Tense, support: Support, agreement: Agreement) -> Self {
        match (support, tense) {
            (Support::Needed, _) => Self::new(do_support(tense, agreement), verb.english),
            (Support::NotNeeded, Tense::Past) => Self::new("", verb.english_past()),
            (Support::NotNeeded, _) => Self::new("", &verb.english_present(agreement)),
        }
    }

    fn modal(modal: EnglishModal, tense: ModalTense, base_verb: &str, support: Support, agreement: Agreement) -> Self {
        let is_past = tense == ModalTense::Past;
        match modal {
            EnglishModal::Auxiliary { present, past } => Self::new(if is_past { past } else { present }, base_verb),
            EnglishModal::WithBe(participle) => {
                let be = if is_past {
                    be_past(agreement)
                } else {
                    be_present(agreement)
                };
                Self::new(be, &format!("{participle} {base_verb}"))
            }
            EnglishModal::Full { base, .. } if support == Support::Needed => {
                let tense = if is_past { Tense::Past } else { Tense::Present };
                Self::new(do_support(tense, agreement), &format!("{base} {base_verb}"))
            }
            EnglishModal::Full { past, .. } if is_past => Self::new("", &format!("{past} {base_verb}")),
            EnglishModal::Full { third, .. } if agreement.is_third_singular() => {
                Self::new("", &format!("{third} {base_verb}"))
            }
            EnglishModal::Full { base, .. } => Self::new("", &format!("{base} {base_verb}")),
        }
    }
}

pub fn base(predicate: &Predicate) -> &'static str {
    match predicate {
        Predicate::Verbal { verb, .. } => verb.english,
        Predicate::Adjectival { .. } => "be",
    }
}

fn do_support(tense: Tense, agreement: Agreement) -> &'static str {
    match tense {
        Tense::Past => "did",
        _ if agreement.is_third_singular() => "does",
        _ => "do",
    }
}

fn be_present(agreement: Agreement) -> &'static str {
    match (agreement.person, agreement.number) {
        (Person::First, Number::Singular) => "am",
        (Person::Third, Number::Singular) => "is",
        _ => "are",
    }
}

fn be_past(agreement: Agreement) -> &'static str {
    match (agreement.person, agreement.number) {
        (Person::First | Person::Third, Number::Singular) => "was",
        _ => "were",
    }
}
