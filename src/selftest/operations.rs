//! Every operation of training, forward and backward, from the operations' own tables of cases.

use dfdx::prelude::*;

use super::Check;
use super::inputs::compared;
use crate::ops::cases::{largest_difference, mean_difference};
use crate::ops::{Dropout, Ops, Recording, Rows, all_cases};
use crate::spec::Precision;

/// The whole list. `seed` decides what numbers are drawn.
#[must_use]
pub fn operations<Dev: Ops>(device: &Dev, precision: Precision, seed: u64) -> Vec<Check> {
    let cases = all_cases::<Dev>().into_iter().filter(|case| case.concerns(precision));
    let checks = cases.map(|case| {
        let found = Dev::in_precision(precision, || case.found(device, seed, precision));
        let right = case.right(seed, precision);
        let name = format!("{}, {}", case.name, precision.name());
        // In `f32` every number is to be right up to the rounding of sums in another order; with rounded operands the size
        // of all differences together.
        match precision {
            Precision::F32 => compared(name, &found, &right, largest_difference, 2e-5),
            Precision::Tf32 => compared(name, &found, &right, mean_difference, 8e-3),
            Precision::Bf16 => compared(name, &found, &right, mean_difference, 4e-2),
        }
    });
    let mask = (precision == Precision::F32).then(|| dropout_bits(device, seed));
    mask.into_iter().chain(checks).collect()
}

/// The mask itself, bit for bit.
fn dropout_bits<Dev: Ops>(device: &Dev, seed: u64) -> Check {
    const COUNT: usize = 100_003;
    let ones: Rows<Const<1>, Dev> = device.tensor_from_vec(vec![1.0; COUNT], (COUNT, Const));
    let site = Dropout::new(0.3, seed);
    let found = Dev::dropout(&mut Recording::off(), &ones, site).as_vec();
    let mut right = vec![0.0; COUNT];
    site.factors(0, &mut right);
    Check {
        name: format!("dropout mask of {COUNT}, bit for bit"),
        difference: largest_difference(&found, &right),
        allowed: 0.0,
    }
}
