//! The German verb cluster: a finite verb, and what waits for it at the end of the clause.

use crate::grammar::features::{Agreement, Number, Person};
use crate::grammar::text::Text;
use crate::grammar::tree::{Clause, Form, Modal, ModalTense, Predicate};
use crate::grammar::verbs::{GermanPast, Tense, Verb};

pub struct Cluster {
    pub finite: String,
    prefix: &'static str,
    nonfinite: String,
}

impl Cluster {
    pub fn of(clause: &Clause, agreement: Agreement) -> Self {
        match &clause.predicate {
            Predicate::Verbal { verb, .. } => verbal(verb, clause.form, agreement),
            Predicate::Adjectival { .. } => copular(clause.form, agreement),
        }
    }

    /// Words that a main clause leaves for its end: a participle, an infinitive or a prefix.
    pub fn end_of_main_clause(&self) -> &str {
        if self.nonfinite.is_empty() {
            self.prefix
        } else {
            &self.nonfinite
        }
    }

    /// The whole cluster, as a subordinate clause ends.
    pub fn verb_final(&self) -> Text {
        let mut text = Text::default();
        text.push(&self.nonfinite)
            .push(&format!("{}{}", self.prefix, self.finite));
        text
    }
}

/// "zu lesen", "anzurufen", "zu sein".
pub fn zu_infinitive(predicate: &Predicate) -> String {
    match predicate {
        Predicate::Verbal { verb, .. } => verb.zu_infinitive(),
        Predicate::Adjectival { .. } => "zu sein".to_owned(),
    }
}

fn verbal(verb: &Verb, form: Form, agreement: Agreement) -> Cluster {
    match (form, verb.past) {
        (Form::Plain(Tense::Present) | Form::Fond, _) => Cluster {
            finite: verb.german_present(agreement),
            prefix: verb.prefix,
            nonfinite: String::new(),
        },
        (Form::Plain(Tense::Past), GermanPast::WithHaben(participle)) => {
            two_part(haben(agreement), participle.to_owned())
        }
        (Form::Plain(Tense::Past), GermanPast::WithSein(participle)) => {
            two_part(sein(agreement), participle.to_owned())
        }
        (Form::Plain(Tense::Past), GermanPast::Preterite(stem)) => one_part(preterite(stem, agreement)),
        (Form::Plain(Tense::Future), _) => two_part(werden(agreement), verb.whole_infinitive()),
        (Form::Modal(modal, tense), _) => two_part(modal_form(modal, tense, agreement), verb.whole_infinitive()),
    }
}

fn copular(form: Form, agreement: Agreement) -> Cluster {
    match form {
        Form::Plain(Tense::Present) | Form::Fond => one_part(sein(agreement).to_owned()),
        Form::Plain(Tense::Past) => one_part(war(agreement).to_owned()),
        Form::Plain(Tense::Future) => two_part(werden(agreement), "sein".to_owned()),
        Form::Modal(modal, tense) => two_part(modal_form(modal, tense, agreement), "sein".to_owned()),
    }
}

fn one_part(finite: String) -> Cluster {
    Cluster {
        finite,
        prefix: "",
        nonfinite: String::new(),
    }
}

fn two_part(finite: impl Into<String>, nonfinite: String) -> Cluster {
    Cluster {
        finite: finite.into(),
        prefix: "",
        nonfinite,
    }
}

fn modal_form(modal: &Modal, tense: ModalTense, agreement: Agreement) -> String {
    match (tense, agreement.number, agreement.person) {
        (ModalTense::Past, ..) => preterite(modal.preterite, agreement),
        (_, Number::Plural, _) => modal.infinitive.to_owned(),
        (_, Number::Singular, Person::Second) if modal.singular.ends_with('s') => format!("{}t", modal.singular),
        (_, Number::Singular, Person::Second) => format!("{}st", modal.singular),
        (_, Number::Singular, _) => modal.singular.to_owned(),
    }
}

/// Endings of the preterites in -te.
fn preterite(stem: &str, agreement: Agreement) -> String {
    let ending = choose(agreement, ["", "st", "", "n"]);
    format!("{stem}{ending}")
}

fn haben(agreement: Agreement) -> &'static str {
    choose(agreement, ["habe", "hast", "hat", "haben"])
}

fn sein(agreement: Agreement) -> &'static str {
    choose(agreement, ["bin", "bist", "ist", "sind"])
}

fn war(agreement: Agreement) -> &'static str {
    choose(agreement, ["war", "warst", "war", "waren"])
}

fn werden(agreement: Agreement) -> &'static str {
    choose(agreement, ["werde", "wirst", "wird", "werden"])
}

/// The forms of ich, du, er, and of the plural.
fn choose(agreement: Agreement, [first, second, third, plural]: [&'static str; 4]) -> &'static str {
    match (agreement.number, agreement.person) {
        (Number::Plural, _) => plural,
        (_, Person::First) => first,
        (_, Person::Second) => second,
        (_, Person::Third) => third,
    }
}
