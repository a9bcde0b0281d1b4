//! Comes in: what one run measured, how it came to be and how it ended. Goes out: the files of its folder, and from them
//! its state and its result. Refuses to know other runs, tables and reports.

mod aside;
mod ending;
mod error;
mod folder;
mod history;
mod marker;
mod provenance;
mod score;
mod state;
mod toml_file;

pub use ending::Ending;
pub use error::RecordError;
pub use folder::RunFolder;
pub use history::{History, HistoryRow, HistorySplit};
pub use marker::Marker;
pub use provenance::Provenance;
pub use score::{BleuScores, RunScore, WeightsScore};
pub(crate) use score::{is_bleu, is_ppl};
pub use state::{FinishedRun, RunState};
