//! What is wrong with a spec, as data: the place, what was found, what is allowed, and what else is involved.

use std::collections::BTreeMap;
use std::fmt;
use std::io;

use super::conflict::Conflict;
use super::place::Place;
use super::value::{Kind, Value};

/// One thing that is wrong. `Display` writes one line: `file:line:column: message; help (related place)`.
#[derive(Debug, Clone, PartialEq)]
pub struct Fault {
    pub place: Place,
    /// The row in which it goes wrong, when the place alone does not say.
    pub row: Option<String>,
    pub kind: FaultKind,
    /// The other places involved, such as where an inherited value was set.
    pub related: Vec<Related>,
}

impl Fault {
    pub(super) fn at(place: Place, kind: FaultKind) -> Self {
        Self {
            place,
            row: None,
            kind,
            related: Vec::new(),
        }
    }
}

/// A second place, and what stands there.
#[derive(Debug, Clone, PartialEq)]
pub struct Related {
    pub place: Place,
    pub what: Relation,
}

/// What stands at a related place.
#[derive(Debug, Clone, PartialEq)]
pub enum Relation {
    /// A key that takes part, with its value.
    Setting(&'static str, Value),
    /// Where a name that must be unique stands first.
    FirstUse,
    /// A row, by its id.
    Row(String),
}

/// What should have stood there. `Display` completes "expects ..".
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Expected {
    Value(Kind),
    Table,
    Array,
}

/// What is wrong, with what was found and what is allowed.
#[derive(Debug, Clone, PartialEq)]
pub enum FaultKind {
    /// Not TOML; the parser's words.
    Syntax {
        reason: String,
    },
    Unreadable {
        path: String,
        reason: io::ErrorKind,
    },
    /// A base that inherits from itself, from the first file to its second mention.
    Cycle {
        chain: Vec<String>,
    },
    UnknownKey {
        found: String,
        nearest: Option<String>,
    },
    /// An experiment's key that stands beside `set` instead of inside it.
    OutsideSet {
        found: String,
    },
    Missing {
        key: String,
        needed_by: Option<String>,
    },
    /// An array without values.
    Empty {
        key: String,
    },
    WrongType {
        key: String,
        found_type: &'static str,
        found: String,
        expected: Expected,
    },
    OutOfRange {
        key: String,
        found: String,
        expected: Kind,
        nearest: Option<String>,
    },
    /// The key needs another to do anything.
    NoEffect {
        key: &'static str,
        needs: String,
    },
    /// The row sets what it would inherit anyway.
    SameAsBase {
        key: &'static str,
        value: Value,
    },
    /// A name that cannot be a folder.
    BadName {
        found: String,
    },
    Duplicate {
        what: &'static str,
        found: String,
    },
    UnknownRow {
        found: String,
        nearest: Option<String>,
    },
    /// A grid's id and its `set` do not agree on this key.
    Placeholder {
        found: String,
        problem: PlaceholderProblem,
    },
    TooManyRows {
        found: usize,
        limit: usize,
    },
    SameExperiment {
        other: String,
    },
    /// The row's figures could not stand beside those of the others.
    ScoredOtherwise {
        key: &'static str,
        found: Value,
        expected: Value,
        baseline: String,
    },
    /// One experiment where a table of them is meant.
    BaseAsSuite {
        table: String,
    },
    Conflict(Conflict),
}

/// How a grid's id and its `set` disagree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlaceholderProblem {
    /// In the id, not in `set`.
    NotSet,
    /// Several values in `set`, and not in the id.
    NotInId,
    /// A brace without its partner.
    Unbalanced,
}

/// Everything that is wrong with a spec, in reading order, with the texts it was read from.
#[derive(Debug, Clone, PartialEq)]
pub struct Faults {
    pub faults: Vec<Fault>,
    /// Text by path, for a renderer that quotes it.
    pub sources: BTreeMap<String, String>,
}

impl std::error::Error for Faults {}

impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, fault) in self.faults.iter().enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            write!(f, "{fault}")?;
        }
        Ok(())
    }
}
