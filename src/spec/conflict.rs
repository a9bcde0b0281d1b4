//! Values that are each allowed and together cannot be meant.

use std::fmt;

use super::experiment::{Corpus, Positional};
use super::parameters::Parameters;
use super::resolve::Draft;
use super::schedule::Schedule;

/// More than this overflows the memory of any one machine the tool is made for: 160 GB while training.
const MOST_PARAMETERS: u64 = 10_000_000_000;
/// Gradients and Adam's two moments lie beside the parameters, four bytes each.
const TRAINING_BYTES_PER_PARAMETER: u64 = 16;
/// Far above any rate at which Adam trains a Transformer.
const HIGHEST_PEAK: f64 = 0.05;
/// The mark that begins a decoder's input or ends a sentence.
const MARK: usize = 1;

#[derive(Debug, Clone, PartialEq)]
pub enum Conflict {
    Heads {
        d_model: usize,
        heads: usize,
    },
    OddWidth {
        d_model: usize,
    },
    TooManyParameters {
        parameters: u64,
    },
    ShortPositions {
        max_positions: usize,
        longest: usize,
    },
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
    Never {
        key: &'static str,
        every: usize,
        steps: usize,
    },
    HighPeak {
        peak: f64,
    },
    SameLanguage {
        language: String,
    },
    NoSuchLanguage {
        language: String,
    },
}

/// One rule over several keys.
pub(super) struct Check {
    /// The keys it reads; a fault points at the one set last.
    pub keys: &'static [&'static str],
    pub test: fn(&Draft) -> Option<Conflict>,
}

const SHAPE_KEYS: &[&str] = &[
    "model.d_model",
    "model.d_ff",
    "model.layers",
    "data.vocab_size",
    "model.heads",
    "model.d_k",
    "model.d_v",
    "model.max_positions",
];

pub(super) const CHECKS: &[Check] = &[
    Check {
        keys: &["model.heads", "model.d_model"],
        test: heads,
    },
    Check {
        keys: &["model.d_model", "model.positional"],
        test: odd_width,
    },
    Check {
        keys: SHAPE_KEYS,
        test: too_many_parameters,
    },
    Check {
        keys: &["model.max_positions", "data.max_length", "decoding.max_extra_tokens"],
        test: short_positions,
    },
    Check {
        keys: &["training.batch_tokens", "data.max_length"],
        test: small_batch,
    },
    Check {
        keys: &["training.micro_batch_tokens", "data.max_length"],
        test: small_micro_batch,
    },
    Check {
        keys: &["training.micro_batch_tokens", "training.batch_tokens"],
        test: large_micro_batch,
    },
    Check {
        keys: &["training.warmup_steps", "training.steps"],
        test: long_warmup,
    },
    Check {
        keys: &["training.validate_every", "training.steps"],
        test: no_validation,
    },
    Check {
        keys: &["training.checkpoint_every", "training.steps"],
        test: no_checkpoint,
    },
    Check {
        keys: &[
            "training.learning_rate_factor",
            "training.warmup_steps",
            "model.d_model",
        ],
        test: high_peak,
    },
    Check {
        keys: &["data.source_language", "data.target_language"],
        test: same_language,
    },
    Check {
        keys: &["data.source_language", "data.corpus"],
        test: no_such_source,
    },
    Check {
        keys: &["data.target_language", "data.corpus"],
        test: no_such_target,
    },
];

fn heads(draft: &Draft) -> Option<Conflict> {
    let model = &draft.experiment.model;
    let follows = !(draft.is_set("model.d_k") && draft.is_set("model.d_v"));
    let (d_model, heads) = (model.d_model, model.heads);
    (follows && !d_model.is_multiple_of(heads)).then_some(Conflict::Heads { d_model, heads })
}

/// Sinusoids come in pairs of sine and cosine.
fn odd_width(draft: &Draft) -> Option<Conflict> {
    let model = &draft.experiment.model;
    let odd = model.positional == Positional::Sinusoidal && model.d_model % 2 == 1;
    odd.then_some(Conflict::OddWidth { d_model: model.d_model })
}

fn too_many_parameters(draft: &Draft) -> Option<Conflict> {
    let parameters = Parameters::of(&draft.experiment).total();
    (parameters > MOST_PARAMETERS).then_some(Conflict::TooManyParameters { parameters })
}

fn short_positions(draft: &Draft) -> Option<Conflict> {
    let Positional::Learned { max_positions } = draft.experiment.model.positional else {
        return None;
    };
    let longest = draft.experiment.data.max_length + draft.experiment.decoding.max_extra_tokens + MARK;
    (max_positions < longest).then_some(Conflict::ShortPositions { max_positions, longest })
}

