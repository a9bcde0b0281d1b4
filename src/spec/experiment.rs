//! One complete experiment: every value resolved and checked, nothing left to default.

use std::path::PathBuf;

/// Everything that decides the outcome of a run, except the seed.
#[derive(Debug, Clone, PartialEq)]
pub struct Experiment {
    pub model: Model,
    pub regularization: Regularization,
    pub data: Data,
    pub training: Training,
    pub selection: Selection,
    pub decoding: Decoding,
    pub evaluation: Evaluation,
}

/// The architecture (paper, section 3 and Table 3).
#[derive(Debug, Clone, PartialEq)]
#[allow(clippy::struct_field_names, reason = "d_model is the paper's name")]
pub struct Model {
    /// N: encoder layers, and as many decoder layers.
    pub layers: usize,
    pub d_model: usize,
    pub d_ff: usize,
    /// h: attention heads.
    pub heads: usize,
    /// Width of one head's queries and keys.
    pub d_k: usize,
    /// Width of one head's values.
    pub d_v: usize,
    pub positional: Positional,
    pub norm: Norm,
}

/// How a position enters the embedding (section 3.5, and row (E) of Table 3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Positional {
    Sinusoidal,
    Learned { max_positions: usize },
}

/// Where layer normalisation sits: after the residual sum (the paper) or before the sub-layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Norm {
    Post,
    Pre,
}

/// Section 5.4.
#[derive(Debug, Clone, PartialEq)]
pub struct Regularization {
    /// `P_drop`, in [0, 1).
    pub dropout: f32,
    /// `epsilon_ls`, in [0, 1): the mass spread evenly over all V classes.
    pub label_smoothing: f32,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Data {
    pub corpus: Corpus,
    /// Size of the vocabulary shared by both languages, special pieces included.
    pub vocab_size: usize,
    /// Training pairs, evenly spread, that the vocabulary is learned from; 0 takes all.
    pub vocab_pairs: usize,
    pub case: Case,
    /// A training pair with more pieces than this on either side is skipped and counted.
    pub max_length: usize,
}

/// What becomes of capital letters. References keep theirs: a model of lower-cased text is to be scored without case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Case {
    #[default]
    Keep,
    Lower,
}

impl Case {
    /// As a suite calls it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Keep => "keep",
            Self::Lower => "lower",
        }
    }
}

/// Where sentence pairs come from.
#[derive(Debug, Clone, PartialEq)]
pub enum Corpus {
    /// The embedded English to German grammar: no files, no network.
    Grammar { train_pairs: usize },
    /// Multi30k task 1, in a folder the user has.
    Multi30k { source: String, target: String },
    /// WMT 2014 English to German, in a folder the user has.
    Wmt14 { source: String, target: String },
    /// Any six parallel text files, relative to the data folder.
    Text {
        train: FilePair,
        dev: FilePair,
        test: FilePair,
    },
}

#[derive(Debug, Clone, PartialEq)]
pub struct FilePair {
    pub source: PathBuf,
    pub target: PathBuf,
}

/// Section 5.
#[derive(Debug, Clone, PartialEq)]
pub struct Training {
    /// Updates of the parameters.
    pub steps: usize,
    /// Target pieces per update, whatever the device or the number of workers.
    pub batch_tokens: usize,
    /// Target pieces per forward and backward pass; an update accumulates as many passes as it needs.
    pub micro_batch_tokens: usize,
    pub warmup_steps: usize,
    /// Factor on the paper's schedule (equation 3): 1.0 is the paper.
    pub learning_rate_factor: f64,
    pub adam_beta1: f64,
    pub adam_beta2: f64,
    pub adam_epsilon: f64,
    /// Updates between two measurements of the dev loss.
    pub validate_every: usize,
    /// Updates between two checkpoints.
    pub checkpoint_every: usize,
    pub precision: Precision,
}

impl Training {
    /// Dev measurements of a whole training: one every so often, and one at its end.
    #[must_use]
    pub fn measurements(&self) -> usize {
        self.steps.div_ceil(self.validate_every)
    }
}

