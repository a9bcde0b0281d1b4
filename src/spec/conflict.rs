//! Values that are each allowed and together cannot be meant, in words. The rules themselves are in `check`.

use std::fmt;

use super::check::{HIGHEST_PEAK, MOST_PARAMETERS};

/// Gradients and Adam's two moments lie beside the parameters, four bytes each.
const TRAINING_BYTES_PER_PARAMETER: u64 = 16;

/// A rule that takes two keys or more, broken by these values.
#[derive(Debug, Clone, PartialEq)]
pub enum Conflict {
    /// `d_k` or `d_v` is to follow from the heads, and they do not divide the width.
    Heads {
        d_model: usize,
        heads: usize,
    },
    /// Sinusoids come in pairs.
    OddWidth {
        d_model: usize,
    },
    TooManyParameters {
        parameters: u64,
    },
    /// A learned position table that ends before a sentence can.
    ShortPositions {
        max_positions: usize,
        longest: usize,
    },
    /// A batch or micro-batch that does not hold one sentence.
    SmallBatch {
        key: &'static str,
        tokens: usize,
        longest: usize,
    },
    LargeMicroBatch {
        micro_batch_tokens: usize,
        batch_tokens: usize,
    },
    LongWarmup {
        warmup_steps: usize,
        steps: usize,
    },
    /// Something done every so often, more seldom than training lasts.
    Never {
        key: &'static str,
        every: usize,
        steps: usize,
    },
    HighPeak {
        peak: f64,
    },
    /// More is asked of the dev measurements than there will be.
    FewMeasurements {
        key: &'static str,
        wanted: usize,
        measurements: usize,
    },
    /// The average is to enter the table, and nothing is averaged.
    NoAverage,
    SameLanguage {
        language: String,
    },
    /// The corpus does not come in this language.
    NoSuchLanguage {
        language: String,
    },
}

impl fmt::Display for Conflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Heads { d_model, heads } => {
                write!(f, "`model.heads = {heads}` does not divide `model.d_model = {d_model}`")
            }
            Self::OddWidth { d_model } => {
                write!(f, "sinusoidal positions need an even `model.d_model`, found {d_model}")
            }
            Self::TooManyParameters { parameters } => {
                let gigabytes = (parameters * TRAINING_BYTES_PER_PARAMETER) as f64 / 1e9;
                let billions = *parameters as f64 / 1e9;
                write!(
                    f,
                    "{billions:.1} billion parameters, {gigabytes:.0} GB while training, overflow memory"
                )
            }
            Self::ShortPositions { max_positions, longest } => {
                write!(
                    f,
                    "`model.max_positions = {max_positions}` is shorter than the longest sentence, {longest}"
                )
            }
            Self::SmallBatch { key, tokens, longest } => {
                write!(f, "`{key} = {tokens}` is smaller than the longest sentence, {longest}")
            }
            Self::LargeMicroBatch {
                micro_batch_tokens,
                batch_tokens,
            } => write!(
                f,
                "`training.micro_batch_tokens = {micro_batch_tokens}` is larger than \
                 `training.batch_tokens = {batch_tokens}`"
            ),
            Self::LongWarmup { warmup_steps, steps } => write!(
                f,
                "`training.warmup_steps = {warmup_steps}` is longer than the training, `training.steps = {steps}`"
            ),
            Self::Never { key, every, steps } => {
                write!(
                    f,
                    "`{key} = {every}` has no effect: the training ends at `training.steps = {steps}`"
                )
            }
            Self::HighPeak { peak } => {
                write!(
                    f,
                    "the learning rate peaks at {peak:.3e} and will diverge; the limit is {HIGHEST_PEAK}"
                )
            }
            Self::FewMeasurements {
                key,
                wanted,
                measurements,
            } => write!(
                f,
                "`{key} = {wanted}` asks too much: the training measures {measurements} times on dev"
            ),
            Self::NoAverage => f.write_str("`selection.weights = \"average\"`, but `selection.average` is 0"),
            Self::SameLanguage { language } => write!(f, "source and target language are both \"{language}\""),
            Self::NoSuchLanguage { language } => write!(f, "\"wmt14-en-de\" has no language \"{language}\""),
        }
    }
}

impl Conflict {
    pub(super) fn help(&self) -> Option<String> {
        match self {
            Self::Heads { .. } => Some("give `model.d_k` and `model.d_v`, or another number of heads".to_owned()),
            Self::TooManyParameters { .. } => Some(format!(
                "at most {} billion parameters",
                MOST_PARAMETERS / 1_000_000_000
            )),
            Self::ShortPositions { .. } => {
                Some("that is `data.max_length` + `decoding.max_extra_tokens` + 1 for the end mark".to_owned())
            }
            Self::SmallBatch { .. } => Some("that is `data.max_length` + 1 for the end mark".to_owned()),
            Self::HighPeak { .. } => {
                Some("peak = learning_rate_factor / sqrt(d_model * warmup_steps); the paper's is 6.99e-4".to_owned())
            }
            Self::FewMeasurements { key, .. } => Some(format!(
                "lower `{key}` or `training.validate_every`; steps / validate_every measurements are made, rounded up"
            )),
            Self::NoAverage => Some("say how many weights to average, such as `selection.average = 5`".to_owned()),
            _ => None,
        }
    }
}
