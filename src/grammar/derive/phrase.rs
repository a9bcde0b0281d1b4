//! Draws noun phrases and places.

use rand::RngExt;

use super::Deriver;
use crate::grammar::features::{Gender, Number};
use crate::grammar::lexicon::LEXICON;
use crate::grammar::names;
use crate::grammar::nouns::{Class, Noun};
use crate::grammar::tree::{Common, Determiner, Natural, NounPhrase, Place, Possessor, Pronoun};

const HE: Pronoun = Pronoun::Third {
    english: Natural::He,
    german: Gender::Masculine,
};
const SHE: Pronoun = Pronoun::Third {
    english: Natural::She,
    german: Gender::Feminine,
};
const PERSONAL: &[Pronoun] = &[Pronoun::I, Pronoun::You, HE, SHE, Pronoun::We, Pronoun::They];
const OWNERS: &[Possessor] = &[
    Possessor::My,
    Possessor::Your,
    Possessor::Our,
    Possessor::His,
    Possessor::Her,
];

impl Deriver {
    pub(super) fn subject(&mut self, classes: &'static [Class]) -> NounPhrase {
        let kinds = if classes == [Class::Person] {
            [32, 7, 57, 4]
        } else {
            [0, 0, 1, 0]
        };
        match self.weighted(&kinds) {
            0 => NounPhrase::Pronoun(*self.choose(PERSONAL)),
            1 => self.named(),
            2 => NounPhrase::Common(self.common(classes, None)),
            _ => self.both(),
        }
    }

    /// `subject` may own the object: "she reads her book".
    pub(super) fn object(&mut self, classes: &'static [Class], subject: &NounPhrase) -> NounPhrase {
        let may_be_person = classes.contains(&Class::Person);
        match self.weighted(&[14, 7, 79]) {
            0 if may_be_person => self.pronoun_beside(subject),
            1 if may_be_person => self.named(),
            _ => NounPhrase::Common(self.common(classes, subject.pronoun())),
        }
    }

    /// Draws a recipient.
    pub(super) fn recipient(&mut self) -> NounPhrase {
        if self.chance(10) {
            return self.named();
        }
        let recipient = self.common(&[Class::Person], None);
        let determiner = match (recipient.number, recipient.determiner) {
            // "das Messer Sängerinnen geben" would be hard to read.
            (Number::Plural, Determiner::Indefinite) => Determiner::Definite,
            (_, determiner) => determiner,
        };
        NounPhrase::Common(Common {
            determiner,
            ..recipient
        })
    }

    pub(super) fn common(&mut self, classes: &'static [Class], owner: Option<Pronoun>) -> Common {
        let noun = self.noun(classes);
        let number = if self.chance(26) {
            Number::Plural
        } else {
            Number::Singular
        };
        let determiner = match number {
            Number::Singular => self.singular_determiner(owner),
            Number::Plural => self.plural_determiner(owner),
        };
        let adjective = if self.chance(27) {
            self.adjective_if_any(noun.class)
        } else {
            None
        };
        Common {
            adjective,
            ..Common::new(determiner, noun, number)
        }
    }

