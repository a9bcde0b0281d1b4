use std::fmt;

/// Why a corpus has no BLEU.
#[derive(Debug, Clone, PartialEq)]
pub enum ScoreError {
    NoReferences,
    NoSentences,
    /// Reference stream `stream` (from 0) does not have one line per hypothesis.
    LineCounts {
        stream: usize,
        hypothesis_lines: usize,
        reference_lines: usize,
    },
    /// The value added by a smoothing method is negative or not finite.
    SmoothingValue {
        method: &'static str,
        value: f64,
    },
}

impl fmt::Display for ScoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoReferences => write!(f, "no reference to score against"),
            Self::NoSentences => write!(f, "no sentence to score"),
            Self::LineCounts {
                stream,
                hypothesis_lines,
                reference_lines,
            } => write!(
                f,
                "reference {} has {reference_lines} lines, but there are {hypothesis_lines} hypotheses",
                stream + 1
            ),
            Self::SmoothingValue { method, value } => {
                write!(
                    f,
                    "smoothing value of {method} is {value}, but must be finite and not negative"
                )
            }
        }
    }
}

impl std::error::Error for ScoreError {}
