//! How fast this machine multiplies matrices.

use std::time::{Duration, Instant};

use super::product::{Output, View, product};
use crate::threads::{map, threads};

/// Rows and columns: large enough for the kernel's full speed, small enough for the caches of any machine.
const SIZE: usize = 256;
/// Long enough to be sure of two digits, short enough for the smallest run.
const TIME: Duration = Duration::from_millis(8);
/// Other processes slow some of them; the fastest is what the machine can.
const TRIALS: usize = 8;

/// Multiplications and additions per second that all threads together sustain in products of `f32` matrices.
#[must_use]
pub fn sustained_flops_per_s() -> f64 {
    let trial = |_| {
        let started = Instant::now();
        let products: usize = map((0..threads()).collect(), |_| multiply_for_a_while()).iter().sum();
        let flops = 2 * SIZE.pow(3) * products;
        flops as f64 / started.elapsed().as_secs_f64()
    };
    (0..TRIALS).map(trial).fold(0.0, f64::max)
}

/// How many products it came to.
fn multiply_for_a_while() -> usize {
    let (matrix, mut out) = (vec![0.5; SIZE * SIZE], vec![0.0; SIZE * SIZE]);
    let started = Instant::now();
    let mut products = 0;
    while started.elapsed() < TIME {
        let view = View::new(&matrix, SIZE, SIZE);
        product(view, view, std::hint::black_box(&mut out), Output::Overwrite);
        products += 1;
    }
    products
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_multiplies_more_than_a_clerk_and_less_than_a_data_centre() {
        let rate = sustained_flops_per_s();
        assert!((1e7..1e15).contains(&rate), "{rate:e}");
    }
}
