//! Values that are each allowed and together cannot be meant, in words. The rules themselves are in `check`.

use thiserror::Error;

/// More than this overflows the memory of any one machine the tool is made for: 160 GB while training.
pub(super) const MOST_PARAMETERS: u64 = 10_000_000_000;
/// Far above any rate at which Adam trains a Transformer.
pub(super) const HIGHEST_PEAK: f64 = 0.05;
/// Gradients and Adam's two moments lie beside the parameters, four bytes each.
const TRAINING_BYTES_PER_PARAMETER: f64 = 16.0;

/// A rule that takes two keys or more, broken by these values.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum Conflict {
    /// `d_k` or `d_v` is to follow from the heads, and they do not divide the width.
    #[error("`model.heads = {heads}` does not divide `model.d_model = {d_model}`")]
    Heads { d_model: usize, heads: usize },
    /// Sinusoids come in pairs.
    #[error("sinusoidal positions need an even `model.d_model`, found {d_model}")]
    OddWidth { d_model: usize },
    #[error(
        "{:.1} billion parameters need {:.0} GB while training",
        *.parameters as f64 / 1e9,
        *.parameters as f64 * TRAINING_BYTES_PER_PARAMETER / 1e9
    )]
    TooManyParameters { parameters: u64 },
    /// A learned position table that ends before a sentence can.
    #[error("`model.max_positions = {max_positions}` is shorter than the longest sentence, {longest}")]
    ShortPositions { max_positions: usize, longest: usize },
    /// A batch or micro-batch that does not hold one sentence.
    #[error("`{key} = {tokens}` is smaller than the longest sentence, {longest}")]
    SmallBatch {
        key: &'static str,
        tokens: usize,
        longest: usize,
    },
    #[error(
        "`training.micro_batch_tokens = {micro_batch_tokens}` is larger than `training.batch_tokens = {batch_tokens}`"
    )]
    LargeMicroBatch {
        micro_batch_tokens: usize,
        batch_tokens: usize,
    },
    #[error("`training.warmup_steps = {warmup_steps}` is longer than the training, `training.steps = {steps}`")]
    LongWarmup { warmup_steps: usize, steps: usize },
    /// A period that is longer than the training.
    #[error("`{key} = {every}` has no effect: the training ends at `training.steps = {steps}`")]
    Never {
        key: &'static str,
        every: usize,
        steps: usize,
    },
    #[error("the learning rate peaks at {peak:.3e}, and above {HIGHEST_PEAK} training diverges")]
    HighPeak { peak: f64 },
    /// More dev measurements are needed than there will be.
    #[error("`{key} = {wanted}` needs more dev measurements than the {measurements} of this training")]
    FewMeasurements {
        key: &'static str,
        wanted: usize,
        measurements: usize,
    },
    /// The average is to enter the table, and nothing is averaged.
    #[error("`selection.weights = \"average\"`, but `selection.average` is 0")]
    NoAverage,
    #[error("source and target language are both \"{language}\"")]
    SameLanguage { language: &'static str },
    #[error("\"{corpus}\" has no language \"{language}\"")]
    NoSuchLanguage {
        corpus: &'static str,
        language: &'static str,
    },
}

impl Conflict {
    pub(super) fn help(&self) -> Option<String> {
        match self {
            Self::Heads { .. } => Some("set `model.d_k` and `model.d_v`, or another number of heads".to_owned()),
            Self::TooManyParameters { .. } => Some(format!(
                "at most {} billion parameters",
                MOST_PARAMETERS / 1_000_000_000
            )),
            Self::ShortPositions { .. } => {
                Some("it has `data.max_length` + `decoding.max_extra_tokens` + 1 tokens, with the end token".to_owned())
            }
            Self::SmallBatch { .. } => Some("it has `data.max_length` + 1 tokens, with the end token".to_owned()),
            Self::HighPeak { .. } => {
                Some("peak = learning_rate_factor / sqrt(d_model * warmup_steps); the paper's is 6.99e-4".to_owned())
            }
            Self::FewMeasurements { key, .. } => Some(format!(
                "lower `{key}` or `training.validate_every`; the number of measurements is steps / validate_every, \
                 rounded up"
            )),
            Self::NoAverage => Some("set the number of weights to average, such as `selection.average = 5`".to_owned()),
            _ => None,
        }
    }
}
