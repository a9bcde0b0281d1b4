//! Layer normalisation, alone and as the paper's residual connection (section 5.4).

use dfdx::prelude::*;

use super::cases::{Call, Case, Inputs};
use super::{Dropout, OnDevice, Recording, Rows, Size, Vector, elementwise, plain as dynamic};

/// Weight and bias of a norm, `[D]` each.
#[derive(Debug)]
pub struct NormWeights<'a, D: Size, Dev: Storage<f32>> {
    pub weight: &'a Vector<D, Dev>,
    pub bias: &'a Vector<D, Dev>,
}

/// Normalises rows.
pub trait LayerNorm: OnDevice {
    /// Each row to mean 0 and variance 1, times the weight, plus the bias: `[N, D]`.
    fn layer_norm<D: Size>(
        recording: &mut Recording<Self>,
        x: &Rows<D, Self>,
        weights: &NormWeights<D, Self>,
    ) -> Rows<D, Self>;

    /// `layer_norm(x + dropout(sublayer))`: the paper's residual connection (section 5.4).
    fn add_norm<D: Size>(
        recording: &mut Recording<Self>,
        x: &Rows<D, Self>,
        sublayer: &Rows<D, Self>,
        dropout: Dropout,
        weights: &NormWeights<D, Self>,
    ) -> Rows<D, Self>;
}

/// [`LayerNorm::layer_norm`] as dfdx writes it.
pub fn plain<D: Size, Dev: Device<f32>>(
    recording: &mut Recording<Dev>,
    x: &Rows<D, Dev>,
    weights: &NormWeights<D, Dev>,
) -> Rows<D, Dev> {
    let rows = x.shape().0;
    recording.carried(|tape| {
        let x = x.clone().put_tape(tape).reshape_like(&(rows, D::SIZE));
        let [weight, bias] = [weights.weight, weights.bias].map(|vector| vector.retaped().reshape_like(&(D::SIZE,)));
        dynamic::layer_norm(x, weight, bias).reshape_like(&(rows, D::default()))
    })
}

/// [`LayerNorm::add_norm`] as dfdx writes it.
pub fn plain_residual<D: Size, Dev: Device<f32>>(
    recording: &mut Recording<Dev>,
    x: &Rows<D, Dev>,
    sublayer: &Rows<D, Dev>,
    dropout: Dropout,
    weights: &NormWeights<D, Dev>,
) -> Rows<D, Dev> {
    let dropped = elementwise::plain_dropout(recording, sublayer, dropout);
    let sum = elementwise::plain_add(recording, x, &dropped);
    plain(recording, &sum, weights)
}

type Alone<D, Dev> = fn(&mut Recording<Dev>, &Rows<D, Dev>, &NormWeights<D, Dev>) -> Rows<D, Dev>;
type Residual<D, Dev> =
    fn(&mut Recording<Dev>, &Rows<D, Dev>, &Rows<D, Dev>, Dropout, &NormWeights<D, Dev>) -> Rows<D, Dev>;

fn call<D: Size, Dev: OnDevice>(inputs: &mut Inputs<Dev>, rows: usize, operation: Alone<D, Dev>) -> Call<Dev> {
    let x = inputs.tensor("x", (rows, D::default()));
    let [weight, bias] = ["weight", "bias"].map(|name| inputs.tensor(name, (D::default(),)));
    Call::rows(move |recording| {
        let weights = NormWeights {
            weight: &weight,
            bias: &bias,
        };
        operation(recording, &x, &weights)
    })
}

fn residual<D: Size, Dev: OnDevice>(
    inputs: &mut Inputs<Dev>,
    rows: usize,
    dropout: Dropout,
    operation: Residual<D, Dev>,
) -> Call<Dev> {
    let [x, y] = ["x", "y"].map(|name| inputs.tensor(name, (rows, D::default())));
    let [weight, bias] = ["weight", "bias"].map(|name| inputs.tensor(name, (D::default(),)));
    Call::rows(move |recording| {
        let weights = NormWeights {
            weight: &weight,
            bias: &bias,
        };
        operation(recording, &x, &y, dropout, &weights)
    })
}

/// Both operations on `rows` rows.
#[must_use]
pub fn both<D: Size, Dev: LayerNorm>(rows: usize) -> Vec<Case<Dev>> {
    let size = format!("{rows} x {}", D::SIZE);
    let alone = Case::new(
        format!("layer norm {size}"),
        move |inputs| call::<D, Dev>(inputs, rows, Dev::layer_norm),
        move |inputs| call::<D, Cpu>(inputs, rows, plain),
    );
    let with = |name: &str, dropout| {
        Case::new(
            format!("{name} {size}"),
            move |inputs| residual::<D, Dev>(inputs, rows, dropout, Dev::add_norm),
            move |inputs| residual::<D, Cpu>(inputs, rows, dropout, plain_residual),
        )
    };
    vec![
        alone,
        with("add and norm", Dropout::OFF),
        with("dropout, add and norm", Dropout::new(0.2, 4)),
    ]
}

/// Cases that a device must get right.
#[must_use]
pub fn cases<Dev: LayerNorm>() -> Vec<Case<Dev>> {
    let sizes = [
        both::<Const<5>, Dev>(1),
        both::<Const<16>, Dev>(9),
        both::<Const<67>, Dev>(300),
    ];
    sizes.into_iter().flatten().collect()
}
