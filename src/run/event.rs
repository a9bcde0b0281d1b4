//! What a run tells while it goes on.

use serde::{Deserialize, Serialize};

/// One thing that happened; as JSON, a line of what a child process tells its sweep.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// The corpus is read, or made, and split into pieces.
    Preparing,
    /// Training begins, or goes on from `step`.
    Training {
        step: usize,
        steps: usize,
        parameters: usize,
    },
    Update {
        step: usize,
        steps: usize,
        /// Label-smoothed, per target piece.
        loss_nats: f64,
        tokens_per_s: f64,
        remaining_s: f64,
    },
    Validated {
        step: usize,
        dev_ppl: f64,
    },
    /// Sentences of the evaluation split.
    Translating {
        done: usize,
        sentences: usize,
    },
    /// Something worth a look that does not end the run.
    Note {
        text: String,
    },
    Finished {
        ppl: f64,
        bleu: f64,
    },
    Diverged {
        step: usize,
    },
    Interrupted {
        step: usize,
    },
}

impl Event {
    /// Whether nothing follows.
    #[must_use]
    pub fn is_end(&self) -> bool {
        matches!(
            self,
            Self::Finished { .. } | Self::Diverged { .. } | Self::Interrupted { .. }
        )
    }
}
