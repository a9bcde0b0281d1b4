//! What distinguishes models of the same sizes.

use crate::spec::{Experiment, Norm, Positional};

/// Everything about a model that is a value: it changes without a build.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Architecture {
    /// N: encoder layers, and as many decoder layers.
    pub layers: usize,
    /// h.
    pub heads: usize,
    pub norm: Norm,
    pub positional: Positional,
    /// V: tokens of the vocabulary.
    pub vocabulary: usize,
}

impl Architecture {
    /// The architecture that an experiment asks for.
    #[must_use]
    pub fn of(experiment: &Experiment) -> Self {
        let model = &experiment.model;
        Self {
            layers: model.layers,
            heads: model.heads,
            norm: model.norm,
            positional: model.positional,
            vocabulary: experiment.data.vocab_size,
        }
    }
}
