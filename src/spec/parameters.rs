//! How many parameters a model has, by hand: a shape that cannot fit is refused before it is compiled.

use super::experiment::{Experiment, Norm, Positional};

/// Parameters by where they stand. Both embeddings and the projection to the vocabulary share one matrix without a
/// bias (paper, section 3.4); attention has no biases, the feed-forward network has them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parameters {
    /// V x D.
    pub embedding: u64,
    /// One learned table for encoder and decoder, or nothing.
    pub positions: u64,
    pub encoder: u64,
    pub decoder: u64,
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
            encoder: layers * (attention + feed_forward + 2 * norm) + closing_norm,
            decoder: layers * (2 * attention + feed_forward + 3 * norm) + closing_norm,
        }
    }

    #[must_use]
    pub fn total(&self) -> u64 {
        self.embedding + self.positions + self.encoder + self.decoder
    }
}
