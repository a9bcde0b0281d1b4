//! Comes in: what runs left in their folders. Goes out: one record per planned run, the suite's CSV, a polars frame,
//! and the `Comparison` of every row with the baseline and the paper. Refuses to know how any of it is shown.

mod assemble;
mod comparison;
mod curve;
mod diff;
mod error;
mod folder;
pub mod frame;
mod history;
mod marker;
mod paired;
mod provenance;
mod rank;
mod record;
mod score_file;
mod state;
mod student_t;
mod summary;

pub use comparison::{Agreement, Comparison, PaperFigures, RowComparison, RowTarget, RunCount, UnfinishedRun};
pub use curve::{LossCurve, mean_dev_curve};
pub use diff::{Change, Refusal, ResultsDiff, RowDiff, compare};
pub use error::ResultsError;
pub use folder::RunFolder;
pub use history::{History, HistoryRow, HistorySplit};
pub use marker::{Marker, Outcome};
pub use paired::{Difference, Evidence};
pub use provenance::Provenance;
pub use rank::RankAgreement;
pub use record::{PlannedRun, RunRecord, RunStatus};
pub use score_file::{BleuScores, RunScore, WeightsScore};
pub use state::{FinishedRun, RunState};
pub use summary::{BleuOfWeights, Spread};
