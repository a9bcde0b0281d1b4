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

/// Features that a finite verb agrees with.
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

/// Features that a declined word agrees with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Declension {
    pub gender: Gender,
    pub case: Case,
    pub number: Number,
}

impl Declension {
    /// The ending of "der", "dieser" and "jeder".
    pub fn strong_ending(self) -> &'static str {
        let [nominative, accusative, dative, genitive] = match (self.number, self.gender) {
            (Number::Plural, _) => ["e", "e", "en", "er"],
            (Number::Singular, Gender::Masculine) => ["er", "en", "em", "es"],
            (Number::Singular, Gender::Feminine) => ["e", "e", "er", "er"],
            (Number::Singular, Gender::Neuter) => ["es", "es", "em", "es"],
        };
        match self.case {
            Case::Nominative => nominative,
            Case::Accusative => accusative,
            Case::Dative => dative,
            Case::Genitive => genitive,
        }
    }
}
