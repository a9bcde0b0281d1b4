//! First values of the weights. Each tensor draws from a stream named after it, so that two models share the values
//! of every tensor they have in common.

use dfdx::prelude::*;
use rand::RngExt;

use crate::ops::{Matrix, Ops, Vector};
use crate::random::stream;

pub struct Init<'a, Dev> {
    pub device: &'a Dev,
    pub seed: u64,
}

impl<Dev: Ops> Init<'_, Dev> {
    /// Uniform with the variance `2 / (I + O)` of Glorot and Bengio (2010, equation 16).
    pub fn xavier<const O: usize, const I: usize>(&self, name: &str) -> Matrix<O, I, Dev> {
        self.xavier_part(name, O)
    }

    /// `O` of the `outputs` of a matrix that is initialised as a whole.
    pub fn xavier_part<const O: usize, const I: usize>(&self, name: &str, outputs: usize) -> Matrix<O, I, Dev> {
        self.uniform(name, (6.0 / (I + outputs) as f32).sqrt())
    }

    /// Uniform with variance `1 / D`: times `sqrt(D)` the embeddings have unit variance, as the positions beside them,
    /// and as a projection their logits start near unit variance.
    pub fn embedding<const V: usize, const D: usize>(&self, name: &str) -> Matrix<V, D, Dev> {
        self.uniform(name, (3.0 / D as f32).sqrt())
    }

    pub fn zeros<const O: usize>(&self) -> Vector<O, Dev> {
        self.device.zeros()
    }

    pub fn ones<const O: usize>(&self) -> Vector<O, Dev> {
        self.device.ones()
    }

    fn uniform<const O: usize, const I: usize>(&self, name: &str, bound: f32) -> Matrix<O, I, Dev> {
        let mut rng = stream(&[&self.seed.to_string(), "init", name]);
        let values = (0..O * I).map(|_| rng.random_range(-bound..bound)).collect();
        self.device.tensor_from_vec(values, (Const::<O>, Const::<I>))
    }
}
