//! Products with a matrix that was packed once and is used again and again.

use std::array;
use std::ops::Range;

use crate::ops::Activation;
use crate::ops::cpu::lanes::{LANES, Lanes};
use crate::ops::cpu::scratch::Scratch;

/// Two registers of outputs for one input.
type Line = [Lanes; 2];

/// Outputs of a panel.
pub const WIDTH: usize = 2 * LANES;

/// Inputs that a panel is multiplied by before it is left: 32 KiB of it stay in the fastest cache meanwhile.
const DEPTH: usize = 256;

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
            for (half, rows) in rows.chunks(LANES * inputs).enumerate() {
                for (number, lines) in panel.chunks_mut(LANES).enumerate() {
                    turn(rows, inputs, number * LANES, lines, half);
                }
            }
        }
        Self { lines, inputs, outputs }
    }

    pub fn inputs(&self) -> usize {
        self.inputs
    }

    pub fn outputs(&self) -> usize {
        self.outputs
    }

    pub fn count(&self) -> usize {
        self.outputs.div_ceil(WIDTH)
    }

    /// `y = activation(x . w^T + bias)`: rows `[N, I]`, packed by [`pack_rows`], to the outputs of some panels. Every sum
    /// runs over the inputs in their order, whatever rows are beside it.
    pub fn multiply(&self, x: &[f32], panels: Range<usize>, target: &Target, y: &mut [f32]) {
        let rows = x.len() / self.inputs;
        for (place, panel) in panels.enumerate() {
            let columns = place * WIDTH..place * WIDTH + WIDTH.min(self.outputs - panel * WIDTH);
            for first in (0..self.inputs).step_by(DEPTH) {
                let tile = Tile {
                    depth: first..(first + DEPTH).min(self.inputs),
                    inputs: self.inputs,
                    lines: &self.lines[panel * self.inputs..][first..(first + DEPTH).min(self.inputs)],
                    bias: target
                        .bias
                        .get(panel * WIDTH..panel * WIDTH + columns.len())
                        .unwrap_or(&[]),
                    columns: columns.clone(),
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

/// Up to sixteen columns from `first` on of up to sixteen rows, which become one half of lines: a square, which the
/// compiler turns around in registers.
#[inline]
fn turn(rows: &[f32], inputs: usize, first: usize, lines: &mut [Line], half: usize) {
    let mut square = [[0.0; LANES]; LANES];
    for (side, row) in square.iter_mut().zip(rows.chunks_exact(inputs)) {
        side[..lines.len()].copy_from_slice(&row[first..][..lines.len()]);
    }
    for (k, line) in lines.iter_mut().enumerate() {
        line[half] = Lanes::new(array::from_fn(|row| square[row][k]));
    }
}

/// Rows `[N, inputs]` by groups of up to eight: within a group the numbers for one input stand side by side.
pub fn pack_rows(x: &[f32], inputs: usize) -> Scratch {
    let rows = x.len() / inputs;
    let mut packed = Scratch::of(x.len());
    let mut row = 0;
    while row < rows {
        let (x, packed) = (&x[row * inputs..], &mut packed[row * inputs..]);
        row += match rows - row {
            1 => pack_group::<1>(x, inputs, packed),
            2..4 => pack_group::<2>(x, inputs, packed),
            4..8 => pack_group::<4>(x, inputs, packed),
            _ => pack_group::<8>(x, inputs, packed),
        };
    }
    packed
}

/// By squares, which the compiler turns around in registers.
#[inline]
fn pack_group<const R: usize>(x: &[f32], inputs: usize, packed: &mut [f32]) -> usize {
    let packed = packed[..R * inputs].as_chunks_mut::<R>().0;
    let (squares, rest) = packed.as_chunks_mut::<LANES>();
    let done = squares.len() * LANES;
    for (number, square) in squares.iter_mut().enumerate() {
        let mut rows = [[0.0; LANES]; R];
        for (i, row) in rows.iter_mut().enumerate() {
            row.copy_from_slice(&x[i * inputs + number * LANES..][..LANES]);
        }
        for k in 0..LANES {
            for i in 0..R {
                square[k][i] = rows[i][k];
            }
        }
    }
    for (k, line) in rest.iter_mut().enumerate() {
        for (i, number) in line.iter_mut().enumerate() {
            *number = x[i * inputs + done + k];
        }
    }
    R
}

/// Part of a panel.
struct Tile<'a> {
    /// The inputs it is for.
    depth: Range<usize>,
    inputs: usize,
    /// One for each of these inputs.
    lines: &'a [Line],
    /// Where its outputs stand in a row of the result.
    columns: Range<usize>,
    /// As many, or none.
    bias: &'a [f32],
    target: &'a Target<'a>,
}

impl Tile<'_> {
    /// `R` rows at once, so that an addition need not wait for the one before it. Plain loops over indices, which the
    /// compiler keeps in registers; it does not do so with closures over arrays.
    #[inline]
    fn group<const R: usize>(&self, x: &[f32], first: usize, y: &mut [f32]) -> usize {
        let x = &x[first * self.inputs..][..R * self.inputs].as_chunks::<R>().0[self.depth.clone()];
        let stride = self.target.stride;
        let y = &mut y[first * stride + self.columns.start..];
        let width = self.columns.len();
        let mut sums = [line(self.bias); R];
        if self.depth.start > 0 {
            for i in 0..R {
                sums[i] = line(&y[i * stride..][..width]);
            }
        }
        for (x, [left, right]) in x.iter().zip(self.lines) {
            for i in 0..R {
                let x = Lanes::splat(x[i]);
                sums[i][0] = x.mul_add(*left, sums[i][0]);
                sums[i][1] = x.mul_add(*right, sums[i][1]);
            }
        }
        if self.depth.end == self.inputs && self.target.activation == Activation::Relu {
            for sum in &mut sums {
                *sum = [sum[0].fast_max(Lanes::ZERO), sum[1].fast_max(Lanes::ZERO)];
            }
        }
        for i in 0..R {
            store(&mut y[i * stride..][..width], sums[i]);
        }
        R
    }
}

/// Up to a line of numbers, zeros behind them.
#[inline]
fn line(numbers: &[f32]) -> Line {
    if numbers.is_empty() {
        return [Lanes::ZERO; 2];
    }
    let mut padded = [0.0; WIDTH];
    let whole = numbers.first_chunk().unwrap_or_else(|| {
        padded[..numbers.len()].copy_from_slice(numbers);
        &padded
    });
    let halves = whole.as_chunks().0;
    [Lanes::new(halves[0]), Lanes::new(halves[1])]
}

/// As much of the line as there is room for.
#[inline]
fn store(y: &mut [f32], line: Line) {
    if let Some(whole) = y.first_chunk_mut::<WIDTH>() {
        let halves = whole.as_chunks_mut().0;
        halves[0] = line[0].to_array();
        halves[1] = line[1].to_array();
    } else {
        for (y, x) in y.iter_mut().zip(line.iter().flat_map(Lanes::as_array)) {
            *y = *x;
        }
    }
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
                panels.multiply(&pack_rows(&x, inputs), 0..panels.count(), &target, &mut y);
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
