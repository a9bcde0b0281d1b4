//! Events that a run reports while it goes on.

use serde::{Deserialize, Serialize};

use crate::record::Ending;

/// One event; as JSON, one line from a child process to its sweep.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// The run reads or makes the corpus and splits it into tokens.
    Preparing,
    /// Training begins, or continues from `step`.
    Training {
        step: usize,
        steps: usize,
        parameters: usize,
    },
    Update {
        step: usize,
        steps: usize,
        /// Label-smoothed, per target token.
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
    /// A remark that does not end the run.
    Note {
        text: String,
    },
    Ended(Ending<Scores>),
    /// The run stopped before its end and can be continued; a killed process does not report its step.
    Interrupted {
        step: Option<usize>,
    },
}

/// Scores that enter the table.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Scores {
    pub ppl: f64,
    pub bleu: f64,
}

impl Event {
    /// Returns whether this is the last event of a process.
    #[must_use]
    pub fn is_last(&self) -> bool {
        matches!(self, Self::Ended(_) | Self::Interrupted { .. })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_ending_survives_its_line_of_json() {
        for (event, line) in [
            (
                Event::Ended(Ending::Done(Scores { ppl: 4.5, bleu: 25.8 })),
                r#"{"event":"ended","status":"done","ppl":4.5,"bleu":25.8}"#,
            ),
            (
                Event::Ended(Ending::Diverged { step: 3 }),
                r#"{"event":"ended","status":"diverged","step":3}"#,
            ),
            (
                Event::Interrupted { step: Some(3) },
                r#"{"event":"interrupted","step":3}"#,
            ),
        ] {
            assert_eq!(serde_json::to_string(&event).unwrap(), line);
            assert_eq!(serde_json::from_str::<Event>(line).unwrap(), event);
        }
    }
}
