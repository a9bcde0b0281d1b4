//! How fast the device multiplies matrices.

use std::time::Instant;

use super::context::{context, of};
use super::product::{Operand, Output, product};
use crate::ops::precision;
use crate::spec::Precision;

/// Other work slows some of them; the fastest is what the device can.
const TRIALS: usize = 4;

/// Multiplications and additions per second in products of matrices with so many rows and columns.
#[must_use]
pub fn sustained_flops_per_s(precision: Precision, size: usize) -> f64 {
    precision::within(precision, || {
        let context = context();
        // Numbers that differ: what is all the same costs a GPU less power, and so less time.
        let numbers: Vec<f32> = (0..size * size)
            .map(|i| (i * 7919 % 1009) as f32 / 1009.0 - 0.5)
            .collect();
        let numbers = context.upload(numbers);
        let operand = Operand::of(&context, of(&numbers), size * size, size);
        let out = context.uninitialized::<f32>(size * size);
        let trial = |_| {
            context.wait();
            let started = Instant::now();
            let (left, right) = (operand.view(), operand.view().transposed());
            // SAFETY: all three matrices are of this size.
            unsafe { product(&context, [size; 3], left, right, (of(&out), size), Output::Overwrite) };
            context.wait();
            2.0 * (size as f64).powi(3) / started.elapsed().as_secs_f64()
        };
        (0..TRIALS).map(trial).fold(0.0, f64::max)
    })
}
