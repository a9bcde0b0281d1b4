//! Faults in words: the line of a fault, and what to do about it.

use std::fmt;

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
    /// Says what is wrong, without the place and without advice.
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

impl FaultKind {
    /// Says what to do, where that is not plain from the message.
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
            Self::BadName { .. } => {
                Some("use ASCII letters, digits, `.`, `_` and `-`, and do not begin with a dot".to_owned())
            }
            Self::SameAsBase { .. } | Self::NoEffect { .. } => Some("remove it".to_owned()),
            Self::Placeholder {
                problem: PlaceholderProblem::NotInId { key },
            } => Some(format!("put `{{{key}}}` into the id, so that each row has its own")),
            Self::SameExperiment { .. } => {
                Some("remove one; set `seeds` for several seeds, and `baseline` for the row to compare with".to_owned())
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
