//! Parameter counts, computed from the sizes: a model that cannot fit is refused before it is compiled.

use super::experiment::{Experiment, Norm, Positional};

/// Parameter counts by part of the model. Both embeddings and the projection to the vocabulary share one matrix without
/// a bias (paper, section 3.4); attention has no biases, the feed-forward network has them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parameters {
    /// V x D.
    pub embedding: u64,
    /// One learned table for encoder and decoder, or 0.
    pub positions: u64,
    pub encoder: StackParameters,
    pub decoder: StackParameters,
}

/// All layers of one side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StackParameters {
    pub self_attention: u64,
    /// From the decoder to the encoder; 0 in the encoder.
    pub cross_attention: u64,
    /// Weights and biases.
    pub feed_forward: u64,
    /// Weights and biases.
    pub norms: u64,
}

impl StackParameters {
    #[must_use]
    pub fn total(&self) -> u64 {
        self.self_attention + self.cross_attention + self.feed_forward + self.norms
    }
}

impl Parameters {
    /// Counts the parameters of an experiment's model.
    #[must_use]
    pub fn of(experiment: &Experiment) -> Self {
        let model = &experiment.model;
        let [layers, d_model, d_ff, heads, d_k, d_v, vocab] = [
            model.layers,
            model.d_model,
            model.d_ff,
            model.heads,
            model.d_k,
            model.d_v,
            experiment.data.vocab_size,
        ]
        .map(|size| size as u64);

        let attention = 2 * d_model * heads * (d_k + d_v);
        let feed_forward = 2 * d_model * d_ff + d_ff + d_model;
        let norm = 2 * d_model;
        let closing_norm = match model.norm {
            Norm::Post => 0,
            Norm::Pre => norm,
        };
        Self {
            embedding: vocab * d_model,
            positions: match model.positional {
                Positional::Sinusoidal => 0,
                Positional::Learned { max_positions } => max_positions as u64 * d_model,
            },
            encoder: StackParameters {
                self_attention: layers * attention,
                cross_attention: 0,
                feed_forward: layers * feed_forward,
                norms: layers * 2 * norm + closing_norm,
            },
            decoder: StackParameters {
                self_attention: layers * attention,
                cross_attention: layers * attention,
                feed_forward: layers * feed_forward,
                norms: layers * 3 * norm + closing_norm,
            },
        }
    }

    #[must_use]
    pub fn total(&self) -> u64 {
        self.embedding + self.positions + self.encoder.total() + self.decoder.total()
    }
}
