//! The grammatical features that both languages agree in.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gender {
    Masculine,
    Feminine,
    Neuter,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Case {
    Nominative,
    Accusative,
    Dative,
    Genitive,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Number {
    Singular,
    Plural,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Person {
    First,
    Second,
    Third,
}

/// What a finite verb agrees with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Agreement {
    pub person: Person,
    pub number: Number,
}

impl Agreement {
    pub const fn third(number: Number) -> Self {
        Self {
            person: Person::Third,
            number,
        }
    }

    pub fn is_third_singular(self) -> bool {
        self == Self::third(Number::Singular)
    }
}

/// What a declined word agrees with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Declension {
    pub gender: Gender,
    pub case: Case,
    pub number: Number,
}
