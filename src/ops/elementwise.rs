//! Dropout and sums.

use dfdx::prelude::*;

use super::cases::{Call, Case, Inputs};
use super::{Dropout, OnDevice, Recording, Rows, Size};

/// Works on activations number by number.
pub trait Elementwise: OnDevice {
    /// Inverted dropout: zero with probability `rate`, the rest divided by `1 - rate`.
    fn dropout<D: Size>(recording: &mut Recording<Self>, x: &Rows<D, Self>, dropout: Dropout) -> Rows<D, Self>;

    /// `x + y`.
    fn add<D: Size>(recording: &mut Recording<Self>, x: &Rows<D, Self>, y: &Rows<D, Self>) -> Rows<D, Self>;
}

/// [`Elementwise::dropout`] as dfdx writes it.
pub fn plain_dropout<D: Size, Dev: Device<f32>>(
    recording: &mut Recording<Dev>,
    x: &Rows<D, Dev>,
    dropout: Dropout,
) -> Rows<D, Dev> {
    if dropout.is_off() {
        return x.clone();
    }
    let mut factors = vec![0.0; x.shape().num_elements()];
    dropout.factors(0, &mut factors);
    let mask = x.device().tensor_from_vec(factors, *x.shape());
    recording.carried(|tape| x.clone().put_tape(tape) * mask)
}

/// [`Elementwise::add`] as dfdx writes it.
pub fn plain_add<D: Size, Dev: Device<f32>>(
    recording: &mut Recording<Dev>,
    x: &Rows<D, Dev>,
    y: &Rows<D, Dev>,
) -> Rows<D, Dev> {
    recording.carried(|tape| x.clone().put_tape(tape) + y.clone())
}

type OfOne<D, Dev> = fn(&mut Recording<Dev>, &Rows<D, Dev>, Dropout) -> Rows<D, Dev>;
type OfTwo<D, Dev> = fn(&mut Recording<Dev>, &Rows<D, Dev>, &Rows<D, Dev>) -> Rows<D, Dev>;

fn of_one<D: Size, Dev: OnDevice>(inputs: &mut Inputs<Dev>, rows: usize, operation: OfOne<D, Dev>) -> Call<Dev> {
    let x = inputs.tensor("x", (rows, D::default()));
    Call::rows(move |recording| operation(recording, &x, Dropout::new(0.3, 9)))
}

fn of_two<D: Size, Dev: OnDevice>(inputs: &mut Inputs<Dev>, rows: usize, operation: OfTwo<D, Dev>) -> Call<Dev> {
    let [x, y] = ["x", "y"].map(|name| inputs.tensor(name, (rows, D::default())));
    Call::rows(move |recording| operation(recording, &x, &y))
}

/// Both operations on `rows` rows.
#[must_use]
pub fn both<D: Size, Dev: Elementwise>(rows: usize) -> Vec<Case<Dev>> {
    let size = format!("{rows} x {}", D::SIZE);
    vec![
        Case::new(
            format!("dropout {size}"),
            move |inputs| of_one::<D, Dev>(inputs, rows, Dev::dropout),
            move |inputs| of_one::<D, Cpu>(inputs, rows, plain_dropout),
        ),
        Case::new(
            format!("sum {size}"),
            move |inputs| of_two::<D, Dev>(inputs, rows, Dev::add),
            move |inputs| of_two::<D, Cpu>(inputs, rows, plain_add),
        ),
    ]
}

/// Cases that a device must get right.
#[must_use]
pub fn cases<Dev: Elementwise>() -> Vec<Case<Dev>> {
    both::<Const<10>, Dev>(37)
}
