//! Failures of commands, and their exit codes.

use std::io;
use std::path::Path;
use std::process::ExitCode;

use super::faults::{Colour, render};
use crate::data::DataError;
use crate::fetch::FetchError;
use crate::record::RecordError;
use crate::results::ResultsError;
use crate::run::RunError;
use crate::selftest::ResumeError;
use crate::spec::Faults;
use crate::sweep::SweepError;

#[derive(Debug)]
pub enum Failure {
    Usage(String),
    Spec(Box<Faults>),
    /// A TOML file that is not a suite is wrong.
    Catalog(String),
    Data(String),
    Diverged {
        step: u64,
    },
    Io(String),
    /// Some runs of a sweep failed; the sweep has already reported each.
    SomeRunsFailed,
    /// `verify-resume` or `selftest` found a difference, or proved nothing.
    Unproven(String),
    Interrupted,
    /// Interrupted by the user; the same command starts again from the beginning.
    Abandoned,
}

impl Failure {
    /// For `map_err`.
    pub fn io(path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |error| Self::Io(format!("{}: {error}", path.display()))
    }

    pub fn text(&self) -> Option<String> {
        match self {
            Self::Usage(text) | Self::Catalog(text) | Self::Data(text) | Self::Io(text) | Self::Unproven(text) => {
                Some(format!("error: {text}"))
            }
            Self::Spec(faults) => Some(render(faults, Colour::of_stderr()).trim_end().to_owned()),
            Self::Diverged { step } => Some(format!("error: the run diverged at step {step}")),
            Self::SomeRunsFailed => None,
            Self::Interrupted => {
                Some("note: interrupted; the same command continues where this one stopped".to_owned())
            }
            Self::Abandoned => Some("note: interrupted; nothing was kept".to_owned()),
        }
    }

    pub fn exit_code(&self) -> ExitCode {
        ExitCode::from(match self {
            Self::Usage(_) => 2,
            Self::Spec(_) | Self::Catalog(_) => 3,
            Self::Data(_) => 4,
            Self::Diverged { .. } => 5,
            Self::Io(_) => 6,
            Self::SomeRunsFailed => 7,
            Self::Unproven(_) => 8,
            Self::Interrupted | Self::Abandoned => 130,
        })
    }
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Self {
        let text = error.to_string();
        match error {
            RunError::Data(error) => error.into(),
            RunError::Score(_) => Self::Data(text),
            RunError::NotBuilt { .. } | RunError::Device { .. } | RunError::Precision { .. } => Self::Usage(text),
            RunError::Spec(faults) => Self::Spec(faults),
            RunError::Results(_)
            | RunError::NoCheckpoint { .. }
            | RunError::Tokenizer { .. }
            | RunError::NotScored { .. }
            | RunError::Busy(_)
            | RunError::Checkpoint { .. }
            | RunError::Snapshot { .. }
            | RunError::Export(_)
            | RunError::Vocabulary { .. }
            | RunError::Io { .. } => Self::Io(text),
        }
    }
}

impl From<ResumeError> for Failure {
    fn from(error: ResumeError) -> Self {
        let text = error.to_string();
        match error {
            ResumeError::Run(error) => error.into(),
            ResumeError::ShorterThanWarmup { .. } | ResumeError::LongerThanRow { .. } => Self::Usage(text),
            ResumeError::Child(_) | ResumeError::Ended(_) => Self::Io(text),
            ResumeError::Differs { .. } | ResumeError::NeverResumed { .. } => Self::Unproven(text),
            ResumeError::Interrupted => Self::Abandoned,
        }
    }
}

impl From<DataError> for Failure {
    fn from(error: DataError) -> Self {
        match error {
            DataError::Cache { .. } => Self::Io(error.to_string()),
            _ => Self::Data(error.to_string()),
        }
    }
}

impl From<FetchError> for Failure {
    fn from(error: FetchError) -> Self {
        let text = error.to_string();
        match error {
            FetchError::UnknownCorpus { .. } => Self::Usage(text),
            FetchError::Catalog { .. } => Self::Catalog(text),
            FetchError::Io { .. } | FetchError::Busy(_) | FetchError::Foreign { .. } | FetchError::Record { .. } => {
                Self::Io(text)
            }
            FetchError::Unreachable { .. }
            | FetchError::Mismatch { .. }
            | FetchError::NotInMirror { .. }
            | FetchError::Unpack { .. }
            | FetchError::NoMember { .. }
            | FetchError::NotAFile { .. }
            | FetchError::Segment { .. }
            | FetchError::WrongText { .. }
            | FetchError::LineCounts { .. } => Self::Data(text),
        }
    }
}

impl From<RecordError> for Failure {
    fn from(error: RecordError) -> Self {
        Self::Io(error.to_string())
    }
}

impl From<ResultsError> for Failure {
    fn from(error: ResultsError) -> Self {
        Self::Io(error.to_string())
    }
}

impl From<SweepError> for Failure {
    fn from(error: SweepError) -> Self {
        Self::Io(error.to_string())
    }
}
