//! Faults of a spec as data: the place, what was found, what is allowed, and which other places are involved.

use std::collections::BTreeMap;
use std::io;

use thiserror::Error;

use super::conflict::Conflict;
use super::place::Place;
use super::value::{Kind, Value};

/// One fault. `Display` writes one line: `file:line:column: message; help (related place)`.
#[derive(Debug, Clone, PartialEq)]
pub struct Fault {
    pub place: Place,
    /// The faulty row, where the place alone does not say.
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

    pub(super) fn in_row(self, id: &str) -> Self {
        let row = Some(id.to_owned());
        Self { row, ..self }
    }

    pub(super) fn with(self, related: Vec<Related>) -> Self {
        Self { related, ..self }
    }
}

/// A second place and its content.
#[derive(Debug, Clone, PartialEq)]
pub struct Related {
    pub place: Place,
    pub what: Relation,
}

/// Content of a related place.
#[derive(Debug, Clone, PartialEq)]
pub enum Relation {
    /// A key that takes part, with its value.
    Setting(&'static str, Value),
    /// The first use of a name that must be unique.
    FirstUse,
    /// A row, by its id.
    Row(String),
}

/// Content that is allowed at a place. `Display` completes "expects ..".
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Expected {
    Value(Kind),
    Table,
    Array,
}

/// The kind of a fault, with what was found and what is allowed.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum FaultKind {
    /// Not TOML; the reason is the parser's.
    #[error("not valid TOML: {reason}")]
    Syntax { reason: String },
    #[error("{}", unreadable(.path, *.reason))]
    Unreadable { path: String, reason: io::ErrorKind },
    /// A base that inherits from itself, from the first file to its second mention.
    #[error("base inherits from itself: {}", .chain.join(" -> "))]
    Cycle { chain: Vec<String> },
    #[error("unknown key `{found}`")]
    UnknownKey { found: String, nearest: Option<String> },
    /// An experiment's key that stands beside `set` instead of inside it.
    #[error("`{found}` is outside `set`")]
    OutsideSet { found: String },
    #[error("{}", missing(.key, .needed_by.as_deref()))]
    Missing { key: String, needed_by: Option<String> },
    /// An array without values.
    #[error("`{key}` is an empty array")]
    Empty { key: String },
    #[error("`{key}` expects {expected}, found {}", written(.found_type, .found))]
    WrongType {
        key: String,
        found_type: &'static str,
        found: String,
        expected: Expected,
    },
    #[error("`{key}` expects {expected}, found `{found}`")]
    OutOfRange {
        key: String,
        found: String,
        expected: Kind,
        nearest: Option<String>,
    },
    /// The key needs another to do anything.
    #[error("`{key}` has no effect: it needs {needs}")]
    NoEffect { key: &'static str, needs: String },
    /// The row sets a value that it inherits anyway.
    #[error("`{key}` has no effect: its value is already {value}")]
    SameAsBase { key: &'static str, value: Value },
    /// A name that cannot be a folder.
    #[error("`{found}` cannot name a folder")]
    BadName { found: String },
    #[error("{what} `{found}` is used twice")]
    Duplicate { what: &'static str, found: String },
    #[error("no row has the id `{found}`")]
    UnknownRow { found: String, nearest: Option<String> },
    #[error("{problem}")]
    Placeholder { problem: PlaceholderProblem },
    #[error("the grid makes {found} rows, but at most {limit} are allowed")]
    TooManyRows { found: usize, limit: usize },
    #[error("this is the same experiment as row `{other}`")]
    SameExperiment { other: String },
    /// The row's scores cannot be compared with those of the other rows.
    #[error("`{key} = {found}`, but row `{baseline}` has {expected}: all rows of a table must be scored in one way")]
    ScoredOtherwise {
        key: &'static str,
        found: Value,
        expected: Value,
        baseline: String,
    },
    /// One experiment where a suite is expected.
    #[error("this is a base, not a suite: it has `[{table}]` and no `[[row]]`")]
    BaseAsSuite { table: String },
    #[error(transparent)]
    Conflict(#[from] Conflict),
}

fn unreadable(path: &str, reason: io::ErrorKind) -> String {
    match reason {
        io::ErrorKind::NotFound => format!("`{path}` does not exist"),
        _ => format!("cannot read `{path}`: {reason}"),
    }
}

fn missing(key: &str, needed_by: Option<&str>) -> String {
    match needed_by {
        Some(other) => format!("`{key}` is missing: `{other}` needs it"),
        None => format!("`{key}` is missing"),
    }
}

/// Describes a value; a table may be long, so only its type is named.
fn written(found_type: &str, found: &str) -> String {
    match found_type {
        "table" => "a table".to_owned(),
        _ => format!("the {found_type} `{found}`"),
    }
}

/// A disagreement between a grid's id and its `set` on this key.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PlaceholderProblem {
    #[error("`{{{key}}}` names a key that `set` does not vary")]
    NotSet { key: String },
    /// Several values in `set`, and not in the id.
    #[error("`{key}` has several values and is not part of the id")]
    NotInId { key: String },
    #[error("`{id}` has an unmatched brace")]
    Unbalanced { id: String },
}

/// All faults of a spec, in reading order, with the texts it was read from.
#[derive(Debug, Clone, PartialEq, Error)]
#[error("{}", .faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
pub struct Faults {
    pub faults: Vec<Fault>,
    /// Text by path, for a renderer that quotes it.
    pub sources: BTreeMap<String, String>,
}
