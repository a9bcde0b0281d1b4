//! The part of an experiment that becomes a type: the sizes of a model's weight matrices, compiled once however many
//! rows share them.

use std::fmt;

use crate::spec::Experiment;

/// Every size of a model that is a const parameter. Rows with equal keys share one compiled model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ShapeKey {
    pub d_model: usize,
    pub d_ff: usize,
    /// `h * d_k`: queries or keys of all heads.
    pub keys: usize,
    /// `h * d_v`: values of all heads.
    pub values: usize,
}

impl ShapeKey {
    /// The shape of an experiment's model.
    #[must_use]
    pub fn of(experiment: &Experiment) -> Self {
        let model = &experiment.model;
        Self {
            d_model: model.d_model,
            d_ff: model.d_ff,
            keys: model.heads * model.d_k,
            values: model.heads * model.d_v,
        }
    }
}

impl fmt::Display for ShapeKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            d_model,
            d_ff,
            keys,
            values,
        } = self;
        write!(f, "d_model {d_model}, d_ff {d_ff}, h*d_k {keys}, h*d_v {values}")
    }
}
