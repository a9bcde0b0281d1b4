//! Draws predicates.

use super::Deriver;
use super::clause::{ClausePlan, Relatives};
use crate::grammar::adjectives::Adjective;
use crate::grammar::features::{Case, Number};
use crate::grammar::lexicon::LEXICON;
use crate::grammar::nouns::Class;
use crate::grammar::tree::{Common, Comparison, Determiner, NounPhrase, Predicate, Pronoun};
use crate::grammar::verbs::{Frame, Government, Verb};

impl Deriver {
    pub(super) fn predicate(&mut self, subject: &NounPhrase, class: Class, plan: &ClausePlan) -> Predicate {
        let frame = match class {
            Class::Person => [
                None,
                Some(Frame::Intransitive),
                Some(Frame::Motion),
                Some(Frame::OneObject),
                Some(Frame::TwoObjects),
            ][self.weighted(&[14, 14, 9, 52, 11])],
            Class::Animal => [None, Some(Frame::Intransitive), Some(Frame::OneObject)][self.weighted(&[35, 20, 45])],
            _ => None,
        };
        match frame {
            Some(frame) => self.verbal(subject, frame, class, plan),
            None if class == Class::Vehicle && self.chance(40) => {
                self.verbal(subject, Frame::Intransitive, class, plan)
            }
            None if can_belong(class) && self.chance(30) => self.verbal(subject, Frame::OneObject, class, plan),
            None => self.adjectival(subject, class),
        }
    }

    pub(super) fn verbal(&mut self, subject: &NounPhrase, frame: Frame, class: Class, plan: &ClausePlan) -> Predicate {
        let verb = self.verb(frame, class, plan.antecedent);
        let indirect = (frame == Frame::TwoObjects).then(|| self.recipient());
        let goal = (frame == Frame::Motion).then(|| self.place());
        let object = (!verb.objects.is_empty()).then(|| self.object_of(verb, subject, plan));
        Predicate::Verbal {
            verb,
            indirect,
            object,
            goal,
        }
    }

    /// One that can take up the antecedent, where there is such a verb and the coin falls so.
    fn verb(&mut self, frame: Frame, class: Class, antecedent: Option<&NounPhrase>) -> &'static Verb {
        let fitting = || {
            LEXICON
                .verbs_of(frame)
                .filter(move |verb| verb.subjects.contains(&class))
        };
        if let Some(antecedent) = antecedent.map(NounPhrase::class).filter(|_| self.chance(60)) {
            let taking_up = fitting().filter(|verb| verb.objects.contains(&antecedent));
            if let Some(verb) = self.choose_word_if_any(taking_up) {
                return verb;
            }
        }
        self.choose_word(fitting())
    }

    fn object_of(&mut self, verb: &'static Verb, subject: &NounPhrase, plan: &ClausePlan) -> NounPhrase {
        if let Some(pronoun) = plan
            .antecedent
            .and_then(|antecedent| verb.pronoun_for(antecedent, subject))
            && self.chance(70)
        {
            return NounPhrase::Pronoun(pronoun);
        }
        let mut object = self.object(&verb.objects, subject);
        if plan.relatives == Relatives::Allowed && subject.relative().is_none() {
            self.maybe_add_relative(&mut object, 10);
        }
        object
    }

    fn adjectival(&mut self, subject: &NounPhrase, class: Class) -> Predicate {
        let adjective = self.adjective(class);
        let comparable =
            matches!(subject, NounPhrase::Named(_) | NounPhrase::Common(_)) && subject.relative().is_none();
        let comparison = match self.weighted(&[70, 20, 10]) {
            1 if comparable => Some(Comparison::More(self.standard(class))),
            2 if comparable => Some(Comparison::Equal(self.standard(class))),
            _ => None,
        };
        Predicate::Adjectival { adjective, comparison }
    }

    pub(super) fn adjective(&mut self, class: Class) -> &'static Adjective {
        self.adjective_if_any(class)
            .expect("every class that is a subject has adjectives")
    }

    pub(super) fn adjective_if_any(&mut self, class: Class) -> Option<&'static Adjective> {
        self.choose_word_if_any(
            LEXICON
                .adjectives
                .iter()
                .filter(|adjective| adjective.describes.contains(&class)),
        )
    }

    /// Draws the standard of a comparison.
    fn standard(&mut self, class: Class) -> NounPhrase {
        let noun = self.noun(&[class]);
        let number = *self.choose(&[Number::Singular, Number::Singular, Number::Plural]);
        let determiner = if self.chance(60) {
            Determiner::Definite
        } else {
            Determiner::This
        };
        NounPhrase::Common(Common::new(determiner, noun, number))
    }
}

fn can_belong(class: Class) -> bool {
    matches!(class, Class::Object | Class::Vehicle | Class::Clothing | Class::Text)
}

impl Verb {
    /// The pronoun for an antecedent that this verb can have as object, unless the subject is the same one.
    fn pronoun_for(&self, antecedent: &NounPhrase, subject: &NounPhrase) -> Option<Pronoun> {
        let pronoun = antecedent
            .pronoun()
            .filter(|_| self.objects.contains(&antecedent.class()))?;
        let same = *subject == NounPhrase::Pronoun(pronoun);
        // "darauf" stands for one thing; for several, German would have to rephrase.
        let things = pronoun == Pronoun::They && antecedent.class() != Class::Person;
        let rephrased = things && matches!(self.government, Government::Prepositional(..));
        (!same && !rephrased).then_some(pronoun)
    }

    /// Whether "in the garden" or "slowly" goes with it.
    pub fn takes_place(&self) -> bool {
        match self.government {
            Government::Nothing => self.subjects.contains(&Class::Person),
            Government::Object(Case::Accusative) => !matches!(self.english, "have" | "need" | "know" | "love"),
            _ => false,
        }
    }
}