/// The operands of the matrix products of a training pass, forward and backward; their sums are `f32` either way. So is
/// all else: the weights that Adam changes, softmax, normalisation, the sums of the loss, validation and decoding; and on
/// the CPU attention inside a head, which CUDA rounds for bf16.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub enum Precision {
    #[default]
    F32,
    /// Rounded to TF32, 10 bits of fraction, by the tensor cores of a GPU. It needs CUDA.
    Tf32,
    /// Rounded to the nearest bfloat16, to the even one of two. It needs CUDA or a CPU with AVX512-BF16; on some Intel
    /// CPUs it is slower than `f32`, because they do only half as many of these instructions at once.
    Bf16,
}

impl Precision {
    pub const ALL: [Self; 3] = [Self::F32, Self::Tf32, Self::Bf16];

    /// As a suite calls it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::F32 => "f32",
            Self::Tf32 => "tf32",
            Self::Bf16 => "bf16",
        }
    }
}

/// Which of the weights on the way are kept, and which of them enter the table. The paper's Table 3 takes the last;
/// its Table 2 takes an average (section 6.1).
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Selection {
    /// What makes one measurement on the dev split better than another.
    pub best_by: BestBy,
    /// Training ends after so many measurements in a row that are no better than the best; 0 never ends it.
    pub patience: usize,
    /// How many weights are averaged; 0 averages none.
    pub average: usize,
    pub average_of: AverageOf,
    pub weights: Weights,
}

impl Selection {
    /// Whether weights other than the last are asked for.
    #[must_use]
    pub fn keeps_weights(&self) -> bool {
        *self != Self::default()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum BestBy {
    /// The unsmoothed dev loss.
    #[default]
    Loss,
    /// BLEU of greedy translations of the dev split, under `evaluation.bleu`.
    Bleu,
}

impl BestBy {
    /// As a suite calls it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Loss => "loss",
            Self::Bleu => "bleu",
        }
    }
}

/// Which weights an average is taken of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AverageOf {
    #[default]
    Last,
    Best,
}

impl AverageOf {
    /// As a suite calls it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Last => "last",
            Self::Best => "best",
        }
    }
}

/// Weights that a training ends with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Weights {
    /// Those after the last update.
    #[default]
    Last,
    /// Those that measured best on the dev split.
    Best,
    /// The mean of several.
    Average,
}

impl Weights {
    pub const ALL: [Self; 3] = [Self::Last, Self::Best, Self::Average];

    /// As a suite and a table call it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Last => "last",
            Self::Best => "best",
            Self::Average => "average",
        }
    }
}

/// Section 6.1.
#[derive(Debug, Clone, PartialEq)]
pub struct Decoding {
    /// 1 is greedy.
    pub beam: usize,
    /// alpha of GNMT's ((5 + n) / 6)^alpha.
    pub length_penalty: f64,
    /// A hypothesis may be this much longer than its source, in pieces.
    pub max_extra_tokens: usize,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Evaluation {
    /// The split whose perplexity and BLEU enter the table.
    pub split: Split,
    /// The signature whose BLEU enters the table.
    pub bleu: Signature,
}

/// The signatures that every run is scored under, as `score::standard_configs` defines them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Signature {
    #[default]
    Mteval13a,
    Mteval13aLower,
    International,
    InternationalLower,
    CompoundSplit,
}

impl Signature {
    pub const ALL: [Self; 5] = [
        Self::Mteval13a,
        Self::Mteval13aLower,
        Self::International,
        Self::InternationalLower,
        Self::CompoundSplit,
    ];

    /// As a suite and `score.toml` call it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Mteval13a => "13a",
            Self::Mteval13aLower => "13a-lc",
            Self::International => "intl",
            Self::InternationalLower => "intl-lc",
            Self::CompoundSplit => "compound-split",
        }
    }

    /// The signature of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|signature| signature.name() == name)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Split {
    Train,
    Dev,
    Test,
}

impl Split {
    /// As files and tables call it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Train => "train",
            Self::Dev => "dev",
            Self::Test => "test",
        }
    }
}
