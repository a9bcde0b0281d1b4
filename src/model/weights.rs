//! Weights as they are trained: tensors of sizes that the compiler knows.

use std::marker::PhantomData;

use dfdx::prelude::*;

use super::init::Init;
use super::network::{Make, Part, Weights};
use super::parameter::Parameter;
use crate::ops::{AttentionWeights, FeedForwardWeights, Matrix, NormWeights, Ops, Size, Sizes, Vector};

/// The weights of a model of sizes `S`.
pub struct Trained<Dev, S>(PhantomData<(Dev, S)>);

impl<Dev: Ops, S: Sizes> Weights for Trained<Dev, S> {
    type Norm = LayerNorm<Dev, S::Model>;
    type SelfAttention = Attention<Dev, S>;
    type CrossAttention = Attention<Dev, S>;
    type FeedForward = FeedForward<Dev, S>;
}

pub struct LayerNorm<Dev: Ops, D: Size> {
    pub weight: Vector<D, Dev>,
    pub bias: Vector<D, Dev>,
}

pub struct Attention<Dev: Ops, S: Sizes> {
    pub query: Matrix<S::Keys, S::Model, Dev>,
    pub key: Matrix<S::Keys, S::Model, Dev>,
    pub value: Matrix<S::Values, S::Model, Dev>,
    pub output: Matrix<S::Model, S::Values, Dev>,
}

pub struct FeedForward<Dev: Ops, S: Sizes> {
    pub inner: Matrix<S::Inner, S::Model, Dev>,
    pub inner_bias: Vector<S::Inner, Dev>,
    pub outer: Matrix<S::Model, S::Inner, Dev>,
    pub outer_bias: Vector<S::Model, Dev>,
}

impl<Dev: Ops, D: Size> LayerNorm<Dev, D> {
    pub fn weights(&self) -> NormWeights<'_, D, Dev> {
        NormWeights {
            weight: &self.weight,
            bias: &self.bias,
        }
    }
}

impl<Dev: Ops, S: Sizes> Attention<Dev, S> {
    pub fn weights(&self) -> AttentionWeights<'_, S::Model, S::Keys, S::Values, Dev> {
        AttentionWeights {
            query: &self.query,
            key: &self.key,
            value: &self.value,
            output: &self.output,
        }
    }
}

impl<Dev: Ops, S: Sizes> FeedForward<Dev, S> {
    pub fn weights(&self) -> FeedForwardWeights<'_, S::Model, S::Inner, Dev> {
        FeedForwardWeights {
            inner: &self.inner,
            inner_bias: &self.inner_bias,
            outer: &self.outer,
            outer_bias: &self.outer_bias,
        }
    }
}

impl<Dev: Ops, S: Sizes> Make<Trained<Dev, S>> for Init<'_, Dev> {
    fn norm(&self, _: &str) -> LayerNorm<Dev, S::Model> {
        LayerNorm {
            weight: self.device.ones_like(&(S::Model::default(),)),
            bias: self.device.zeros_like(&(S::Model::default(),)),
        }
    }

    fn self_attention(&self, name: &str) -> Attention<Dev, S> {
        // As one matrix, like PyTorch's `in_proj_weight`: smaller first scores make training start sooner.
        let outputs = 2 * S::Keys::SIZE + S::Values::SIZE;
        Attention {
            query: self.xavier_part(&format!("{name}.query"), outputs),
            key: self.xavier_part(&format!("{name}.key"), outputs),
            value: self.xavier_part(&format!("{name}.value"), outputs),
            output: self.xavier(&format!("{name}.output")),
        }
    }

    fn cross_attention(&self, name: &str) -> Attention<Dev, S> {
        Make::<Trained<Dev, S>>::self_attention(self, name)
    }

    fn feed_forward(&self, name: &str) -> FeedForward<Dev, S> {
        FeedForward {
            inner: self.xavier(&format!("{name}.inner")),
            inner_bias: self.device.zeros_like(&(S::Inner::default(),)),
            outer: self.xavier(&format!("{name}.outer")),
            outer_bias: self.device.zeros_like(&(S::Model::default(),)),
        }
    }
}

/// The tensors of a sub-layer, each under its name there.
pub fn tensors<Dev: Ops, S: Sizes>(part: Part<'_, Trained<Dev, S>>) -> Vec<(&'static str, &mut dyn Parameter<Dev>)> {
    match part {
        Part::Norm(norm) => vec![("weight", &mut norm.weight), ("bias", &mut norm.bias)],
        Part::SelfAttention(attention) | Part::CrossAttention(attention) => vec![
            ("query.weight", &mut attention.query),
            ("key.weight", &mut attention.key),
            ("value.weight", &mut attention.value),
            ("output.weight", &mut attention.output),
        ],
        Part::FeedForward(network) => vec![
            ("inner.weight", &mut network.inner),
            ("inner.bias", &mut network.inner_bias),
            ("outer.weight", &mut network.outer),
            ("outer.bias", &mut network.outer_bias),
        ],
    }
}
