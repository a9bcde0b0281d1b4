//! Comes in: the folders of many runs, and result CSVs. Goes out: one record per planned run, the suite's CSV, and the
//! `Comparison` of every row with the baseline and the paper. Refuses to know how any of it is shown.

mod assemble;
mod comparison;
mod curve;
mod diff;
mod error;
mod frame;
mod paired;
mod rank;
mod run_record;
mod student_t;
mod suite;
mod summary;
mod table;

pub use comparison::{Agreement, Comparison, PaperFigures, RowComparison, RowTarget, RunCount, UnfinishedRun};
pub use curve::{LossCurve, mean_dev_curve};
pub use diff::{Change, Refusal, ResultsDiff, RowDiff, compare};
pub use error::ResultsError;
pub use paired::{Difference, Evidence};
pub use rank::RankAgreement;
pub use run_record::{PlannedRun, RunRecord, RunStatus};
pub use suite::loss_curves;
pub use summary::{BleuOfWeights, Spread};
pub use table::ResultsTable;
