//! What distinguishes models of the same sizes.

use crate::spec::{Experiment, Norm, Positional};

/// Everything about a model that is a value: it changes without a build.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Architecture {
    /// N: encoder layers, and as many decoder layers.
    pub layers: usize,
    /// h.
    pub heads: usize,
    /// Tokens on each side that a token attends to in its own sentence; all of them without.
    pub attention_window: Option<usize>,
    pub norm: Norm,
    pub positional: Positional,
    /// V: tokens of the vocabulary.
    pub vocabulary: usize,
}

impl Architecture {
    /// The paper's architecture: post-norm, sinusoidal positions, and attention to whole sentences.
    #[must_use]
    pub fn new(layers: usize, heads: usize, vocabulary: usize) -> Self {
        Self {
            layers,
            heads,
            attention_window: None,
            norm: Norm::Post,
            positional: Positional::Sinusoidal,
            vocabulary,
        }
    }

    /// The architecture that an experiment asks for.
    #[must_use]
    pub fn of(experiment: &Experiment) -> Self {
        let model = &experiment.model;
        Self {
            layers: model.layers,
            heads: model.heads,
            attention_window: model.attention_window,
            norm: model.norm,
            positional: model.positional,
            vocabulary: experiment.data.vocab_size,
        }
    }
}
