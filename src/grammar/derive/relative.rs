//! Draws relative clauses, and the phrases that have them.

use rand::RngExt;

use super::Deriver;
use super::clause::ClausePlan;
use crate::grammar::features::Number;
use crate::grammar::lexicon::LEXICON;
use crate::grammar::nouns::Class;
use crate::grammar::tree::{Clause, Common, Determiner, Form, Gap, Human, NounPhrase, Predicate};
use crate::grammar::verbs::{Frame, Tense, Verb};

impl Deriver {
    pub(super) fn maybe_add_relative(&mut self, phrase: &mut NounPhrase, percent: u32) {
        if let NounPhrase::Common(common) = phrase
            && matches!(
                common.determiner,
                Determiner::Definite | Determiner::Indefinite | Determiner::Number(_)
            )
            && self.chance(percent)
        {
            let tense = *self.choose(&[Tense::Present, Tense::Past]);
            common.relative = self.relative(common, tense).map(Box::new);
        }
    }

    /// Draws a thing that is in a place: indefinite, and sometimes described.
    pub(super) fn news(&mut self, tense: Tense) -> NounPhrase {
        let noun = self.noun(&[Class::Person, Class::Animal, Class::Object, Class::Text]);
        let number = *self.choose(&[Number::Singular, Number::Plural]);
        let determiner = match (number, self.chance(50)) {
            (Number::Plural, true) => Determiner::Number(self.stream.random_range(2..=12)),
            (Number::Plural, false) => Determiner::Many,
            (Number::Singular, _) => Determiner::Indefinite,
        };
        let adjective = self.chance(40).then(|| self.adjective(noun.class));
        let mut common = Common {
            adjective,
            ..Common::new(determiner, noun, number)
        };
        if self.chance(50) {
            common.relative = self.relative(&common, tense).map(Box::new);
        }
        NounPhrase::Common(common)
    }

    fn relative(&mut self, common: &Common, tense: Tense) -> Option<Clause> {
        let class = common.noun.class;
        let gap = NounPhrase::Gap(common.gap());
        let acts = matches!(class, Class::Person | Class::Animal);
        if acts && self.chance(50) {
            return Some(self.clause_of_class(
                gap,
                class,
                &ClausePlan {
                    tense: Some(tense),
                    ..ClausePlan::embedded()
                },
            ));
        }
        let takes_it = |verb: &&'static Verb| verb.objects.contains(&class) && verb.subjects.contains(&Class::Person);
        let verb = self.choose_word_if_any(LEXICON.verbs_of(Frame::OneObject).filter(takes_it))?;
        let subject = self.subject(&[Class::Person]);
        let tense = if verb.has_distinct_past() {
            tense
        } else {
            Tense::Present
        };
        let predicate = Predicate::Verbal {
            verb,
            indirect: None,
            object: Some(gap),
            goal: None,
        };
        Some(Clause::plain(subject, predicate, Form::Plain(tense)))
    }
}

impl Common {
    pub fn gap(&self) -> Gap {
        let human = if self.noun.class == Class::Person {
            Human::Yes
        } else {
            Human::No
        };
        Gap::Relative {
            gender: self.noun.gender,
            number: self.number,
            human,
        }
    }
}
