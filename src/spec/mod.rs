//! Takes in a function from a path to the text of a TOML file. Gives out a valid [`Suite`] or [`Experiment`], every
//! value with its place, or all [`Faults`] at once. Refuses to know files, models and how anything runs.

mod check;
mod choice;
mod compose;
mod conflict;
mod device;
mod experiment;
mod fault;
mod field;
mod grid;
mod judge;
mod keys;
mod load;
mod message;
mod nearest;
mod parameters;
mod place;
mod read;
mod reference;
mod render;
mod resolve;
mod row_entry;
mod schedule;
mod suite;
mod suite_file;
mod value;

pub use conflict::Conflict;
pub use device::DeviceWish;
pub use experiment::{
    AverageOf, BestBy, Case, Corpus, CorpusKind, Data, Decoding, Evaluation, Experiment, FilePair, Language, Model,
    Norm, Positional, PositionalKind, Precision, Regularization, Selection, Signature, Split, Training, Weights,
};
pub use fault::{Expected, Fault, FaultKind, Faults, PlaceholderProblem, Related, Relation};
pub use keys::{Column, Condition, Effect, Fallback, Identity, Key, Needs, columns, key, keys};
pub use load::{ReadText, load_experiment, load_suite};
pub use nearest::nearest;
pub use parameters::{Parameters, StackParameters};
pub use place::Place;
pub use reference::key_reference;
pub use render::{identity, render};
pub use resolve::Setting;
pub use schedule::Schedule;
pub use suite::{Change, PaperTarget, Row, Suite};
pub use value::{Kind, Value};
