//! One complete experiment: every value resolved and checked, nothing left to default.

use std::path::PathBuf;

use super::choice::choice;

/// Everything that decides the outcome of a run, except the seed. `Default` is the blank that the schema fills in, not
/// a valid experiment.
#[derive(Debug, Clone, PartialEq, Default)]
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
#[derive(Debug, Clone, PartialEq, Default)]
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
    /// Tokens on each side that a token attends to in its own sentence; `None` is all of them (the paper's models).
    pub attention_window: Option<usize>,
    pub positional: Positional,
    pub norm: Norm,
}

/// How a position enters the embedding (section 3.5, and row (E) of Table 3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub enum Positional {
    #[default]
    Sinusoidal,
    Learned {
        max_positions: usize,
    },
}

impl Positional {
    #[must_use]
    pub fn kind(self) -> PositionalKind {
        match self {
            Self::Sinusoidal => PositionalKind::Sinusoidal,
            Self::Learned { .. } => PositionalKind::Learned,
        }
    }
}

choice! {
    /// A [`Positional`] without its length.
    pub enum PositionalKind {
        #[default]
        Sinusoidal = "sinusoidal",
        Learned = "learned",
    }
}

choice! {
    /// Where layer normalisation sits: after the residual sum (the paper) or before the sub-layer.
    pub enum Norm {
        #[default]
        Post = "post",
        Pre = "pre",
    }
}

/// Section 5.4.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Regularization {
    /// `P_drop`, in [0, 1).
    pub dropout: f32,
    /// `epsilon_ls`, in [0, 1): the mass spread evenly over all V classes.
    pub label_smoothing: f32,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Data {
    pub corpus: Corpus,
    /// Size of the vocabulary shared by both languages, special tokens included.
    pub vocab_size: usize,
    /// Training pairs, evenly spread, that the vocabulary is learned from; 0 takes all.
    pub vocab_pairs: usize,
    pub case: Case,
    /// A training pair with more tokens than this on either side is skipped and counted.
    pub max_length: usize,
}

choice! {
    /// Treatment of capital letters. References keep theirs: score a model of lower-cased text without case.
    pub enum Case {
        #[default]
        Keep = "keep",
        Lower = "lower",
    }
}

/// Where sentence pairs come from.
#[derive(Debug, Clone, PartialEq)]
pub enum Corpus {
    /// The embedded English to German grammar: no files, no network.
    Grammar { train_pairs: usize },
    /// Multi30k task 1, in a folder of the user.
    Multi30k { source: Language, target: Language },
    /// WMT 2014 English to German, in a folder of the user.
    Wmt14 { source: Language, target: Language },
    /// Any six parallel text files, relative to the data folder.
    Text {
        train: FilePair,
        dev: FilePair,
        test: FilePair,
    },
}

impl Corpus {
    #[must_use]
    pub fn kind(&self) -> CorpusKind {
        match self {
            Self::Grammar { .. } => CorpusKind::Grammar,
            Self::Multi30k { .. } => CorpusKind::Multi30k,
            Self::Wmt14 { .. } => CorpusKind::Wmt14,
            Self::Text { .. } => CorpusKind::Text,
        }
    }

    /// Returns a corpus whose own keys are not filled in.
    pub(super) fn blank(kind: CorpusKind) -> Self {
        let (source, target) = (Language::default(), Language::default());
        match kind {
            CorpusKind::Grammar => Self::Grammar { train_pairs: 0 },
            CorpusKind::Multi30k => Self::Multi30k { source, target },
            CorpusKind::Wmt14 => Self::Wmt14 { source, target },
            CorpusKind::Text => Self::Text {
                train: FilePair::default(),
                dev: FilePair::default(),
                test: FilePair::default(),
            },
        }
    }
}

impl Default for Corpus {
    fn default() -> Self {
        Self::blank(CorpusKind::default())
    }
}

choice! {
    /// A [`Corpus`] without its own keys.
    pub enum CorpusKind {
        #[default]
        Grammar = "grammar-en-de",
        Multi30k = "multi30k",
        Wmt14 = "wmt14-en-de",
        Text = "text",
    }
}

choice! {
    /// A language of a corpus, named as in the names of its files.
    pub enum Language {
        #[default]
        English = "en",
        German = "de",
        French = "fr",
    }
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct FilePair {
    pub source: PathBuf,
    pub target: PathBuf,
}

/// Section 5.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Training {
    /// Updates of the weights.
    pub steps: usize,
    /// Target tokens per update, whatever the device or the number of threads.
    pub batch_tokens: usize,
    /// Target tokens per forward and backward pass; an update sums the gradients of its passes.
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
    /// Returns the number of dev measurements of a whole training; the last one is at its end.
    #[must_use]
    pub fn measurements(&self) -> usize {
        self.steps.div_ceil(self.validate_every)
    }
}

choice! {
    /// Operands of the matrix products of a training pass, forward and backward. Everything else is `f32` with all
    /// three: sums, the weights that Adam changes, softmax, normalisation, the loss, validation and decoding; on the
    /// CPU also attention inside a head, which CUDA rounds for bf16.
    pub enum Precision {
        #[default]
        F32 = "f32",
        /// Rounded to TF32, 10 bits of fraction, by the tensor cores of a GPU. It needs CUDA.
        Tf32 = "tf32",
        /// Rounded to the nearest bfloat16, ties to even. It needs CUDA or a CPU with AVX512-BF16; on some Intel CPUs
        /// it is slower than `f32`, because they do only half as many of these instructions at once.
        Bf16 = "bf16",
    }
}

/// Which weights of a training are kept, and which of them enter the table. The paper's Table 3 takes the last; its
/// Table 2 takes an average (section 6.1).
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Selection {
    /// What makes one measurement on the dev split better than another.
    pub best_by: BestBy,
    /// Number of measurements in a row that are no better than the best, after which training ends; 0 never ends it.
    pub patience: usize,
    /// Number of weights that are averaged; 0 averages none.
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

choice! {
    /// Measure of the best weights.
    pub enum BestBy {
        /// The unsmoothed dev loss.
        #[default]
        Loss = "loss",
        /// BLEU of greedy translations of the dev split, under `evaluation.bleu`.
        Bleu = "bleu",
    }
}

choice! {
    /// Weights that an average is taken of.
    pub enum AverageOf {
        #[default]
        Last = "last",
        Best = "best",
    }
}

choice! {
    /// Weights that a training ends with.
    pub enum Weights {
        /// The weights after the last update.
        #[default]
        Last = "last",
        /// The weights that measured best on the dev split.
        Best = "best",
        /// The mean of several.
        Average = "average",
    }
}

/// Section 6.1.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Decoding {
    /// 1 is greedy.
    pub beam: usize,
    /// alpha of GNMT's ((5 + n) / 6)^alpha.
    pub length_penalty: f64,
    /// Tokens by which a hypothesis may be longer than its source.
    pub max_extra_tokens: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Evaluation {
    /// The split whose perplexity and BLEU enter the table.
    pub split: Split,
    /// The signature whose BLEU enters the table.
    pub bleu: Signature,
}

choice! {
    /// Signatures that every run is scored under, as `score::standard_configs` defines them.
    pub enum Signature {
        #[default]
        Mteval13a = "13a",
        Mteval13aLower = "13a-lc",
        International = "intl",
        InternationalLower = "intl-lc",
        CompoundSplit = "compound-split",
    }
}

choice! {
    /// Parts of a corpus.
    pub enum Split {
        Train = "train",
        Dev = "dev",
        #[default]
        Test = "test",
    }
}
