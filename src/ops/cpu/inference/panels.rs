//! Products with a matrix that was packed once and is used again and again.

use std::array;
use std::ops::Range;

use crate::ops::Activation;
use crate::ops::cpu::lanes::{LANES, Lanes, copy_to};

/// Two registers of outputs for one input.
type Line = [Lanes; 2];

/// Outputs of a panel.
pub const WIDTH: usize = 2 * LANES;

/// Inputs that a panel is multiplied by before it is left: 32 KiB of it stay in the fastest cache meanwhile.
const DEPTH: usize = 256;

/// Inputs that are taken by one step of the inner loop.
const STEP: usize = 8;

/// A matrix `[O, I]` by panels of [`WIDTH`] outputs: for each panel and input there is a line. Behind the last output
/// stand zeros.
pub struct Panels {
    lines: Vec<Line>,
    inputs: usize,
    outputs: usize,
}

/// Where a product goes, and what is done with it on the way.
pub struct Target<'a> {
    /// Numbers from the start of one row to that of the next.
    pub stride: usize,
    /// Added to every row; nothing, or one for each output of the matrix.
    pub bias: &'a [f32],
    pub activation: Activation,
}

impl Panels {
    pub fn pack(weight: &[f32], inputs: usize) -> Self {
        let outputs = weight.len() / inputs;
        let mut lines = vec![[Lanes::ZERO; 2]; outputs.div_ceil(WIDTH) * inputs];
        for (panel, rows) in lines.chunks_exact_mut(inputs).zip(weight.chunks(WIDTH * inputs)) {
            for (output, row) in rows.chunks_exact(inputs).enumerate() {
                for (line, &x) in panel.iter_mut().zip(row) {
                    line[output / LANES].as_mut_array()[output % LANES] = x;
                }
            }
        }
        Self { lines, inputs, outputs }
    }

    pub fn outputs(&self) -> usize {
        self.outputs
    }

    pub fn count(&self) -> usize {
        self.outputs.div_ceil(WIDTH)
    }

    /// `y = activation(x . w^T + bias)`: rows `[N, I]` to the outputs of some panels. Every sum runs over the inputs in
    /// their order, whatever rows are beside it.
    pub fn multiply(&self, x: &[f32], panels: Range<usize>, target: &Target, y: &mut [f32]) {
        let rows = x.len() / self.inputs;
        for (place, panel) in panels.enumerate() {
            let columns = place * WIDTH..place * WIDTH + WIDTH.min(self.outputs - panel * WIDTH);
            for first in (0..self.inputs).step_by(DEPTH) {
                let tile = Tile {
                    depth: first..(first + DEPTH).min(self.inputs),
                    inputs: self.inputs,
                    lines: &self.lines[panel * self.inputs..][..self.inputs][first..],
                    columns: columns.clone(),
                    bias: target.bias.get(panel * WIDTH..).unwrap_or(&[]),
                    target,
                };
                let mut row = 0;
                while row < rows {
                    row += match rows - row {
                        1 => tile.group::<1>(x, row, y),
                        2..4 => tile.group::<2>(x, row, y),
                        4..8 => tile.group::<4>(x, row, y),
                        _ => tile.group::<8>(x, row, y),
                    };
                }
            }
        }
    }
}

/// Part of a panel.
struct Tile<'a> {
    /// The inputs it is for.
    depth: Range<usize>,
    inputs: usize,
    /// Begins at the first of these inputs.
    lines: &'a [Line],
    /// Where its outputs stand in a row of the result.
    columns: Range<usize>,
    /// Begins at the first of these outputs.
    bias: &'a [f32],
    target: &'a Target<'a>,
}

