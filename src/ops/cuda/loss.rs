//! Projection onto the vocabulary, softmax and smoothed cross-entropy by blocks of rows. The gradients are made in the
//! forward pass, while a block's probabilities are at hand; backward only scales them.

use cudarc::driver::CudaSlice;
use dfdx::prelude::*;

use super::address::address;
use super::context::{Context, context, int, of};
use super::product::{Operand, Output, product};
use super::tape::{gradient_address, take_gradient};
use crate::ops::{Loss, LossTarget, Recording, Rows, Size, Table, TokenLoss, precision};
use crate::spec::Precision;

/// Threads of a block that has a row of logits, as `loss.cu` has them.
pub const THREADS: u32 = 256;

/// Rows of logits that are held at once, in 512 MiB.
pub fn rows_at_once(classes: usize, rows: usize) -> usize {
    const LOGITS: usize = 1 << 27;
    (LOGITS / classes).clamp(1, rows.max(1))
}

impl Loss for Cuda {
    fn smoothed_loss<D: Size>(
        recording: &mut Recording<Self>,
        x: &Rows<D, Self>,
        table: &Table<D, Self>,
        target: LossTarget,
    ) -> TokenLoss<Self> {
        let context = context();
        let (width, classes) = (D::SIZE, table.shape().0);
        let device = x.device().clone();
        let projection = Projection {
            x: Operand::of(&context, address(x), x.shape().0 * width, width),
            table: Operand::of(&context, address(table), classes * width, width),
            width,
            classes,
        };
        let made = recording.is_on().then(|| LossGradients {
            x: context.uninitialized(x.shape().0 * width),
            table: context.zeros(classes * width),
        });
        let [smoothed_sum, nll_sum] = projection.losses(&context, target, made.as_ref());
        let loss = device.tensor(smoothed_sum as f32 * target.scale);
        if let Some(made) = made {
            let numbers = [x.shape().num_elements(), classes * width];
            let (x, table, loss) = (x.ghost(), table.ghost(), loss.ghost());
            recording.add(move |gradients| {
                let d_loss = take_gradient!(gradients, device, loss);
                let targets = [gradient_address!(gradients, x), gradient_address!(gradients, table)];
                for ((count, made), to) in numbers.into_iter().zip([&made.x, &made.table]).zip(targets) {
                    // SAFETY: as many numbers on both sides, and one factor.
                    unsafe { context.launch_over("add_scaled", count, (count, &*d_loss, made, to)) };
                }
                Ok(())
            });
        }
        TokenLoss {
            loss,
            smoothed_sum,
            nll_sum,
        }
    }
}

/// The gradients of the loss, made in the forward pass.
struct LossGradients {
    x: CudaSlice<f32>,
    table: CudaSlice<f32>,
}

struct Projection {
    /// `[N, D]`.
    x: Operand,
    /// `[V, D]`.
    table: Operand,
    width: usize,
    classes: usize,
}

impl Projection {
    /// Smoothed loss and negative log-likelihood, summed over the rows; writes the gradients where they are wanted.
    fn losses(&self, context: &Context, target: LossTarget, made: Option<&LossGradients>) -> [f64; 2] {
        let rows = target.labels.len();
        let block_rows = rows_at_once(self.classes, rows);
        let labels = context.upload(target.labels.to_vec());
        let losses = context.uninitialized::<f64>(2 * rows);
        let logits = context.uninitialized::<f32>(block_rows * self.classes);
        for first in (0..rows).step_by(block_rows) {
            let count = block_rows.min(rows - first);
            // SAFETY: x [N, D] . table^T [D, V] -> logits [N, V]
            unsafe {
                let (left, right) = (self.x.rows_from(first), self.table.view().transposed());
                let (size, out) = ([count, self.classes, self.width], (of(&logits), self.classes));
                product(context, size, left, right, out, Output::Overwrite);
            }
            let rounded = (made.is_some() && precision::current() == Precision::Bf16)
                .then(|| context.uninitialized::<u16>(count * self.classes));
            let arguments = (
                int(self.classes),
                of(&labels) + 4 * first as u64,
                target.smoothing,
                target.scale,
                i32::from(made.is_some()),
                &logits,
                rounded.as_ref().map_or(0, of),
                of(&losses) + 16 * first as u64,
            );
            // SAFETY: a label, two losses and a row of logits for each row of the block.
            unsafe { context.launch("loss_rows", [count, 1], THREADS, arguments) };
            if let Some(made) = made {
                let d_logits = match rounded {
                    Some(rounded) => Operand::rounded(rounded, self.classes),
                    None => Operand::of(context, of(&logits), count * self.classes, self.classes),
                };
                self.gradients(context, first, count, &d_logits, made);
            }
        }
        let sums = context.uninitialized::<f64>(2);
        // SAFETY: two losses for each row.
        unsafe { context.launch("sum_losses", [1, 1], THREADS, (int(rows), &losses, &sums)) };
        let sums = context.download(&sums);
        [sums[0], sums[1]]
    }

    /// Of the rows from `first` on.
    fn gradients(&self, context: &Context, first: usize, count: usize, d_logits: &Operand, made: &LossGradients) {
        let [width, classes] = [self.width, self.classes];
        // SAFETY: d_logits [N, V] . table [V, D] -> d_x [N, D], and d_logits^T [V, N] . x [N, D] -> d_table [V, D]
        unsafe {
            let out = (of(&made.x) + 4 * (first * width) as u64, width);
            let (size, right) = ([count, width, classes], self.table.view());
            product(context, size, d_logits.view(), right, out, Output::Overwrite);
            let (size, out) = ([classes, width, count], (of(&made.table), width));
            let left = d_logits.view().transposed();
            product(context, size, left, self.x.rows_from(first), out, Output::Add);
        }
    }
}
