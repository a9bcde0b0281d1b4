//! Values of keys, and the kinds that say which values a key allows.

use std::fmt;
use std::ops::{Bound, RangeBounds};
use std::path::Path;

use toml::de::{DeInteger, DeValue};

use super::device::DeviceWish;

/// One value of a spec. `Display` writes it as TOML.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    Whole(u64),
    Real(f64),
    Text(String),
}

impl Value {
    /// Returns the whole number that a [`Kind::Whole`] key holds.
    pub(super) fn count(&self) -> usize {
        match self {
            Self::Whole(number) => usize::try_from(*number).expect("a kind's range fits the machine"),
            _ => unreachable!("the key's kind lets only whole numbers in"),
        }
    }

    /// Returns the number that a [`Kind::Real`] key holds.
    pub(super) fn real(&self) -> f64 {
        match self {
            Self::Real(number) => *number,
            _ => unreachable!("the key's kind lets only numbers in"),
        }
    }

    /// Returns the text that a [`Kind::Choice`], [`Kind::File`] or [`Kind::Text`] key holds.
    pub(super) fn text(&self) -> &str {
        match self {
            Self::Text(text) => text,
            _ => unreachable!("the key's kind lets only text in"),
        }
    }

    /// Writes the value as in a row id: text without its quotes.
    #[must_use]
    pub fn bare(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            number => number.to_string(),
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole(number) => write!(f, "{number}"),
            // Debug keeps the point of `1.0`, without which TOML reads a whole number.
            Self::Real(number) => write!(f, "{number:?}"),
            Self::Text(text) => write!(f, "{}", toml::Value::String(text.clone())),
        }
    }
}

impl From<usize> for Value {
    fn from(number: usize) -> Self {
        Self::Whole(number as u64)
    }
}

impl From<f64> for Value {
    fn from(number: f64) -> Self {
        Self::Real(number)
    }
}

impl From<f32> for Value {
    /// Keeps the shortest decimal: 0.1 stays 0.1, not 0.10000000149.
    fn from(number: f32) -> Self {
        Self::Real(number.to_string().parse().expect("a number prints as one"))
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

/// Values that a key accepts. `Display` completes "expects ..".
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kind {
    /// Whole numbers from the first to the second, both included.
    Whole(u64, u64),
    Real(Bound<f64>, Bound<f64>),
    Choice(&'static [&'static str]),
    /// A path relative to the data folder.
    File,
    /// A [`DeviceWish`].
    Device,
    Text,
}

/// Reason for refusing a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refusal {
    WrongType,
    OutOfRange,
}

impl Kind {
    /// Reads a TOML value; a whole number may stand for any number.
    pub(super) fn read(&self, written: &DeValue<'_>) -> Result<Value, Refusal> {
        let value = match (self, written) {
            (Self::Whole(..), DeValue::Integer(number)) => Value::Whole(whole(number).ok_or(Refusal::OutOfRange)?),
            (Self::Real(..), DeValue::Integer(number)) => Value::Real(whole(number).ok_or(Refusal::OutOfRange)? as f64),
            (Self::Real(..), DeValue::Float(number)) => {
                Value::Real(number.as_str().parse().map_err(|_| Refusal::OutOfRange)?)
            }
            (Self::Choice(_) | Self::File | Self::Device | Self::Text, DeValue::String(text)) => {
                Value::Text(text.to_string())
            }
            _ => return Err(Refusal::WrongType),
        };
        if self.allows(&value) {
            Ok(value)
        } else {
            Err(Refusal::OutOfRange)
        }
    }

    /// Whether a key of this kind may hold the value.
    #[must_use]
    pub fn allows(&self, value: &Value) -> bool {
        match (self, value) {
            (Self::Whole(min, max), Value::Whole(number)) => (min..=max).contains(&number),
            (Self::Real(min, max), Value::Real(number)) => number.is_finite() && (*min, *max).contains(number),
            (Self::Choice(names), Value::Text(text)) => names.contains(&text.as_str()),
            (Self::File, Value::Text(text)) => !text.is_empty() && Path::new(text).is_relative(),
            (Self::Device, Value::Text(text)) => text.parse::<DeviceWish>().is_ok(),
            (Self::Text, Value::Text(text)) => !text.is_empty(),
            _ => false,
        }
    }

    /// Returns the names to choose from, for a suggestion.
    pub(super) fn names(&self) -> &'static [&'static str] {
        match self {
            Self::Choice(names) => names,
            Self::Device => &DeviceWish::NAMES,
            _ => &[],
        }
    }
}

/// Returns `None` below zero and beyond 64 bits, which no key accepts.
fn whole(number: &DeInteger<'_>) -> Option<u64> {
    u64::from_str_radix(number.as_str(), number.radix()).ok()
}

/// Lists names in quotes.
pub(super) fn alternatives(names: &[&str], between: &str) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("\"{name}\"")).collect();
    quoted.join(between)
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole(min, max) => write!(f, "a whole number from {min} to {max}"),
            Self::Real(min, max) => {
                let from = match min {
                    Bound::Included(min) => format!(" from {min}"),
                    Bound::Excluded(min) => format!(" above {min}"),
                    Bound::Unbounded => String::new(),
                };
                match max {
                    Bound::Included(max) => write!(f, "a number{from} to {max}"),
                    Bound::Excluded(max) => write!(f, "a number{from} to below {max}"),
                    Bound::Unbounded => write!(f, "a number{from}"),
                }
            }
            Self::Choice(names) => write!(f, "one of {}", alternatives(names, ", ")),
            Self::Device => write!(f, "one of {}", DeviceWish::ALLOWED),
            Self::File => f.write_str("a path relative to the data folder"),
            Self::Text => f.write_str("a string that is not empty"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(kind: Kind, toml: &str) -> Result<Value, Refusal> {
        kind.read(DeValue::parse(toml).unwrap().get_ref())
    }

    #[test]
    fn a_whole_number_may_carry_separators_and_a_base() {
        let kind = Kind::Whole(1, 100_000);
        assert_eq!(read(kind, "100_000"), Ok(Value::Whole(100_000)));
        assert_eq!(read(kind, "0x10"), Ok(Value::Whole(16)));
        assert_eq!(read(kind, "-1"), Err(Refusal::OutOfRange));
        assert_eq!(read(kind, "100001"), Err(Refusal::OutOfRange));
        assert_eq!(read(kind, "1.0"), Err(Refusal::WrongType));
    }

    #[test]
    fn a_number_that_is_none_is_out_of_range() {
        let kind = Kind::Real(Bound::Unbounded, Bound::Unbounded);
        for text in ["nan", "-nan", "inf", "-inf", "1e999"] {
            assert_eq!(read(kind, text), Err(Refusal::OutOfRange), "{text}");
        }
        assert_eq!(read(kind, "1"), Ok(Value::Real(1.0)));
    }

    #[test]
    fn an_open_end_is_kept_out() {
        let kind = Kind::Real(Bound::Excluded(0.0), Bound::Excluded(1.0));
        assert_eq!(read(kind, "0.0"), Err(Refusal::OutOfRange));
        assert_eq!(read(kind, "1.0"), Err(Refusal::OutOfRange));
        assert_eq!(read(kind, "0.5"), Ok(Value::Real(0.5)));
        assert_eq!(kind.to_string(), "a number above 0 to below 1");
    }

    #[test]
    fn a_float_of_32_bits_keeps_its_shortest_decimal() {
        assert_eq!(Value::from(0.1_f32), Value::Real(0.1));
        assert_eq!(Value::from(0.1_f32).to_string(), "0.1");
    }
}
