//! Projection onto the vocabulary, softmax and smoothed cross-entropy by blocks of rows: the `[N, V]` matrix of
//! probabilities never exists. The gradients are made in the forward pass, while a block's probabilities are at hand;
//! backward only scales them.

use dfdx::prelude::*;

use super::lanes::{axpy, exp, fma, max, shift, sum};
use super::product::{Output, View, product};
use super::tape::{take_gradient, values};
use crate::ops::{LossTarget, Matrix, Rows, TokenLoss};

/// Rows whose probabilities are held at once: a block of 64 x 8192 is 2 MiB, the size of a core's own cache.
const BLOCK: usize = 64;

pub fn smoothed_loss<const V: usize, const D: usize, T: Tape<f32, Cpu>>(
    x: Rows<D, Cpu, T>,
    table: &Matrix<V, D, Cpu>,
    target: LossTarget,
) -> TokenLoss<Cpu, T> {
    let (x, mut tape) = x.split_tape();
    let mut made = T::OWNS_TAPE.then(|| LossGradients {
        x: vec![0.0; x.shape().0 * D],
        table: vec![0.0; V * D],
    });
    let Sums { smoothed, nll } = blocks(&values(&x), &values(table), D, target, made.as_mut());
    let loss = x.device().tensor(smoothed as f32 * target.scale);
    if let Some(made) = made {
        let (x, table, loss) = (x.ghost(), table.ghost(), loss.ghost());
        tape.add_backward_op(move |gradients| {
            let d_loss = take_gradient!(gradients, loss)[0];
            axpy(gradients.get_or_alloc_mut(&x)?, d_loss, &made.x);
            axpy(gradients.get_or_alloc_mut(&table)?, d_loss, &made.table);
            Ok(())
        });
    }
    TokenLoss {
        loss: loss.put_tape(tape),
        smoothed_sum: smoothed,
        nll_sum: nll,
    }
}

pub fn log_probabilities<const V: usize, const D: usize>(x: &Rows<D, Cpu>, table: &Matrix<V, D, Cpu>) -> Vec<f32> {
    let n = x.shape().0;
    let mut rows = vec![0.0; n * V];
    project(&values(x), &values(table), D, &mut rows);
    let mut scratch = vec![0.0; V];
    for row in rows.chunks_exact_mut(V) {
        scratch.copy_from_slice(row);
        let normaliser = exponentiate(&mut scratch).log_normaliser() as f32;
        shift(row, -normaliser);
    }
    rows
}

/// The gradients of the loss, made in the forward pass.
struct LossGradients {
    x: Vec<f32>,
    table: Vec<f32>,
}

/// In nats, over all rows.
#[derive(Default)]
struct Sums {
    smoothed: f64,
    nll: f64,
}

fn blocks(x: &[f32], table: &[f32], d: usize, target: LossTarget, mut made: Option<&mut LossGradients>) -> Sums {
    let classes = table.len() / d;
    let mut sums = Sums::default();
    let mut logits = vec![0.0; BLOCK.min(target.labels.len()) * classes];
    for (block, labels) in target.labels.chunks(BLOCK).enumerate() {
        let rows = block * BLOCK * d..(block * BLOCK + labels.len()) * d;
        let logits = &mut logits[..labels.len() * classes];
        let x = &x[rows.clone()];
        project(x, table, d, logits);
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

/// `x [N, D] . table^T [D, V] -> logits [N, V]`.
fn project(x: &[f32], table: &[f32], d: usize, logits: &mut [f32]) {
    let x = View::new(x, x.len() / d, d);
    product(
        x,
        View::new(table, table.len() / d, d).transposed(),
        logits,
        Output::Overwrite,
    );
}

impl Sums {
    /// Adds the loss of one row of logits, which become unnormalised probabilities.
    fn add(&mut self, logits: &mut [f32], label: usize, smoothing: f32) -> Softmax {
        let (right, all) = (f64::from(logits[label]), f64::from(sum(logits)));
        let softmax = exponentiate(logits);
        let normaliser = softmax.log_normaliser();
        let nll = normaliser - right;
        let mean_nll = normaliser - all / logits.len() as f64;
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
    let largest = max(logits);
    for logit in logits.iter_mut() {
        *logit = exp(*logit - largest);
    }
    Softmax {
        largest,
        sum: sum(logits),
    }
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
