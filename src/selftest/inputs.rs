//! Fresh random numbers, the same on both devices, and what is compared of the results.

use std::ops::Range;

use dfdx::prelude::*;
use rand::RngExt;

use super::Check;
use crate::model::{Batch, EOS};
use crate::ops::Ops;
use crate::random::stream;

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

/// Source and target tokens of one sentence.
pub type Pair = [Vec<u32>; 2];

/// Sentence pairs of random tokens and lengths, with at least so many target tokens, their ends counted.
pub fn pairs(name: &[&str], vocabulary: usize, lengths: &Range<usize>, tokens: usize) -> Vec<Pair> {
    let mut rng = stream(&[&["selftest"], name].concat());
    let (mut pairs, mut sum): (Vec<Pair>, _) = (Vec::new(), 0);
    while sum < tokens {
        let pair: Pair = [(); 2].map(|()| {
            let length = rng.random_range(lengths.clone());
            (0..length)
                .map(|_| rng.random_range(EOS + 1..vocabulary as u32))
                .collect()
        });
        sum += pair[1].len() + 1;
        pairs.push(pair);
    }
    pairs
}

pub fn batch(pairs: &[Pair]) -> Batch {
    let pairs: Vec<(&[u32], &[u32])> = pairs
        .iter()
        .map(|[source, target]| (&source[..], &target[..]))
        .collect();
    Batch::from_pairs(&pairs)
}

/// The gradient of a tensor, zeros if nothing depends on it.
pub fn gradient<S: Shape, Dev: Ops>(gradients: &mut Gradients<f32, Dev>, of: &Tensor<S, f32, Dev>) -> Vec<f32> {
    let found = gradients.get_or_alloc_mut(of);
    of.device().read(found.expect("the device has memory for a gradient"))
}

/// What the device found against what is right: the worst of the lists, each measured by `difference`.
pub fn compared(
    name: String,
    found: &Results,
    right: &Results,
    difference: fn(&[f32], &[f32]) -> f64,
    allowed: f64,
) -> Check {
    assert_eq!(found.len(), right.len(), "as many results on both sides");
    let differences = found.iter().zip(right).map(|(found, right)| difference(found, right));
    Check {
        name,
        difference: differences.fold(0.0, f64::max),
        allowed,
    }
}

/// The largest difference of two numbers, as a share of the largest number or of 1.
pub fn largest_difference(found: &[f32], right: &[f32]) -> f64 {
    let largest = |numbers: &mut dyn Iterator<Item = f64>| numbers.fold(0.0, f64::max);
    let size = largest(&mut right.iter().map(|&number| f64::from(number).abs()));
    differences(found, right).map_or(f64::INFINITY, |differences| {
        largest(&mut differences.map(f64::abs)) / size.max(1.0)
    })
}

/// The root of the mean square of the differences, as a share of that of the numbers.
pub fn mean_difference(found: &[f32], right: &[f32]) -> f64 {
    /// What is as small as this is nothing.
    const NOTHING: f64 = 1e-6;
    let mean = |numbers: &mut dyn Iterator<Item = f64>| {
        let sum: f64 = numbers.map(|number| number * number).sum();
        (sum / right.len().max(1) as f64).sqrt()
    };
    let size = mean(&mut right.iter().map(|&number| f64::from(number)));
    differences(found, right).map_or(f64::INFINITY, |mut differences| {
        mean(&mut differences) / size.max(NOTHING)
    })
}

/// Nothing where something is no number.
fn differences<'a>(found: &'a [f32], right: &'a [f32]) -> Option<impl Iterator<Item = f64> + 'a> {
    let finite = |numbers: &[f32]| numbers.iter().all(|number| number.is_finite());
    let comparable = found.len() == right.len() && finite(found) && finite(right);
    let pairs = found.iter().zip(right);
    comparable.then(|| pairs.map(|(&found, &right)| f64::from(found) - f64::from(right)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_measured_by_the_size_of_what_is_right() {
        assert!((mean_difference(&[0.011, 0.0], &[0.01, 0.0]) - 0.1).abs() < 1e-6);
        assert!((largest_difference(&[11.0, 0.0], &[10.0, 0.0]) - 0.1).abs() < 1e-12);
    }

    #[test]
    fn what_is_no_number_agrees_with_nothing() {
        for (found, right) in [
            ([f32::NAN], [1.0]),
            ([1.0], [f32::NAN]),
            ([f32::INFINITY], [f32::INFINITY]),
        ] {
            assert!(mean_difference(&found, &right).is_infinite());
            assert!(largest_difference(&found, &right).is_infinite());
        }
        assert!(largest_difference(&[1.0], &[1.0, 2.0]).is_infinite());
    }
}
