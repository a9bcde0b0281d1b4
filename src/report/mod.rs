//! Comes in: a `Comparison`, and what the suite says about its base. Goes out: Markdown, terminal text or one HTML page
//! with its charts in it. Refuses to know the disk, and how the numbers were made.

mod cells;
mod changes;
mod context;
mod diff;
mod difference_chart;
mod explain;
mod html;
mod loss_chart;
mod markdown;
mod scale;
mod table;
mod terminal;
mod verdict;

pub use context::{Budget, ReportContext};
pub use diff::results_diff;
pub use html::html;
pub use markdown::markdown;
pub use table::{Align, Column, to_plain};
pub use terminal::terminal;
