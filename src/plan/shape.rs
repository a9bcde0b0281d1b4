//! The part of an experiment that becomes a type: a static shape, compiled once however many rows share it.

use std::fmt;

use crate::spec::{Experiment, Positional};

/// Every size of a model that is a const parameter. Two rows with equal keys share one compiled model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ShapeKey {
    pub layers: usize,
    pub d_model: usize,
    pub d_ff: usize,
    pub heads: usize,
    pub d_k: usize,
    pub d_v: usize,
    pub vocab: usize,
    pub positional: Positional,
}

impl ShapeKey {
    #[must_use]
    pub fn of(experiment: &Experiment) -> Self {
        let model = &experiment.model;
        Self {
            layers: model.layers,
            d_model: model.d_model,
            d_ff: model.d_ff,
            heads: model.heads,
            d_k: model.d_k,
            d_v: model.d_v,
            vocab: experiment.data.vocab_size,
            positional: model.positional,
        }
    }
}

impl fmt::Display for ShapeKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "layers {}, d_model {}, d_ff {}, heads {}, d_k {}, d_v {}, vocabulary {}, ",
            self.layers, self.d_model, self.d_ff, self.heads, self.d_k, self.d_v, self.vocab
        )?;
        match self.positional {
            Positional::Sinusoidal => f.write_str("sinusoidal positions"),
            Positional::Learned { max_positions } => write!(f, "{max_positions} learned positions"),
        }
    }
}
