//! Results on disk, as a frame, compared, and shown.

mod comparison;
mod diff;
mod fixtures;
mod report;
mod states;
mod table;
