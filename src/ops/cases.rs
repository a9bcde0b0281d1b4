//! Cases of operations: an operation with its inputs, on a device and as the plain operations compute it. Each
//! operation's file lists its own; tests, `selftest` and benchmarks all run through these lists.

use dfdx::prelude::*;
use rand::RngExt;

use super::{OnDevice, Recording, TokenLoss};
use crate::random::stream;
use crate::spec::Precision;

/// Numbers, in as many lists as there are results to compare: values first, then the gradients of the inputs.
pub type Results = Vec<Vec<f32>>;

/// Draws the inputs of a case by their names: the same seed and name give the same numbers on every device.
pub struct Inputs<'a, Dev: OnDevice> {
    device: &'a Dev,
    seed: u64,
    precision: Precision,
    /// Every input is moved so far, each in a random direction.
    moved: f32,
    leaves: Vec<Leaf<Dev>>,
}

type ReadGradient<Dev> = Box<dyn Fn(&mut Gradients<f32, Dev>) -> Vec<f32>>;
type Run<Dev> = Box<dyn Fn(&mut Recording<Dev>) -> Output<Dev>>;

/// An input, as far as its gradient goes.
struct Leaf<Dev: OnDevice> {
    name: &'static str,
    gradient: ReadGradient<Dev>,
}

impl<Dev: OnDevice> Inputs<'_, Dev> {
    /// Whether products are computed with operands that are not rounded.
    #[must_use]
    pub fn is_exact(&self) -> bool {
        self.precision == Precision::F32
    }

    /// An input of numbers between -1 and 1.
    pub fn tensor<S: Shape>(&mut self, name: &'static str, shape: S) -> Tensor<S, f32, Dev> {
        self.tensor_of(name, shape, |number| number)
    }

    /// An input of numbers between -1 and 1 that `change` makes others of.
    pub fn tensor_of<S: Shape>(
        &mut self,
        name: &'static str,
        shape: S,
        change: impl Fn(f32) -> f32,
    ) -> Tensor<S, f32, Dev> {
        let count = shape.num_elements();
        let mut numbers: Vec<f32> = drawn(self.seed, name, count).into_iter().map(change).collect();
        if self.moved != 0.0 {
            for (number, by) in numbers.iter_mut().zip(direction(self.seed, name, count)) {
                *number += self.moved * by;
            }
        }
        let tensor = self.device.tensor_from_vec(numbers, shape);
        let leaf = tensor.clone();
        self.leaves.push(Leaf {
            name,
            gradient: Box::new(move |gradients| {
                let found = gradients.get_or_alloc_mut(&leaf);
                leaf.device().read(found.expect("the device has memory for a gradient"))
            }),
        });
        tensor
    }
}

/// Draws `count` numbers between -1 and 1.
#[must_use]
pub fn drawn(seed: u64, name: &str, count: usize) -> Vec<f32> {
    let mut rng = stream(&["case", &seed.to_string(), name]);
    (0..count).map(|_| rng.random_range(-1.0..1.0)).collect()
}

fn direction(seed: u64, name: &str, count: usize) -> Vec<f32> {
    drawn(seed, &format!("direction of {name}"), count)
}

/// An operation whose inputs are there.
pub struct Call<Dev: OnDevice> {
    run: Run<Dev>,
}

/// What an operation gives.
pub enum Output<Dev: OnDevice> {
    Rows(Box<dyn Root<Dev>>),
    Loss(TokenLoss<Dev>, usize),
}

impl<Dev: OnDevice> Call<Dev> {
    /// An operation that gives a tensor.
    pub fn rows<S: Shape>(run: impl Fn(&mut Recording<Dev>) -> Tensor<S, f32, Dev> + 'static) -> Self {
        Self {
            run: Box::new(move |recording| Output::Rows(Box::new(run(recording)))),
        }
    }

    /// An operation that gives the loss of some rows.
    pub fn loss(rows: usize, run: impl Fn(&mut Recording<Dev>) -> TokenLoss<Dev> + 'static) -> Self {
        Self {
            run: Box::new(move |recording| Output::Loss(run(recording), rows)),
        }
    }

    /// Runs it.
    #[must_use]
    pub fn run(&self, recording: &mut Recording<Dev>) -> Output<Dev> {
        (self.run)(recording)
    }
}

/// A tensor that a backward pass starts from.
pub trait Root<Dev: OnDevice> {
    fn values(&self) -> Vec<f32>;

    /// Lets the backward pass begin with this gradient.
    fn start(&self, recording: &mut Recording<Dev>, gradient: Vec<f32>);
}

impl<S: Shape, Dev: OnDevice> Root<Dev> for Tensor<S, f32, Dev> {
    fn values(&self) -> Vec<f32> {
        self.as_vec()
    }

    fn start(&self, recording: &mut Recording<Dev>, gradient: Vec<f32>) {
        let (root, device) = (self.ghost(), self.device().clone());
        recording.add(move |gradients| {
            device.write(gradients.get_or_alloc_mut(&root)?, &gradient);
            Ok(())
        });
    }
}

impl<Dev: OnDevice> Output<Dev> {
    /// Rows, or the loss and its mean sums.
    #[must_use]
    pub fn values(&self) -> Results {
        match self {
            Self::Rows(rows) => vec![rows.values()],
            Self::Loss(loss, rows) => {
                let mean = |sum: f64| (sum / *rows as f64) as f32;
                vec![loss.loss.as_vec(), vec![mean(loss.nll_sum), mean(loss.smoothed_sum)]]
            }
        }
    }

