//! Many runs: runs and a way to start each as a process of its own come in, and how each ended goes out, while events
//! are passed on to whoever watches. One process per run, so that none can take another down with it. This room
//! refuses to know what a run computes.

mod child;
mod order;
mod schedule;

pub use order::longest_first;
pub use schedule::{Ending, Sweep, SweepError, Urgency, Watcher};
