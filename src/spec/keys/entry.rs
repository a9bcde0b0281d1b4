//! One key of an experiment, and how an entry of the table is written.

use std::fmt;

use crate::spec::experiment::Experiment;
use crate::spec::value::{Kind, Value, alternatives};

/// One key of an experiment.
#[derive(Debug, Clone, Copy)]
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
    /// The key's own column in tables. Keys without one share a column.
    pub column: Option<Column>,
    pub identity: Identity,
    get: fn(&Experiment) -> Option<Value>,
    set: fn(&mut Experiment, &Value),
}

/// The value of a key that nobody set.
#[derive(Debug, Clone, Copy)]
pub enum Fallback {
    Required,
    /// The key is optional: without it the experiment has no such value, and none is written.
    Absent,
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
    /// Returns the default that is the same in every experiment.
    pub(in crate::spec) fn constant(&self) -> Option<Value> {
        match self {
            Self::Whole(number) => Some(Value::Whole(*number)),
            Self::Real(number) => Some(Value::Real(*number)),
            Self::Text(text) => Some((*text).into()),
            Self::Required | Self::Absent | Self::Derived { .. } => None,
        }
    }
}

/// A condition on another key. `Display` completes the sentence "needs ..".
#[derive(Debug, Clone, Copy)]
pub struct Needs {
    pub key: &'static Key,
    pub condition: Condition,
}

/// A condition on a value. `Display` completes the sentence "needs `key` ..".
#[derive(Debug, Clone, Copy)]
pub enum Condition {
    OneOf(&'static [&'static str]),
    Above(u64),
}

impl Condition {
    #[must_use]
    pub fn is_met(self, value: &Value) -> bool {
        match (self, value) {
            (Self::OneOf(names), Value::Text(text)) => names.contains(&text.as_str()),
            (Self::Above(limit), Value::Whole(number)) => *number > limit,
            (Self::OneOf(_), Value::Whole(_) | Value::Real(_)) | (Self::Above(_), Value::Real(_) | Value::Text(_)) => {
                false
            }
        }
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OneOf(names) => write!(f, "= {}", alternatives(names, " or ")),
            Self::Above(limit) => write!(f, "above {limit}"),
        }
    }
}

/// A column of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Column {
    /// Columns stand in the order of their places.
    pub place: u8,
    pub title: &'static str,
}

/// What a change of the key costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Part of the size of a weight matrix: a new size needs a build.
    Shape,
    /// Read at run time: a new value needs no build.
    Outcome,
    /// Decides what is written down and how the work is cut, not what is learned.
    Bookkeeping,
}

/// Whether the hash of a spec covers the key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Identity {
    Always,
    /// The key is younger than the first results that were kept. Those were made with what is now its default, so the
    /// default is not part of the hash.
    UnlessDefault,
}

impl Key {
    /// A required key that is read at run time. The methods below change that.
    pub(in crate::spec) const fn new(
        path: &'static str,
        kind: Kind,
        doc: &'static str,
        get: fn(&Experiment) -> Option<Value>,
        set: fn(&mut Experiment, &Value),
    ) -> Self {
        Self {
            path,
            kind,
            fallback: Fallback::Required,
            needs: None,
            effect: Effect::Outcome,
            doc,
            column: None,
            identity: Identity::Always,
            get,
            set,
        }
    }

    pub(in crate::spec) const fn or(self, fallback: Fallback) -> Self {
        Self { fallback, ..self }
    }

    pub(super) const fn needs(self, key: &'static Self, condition: Condition) -> Self {
        let needs = Some(Needs { key, condition });
        Self { needs, ..self }
    }

    pub(super) const fn effect(self, effect: Effect) -> Self {
        Self { effect, ..self }
    }

    /// Gives the key a column of its own, as in Table 3 of the paper.
    pub(super) const fn column(self, place: u8, title: &'static str) -> Self {
        let column = Some(Column { place, title });
        Self { column, ..self }
    }

    /// Leaves the default out of the hash of a spec: for every key that is added from now on.
    pub(super) const fn added_later(self) -> Self {
        let identity = Identity::UnlessDefault;
        Self { identity, ..self }
    }

    /// Whether the key means anything in an experiment.
    #[must_use]
    pub fn has_effect(&self, experiment: &Experiment) -> bool {
        self.needs.is_none_or(|Needs { key, condition }| {
            let value = key.value_in(experiment);
            value.is_some_and(|value| condition.is_met(&value))
        })
    }

    /// Returns the key's value in an experiment, or `None` where the key has no effect or is absent.
    #[must_use]
    pub fn value_in(&self, experiment: &Experiment) -> Option<Value> {
        (self.get)(experiment).filter(|_| self.has_effect(experiment))
    }

    pub(in crate::spec) fn store(&self, experiment: &mut Experiment, value: &Value) {
        (self.set)(experiment, value);
    }

    /// Returns the name of the table: `model` of `model.heads`.
    #[must_use]
    pub fn table(&self) -> &'static str {
        self.split().0
    }

    /// Returns the name inside the table: `heads` of `model.heads`.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.split().1
    }

    fn split(&self) -> (&'static str, &'static str) {
        self.path.split_once('.').expect("every key stands in a table")
    }
}

/// A key that is stored in the field of its path: `key!(model.heads, kind, doc)`.
macro_rules! key {
    ($table:ident . $field:ident, $kind:expr, $doc:expr) => {
        $crate::spec::keys::entry::Key::new(
            concat!(stringify!($table), ".", stringify!($field)),
            $kind,
            $doc,
            |e| $crate::spec::field::Field::to_value(&e.$table.$field),
            |e, value| e.$table.$field = $crate::spec::field::Field::from_value(value),
        )
    };
}
pub(super) use key;

/// A key that is stored inside an enum's variant: its path, the enum's field, the variant's pattern, the place in it.
macro_rules! variant_key {
    ($path:literal, $table:ident . $field:ident, $pattern:pat => $place:expr, $kind:expr, $doc:expr) => {
        $crate::spec::keys::entry::Key::new(
            $path,
            $kind,
            $doc,
            |e| {
                if let $pattern = &e.$table.$field {
                    $crate::spec::field::Field::to_value(&$place)
                } else {
                    None
                }
            },
            |e, value| {
                if let $pattern = &mut e.$table.$field {
                    $place = $crate::spec::field::Field::from_value(value);
                } else {
                    unreachable!("{} is stored only where it has an effect", $path);
                }
            },
        )
    };
}
pub(super) use variant_key;
