//! What every operation needs to join dfdx's tape from outside.

use dfdx::prelude::*;

use super::scratch::Scratch;

/// A copy of the tensor's values.
pub fn values<S: Shape, T>(tensor: &Tensor<S, f32, Cpu, T>) -> Vec<f32> {
    let mut values = vec![0.0; tensor.shape().num_elements()];
    tensor.copy_into(&mut values);
    values
}

/// The same in memory that is used again.
pub fn scratch_values<S: Shape, T>(tensor: &Tensor<S, f32, Cpu, T>) -> Scratch {
    let mut values = Scratch::of(tensor.shape().num_elements());
    tensor.copy_into(&mut values);
    values
}

/// The gradient of a tensor or its ghost, taken out so that several can be held at once.
///
/// A macro because dfdx does not let the type of a ghost be named.
macro_rules! take_gradient {
    ($gradients:expr, $tensor:expr) => {
        std::mem::take(&mut **$gradients.get_or_alloc_mut(&$tensor)?)
    };
}

/// Puts back what [`take_gradient`] took. The gradient of an operation's *output* is not put back: nothing reads it
/// any more, and its memory is wanted.
macro_rules! put_gradient {
    ($gradients:expr, $tensor:expr, $values:expr) => {
        **$gradients.get_or_alloc_mut(&$tensor)? = $values
    };
}

pub(super) use {put_gradient, take_gradient};
