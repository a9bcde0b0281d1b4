//! The door out of the typed world.

use std::fmt;

use super::{AttentionMaps, Batch};
use crate::ops::{Packed, RankedRow};
use crate::spec::Precision;
use crate::threads::Shareable;

/// A model whose sizes only its type knows.
pub trait Seq2Seq: Shareable {
    /// Forward and backward pass of one micro-batch; its gradients are added to those already there.
    fn accumulate(&mut self, batch: &Batch, pass: &TrainingPass) -> BatchLoss;

    /// Euclidean norm of the gradients accumulated so far; not finite when training has diverged.
    fn gradient_norm(&mut self) -> f64;

    /// One step of Adam with the gradients accumulated so far, which are then forgotten.
    fn update(&mut self, step: &AdamStep);

    /// The losses of a batch, without dropout.
    fn loss(&self, batch: &Batch, label_smoothing: f32) -> BatchLoss;

    /// Makes the weights ready to translate, which takes about as long as translating a few sentences.
    fn decoder(&self) -> Box<dyn Decoder + '_>;

    /// V: tokens in the vocabulary.
    fn vocabulary_size(&self) -> usize;

    /// The weights, in a fixed order.
    fn weights(&mut self) -> Vec<NamedArray>;

    /// Adam's two moments, in the order of [`Self::weights`].
    fn moments(&mut self) -> [Vec<NamedArray>; 2];

    /// The gradients accumulated so far, in the order of [`Self::weights`].
    fn gradients(&mut self) -> Vec<NamedArray>;

    /// Takes over weights read elsewhere.
    ///
    /// # Errors
    /// If an array is missing, left over, or of another shape; the model is then unchanged.
    fn restore_weights(&mut self, weights: &[NamedArray]) -> Result<(), RestoreError>;

    /// Takes over Adam's moments.
    ///
    /// # Errors
    /// As [`Self::restore_weights`].
    fn restore_moments(&mut self, moments: [&[NamedArray]; 2]) -> Result<(), RestoreError>;

    /// Trained numbers in all.
    fn parameter_count(&mut self) -> usize {
        self.weights().iter().map(|array| array.values.len()).sum()
    }
}

/// A model that stands ready to translate, on several threads if need be.
pub trait Decoder: Shareable {
    /// Encodes the source sentences.
    fn session(&self, source: &Packed) -> Box<dyn Session + '_>;

    /// What every head looks at while a sentence is translated: `source` and `target` as encoder and decoder read them,
    /// the one with its end, the other with [`super::BOS`] in front. Row `t` of a target's map is that of the token that
    /// is said after `target[..=t]`.
    fn attention(&self, source: &[u32], target: &[u32]) -> AttentionMaps;
}

/// Decodes a batch of sentences token by token, every hypothesis at once, with a cache of keys and values.
pub trait Session {
    /// Reads one more token on every row and returns, row by row, the `k` likeliest next ones and the log-probability
    /// of the sentence's end.
    ///
    /// Each row goes on where its parent, a row of the step before, stopped; at the first step the parent is the
    /// number of a source sentence. Rows that nobody continues are forgotten.
    fn step(&mut self, rows: &[Continuation], k: usize) -> Vec<RankedRow>;
}

/// One more token for a hypothesis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Continuation {
    pub parent: usize,
    pub token: u32,
}

/// How a micro-batch is trained on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TrainingPass {
    pub dropout: f32,
    /// Names the pass among all passes of a run: its dropout masks follow from it.
    pub dropout_key: u64,
    pub label_smoothing: f32,
    /// Target tokens of the whole update, which the loss is a mean over.
    pub update_tokens: usize,
    /// Of the operands of products.
    pub precision: Precision,
}

/// Adam with the bias correction of step `step`, counted from 1 (section 5.3).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AdamStep {
    pub step: usize,
    pub learning_rate: f64,
    pub beta1: f64,
    pub beta2: f64,
    pub epsilon: f64,
}

/// Sums over the target tokens of a batch, in nats.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct BatchLoss {
    /// Label-smoothed cross-entropy: what is trained on.
    pub smoothed_sum: f64,
    /// Negative log-likelihood: what perplexity is made of.
    pub nll_sum: f64,
    pub tokens: usize,
}

impl std::ops::AddAssign for BatchLoss {
    fn add_assign(&mut self, other: Self) {
        self.smoothed_sum += other.smoothed_sum;
        self.nll_sum += other.nll_sum;
        self.tokens += other.tokens;
    }
}

impl BatchLoss {
    /// Mean label-smoothed cross-entropy per token, in nats.
    #[must_use]
    pub fn smoothed(&self) -> f64 {
        self.smoothed_sum / self.tokens as f64
    }

    /// Mean negative log-likelihood per token, in nats.
    #[must_use]
    pub fn nll(&self) -> f64 {
        self.nll_sum / self.tokens as f64
    }

    /// Perplexity per token, from the unsmoothed likelihood (Table 3's note).
    #[must_use]
    pub fn perplexity(&self) -> f64 {
        self.nll().exp()
    }
}

/// Numbers with a name, as a checkpoint holds them.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedArray {
    pub name: String,
    pub shape: Vec<usize>,
    /// Row after row.
    pub values: Vec<f32>,
}

/// Arrays that are not those of the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RestoreError {
    Missing {
        name: String,
    },
    Unknown {
        name: String,
    },
    Shape {
        name: String,
        found: Vec<usize>,
        expected: Vec<usize>,
    },
}

impl fmt::Display for RestoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing { name } => write!(f, "the array {name} is missing"),
            Self::Unknown { name } => write!(f, "the array {name} is not one of this model"),
            Self::Shape { name, found, expected } => {
                write!(f, "the array {name} has shape {found:?}, this model needs {expected:?}")
            }
        }
    }
}

impl std::error::Error for RestoreError {}