fn small_batch(draft: &Draft) -> Option<Conflict> {
    too_small_for_a_sentence(draft, "training.batch_tokens", draft.experiment.training.batch_tokens)
}

/// A default that follows a batch too small is the batch's fault.
fn small_micro_batch(draft: &Draft) -> Option<Conflict> {
    let tokens = draft.experiment.training.micro_batch_tokens;
    if small_batch(draft).is_some() {
        return None;
    }
    too_small_for_a_sentence(draft, "training.micro_batch_tokens", tokens)
}

fn too_small_for_a_sentence(draft: &Draft, key: &'static str, tokens: usize) -> Option<Conflict> {
    let longest = draft.experiment.data.max_length + MARK;
    (tokens < longest).then_some(Conflict::SmallBatch { key, tokens, longest })
}

fn large_micro_batch(draft: &Draft) -> Option<Conflict> {
    let (micro_batch_tokens, batch_tokens) = (
        draft.experiment.training.micro_batch_tokens,
        draft.experiment.training.batch_tokens,
    );
    (micro_batch_tokens > batch_tokens).then_some(Conflict::LargeMicroBatch {
        micro_batch_tokens,
        batch_tokens,
    })
}

fn long_warmup(draft: &Draft) -> Option<Conflict> {
    let (warmup_steps, steps) = (draft.experiment.training.warmup_steps, draft.experiment.training.steps);
    (warmup_steps > steps).then_some(Conflict::LongWarmup { warmup_steps, steps })
}

fn no_validation(draft: &Draft) -> Option<Conflict> {
    never(
        draft,
        "training.validate_every",
        draft.experiment.training.validate_every,
    )
}

fn no_checkpoint(draft: &Draft) -> Option<Conflict> {
    // A default that follows `validate_every` is reported there.
    draft.is_set("training.checkpoint_every").then_some(())?;
    never(
        draft,
        "training.checkpoint_every",
        draft.experiment.training.checkpoint_every,
    )
}

fn never(draft: &Draft, key: &'static str, every: usize) -> Option<Conflict> {
    let steps = draft.experiment.training.steps;
    (every > steps).then_some(Conflict::Never { key, every, steps })
}

fn high_peak(draft: &Draft) -> Option<Conflict> {
    let peak = Schedule::of(&draft.experiment).peak();
    (peak > HIGHEST_PEAK).then_some(Conflict::HighPeak { peak })
}

fn languages(draft: &Draft) -> Option<(&str, &str)> {
    match &draft.experiment.data.corpus {
        Corpus::Multi30k { source, target } | Corpus::Wmt14 { source, target } => Some((source, target)),
        Corpus::Grammar { .. } | Corpus::Text { .. } => None,
    }
}

fn same_language(draft: &Draft) -> Option<Conflict> {
    let (source, target) = languages(draft)?;
    (source == target).then(|| Conflict::SameLanguage {
        language: source.to_owned(),
    })
}

fn no_such_source(draft: &Draft) -> Option<Conflict> {
    languages(draft).and_then(|(source, _)| no_such_language(draft, source))
}

fn no_such_target(draft: &Draft) -> Option<Conflict> {
    languages(draft).and_then(|(_, target)| no_such_language(draft, target))
}

fn no_such_language(draft: &Draft, language: &str) -> Option<Conflict> {
    let is_wmt = matches!(draft.experiment.data.corpus, Corpus::Wmt14 { .. });
    (is_wmt && language == "fr").then(|| Conflict::NoSuchLanguage {
        language: language.to_owned(),
    })
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
                write!(
                    f,
                    "the shape overflows memory: {parameters} parameters, {gigabytes:.0} GB while training"
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
            Self::SameLanguage { language } => write!(f, "source and target language are both \"{language}\""),
            Self::NoSuchLanguage { language } => write!(f, "\"wmt14-en-de\" has no language \"{language}\""),
        }
    }
}

impl Conflict {
    pub(super) fn help(&self) -> Option<String> {
        match self {
            Self::Heads { .. } => Some("give `model.d_k` and `model.d_v`, or another number of heads".to_owned()),
            Self::TooManyParameters { .. } => Some(format!("at most {MOST_PARAMETERS} parameters")),
            Self::ShortPositions { .. } => {
                Some("that is `data.max_length` + `decoding.max_extra_tokens` + 1 for the end mark".to_owned())
            }
            Self::SmallBatch { .. } => Some("that is `data.max_length` + 1 for the end mark".to_owned()),
            Self::HighPeak { .. } => {
                Some("peak = learning_rate_factor / sqrt(d_model * warmup_steps); the paper's is 6.99e-4".to_owned())
            }
            _ => None,
        }
    }
}
