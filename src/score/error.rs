use thiserror::Error;

/// Why a corpus has no BLEU.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum ScoreError {
    #[error("no reference to score against")]
    NoReferences,
    #[error("no sentence to score")]
    NoSentences,
    /// Reference stream `stream` (from 0) does not have one line per hypothesis.
    #[error("reference {} has {reference_lines} lines, but there are {hypothesis_lines} hypotheses", .stream + 1)]
    LineCounts {
        stream: usize,
        hypothesis_lines: usize,
        reference_lines: usize,
    },
    /// The value added by a smoothing method is negative or not finite.
    #[error("smoothing value of {method} is {value}, but must be finite and not negative")]
    SmoothingValue { method: &'static str, value: f64 },
}
