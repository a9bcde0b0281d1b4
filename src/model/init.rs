//! First values of the weights. Each tensor draws from a stream named after it, so that two models share the values
//! of every tensor they have in common.

use rand::RngExt;

use crate::ops::{Matrix, Ops, Size, Table};
use crate::random::stream;

pub struct Init<'a, Dev> {
    pub device: &'a Dev,
    pub seed: u64,
}

impl<Dev: Ops> Init<'_, Dev> {
    /// Uniform with the variance `2 / (I + O)` of Glorot and Bengio (2010, equation 16).
    pub fn xavier<O: Size, I: Size>(&self, name: &str) -> Matrix<O, I, Dev> {
        self.xavier_part(name, O::SIZE)
    }

    /// `O` of the `outputs` of a matrix that is initialised as a whole.
    pub fn xavier_part<O: Size, I: Size>(&self, name: &str, outputs: usize) -> Matrix<O, I, Dev> {
        let bound = (6.0 / (I::SIZE + outputs) as f32).sqrt();
        let values = self.uniform(name, O::SIZE * I::SIZE, bound);
        self.device.tensor_from_vec(values, (O::default(), I::default()))
    }

    /// Embeddings, uniform with variance `1 / D`: times `sqrt(D)` they have unit variance, as the positions beside them,
    /// and as a projection their logits start near unit variance.
    pub fn embedding<D: Size>(&self, name: &str, classes: usize) -> Table<D, Dev> {
        let values = self.uniform(name, classes * D::SIZE, (3.0 / D::SIZE as f32).sqrt());
        self.device.tensor_from_vec(values, (classes, D::default()))
    }

    /// Learned positions, of the size that a sinusoid's have: the mean square of an element is about a half.
    pub fn positions<D: Size>(&self, count: usize) -> Table<D, Dev> {
        let scale = (D::SIZE as f32 / 2.0).sqrt();
        let mut values = self.uniform("positions", count * D::SIZE, (3.0 / D::SIZE as f32).sqrt());
        for value in &mut values {
            *value *= scale;
        }
        self.device.tensor_from_vec(values, (count, D::default()))
    }

    fn uniform(&self, name: &str, count: usize, bound: f32) -> Vec<f32> {
        let mut rng = stream(&[&self.seed.to_string(), "init", name]);
        (0..count).map(|_| rng.random_range(-bound..bound)).collect()
    }
}