    /// The gradients of all inputs for a random gradient of the rows, or for the loss.
    ///
    /// # Panics
    /// If nothing was recorded.
    #[must_use]
    pub fn backward(self, device: &Dev, mut recording: Recording<Dev>, seed: u64) -> Gradients<f32, Dev> {
        match self {
            Self::Rows(rows) => {
                let count = rows.values().len();
                rows.start(&mut recording, drawn(seed, "gradient", count));
                recording.backward(device.zeros())
            }
            Self::Loss(loss, _) => recording.backward(loss.loss),
        }
    }
}

type Prepare<Dev> = Box<dyn Fn(&mut Inputs<Dev>) -> Call<Dev>>;

/// One operation at one size.
pub struct Case<Dev: OnDevice> {
    pub name: String,
    on_device: Prepare<Dev>,
    oracle: Prepare<Cpu>,
    /// Whether its products have operands that a precision rounds.
    rounds: bool,
}

impl<Dev: OnDevice> Case<Dev> {
    pub fn new(
        name: String,
        on_device: impl Fn(&mut Inputs<Dev>) -> Call<Dev> + 'static,
        oracle: impl Fn(&mut Inputs<Cpu>) -> Call<Cpu> + 'static,
    ) -> Self {
        Self {
            name,
            on_device: Box::new(on_device),
            oracle: Box::new(oracle),
            rounds: false,
        }
    }

    /// The same case, to be tried in every precision.
    #[must_use]
    pub fn rounded(self) -> Self {
        Self { rounds: true, ..self }
    }

    /// Whether the case says anything about a precision.
    #[must_use]
    pub fn concerns(&self, precision: Precision) -> bool {
        self.rounds || precision == Precision::F32
    }

    /// The operation on the device, its inputs drawn.
    #[must_use]
    pub fn call(&self, device: &Dev, seed: u64) -> Call<Dev> {
        (self.on_device)(&mut inputs(device, seed, Precision::F32, 0.0))
    }

    /// Values and gradients as the device computes them; `precision` is the one that its products have now.
    #[must_use]
    pub fn found(&self, device: &Dev, seed: u64, precision: Precision) -> Results {
        results(&self.on_device, inputs(device, seed, precision, 0.0))
    }

    /// Values and gradients as the plain operations compute them, in f32.
    #[must_use]
    pub fn right(&self, seed: u64, precision: Precision) -> Results {
        results(&self.oracle, inputs(&Cpu::default(), seed, precision, 0.0))
    }

    /// How much the weighted sum of the values changes when all inputs move in a random direction, by the gradients and
    /// by finite differences: a check that shares no formula with the oracle. `None` where the result is a loss.
    #[must_use]
    pub fn slopes(&self, device: &Dev, seed: u64, step: f32) -> Option<[f64; 2]> {
        // As for rounded operands: inputs that no small step takes past the bend of a ReLU.
        let drawn_for = Precision::Bf16;
        let value = |moved: f32| {
            let call = (self.on_device)(&mut inputs(device, seed, drawn_for, moved));
            match call.run(&mut Recording::off()) {
                Output::Rows(rows) => {
                    let values = rows.values();
                    Some(product(&values, &drawn(seed, "gradient", values.len())))
                }
                Output::Loss(..) => None,
            }
        };
        let measured = (value(step)? - value(-step)?) / f64::from(2.0 * step);
        let mut inputs = inputs(device, seed, drawn_for, 0.0);
        let mut gradients = gradients(&self.on_device, &mut inputs).1;
        let by_gradient = inputs.leaves.iter().map(|leaf| {
            let gradient = (leaf.gradient)(&mut gradients);
            product(&gradient, &direction(seed, leaf.name, gradient.len()))
        });
        Some([by_gradient.sum(), measured])
    }
}

fn product(a: &[f32], b: &[f32]) -> f64 {
    a.iter().zip(b).map(|(&a, &b)| f64::from(a) * f64::from(b)).sum()
}

fn inputs<Dev: OnDevice>(device: &Dev, seed: u64, precision: Precision, moved: f32) -> Inputs<'_, Dev> {
    Inputs {
        device,
        seed,
        precision,
        moved,
        leaves: Vec::new(),
    }
}

fn gradients<Dev: OnDevice>(prepare: &Prepare<Dev>, inputs: &mut Inputs<Dev>) -> (Results, Gradients<f32, Dev>) {
    let call = prepare(inputs);
    let mut recording = Recording::on(inputs.device, Gradients::leaky());
    let output = call.run(&mut recording);
    let values = output.values();
    (values, output.backward(inputs.device, recording, inputs.seed))
}

fn results<Dev: OnDevice>(prepare: &Prepare<Dev>, mut inputs: Inputs<Dev>) -> Results {
    let (mut results, mut gradients) = gradients(prepare, &mut inputs);
    results.extend(inputs.leaves.iter().map(|leaf| (leaf.gradient)(&mut gradients)));
    results
}

/// The largest difference of two numbers, as a share of the largest number or of 1.
#[must_use]
pub fn largest_difference(found: &[f32], right: &[f32]) -> f64 {
    let largest = |numbers: &mut dyn Iterator<Item = f64>| numbers.fold(0.0, f64::max);
    let size = largest(&mut right.iter().map(|&number| f64::from(number).abs()));
    differences(found, right).map_or(f64::INFINITY, |differences| {
        largest(&mut differences.map(f64::abs)) / size.max(1.0)
    })
}

/// The root of the mean square of the differences, as a share of that of the numbers.
#[must_use]
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
