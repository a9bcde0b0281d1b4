//! How a run ended.

use serde::{Deserialize, Serialize};

/// Ending of a run; `R` is what is known of its result.
///
/// A run without an ending was not started, goes on, or was interrupted and can be continued.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "lowercase")]
pub enum Ending<R = ()> {
    /// The run has a result.
    Done(R),
    /// The loss was not finite, or exploded, at this step.
    Diverged { step: u64 },
    /// The process ended in another way; the reason holds its last lines on standard error.
    Failed { reason: String },
}