    pub(super) fn noun(&mut self, classes: &[Class]) -> &'static Noun {
        let class = *self.choose(classes);
        self.choose_word(LEXICON.nouns_of(class))
    }

    pub(super) fn place(&mut self) -> Place {
        match self.weighted(&[12, 8, 80]) {
            0 => Place::Home,
            1 => Place::Town(names::town(&mut self.stream)),
            _ => self.common_place(),
        }
    }

    pub(super) fn common_place(&mut self) -> Place {
        let determiner = match self.weighted(&[65, 15, 10, 10]) {
            0 => Determiner::Definite,
            1 => Determiner::Indefinite,
            2 => Determiner::This,
            _ => Determiner::Possessive(*self.choose(OWNERS)),
        };
        let noun = self.noun(&[Class::Place]);
        let adjective = self.chance(25).then(|| self.adjective(Class::Place));
        Place::Common(Common {
            adjective,
            ..Common::new(determiner, noun, Number::Singular)
        })
    }

    fn singular_determiner(&mut self, owner: Option<Pronoun>) -> Determiner {
        match self.weighted(&[50, 26, 5, 3, 11, 5]) {
            0 => Determiner::Definite,
            1 => Determiner::Indefinite,
            2 => Determiner::This,
            3 => Determiner::Every,
            4 => Determiner::Possessive(self.possessor(owner)),
            _ => Determiner::Genitive(Box::new(self.genitive_owner())),
        }
    }

    fn plural_determiner(&mut self, owner: Option<Pronoun>) -> Determiner {
        match self.weighted(&[38, 17, 6, 4, 7, 6, 12, 10]) {
            0 => Determiner::Definite,
            1 => Determiner::Indefinite,
            2 => Determiner::This,
            3 => Determiner::Every,
            4 => Determiner::Many,
            5 => Determiner::Some,
            6 => Determiner::Number(self.count()),
            _ => Determiner::Possessive(self.possessor(owner)),
        }
    }

    fn count(&mut self) -> usize {
        if self.chance(60) {
            self.stream.random_range(2..=12)
        } else {
            self.stream.random_range(13..=99)
        }
    }

    fn possessor(&mut self, owner: Option<Pronoun>) -> Possessor {
        match owner.and_then(possessor_of) {
            Some(possessor) if self.chance(70) => possessor,
            _ => *self.choose(OWNERS),
        }
    }

    fn genitive_owner(&mut self) -> NounPhrase {
        if self.chance(40) {
            return self.named();
        }
        let noun = self.noun(&[Class::Person]);
        let adjective = self.chance(25).then(|| self.adjective(Class::Person));
        let determiner = match self.weighted(&[70, 30]) {
            0 => Determiner::Definite,
            _ => Determiner::Possessive(*self.choose(OWNERS)),
        };
        NounPhrase::Common(Common {
            adjective,
            ..Common::new(determiner, noun, Number::Singular)
        })
    }

    fn named(&mut self) -> NounPhrase {
        NounPhrase::Named(names::person(&mut self.stream))
    }

    fn both(&mut self) -> NounPhrase {
        let first = if self.chance(50) {
            self.named()
        } else {
            NounPhrase::Common(self.definite_person())
        };
        let second = NounPhrase::Common(self.definite_person());
        NounPhrase::Both(Box::new(first), Box::new(second))
    }

    fn definite_person(&mut self) -> Common {
        let determiner = match self.weighted(&[60, 40]) {
            0 => Determiner::Definite,
            _ => Determiner::Possessive(*self.choose(OWNERS)),
        };
        let noun = self.noun(&[Class::Person]);
        Common::new(determiner, noun, Number::Singular)
    }

    /// Not "we see me", nor "she sees her", which might be two persons or one.
    fn pronoun_beside(&mut self, subject: &NounPhrase) -> NounPhrase {
        let subject = subject.pronoun();
        let is_speaker = |pronoun| matches!(pronoun, Pronoun::I | Pronoun::We);
        let overlaps = |pronoun| Some(pronoun) == subject || is_speaker(pronoun) && subject.is_some_and(is_speaker);
        let others: Vec<_> = PERSONAL.iter().copied().filter(|pronoun| !overlaps(*pronoun)).collect();
        NounPhrase::Pronoun(*self.choose(&others))
    }
}

fn possessor_of(owner: Pronoun) -> Option<Possessor> {
    match owner {
        Pronoun::I => Some(Possessor::My),
        Pronoun::You => Some(Possessor::Your),
        Pronoun::We => Some(Possessor::Our),
        Pronoun::They => Some(Possessor::Their),
        HE => Some(Possessor::His),
        SHE => Some(Possessor::Her),
        Pronoun::Third { .. } => None,
    }
}
