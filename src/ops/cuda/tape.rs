//! What every operation needs to join dfdx's tape from outside.

use dfdx::prelude::*;

use super::address::address;
use super::context::context;
use crate::ops::{Rows, Size};

/// Rows for an operation to write.
pub fn rows<D: Size>(device: &Cuda, count: usize) -> Rows<D, Cuda> {
    let rows: Rows<D, Cuda> = device.zeros_like(&(count, D::default()));
    context().poison(address(&rows), count * D::SIZE * size_of::<f32>());
    rows
}

/// The address of the gradient of a tensor or its ghost, zeros if there was none. It holds as long as nobody replaces
/// the gradient.
///
/// A macro because dfdx does not let the type of a ghost be named.
macro_rules! gradient_address {
    ($gradients:expr, $tensor:expr) => {
        crate::ops::cuda::context::of(&**$gradients.get_or_alloc_mut(&$tensor)?)
    };
}

/// Takes out the gradient of an operation's output: nothing reads it afterwards, and its memory is wanted.
macro_rules! take_gradient {
    ($gradients:expr, $device:expr, $tensor:expr) => {{
        let nothing = dfdx::prelude::Storage::<f32>::try_alloc_len(&$device, 0)?;
        std::mem::replace($gradients.get_or_alloc_mut(&$tensor)?, nothing)
    }};
}

pub(super) use {gradient_address, take_gradient};
