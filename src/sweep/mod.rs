//! Comes in: runs, and a way to start each as a process of its own. Goes out: finished runs; a watcher hears every event.
//! Each run has its own process, so that no run can take another down with it. Refuses to know what a run computes.

mod child;
mod order;
mod schedule;

pub use order::longest_first;
pub use schedule::{Sweep, SweepError, Urgency, Watcher};
