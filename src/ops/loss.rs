//! Projection onto the vocabulary, softmax and label-smoothed cross-entropy (section 5.4).

use dfdx::prelude::*;

use super::cases::{Call, Case, Inputs};
use super::plain::{index, linear};
use super::{Activation, OnDevice, Recording, Rows, Size, Table, TokenLoss};

/// What the loss is told besides the rows.
#[derive(Debug, Clone, Copy)]
pub struct LossTarget<'a> {
    /// The right class of each row.
    pub labels: &'a [u32],
    /// `epsilon_ls`: mass spread evenly over all classes, the right one included (`PyTorch`'s convention).
    pub smoothing: f32,
    /// Factor on the sum over rows, one over the target tokens of the whole update.
    pub scale: f32,
}

/// Computes the loss.
pub trait Loss: OnDevice {
    /// The loss of every row of `x` (`[N, D]`) whose logits are `x . table^T` (`[V, D]`).
    fn smoothed_loss<D: Size>(
        recording: &mut Recording<Self>,
        x: &Rows<D, Self>,
        table: &Table<D, Self>,
        target: LossTarget,
    ) -> TokenLoss<Self>;
}

/// [`Loss::smoothed_loss`] as dfdx writes it.
pub fn plain<D: Size, Dev: Device<f32>>(
    recording: &mut Recording<Dev>,
    x: &Rows<D, Dev>,
    table: &Table<D, Dev>,
    target: LossTarget,
) -> TokenLoss<Dev> {
    let (rows, classes) = (x.shape().0, table.shape().0);
    let labels = index(
        table.device(),
        target.labels.iter().map(|&label| label as usize).collect(),
    );
    let (mut smoothed_sum, mut nll_sum) = (0.0, 0.0);
    let loss = recording.carried(|tape| {
        let x = x.clone().put_tape(tape).reshape_like(&(rows, D::SIZE));
        let table = table.retaped().reshape_like(&(classes, D::SIZE));
        let log_p = linear(x, table, None, Activation::Identity).log_softmax::<Axis<1>>(); // [N, V]
        let right = log_p.retaped::<OwnedTape<f32, Dev>>().select(labels);
        let (right, tape) = right.sum::<Rank0, _>().split_tape();
        nll_sum = -f64::from(right.as_vec()[0]);
        let right = right.put_tape(tape) * (target.smoothing - 1.0);
        let even = log_p.sum::<Rank0, _>() * (-target.smoothing / classes as f32);
        let (sum, tape) = (right + even).split_tape();
        smoothed_sum = f64::from(sum.as_vec()[0]);
        sum.put_tape(tape) * target.scale
    });
    TokenLoss {
        loss,
        smoothed_sum,
        nll_sum,
    }
}

type Operation<D, Dev> = fn(&mut Recording<Dev>, &Rows<D, Dev>, &Table<D, Dev>, LossTarget) -> TokenLoss<Dev>;

/// How large a case is.
#[derive(Clone, Copy)]
struct Setting {
    rows: usize,
    classes: usize,
    smoothing: f32,
}

fn call<D: Size, Dev: OnDevice>(inputs: &mut Inputs<Dev>, setting: Setting, operation: Operation<D, Dev>) -> Call<Dev> {
    let x = inputs.tensor("x", (setting.rows, D::default()));
    let table = inputs.tensor("table", (setting.classes, D::default()));
    let labels: Vec<u32> = (0..setting.rows).map(|i| (i * 7 % setting.classes) as u32).collect();
    Call::loss(setting.rows, move |recording| {
        let target = LossTarget {
            labels: &labels,
            smoothing: setting.smoothing,
            scale: 0.37,
        };
        operation(recording, &x, &table, target)
    })
}

/// One case of `rows` rows.
#[must_use]
pub fn case<D: Size, Dev: Loss>(rows: usize, classes: usize, smoothing: f32) -> Case<Dev> {
    let setting = Setting {
        rows,
        classes,
        smoothing,
    };
    Case::new(
        format!("loss {rows} x {} -> {classes}, smoothing {smoothing}", D::SIZE),
        move |inputs| call::<D, Dev>(inputs, setting, Dev::smoothed_loss),
        move |inputs| call::<D, Cpu>(inputs, setting, plain),
    )
}

/// Cases that a device must get right.
#[must_use]
pub fn cases<Dev: Loss>() -> Vec<Case<Dev>> {
    vec![
        // With rounded operands the gradient of a lonely row may all but cancel, and rounding is all that is left of it.
        case::<Const<1>, Dev>(1, 3, 0.0),
        case::<Const<8>, Dev>(5, 37, 0.1).rounded(),
        case::<Const<19>, Dev>(130, 100, 0.2).rounded(),
        case::<Const<24>, Dev>(130, 1000, 0.2).rounded(),
    ]
}
