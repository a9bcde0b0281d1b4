//! Draws clauses.

use rand::RngExt;

use super::Deriver;
use crate::grammar::adverbs::AdverbKind;
use crate::grammar::closed::{MODALS, UNITS};
use crate::grammar::lexicon::LEXICON;
use crate::grammar::nouns::Class;
use crate::grammar::tree::{
    Clause, Common, Determiner, Form, Gap, ModalTense, Natural, NounPhrase, Polarity, Predicate, Pronoun, Time,
    TimePosition, When,
};
use crate::grammar::verbs::{Frame, Government, Tense};

/// Demands of the surrounding sentence on a clause.
#[derive(Debug, Clone, Copy, Default)]
pub struct ClausePlan<'a> {
    pub tense: Option<Tense>,
    pub fronted_time: FrontedTime,
    pub polarity: PolarityPlan,
    pub relatives: Relatives,
    /// Phrase that an object pronoun may stand for.
    pub antecedent: Option<&'a NounPhrase>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FrontedTime {
    Allowed,
    #[default]
    NotAllowed,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PolarityPlan {
    #[default]
    Any,
    Positive,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Relatives {
    #[default]
    Allowed,
    NotAllowed,
}

impl ClausePlan<'_> {
    pub fn question() -> Self {
        Self {
            polarity: PolarityPlan::Positive,
            ..Self::default()
        }
    }

    /// Inside another clause.
    pub fn embedded() -> Self {
        Self {
            polarity: PolarityPlan::Positive,
            relatives: Relatives::NotAllowed,
            ..Self::default()
        }
    }
}

impl Deriver {
    pub(super) fn clause(&mut self, plan: &ClausePlan) -> Clause {
        let classes: &[Class] = match self.weighted(&[72, 10, 18]) {
            0 => &[Class::Person],
            1 => &[Class::Animal],
            _ => &[
                Class::Object,
                Class::Clothing,
                Class::Device,
                Class::Vehicle,
                Class::Text,
                Class::Event,
            ],
        };
        let mut subject = self.subject(classes);
        if plan.relatives == Relatives::Allowed {
            self.maybe_add_relative(&mut subject, 8);
        }
        self.clause_about(subject, plan)
    }

    /// The second clause of a sentence: often about what the first one named.
    pub(super) fn following_clause(&mut self, first: &Clause, tense: Option<Tense>) -> Clause {
        let object = first.predicate.object();
        let plan = ClausePlan {
            tense,
            antecedent: object,
            ..ClausePlan::default()
        };
        let antecedent = match self.weighted(&[50, 20, 30]) {
            0 => Some(&first.subject),
            1 => object,
            _ => None,
        };
        match antecedent.and_then(|phrase| Some((phrase.pronoun()?, phrase.class()))) {
            Some((pronoun, class)) => self.clause_of_class(NounPhrase::Pronoun(pronoun), class, &plan),
            None => self.clause(&plan),
        }
    }

    pub(super) fn clause_about(&mut self, subject: NounPhrase, plan: &ClausePlan) -> Clause {
        let class = subject.class();
        self.clause_of_class(subject, class, plan)
    }

    pub(super) fn clause_with(&mut self, subject: NounPhrase, frame: Frame, plan: &ClausePlan) -> Clause {
        let class = subject.class();
        let predicate = self.verbal(&subject, frame, class, plan);
        self.finish(subject, predicate, plan)
    }

    pub(super) fn clause_of_class(&mut self, subject: NounPhrase, class: Class, plan: &ClausePlan) -> Clause {
        let predicate = self.predicate(&subject, class, plan);
        self.finish(subject, predicate, plan)
    }

    /// An infinitive's clause: who acts, and what is done.
    pub(super) fn bare_clause(&mut self, subject: NounPhrase) -> Clause {
        let plan = ClausePlan::embedded();
        let frame =
            [Frame::Intransitive, Frame::OneObject, Frame::TwoObjects, Frame::Motion][self.weighted(&[1, 5, 2, 1])];
        let mut predicate = self.verbal(&subject, frame, Class::Person, &plan);
        while matches!(&predicate, Predicate::Verbal { verb, .. } if verb.government == Government::Swapped) {
            predicate = self.verbal(&subject, frame, Class::Person, &plan);
        }
        Clause::plain(subject, predicate, Form::Plain(Tense::Present))
    }

    fn finish(&mut self, subject: NounPhrase, predicate: Predicate, plan: &ClausePlan) -> Clause {
        let form = self.form(&subject, &predicate, plan.tense);
        let mut clause = Clause::plain(subject, predicate, form);
        if plan.polarity == PolarityPlan::Any && form != Form::Fond && self.chance(14) {
            clause.negate();
        }
        self.add_adverbials(&mut clause, plan.fronted_time);
        clause
    }

    fn form(&mut self, subject: &NounPhrase, predicate: &Predicate, tense: Option<Tense>) -> Form {
        let tense = tense.unwrap_or_else(|| [Tense::Present, Tense::Past, Tense::Future][self.weighted(&[50, 36, 14])]);
        let takes_modal = subject.is_human() && predicate.is_deliberate();
        match tense {
            // "They read" could be either tense, and so is always the present.
            Tense::Past if !predicate.has_distinct_past() => self.modal_past(),
            Tense::Present if takes_modal && self.chance(35) => self.modal_present(),
            Tense::Past if takes_modal && self.chance(20) => self.modal_past(),
            _ => Form::Plain(tense),
        }
    }

