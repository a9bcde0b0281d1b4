//! Translation. A model and source ids come in; hypotheses with their scores go out. Every sentence of a batch and every
//! hypothesis of a sentence is one row of the model's session. This room refuses to know references, text, and how a model
//! is made.

mod beam;
mod search;

pub use beam::Hypothesis;
pub use search::{n_best, translate};
