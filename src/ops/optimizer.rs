//! What happens to gradients once a pass has made them: their norm, and Adam (section 5.3).

use std::fmt::Debug;

use dfdx::optim::AdamConfig;
use dfdx::prelude::*;

use super::{Buffer, OnDevice};
use crate::threads::Shareable;

/// A trained tensor of whatever shape, as [`Optimizer::update`] sees it.
pub trait Trained<Dev: OnDevice>: Shareable + Debug {
    /// One step of Adam as dfdx does it, `t` counted from 1.
    fn adam(&mut self, t: i32, config: &AdamConfig, gradient: &Buffer<Dev>, moments: [&mut Buffer<Dev>; 2]);
}

impl<S: Shape, Dev: OnDevice> Trained<Dev> for Tensor<S, f32, Dev> {
    fn adam(&mut self, t: i32, config: &AdamConfig, gradient: &Buffer<Dev>, [first, second]: [&mut Buffer<Dev>; 2]) {
        config
            .try_update(t, self, first, second, gradient)
            .expect("the device has memory for its own parameters");
    }
}

/// A parameter and what training keeps beside it.
pub struct ParameterState<'a, Dev: OnDevice> {
    pub parameter: &'a mut dyn Trained<Dev>,
    pub gradient: &'a mut Buffer<Dev>,
    /// First and second.
    pub moments: [&'a mut Buffer<Dev>; 2],
}

/// Makes updates.
pub trait Optimizer: OnDevice {
    /// Sum of the squares of all gradients.
    fn norm_squared(gradients: &[Buffer<Self>]) -> f64;

    /// One step of Adam, `t` counted from 1, for every parameter; clears the gradients.
    fn update(t: i32, config: &AdamConfig, states: Vec<ParameterState<Self>>);
}
