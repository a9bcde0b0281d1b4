//! Faults in words.

use std::fmt;
use std::io;

use super::fault::{Expected, Fault, FaultKind, PlaceholderProblem, Relation};
use super::value::Kind;

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.message())?;
        if let Some(help) = self.kind.help() {
            write!(f, "; {help}")?;
        }
        if let Some((first, rest)) = self.related.split_first() {
            write!(f, " ({} at {}", first.what, first.place)?;
            for related in rest {
                write!(f, ", {} at {}", related.what, related.place)?;
            }
            f.write_str(")")?;
        }
        Ok(())
    }
}

impl Fault {
    /// What is wrong, without the place and without advice.
    #[must_use]
    pub fn message(&self) -> String {
        match &self.row {
            Some(row) => format!("row `{row}`: {}", self.kind),
            None => self.kind.to_string(),
        }
    }
}

impl fmt::Display for Relation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Setting(key, value) => write!(f, "`{key} = {value}`"),
            Self::FirstUse => f.write_str("first used"),
            Self::Row(id) => write!(f, "row `{id}`"),
        }
    }
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Value(kind) => kind.fmt(f),
            Self::Table => f.write_str("a table"),
            Self::Array => f.write_str("an array"),
        }
    }
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Syntax { reason } => write!(f, "not valid TOML: {reason}"),
            Self::Unreadable {
                path,
                reason: io::ErrorKind::NotFound,
            } => write!(f, "`{path}` does not exist"),
            Self::Unreadable { path, reason } => write!(f, "cannot read `{path}`: {reason}"),
            Self::Cycle { chain } => write!(f, "base inherits from itself: {}", chain.join(" -> ")),
            Self::UnknownKey { found, .. } => write!(f, "unknown key `{found}`"),
            Self::OutsideSet { found } => write!(f, "`{found}` stands outside `set`"),
            Self::Missing { key, needed_by: None } => write!(f, "`{key}` is missing"),
            Self::Missing {
                key,
                needed_by: Some(other),
            } => write!(f, "`{key}` is missing: `{other}` needs it"),
            Self::Empty { key } => write!(f, "`{key}` lists no value"),
            Self::WrongType {
                key,
                found_type,
                found,
                expected,
            } => {
                write!(f, "`{key}` expects {expected}, found ")?;
                match *found_type {
                    "table" => f.write_str("a table"),
                    _ => write!(f, "the {found_type} `{found}`"),
                }
            }
            Self::OutOfRange {
                key, found, expected, ..
            } => write!(f, "`{key}` expects {expected}, found `{found}`"),
            Self::NoEffect { key, needs } => write!(f, "`{key}` has no effect: it needs {needs}"),
            Self::SameAsBase { key, value } => write!(f, "`{key}` has no effect: it is {value} without this row"),
            Self::BadName { found } => write!(f, "`{found}` cannot name a folder"),
            Self::Duplicate { what, found } => write!(f, "{what} `{found}` is used twice"),
            Self::UnknownRow { found, .. } => write!(f, "no row has the id `{found}`"),
            Self::Placeholder { found, problem } => match problem {
                PlaceholderProblem::NotSet => write!(f, "`{{{found}}}` names a key that `set` does not vary"),
                PlaceholderProblem::NotInId => write!(f, "`{found}` has several values and is not part of the id"),
                PlaceholderProblem::Unbalanced => write!(f, "`{found}` has a brace without its partner"),
            },
            Self::TooManyRows { found, limit } => write!(f, "the grid makes {found} rows, more than {limit}"),
            Self::SameExperiment { other } => write!(f, "the same experiment as row `{other}`"),
            Self::ScoredOtherwise {
                key,
                found,
                expected,
                baseline,
            } => write!(
                f,
                "`{key} = {found}`, but row `{baseline}` has {expected}: the rows of one table are scored alike"
            ),
            Self::BaseAsSuite { table } => {
                write!(f, "this is a base, not a suite: it has `[{table}]` and no `[[row]]`")
            }
            Self::Conflict(conflict) => conflict.fmt(f),
        }
    }
}

impl FaultKind {
    /// What to do about it, where that is not plain from the message.
    #[must_use]
    pub fn help(&self) -> Option<String> {
        let meant = |nearest: &Option<String>| nearest.as_ref().map(|name| format!("did you mean `{name}`?"));
        match self {
            Self::UnknownKey { nearest: None, .. } => Some("`ablate plan --keys` lists all keys".to_owned()),
            Self::UnknownKey { nearest, .. } | Self::OutOfRange { nearest, .. } | Self::UnknownRow { nearest, .. } => {
                meant(nearest)
            }
            Self::OutsideSet { found } => Some(format!("write `set = {{ {found} = .. }}`")),
            Self::WrongType {
                found_type: "float",
                expected: Expected::Value(Kind::Whole(..)),
                ..
            } => Some("write it without a point or exponent".to_owned()),
            Self::BadName { .. } => Some("use ASCII letters, digits, `.`, `_` and `-`, and no dot in front".to_owned()),
            Self::SameAsBase { .. } | Self::NoEffect { .. } => Some("remove it".to_owned()),
            Self::Placeholder {
                found,
                problem: PlaceholderProblem::NotInId,
            } => Some(format!("put `{{{found}}}` into the id, or its rows share one")),
            Self::SameExperiment { .. } => {
                Some("remove one; several seeds come from `seeds`, the reference row from `baseline`".to_owned())
            }
            Self::ScoredOtherwise { key, .. } => Some(format!("set `{key}` in the base, for all rows")),
            Self::BaseAsSuite { .. } => Some(
                "move it to a sub-folder, such as `bases`: every file in the experiments folder is a suite".to_owned(),
            ),
            Self::Conflict(conflict) => conflict.help(),
            _ => None,
        }
    }
}
