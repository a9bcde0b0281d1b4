//! Tensors of a Transformer, and the memory of the device that holds them.

use dfdx::prelude::*;

use crate::threads::Shareable;

/// Activations: `N` packed tokens by `D` features.
pub type Rows<D, Dev> = Tensor<(usize, D), f32, Dev>;
/// A weight of `O` outputs by `I` inputs, `PyTorch`'s layout.
pub type Matrix<O, I, Dev> = Tensor<(O, I), f32, Dev>;
/// A bias, or the weight of a norm.
pub type Vector<O, Dev> = Tensor<(O,), f32, Dev>;
/// Embeddings, `[V, D]`: how many there are is a value.
pub type Table<D, Dev> = Tensor<(usize, D), f32, Dev>;

/// Numbers on a device.
pub type Buffer<Dev> = <Dev as Storage<f32>>::Vec;
/// How a device fails.
pub type Fault<Dev> = <Dev as HasErr>::Err;

/// What follows a linear map.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Activation {
    Identity,
    Relu,
}

/// How many heads there are, and how wide each is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeadSizes {
    /// `h`.
    pub heads: usize,
    /// `d_k`, of queries and keys.
    pub key: usize,
    /// `d_v`, of values.
    pub value: usize,
}

impl HeadSizes {
    /// The sizes of `heads` heads whose queries, and whose values, are so wide together.
    #[must_use]
    pub fn split(heads: usize, keys: usize, values: usize) -> Self {
        Self {
            heads,
            key: keys / heads,
            value: values / heads,
        }
    }

    /// H*K: the keys of all heads.
    #[must_use]
    pub fn keys(self) -> usize {
        self.heads * self.key
    }

    /// H*VD: the values of all heads.
    #[must_use]
    pub fn values(self) -> usize {
        self.heads * self.value
    }
}

/// Added to the variance: `PyTorch`'s default, the paper names none.
pub const LAYER_NORM_EPSILON: f32 = 1e-5;

/// Sums over rows, and the tensor whose backward pass trains the model.
#[derive(Debug)]
pub struct TokenLoss<Dev: Storage<f32>> {
    /// `scale * smoothed_sum`.
    pub loss: Tensor<Rank0, f32, Dev>,
    /// Label-smoothed cross-entropy summed over rows, in nats.
    pub smoothed_sum: f64,
    /// Negative log-likelihood of the right class summed over rows, in nats: what perplexity is made of.
    pub nll_sum: f64,
}

/// A device that holds tensors. Like dfdx's own methods, these panic when the device runs out of memory or fails: no
/// run can go on from there.
pub trait OnDevice: Device<f32> + Storage<f32, Vec: Shareable> + Shareable {
    /// Copies a buffer to the host.
    fn read(&self, buffer: &Buffer<Self>) -> Vec<f32>;

    /// Overwrites a buffer of the device.
    fn write(&self, buffer: &mut Buffer<Self>, values: &[f32]);

    /// Sets every number of a buffer to zero.
    fn clear(&self, buffer: &mut Buffer<Self>);

    /// `sums += values`.
    fn accumulate(&self, sums: &mut Buffer<Self>, values: &Buffer<Self>);
}

/// Copies the values of a tensor to the host, row after row.
pub fn host<S: Shape, Dev: Device<f32>>(tensor: &Tensor<S, f32, Dev>) -> Vec<f32> {
    let mut values = vec![0.0; HasShape::shape(tensor).num_elements()];
    tensor.copy_into(&mut values);
    values
}
