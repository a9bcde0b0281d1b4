//! Projection onto the vocabulary, softmax and smoothed cross-entropy by blocks of rows: the `[N, V]` matrix of
//! probabilities never exists. The gradients are made in the forward pass, while a block's probabilities are at hand;
//! backward only scales them.

use dfdx::prelude::*;

use super::lanes::{axpy, exp_shifted, fma, largest, sum};
use super::product::{Output, View, product};
use super::scratch::Scratch;
use super::tape::{scratch_values, take_gradient};
use crate::ops::{Loss, LossTarget, Recording, Rows, Size, Table, TokenLoss};

/// Probabilities held at once: 1 MiB, half of a core's own cache.
const BLOCK: usize = 1 << 18;

/// Rows of a block: as many as fit, but enough that a product with the table is worth reading it.
fn block_rows(classes: usize) -> usize {
    (BLOCK / classes).clamp(32, 256)
}

impl Loss for Cpu {
    fn smoothed_loss<D: Size>(
        recording: &mut Recording<Self>,
        x: &Rows<D, Self>,
        table: &Table<D, Self>,
        target: LossTarget,
    ) -> TokenLoss<Self> {
        let mut made = recording.is_on().then(|| LossGradients {
            x: Scratch::of(x.shape().num_elements()),
            table: Scratch::zeros(table.shape().num_elements()),
        });
        let (rows, classes) = (scratch_values(x), scratch_values(table));
        let Sums { smoothed, nll } = blocks(&rows, &classes, D::SIZE, target, made.as_mut());
        let loss = x.device().tensor(smoothed as f32 * target.scale);
        if let Some(made) = made {
            let (x, table, loss) = (x.ghost(), table.ghost(), loss.ghost());
            recording.add(move |gradients| {
                let d_loss = take_gradient!(gradients, loss)[0];
                axpy(gradients.get_or_alloc_mut(&x)?, d_loss, &made.x);
                axpy(gradients.get_or_alloc_mut(&table)?, d_loss, &made.table);
                Ok(())
            });
        }
        TokenLoss {
            loss,
            smoothed_sum: smoothed,
            nll_sum: nll,
        }
    }
}

/// The gradients of the loss, made in the forward pass.
struct LossGradients {
    x: Scratch,
    table: Scratch,
}

/// In nats, over all rows.
#[derive(Default)]
struct Sums {
    smoothed: f64,
    nll: f64,
}

fn blocks(x: &[f32], table: &[f32], d: usize, target: LossTarget, mut made: Option<&mut LossGradients>) -> Sums {
    let classes = table.len() / d;
    let block_rows = block_rows(classes);
    let mut sums = Sums::default();
    let mut logits = Scratch::of(block_rows.min(target.labels.len()) * classes);
    // Once, rather than inside the product of every block.
    let columns = transposed(table, d);
    for (block, labels) in target.labels.chunks(block_rows).enumerate() {
        let first = block * block_rows;
        let rows = first * d..(first + labels.len()) * d;
        let logits = &mut logits[..labels.len() * classes];
        let x = &x[rows.clone()];
        // x [N, D] . table^T [D, V] -> logits [N, V]
        product(
            View::new(x, labels.len(), d),
            View::new(&columns, d, classes),
            logits,
            Output::Overwrite,
        );
        for (row, &label) in logits.chunks_exact_mut(classes).zip(labels) {
            let softmax = sums.add(row, label as usize, target.smoothing);
            if made.is_some() {
                softmax.into_gradient(row, label as usize, target);
            }
        }
        if let Some(made) = made.as_deref_mut() {
            let d_logits = View::new(logits, labels.len(), classes);
            // d_logits [N, V] . table [V, D] -> d_x [N, D]
            product(
                d_logits,
                View::new(table, classes, d),
                &mut made.x[rows],
                Output::Overwrite,
            );
            // d_logits^T [V, N] . x [N, D] -> d_table [V, D]
            product(
                d_logits.transposed(),
                View::new(x, labels.len(), d),
                &mut made.table,
                Output::Add,
            );
        }
    }
    sums
}

/// `[V, D]` to `[D, V]`, by squares that stay in cache.
fn transposed(table: &[f32], d: usize) -> Scratch {
    const SQUARE: usize = 16;
    let classes = table.len() / d;
    let mut columns = Scratch::of(table.len());
    for first_class in (0..classes).step_by(SQUARE) {
        for first in (0..d).step_by(SQUARE) {
            for i in first..(first + SQUARE).min(d) {
                for class in first_class..(first_class + SQUARE).min(classes) {
                    columns[i * classes + class] = table[class * d + i];
                }
            }
        }
    }
    columns
}

impl Sums {
    /// Adds the loss of one row of logits, which become unnormalised probabilities.
    fn add(&mut self, logits: &mut [f32], label: usize, smoothing: f32) -> Softmax {
        let right = f64::from(logits[label]);
        let all = sum(logits);
        let softmax = exponentiate(logits);
        let normaliser = softmax.log_normaliser();
        let nll = normaliser - right;
        let mean_nll = normaliser - f64::from(all) / logits.len() as f64;
        let smoothing = f64::from(smoothing);
        self.nll += nll;
        self.smoothed += (1.0 - smoothing) * nll + smoothing * mean_nll;
        softmax
    }
}

/// What a row of logits was turned into: `e^(logit - largest)`, and the sum of these.
struct Softmax {
    largest: f32,
    sum: f32,
}

fn exponentiate(logits: &mut [f32]) -> Softmax {
    let largest = largest(logits);
    let sum = exp_shifted(logits, largest);
    Softmax { largest, sum }
}

impl Softmax {
    /// `ln(sum of e^logit)`.
    fn log_normaliser(&self) -> f64 {
        f64::from(self.largest) + f64::from(self.sum).ln()
    }

    /// The gradient of the scaled loss: softmax less the smoothed target.
    fn into_gradient(self, row: &mut [f32], label: usize, target: LossTarget) {
        let factor = target.scale / self.sum;
        let even = target.smoothing / row.len() as f32 * target.scale;
        for p in row.iter_mut() {
            *p = fma(*p, factor, -even);
        }
        row[label] -= (1.0 - target.smoothing) * target.scale;
    }
}
