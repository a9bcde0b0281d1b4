//! Sentence trees. Both languages are realised from the same tree.

use super::adjectives::Adjective;
use super::adverbs::Adverb;
use super::features::{Agreement, Gender, Number, Person};
use super::names::Name;
use super::nouns::{Class, Noun, PlacePrepositions};
use super::verbs::{Tense, Verb};

#[derive(Debug, Clone, PartialEq)]
pub enum Sentence {
    Statement(Clause),
    /// "Does she see him?", or "Whom does she see?" where the clause has a gap.
    Question(Clause, Option<&'static Words>),
    /// Two main clauses.
    Joined(Clause, &'static Coordinator, Clause),
    Subordinated {
        main: Clause,
        subordinator: &'static Words,
        subordinate: Clause,
        order: ClauseOrder,
    },
    /// "She tries to ...", "She came in order to ...": the second clause's subject is the first's.
    Infinitive(Clause, InfinitiveLink, Clause),
    /// "In the garden there is a dog."
    Existential {
        place: Place,
        tense: Tense,
        what: NounPhrase,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClauseOrder {
    MainFirst,
    SubordinateFirst,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InfinitiveLink {
    /// "tries to": governed by the verb.
    Governed,
    /// "in order to".
    Purpose,
}

/// A fixed phrase in both languages.
#[derive(Debug, PartialEq, Eq)]
pub struct Words {
    pub english: &'static str,
    pub german: &'static str,
}

#[derive(Debug, PartialEq, Eq)]
pub struct Coordinator {
    pub english: &'static str,
    pub german: &'static str,
    /// "deshalb" takes the place before the finite verb, "und" does not.
    pub german_place: CoordinatorPlace,
    pub comma: CommaBefore,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CoordinatorPlace {
    BetweenClauses,
    BeforeTheVerb,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommaBefore {
    No,
    Yes,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Clause {
    pub subject: NounPhrase,
    pub predicate: Predicate,
    pub form: Form,
    pub polarity: Polarity,
    pub time: Option<Time>,
    pub frequency: Option<&'static Adverb>,
    pub manner: Option<&'static Adverb>,
    pub place: Option<Place>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Predicate {
    Verbal {
        verb: &'static Verb,
        indirect: Option<NounPhrase>,
        object: Option<NounPhrase>,
        goal: Option<Place>,
    },
    Adjectival {
        adjective: &'static Adjective,
        comparison: Option<Comparison>,
    },
}

#[derive(Debug, Clone, PartialEq)]
pub enum Comparison {
    /// "older than".
    More(NounPhrase),
    /// "as old as".
    Equal(NounPhrase),
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Form {
    Plain(Tense),
    Modal(&'static Modal, ModalTense),
    /// "likes to read", "liest gern".
    Fond,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModalTense {
    Present,
    Past,
}

/// A modal verb of German and what English says for it.
#[derive(Debug, PartialEq, Eq)]
pub struct Modal {
    pub english: EnglishModal,
    pub infinitive: &'static str,
    /// Form of "ich" and "er".
    pub singular: &'static str,
    /// Form of "ich" and "er"; others add an ending.
    pub preterite: &'static str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EnglishModal {
    /// "can": asks and negates by itself.
    Auxiliary { present: &'static str, past: &'static str },
    /// "want to": needs "do".
    Full {
        base: &'static str,
        third: &'static str,
        past: &'static str,
    },
    /// "be allowed to".
    WithBe(&'static str),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Polarity {
    Positive,
    Negative,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Time {
    pub when: When,
    pub position: TimePosition,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimePosition {
    Fronted,
    Inside,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    Adverb(&'static Adverb),
    /// "at five o'clock".
    Clock(usize),
    /// "three weeks ago".
    Ago(usize, &'static Words),
    /// "in three weeks".
    Ahead(usize, &'static Words),
}

#[derive(Debug, Clone, PartialEq)]
pub enum Place {
    /// "in the garden".
    Common(Common),
    /// "in Falgard".
    Town(String),
    Home,
}

#[derive(Debug, Clone, PartialEq)]
pub enum NounPhrase {
    Pronoun(Pronoun),
    Named(Name),
    Common(Common),
    /// "the man and the woman".
    Both(Box<NounPhrase>, Box<NounPhrase>),
    /// The phrase that a relative pronoun or a question word stands for, at its place in the clause.
    Gap(Gap),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pronoun {
    I,
    You,
    We,
    They,
    /// English chooses by nature, German by the gender of the noun it stands for.
    Third {
        english: Natural,
        german: Gender,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Natural {
    He,
    She,
    It,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gap {
    Relative {
        gender: Gender,
        number: Number,
        human: Human,
    },
    Who,
    What,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Human {
    Yes,
    No,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Common {
    pub determiner: Determiner,
    pub adjective: Option<&'static Adjective>,
    pub noun: &'static Noun,
    pub number: Number,
    /// A clause with a [`Gap::Relative`] in one of its places.
    pub relative: Option<Box<Clause>>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Determiner {
    Definite,
    /// "a" or, in the plural, nothing.
    Indefinite,
    /// "not a", "not any": kein.
    Negative,
    This,
    /// "every" in the singular, "all" in the plural.
    Every,
    Many,
    Some,
    Number(usize),
    Possessive(Possessor),
    /// "the old man's", "Norina's".
    Genitive(Box<NounPhrase>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Possessor {
    My,
    Your,
    His,
    Her,
    Our,
    Their,
}

impl Clause {
    pub fn tense(&self) -> Tense {
        match self.form {
            Form::Plain(tense) => tense,
            Form::Modal(_, ModalTense::Past) => Tense::Past,
            Form::Modal(_, ModalTense::Present) | Form::Fond => Tense::Present,
        }
    }
}

impl NounPhrase {
    pub fn agreement(&self) -> Agreement {
        let (person, number) = match self {
            Self::Pronoun(Pronoun::I) => (Person::First, Number::Singular),
            Self::Pronoun(Pronoun::You) => (Person::Second, Number::Singular),
            Self::Pronoun(Pronoun::We) => (Person::First, Number::Plural),
            Self::Pronoun(Pronoun::They) | Self::Both(..) => (Person::Third, Number::Plural),
            Self::Pronoun(Pronoun::Third { .. }) | Self::Named(_) | Self::Gap(Gap::Who | Gap::What) => {
                (Person::Third, Number::Singular)
            }
            Self::Common(Common { number, .. }) | Self::Gap(Gap::Relative { number, .. }) => (Person::Third, *number),
        };
        Agreement { person, number }
    }

    /// Definite phrases come early in the German clause, indefinite ones late.
    pub fn is_definite(&self) -> bool {
        match self {
            Self::Common(common) => !matches!(
                common.determiner,
                Determiner::Indefinite
                    | Determiner::Negative
                    | Determiner::Many
                    | Determiner::Some
                    | Determiner::Number(_)
            ),
            Self::Both(first, second) => first.is_definite() && second.is_definite(),
            Self::Pronoun(_) | Self::Named(_) | Self::Gap(_) => true,
        }
    }

    pub fn is_human(&self) -> bool {
        match self {
            Self::Common(common) => common.noun.class == Class::Person,
            Self::Gap(Gap::Relative { human, .. }) => *human == Human::Yes,
            Self::Pronoun(Pronoun::Third {
                english: Natural::It, ..
            })
            | Self::Gap(Gap::What) => false,
            Self::Pronoun(_) | Self::Named(_) | Self::Both(..) | Self::Gap(Gap::Who) => true,
        }
    }

    /// The pronoun that may stand for this phrase in a later clause.
    pub fn pronoun(&self) -> Option<Pronoun> {
        match self {
            Self::Pronoun(pronoun) => Some(*pronoun),
            Self::Named(name) => Some(third(natural(name.gender)?, name.gender)),
            Self::Both(..) => Some(Pronoun::They),
            Self::Common(common) => common.pronoun(),
            Self::Gap(_) => None,
        }
    }

    pub fn relative(&self) -> Option<&Clause> {
        match self {
            Self::Common(common) => common.relative.as_deref(),
            _ => None,
        }
    }
}

impl Common {
    /// A phrase without adjective and relative clause.
    pub fn new(determiner: Determiner, noun: &'static Noun, number: Number) -> Self {
        Self {
            determiner,
            adjective: None,
            noun,
            number,
            relative: None,
        }
    }

    /// Prepositions of a noun that is a place.
    pub fn prepositions(&self) -> PlacePrepositions {
        self.noun.place.expect("only places stand where a place is asked for")
    }

    fn pronoun(&self) -> Option<Pronoun> {
        let gender = self.noun.gender;
        match (self.number, self.noun.class) {
            (_, _) if matches!(self.determiner, Determiner::Negative | Determiner::Every) => None,
            (Number::Plural, _) => Some(Pronoun::They),
            (Number::Singular, Class::Person) => Some(third(natural(gender)?, gender)),
            (Number::Singular, _) => Some(third(Natural::It, gender)),
        }
    }
}

const fn third(english: Natural, german: Gender) -> Pronoun {
    Pronoun::Third { english, german }
}

/// None for "das Kind" and "das Mädchen", which speakers take up with either pronoun.
fn natural(gender: Gender) -> Option<Natural> {
    match gender {
        Gender::Masculine => Some(Natural::He),
        Gender::Feminine => Some(Natural::She),
        Gender::Neuter => None,
    }
}
