//! The schema: every key of an experiment, once. Reading, defaults, suggestions, the resolved `spec.toml` and the
//! key reference all come from this table.

mod data;
mod decoding;
mod model;
mod selection;
mod training;

use super::experiment::Experiment;
use super::value::{Kind, Value};

/// One key of an experiment.
#[derive(Debug)]
pub struct Key {
    /// Dotted, as written in `set`: `model.heads`.
    pub path: &'static str,
    pub kind: Kind,
    pub fallback: Fallback,
    /// Without this the key has no effect, and setting it is a fault.
    pub needs: Option<Needs>,
    pub effect: Effect,
    /// One line, without a full stop.
    pub doc: &'static str,
    get: fn(&Experiment) -> Option<Value>,
    set: fn(&mut Experiment, &Value),
}

/// What holds where nobody set the key.
#[derive(Debug)]
pub enum Fallback {
    Required,
    Whole(u64),
    Real(f64),
    Text(&'static str),
    Derived {
        /// As the key reference prints it.
        rule: &'static str,
        from: &'static [&'static str],
        value: fn(&Experiment) -> Value,
    },
}

impl Fallback {
    /// Whether a value is the default, where that is the same in every experiment.
    pub(super) fn is(&self, value: &Value) -> bool {
        match self {
            Self::Whole(number) => *value == Value::Whole(*number),
            Self::Real(number) => *value == Value::Real(*number),
            Self::Text(text) => *value == Value::from(*text),
            Self::Required | Self::Derived { .. } => false,
        }
    }
}

/// A condition on another key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Needs {
    pub key: &'static str,
    /// As it completes the sentence "needs `key` ..".
    pub condition: &'static str,
}

/// What a change of the key costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Part of the model's type: a new value needs a build.
    Shape,
    /// Read at run time: a new value needs no build.
    Outcome,
    /// Decides what is written down and how the work is cut, not what is learned.
    Bookkeeping,
}

impl Key {
    /// The key's value in an experiment, or `None` where the key has no effect.
    #[must_use]
    pub fn value_in(&self, experiment: &Experiment) -> Option<Value> {
        (self.get)(experiment)
    }

    pub(super) fn store(&self, experiment: &mut Experiment, value: &Value) {
        (self.set)(experiment, value);
    }

    /// The name of the table: `model` of `model.heads`.
    #[must_use]
    pub fn table(&self) -> &'static str {
        self.split().0
    }

    /// The name inside the table: `heads` of `model.heads`.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.split().1
    }

    fn split(&self) -> (&'static str, &'static str) {
        self.path.split_once('.').expect("every key stands in a table")
    }
}

/// Tables in the order of `spec.toml`. A key whose meaning hangs on another comes after it.
const KEYS: [&[Key]; 5] = [model::KEYS, data::KEYS, training::KEYS, selection::KEYS, decoding::KEYS];

/// All keys, in the order of `spec.toml`.
pub fn keys() -> impl Iterator<Item = &'static Key> {
    KEYS.into_iter().flatten()
}

/// The key with this dotted path.
#[must_use]
pub fn key(path: &str) -> Option<&'static Key> {
    keys().find(|key| key.path == path)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn no_path_stands_twice_and_tables_are_not_torn_apart() {
        let paths: BTreeSet<_> = keys().map(|key| key.path).collect();
        assert_eq!(paths.len(), keys().count());

        let mut tables: Vec<_> = keys().map(Key::table).collect();
        tables.dedup();
        assert_eq!(tables.len(), tables.iter().collect::<BTreeSet<_>>().len(), "{tables:?}");
    }

    #[test]
    fn what_a_key_hangs_on_comes_before_it() {
        let mut seen = BTreeSet::new();
        for key in keys() {
            if let Fallback::Derived { from, .. } = key.fallback {
                assert!(from.iter().all(|path| seen.contains(path)), "{}", key.path);
            }
            assert!(key.needs.is_none_or(|needs| seen.contains(needs.key)), "{}", key.path);
            seen.insert(key.path);
        }
    }

    #[test]
    fn a_doc_is_one_short_line() {
        for key in keys() {
            assert!(
                !key.doc.is_empty() && key.doc.len() <= 100 && !key.doc.ends_with('.'),
                "{}",
                key.path
            );
        }
    }
}