impl Tile<'_> {
    /// `R` rows at once, so that an addition need not wait for the one before it.
    #[inline]
    fn group<const R: usize>(&self, x: &[f32], first: usize, y: &mut [f32]) -> usize {
        let rows: [&[f32]; R] = array::from_fn(|i| &x[(first + i) * self.inputs..][self.depth.clone()]);
        let y = &mut y[first * self.target.stride..];
        let start: [Line; R] = if self.depth.start == 0 {
            [line(self.bias); R]
        } else {
            array::from_fn(|i| line(&y[i * self.target.stride..][self.columns.clone()]))
        };
        let mut sums = sums(&rows, &self.lines[..self.depth.len()], start);
        if self.depth.end == self.inputs && self.target.activation == Activation::Relu {
            sums = sums.map(|line| line.map(|sum| sum.fast_max(Lanes::ZERO)));
        }
        for (i, [left, right]) in sums.into_iter().enumerate() {
            let y = &mut y[i * self.target.stride..][self.columns.clone()];
            let length = y.len().min(LANES);
            copy_to(y, left, length);
            copy_to(&mut y[length..], right, self.columns.len() - length);
        }
        R
    }
}

/// The first numbers, zeros behind them.
#[inline]
fn line(numbers: &[f32]) -> Line {
    if let Some(whole) = numbers.first_chunk::<WIDTH>() {
        let whole = whole.as_chunks::<LANES>().0;
        return [Lanes::new(whole[0]), Lanes::new(whole[1])];
    }
    let mut padded = [0.0; WIDTH];
    padded[..numbers.len()].copy_from_slice(numbers);
    line(&padded)
}

/// Plain loops over indices, which the compiler keeps in registers.
#[inline]
fn sums<const R: usize>(rows: &[&[f32]; R], lines: &[Line], mut sums: [Line; R]) -> [Line; R] {
    let (steps, rest) = lines.as_chunks::<STEP>();
    let parts: [&[[f32; STEP]]; R] = array::from_fn(|i| &rows[i].as_chunks::<STEP>().0[..steps.len()]);
    for j in 0..steps.len() {
        let part: [&[f32; STEP]; R] = array::from_fn(|i| &parts[i][j]);
        for k in 0..STEP {
            let [left, right] = steps[j][k];
            for i in 0..R {
                let x = Lanes::splat(part[i][k]);
                sums[i][0] = x.mul_add(left, sums[i][0]);
                sums[i][1] = x.mul_add(right, sums[i][1]);
            }
        }
    }
    for (k, [left, right]) in (steps.len() * STEP..).zip(rest) {
        for i in 0..R {
            let x = Lanes::splat(rows[i][k]);
            sums[i][0] = x.mul_add(*left, sums[i][0]);
            sums[i][1] = x.mul_add(*right, sums[i][1]);
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_of_any_size_agree_with_three_loops() {
        for (rows, inputs, outputs) in [
            (1, 1, 1),
            (3, 5, 33),
            (9, 16, 32),
            (15, 300, 70),
            (8, 520, 20),
            (0, 3, 5),
        ] {
            let numbers = |n: usize| -> Vec<f32> { (0..n).map(|i| ((i * 7919) % 101) as f32 / 50.0 - 1.0).collect() };
            let (x, weight, bias) = (numbers(rows * inputs), numbers(outputs * inputs), numbers(outputs));
            let panels = Panels::pack(&weight, inputs);
            assert!(panels.outputs() == outputs);
            for activation in [Activation::Identity, Activation::Relu] {
                let target = Target {
                    stride: outputs,
                    bias: &bias,
                    activation,
                };
                let mut y = vec![f32::NAN; rows * outputs];
                panels.multiply(&x, 0..panels.count(), &target, &mut y);
                for (i, &y) in y.iter().enumerate() {
                    let (row, output) = (i / outputs, i % outputs);
                    let term = |k: usize| f64::from(x[row * inputs + k]) * f64::from(weight[output * inputs + k]);
                    let sum = f64::from(bias[output]) + (0..inputs).map(term).sum::<f64>();
                    let right = if activation == Activation::Relu {
                        sum.max(0.0)
                    } else {
                        sum
                    };
                    assert!(
                        (f64::from(y) - right).abs() <= 1e-3,
                        "{rows} {inputs} {outputs}: {y} {right}"
                    );
                }
            }
        }
    }
}
