//! Takes in a valid suite. Gives out its runs in order, the distinct shapes they need, their costs, and warnings.
//! Refuses to know how anything runs.

mod cost;
mod regime;
mod run;
mod shape;

pub use cost::{Cost, Work, training_flops};
pub use regime::{CorpusSize, Passes, Regime, oddities};
pub use run::{Plan, Run, spec_hash};
pub use shape::ShapeKey;
