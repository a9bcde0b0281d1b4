//! Fresh random numbers, the same on both devices, and what is compared of the results.

use dfdx::prelude::*;
use rand::RngExt;

use super::Check;
use crate::ops::{Ops, stream};

/// Numbers, in as many lists as there are results to compare: values first, then gradients.
pub type Results = Vec<Vec<f32>>;

/// Draws numbers by name: the same name gives the same numbers.
#[derive(Clone, Copy)]
pub struct Inputs {
    pub seed: u64,
}

impl Inputs {
    pub fn numbers(self, name: &str, count: usize) -> Vec<f32> {
        let mut rng = stream(&["selftest", &self.seed.to_string(), name]);
        (0..count).map(|_| rng.random_range(-1.0..1.0)).collect()
    }

    pub fn tensor<S: Shape, Dev: Ops>(self, device: &Dev, name: &str, shape: S) -> Tensor<S, f32, Dev> {
        device.tensor_from_vec(self.numbers(name, shape.num_elements()), shape)
    }

    /// The gradients of everything that `y` depends on, for a random gradient of `y`.
    pub fn backward<S: Shape, Dev: Ops>(self, y: Tensor<S, f32, Dev, OwnedTape<f32, Dev>>) -> Gradients<f32, Dev> {
        let (y, mut tape) = y.split_tape();
        let (device, numbers) = (y.device().clone(), self.numbers("gradient", y.shape().num_elements()));
        let ghost = y.ghost();
        let loss: Tensor<Rank0, f32, Dev> = device.zeros();
        tape.add_backward_op(move |gradients| {
            device.write(gradients.get_or_alloc_mut(&ghost)?, &numbers);
            Ok(())
        });
        loss.put_tape(tape).backward()
    }
}

/// The gradient of a tensor, zeros if nothing depends on it.
pub fn gradient<S: Shape, Dev: Ops>(gradients: &mut Gradients<f32, Dev>, of: &Tensor<S, f32, Dev>) -> Vec<f32> {
    let found = gradients.get_or_alloc_mut(of);
    of.device().read(found.expect("the device has memory for a gradient"))
}

/// What the device found against what is right.
pub fn compared(name: String, found: &Results, right: &Results, allowed: f64) -> Check {
    assert_eq!(found.len(), right.len(), "as many results on both sides");
    let differences = found.iter().zip(right).map(|(found, right)| difference(found, right));
    Check {
        name,
        difference: differences.fold(0.0, f64::max),
        allowed,
    }
}

/// The largest difference of two numbers, as a share of the largest number or of 1.
pub fn difference(found: &[f32], right: &[f32]) -> f64 {
    if found.len() != right.len() || found.iter().any(|number| !number.is_finite()) {
        return f64::INFINITY;
    }
    let largest = right
        .iter()
        .fold(1.0f64, |largest, &number| largest.max(f64::from(number).abs()));
    let differences = found
        .iter()
        .zip(right)
        .map(|(&found, &right)| (f64::from(found) - f64::from(right)).abs());
    differences.fold(0.0, f64::max) / largest
}
