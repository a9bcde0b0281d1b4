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