    fn modal_present(&mut self) -> Form {
        if self.chance(20) {
            Form::Fond
        } else {
            Form::Modal(self.choose(MODALS), ModalTense::Present)
        }
    }

    fn modal_past(&mut self) -> Form {
        Form::Modal(self.choose(MODALS), ModalTense::Past)
    }

    fn add_adverbials(&mut self, clause: &mut Clause, fronted_time: FrontedTime) {
        let object_is_long = clause
            .predicate
            .object()
            .is_some_and(|object| object.relative().is_some());
        let takes_place = clause.predicate.takes_place() && clause.polarity == Polarity::Positive && !object_is_long;
        if takes_place && clause.form != Form::Fond && clause.subject.is_human() && self.chance(10) {
            clause.manner = Some(self.choose_word(LEXICON.adverbs_of(AdverbKind::Manner)));
        }
        if takes_place && self.chance(24) {
            clause.place = Some(self.place());
        }
        if clause.form != Form::Fond && self.chance(32) {
            let position = if fronted_time == FrontedTime::Allowed && (object_is_long || self.chance(60)) {
                TimePosition::Fronted
            } else {
                TimePosition::Inside
            };
            if position == TimePosition::Fronted || !(object_is_long || clause.predicate.is_adjectival()) {
                clause.time = Some(Time {
                    when: self.when(clause.tense()),
                    position,
                });
            }
        } else if clause.polarity == Polarity::Positive && clause.takes_frequency() && self.chance(15) {
            clause.frequency = Some(self.choose_word(LEXICON.adverbs_of(AdverbKind::Frequency)));
        }
    }

    fn when(&mut self, tense: Tense) -> When {
        let count = self.stream.random_range(2..=12);
        match tense {
            _ if self.chance(15) => When::Clock(count),
            Tense::Past if self.chance(20) => When::Ago(count, self.choose(UNITS)),
            Tense::Future if self.chance(30) => When::Ahead(count, self.choose(UNITS)),
            _ => When::Adverb(
                self.choose_word(
                    LEXICON
                        .adverbs_of(AdverbKind::Time)
                        .filter(|adverb| adverb.goes_with(tense)),
                ),
            ),
        }
    }
}

impl Clause {
    pub fn plain(subject: NounPhrase, predicate: Predicate, form: Form) -> Self {
        let polarity = Polarity::Positive;
        Self {
            subject,
            predicate,
            form,
            polarity,
            time: None,
            frequency: None,
            manner: None,
            place: None,
        }
    }

    /// "not a" becomes "kein"; quantities stay positive, for their scope is ambiguous.
    fn negate(&mut self) {
        if self.subject.can_be_negated() && self.predicate.negate_objects() {
            self.polarity = Polarity::Negative;
        }
    }

    fn takes_frequency(&self) -> bool {
        matches!(self.form, Form::Plain(Tense::Present | Tense::Past))
    }
}

impl Predicate {
    pub fn object(&self) -> Option<&NounPhrase> {
        match self {
            Self::Verbal { object, .. } => object.as_ref(),
            Self::Adjectival { .. } => None,
        }
    }

    /// False, and nothing changed, where "not" would be ambiguous.
    fn negate_objects(&mut self) -> bool {
        let Self::Verbal {
            verb, indirect, object, ..
        } = self
        else {
            return true;
        };
        if indirect
            .as_ref()
            .is_some_and(|phrase| !phrase.is_definite() || !phrase.can_be_negated())
        {
            return false;
        }
        match object {
            Some(NounPhrase::Common(common))
                if common.determiner == Determiner::Indefinite && verb.government != Government::Swapped =>
            {
                common.determiner = Determiner::Negative;
                true
            }
            Some(phrase) => phrase.is_definite() && phrase.can_be_negated(),
            None => true,
        }
    }

    fn is_adjectival(&self) -> bool {
        matches!(self, Self::Adjectival { .. })
    }

    fn has_distinct_past(&self) -> bool {
        match self {
            Self::Verbal { verb, .. } => verb.has_distinct_past(),
            Self::Adjectival { .. } => true,
        }
    }

    /// Whether one can want to, or have to.
    fn is_deliberate(&self) -> bool {
        match self {
            Self::Verbal { verb, .. } => !matches!(
                verb.government,
                Government::Swapped | Government::That | Government::Whether | Government::Infinitive
            ),
            Self::Adjectival { .. } => false,
        }
    }

    fn takes_place(&self) -> bool {
        match self {
            Self::Verbal { verb, .. } => verb.takes_place(),
            Self::Adjectival { .. } => false,
        }
    }
}

impl NounPhrase {
    /// Class of the phrase; a pronoun without antecedent and a question word stand for a person.
    pub fn class(&self) -> Class {
        match self {
            Self::Common(common) => common.noun.class,
            Self::Pronoun(Pronoun::Third {
                english: Natural::It, ..
            })
            | Self::Gap(Gap::What) => Class::Object,
            Self::Pronoun(_) | Self::Named(_) | Self::Both(..) | Self::Gap(_) => Class::Person,
        }
    }

    fn can_be_negated(&self) -> bool {
        !matches!(
            self,
            Self::Common(Common {
                determiner: Determiner::Every | Determiner::Many | Determiner::Some | Determiner::Negative,
                ..
            })
        )
    }
}
