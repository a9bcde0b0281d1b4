//! The position-wise feed-forward network (section 3.3).

use dfdx::prelude::*;

use super::cases::{Call, Case, Inputs};
use super::plain::{linear, untyped};
use super::{Activation, Matrix, OnDevice, Recording, Rows, Size, Vector};

/// Weights and biases of the network.
#[derive(Debug)]
pub struct FeedForwardWeights<'a, D: Size, F: Size, Dev: Storage<f32>> {
    pub inner: &'a Matrix<F, D, Dev>,
    pub inner_bias: &'a Vector<F, Dev>,
    pub outer: &'a Matrix<D, F, Dev>,
    pub outer_bias: &'a Vector<D, Dev>,
}

/// Runs the network.
pub trait FeedForward: OnDevice {
    /// `max(0, x . inner^T + inner_bias) . outer^T + outer_bias` (equation 2): `[N, D] -> [N, F] -> [N, D]`.
    fn feed_forward<D: Size, F: Size>(
        recording: &mut Recording<Self>,
        x: &Rows<D, Self>,
        weights: &FeedForwardWeights<D, F, Self>,
    ) -> Rows<D, Self>;
}

/// [`FeedForward::feed_forward`] as dfdx writes it.
pub fn plain<D: Size, F: Size, Dev: Device<f32>>(
    recording: &mut Recording<Dev>,
    x: &Rows<D, Dev>,
    weights: &FeedForwardWeights<D, F, Dev>,
) -> Rows<D, Dev> {
    let rows = x.shape().0;
    let (inner_bias, outer_bias) = (weights.inner_bias.retaped(), weights.outer_bias.retaped());
    recording.carried(|tape| {
        let x = x.clone().put_tape(tape).reshape_like(&(rows, D::SIZE));
        let inner_bias = inner_bias.reshape_like(&(F::SIZE,));
        let outer_bias = outer_bias.reshape_like(&(D::SIZE,));
        let hidden = linear(x, untyped(weights.inner), Some(inner_bias), Activation::Relu); // [N, D] -> [N, F]
        let y = linear(hidden, untyped(weights.outer), Some(outer_bias), Activation::Identity); // [N, F] -> [N, D]
        y.reshape_like(&(rows, D::default()))
    })
}

type Operation<D, F, Dev> = fn(&mut Recording<Dev>, &Rows<D, Dev>, &FeedForwardWeights<D, F, Dev>) -> Rows<D, Dev>;

fn call<D: Size, F: Size, Dev: OnDevice>(
    inputs: &mut Inputs<Dev>,
    rows: usize,
    operation: Operation<D, F, Dev>,
) -> Call<Dev> {
    let x = inputs.tensor("x", (rows, D::default()));
    let inner = inputs.tensor("inner", (F::default(), D::default()));
    // So far from zero that rounding an operand does not switch a hidden number on or off, and no further: 4.5 standard
    // deviations of what is added to it.
    let far = (!inputs.is_exact()).then(|| 1.5 * (D::SIZE as f32).sqrt());
    let inner_bias = inputs.tensor_of("inner bias", (F::default(),), |number| {
        far.map_or(number, |far| far * number.signum())
    });
    let outer = inputs.tensor("outer", (D::default(), F::default()));
    let outer_bias = inputs.tensor("outer bias", (D::default(),));
    Call::rows(move |recording| {
        let weights = FeedForwardWeights {
            inner: &inner,
            inner_bias: &inner_bias,
            outer: &outer,
            outer_bias: &outer_bias,
        };
        operation(recording, &x, &weights)
    })
}

/// One case of `rows` rows.
#[must_use]
pub fn case<D: Size, F: Size, Dev: FeedForward>(rows: usize) -> Case<Dev> {
    Case::new(
        format!("feed-forward {rows} x {} -> {}", D::SIZE, F::SIZE),
        move |inputs| call::<D, F, Dev>(inputs, rows, Dev::feed_forward),
        move |inputs| call::<D, F, Cpu>(inputs, rows, plain),
    )
    .rounded()
}

/// Cases that a device must get right.
#[must_use]
pub fn cases<Dev: FeedForward>() -> Vec<Case<Dev>> {
    vec![
        case::<Const<1>, Const<1>, Dev>(1),
        case::<Const<6>, Const<11>, Dev>(13),
        case::<Const<7>, Const<5>, Dev>(13),
        case::<Const<33>, Const<70>, Dev>(300),
        case::<Const<64>, Const<96>, Dev>(300),
    ]
}
