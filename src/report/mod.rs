//! Comes in: a `Comparison`, and what the suite says about its base. Goes out: sections, and these as terminal text, as
//! Markdown or as one HTML page with its charts in it. Refuses to know the disk, and how the numbers were made.

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
mod section;
mod sections;
mod table;
mod terminal;
mod verdict;

pub use context::{Budget, ReportContext};
pub use diff::results_diff;
pub use html::html;
pub use markdown::markdown;
pub use section::{Content, Section};
pub use sections::sections;
pub use table::{Align, Column, Shown, to_plain};
pub use terminal::terminal;
