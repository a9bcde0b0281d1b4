//! Multi-head attention with its projections, none of which has a bias (section 3.2.2).

use dfdx::prelude::*;

use super::cases::{Call, Case, Inputs};
use super::plain::{self as dynamic, linear, untyped};
use super::{Activation, HeadSizes, Mask, Matrix, OnDevice, Packed, Recording, Rows, Size, Spans};

/// The four projections.
#[derive(Debug)]
pub struct AttentionWeights<'a, D: Size, HK: Size, HV: Size, Dev: Storage<f32>> {
    pub query: &'a Matrix<HK, D, Dev>,
    pub key: &'a Matrix<HK, D, Dev>,
    pub value: &'a Matrix<HV, D, Dev>,
    pub output: &'a Matrix<D, HV, Dev>,
}

/// Attends.
pub trait Attention: OnDevice {
    /// Each row of `x` (`[N, D]`) attends to the rows of `memory` (`[M, D]`) that `spans` shows it, or of `x` itself
    /// where there is no memory, with so many heads: `[N, D]`.
    fn multi_head_attention<D: Size, HK: Size, HV: Size>(
        recording: &mut Recording<Self>,
        x: &Rows<D, Self>,
        memory: Option<&Rows<D, Self>>,
        weights: &AttentionWeights<D, HK, HV, Self>,
        heads: usize,
        spans: &Spans,
    ) -> Rows<D, Self>;
}

/// [`Attention::multi_head_attention`] as dfdx writes it.
pub fn plain<D: Size, HK: Size, HV: Size, Dev: Device<f32>>(
    recording: &mut Recording<Dev>,
    x: &Rows<D, Dev>,
    memory: Option<&Rows<D, Dev>>,
    weights: &AttentionWeights<D, HK, HV, Dev>,
    heads: usize,
    spans: &Spans,
) -> Rows<D, Dev> {
    let rows = x.shape().0;
    recording.carried(|tape| {
        let read = || {
            let read = memory.unwrap_or(x).retaped::<OwnedTape<f32, Dev>>();
            let rows = read.shape().0;
            read.reshape_like(&(rows, D::SIZE))
        };
        let project = |x, weight| linear(x, weight, None, Activation::Identity);
        let keys = project(read(), untyped(weights.key)); // [M, D] -> [M, H*K]
        let values = project(read(), untyped(weights.value)); // [M, D] -> [M, H*VD]
        let x = x.clone().put_tape(tape).reshape_like(&(rows, D::SIZE));
        let queries = project(x, untyped(weights.query)); // [N, D] -> [N, H*K]
        let sizes = HeadSizes::split(heads, HK::SIZE, HV::SIZE);
        let mixed = dynamic::attention([queries, keys, values], sizes, spans); // [N, H*VD]
        project(mixed, untyped(weights.output)).reshape_like(&(rows, D::default())) // [N, D]
    })
}

type Operation<D, HK, HV, Dev> = fn(
    &mut Recording<Dev>,
    &Rows<D, Dev>,
    Option<&Rows<D, Dev>>,
    &AttentionWeights<D, HK, HV, Dev>,
    usize,
    &Spans,
) -> Rows<D, Dev>;

/// Sentences that attend.
#[derive(Debug, Clone)]
pub struct Setting {
    pub heads: usize,
    /// Lengths of the sentences that ask.
    pub target: Vec<usize>,
    /// Lengths of those that are asked; without, the sentences attend to themselves.
    pub source: Option<Vec<usize>>,
    /// Between the tokens of a sentence that attends to itself.
    pub mask: Mask,
    /// Of restricted self-attention.
    pub window: Option<usize>,
}

impl Setting {
    /// Sentences that attend to themselves, and never to what comes later.
    #[must_use]
    pub fn within(heads: usize, target: &[usize]) -> Self {
        Self {
            heads,
            target: target.to_vec(),
            source: None,
            mask: Mask::Causal,
            window: None,
        }
    }

    /// Sentences that attend to others.
    #[must_use]
    pub fn across(heads: usize, target: &[usize], source: &[usize]) -> Self {
        Self {
            source: Some(source.to_vec()),
            ..Self::within(heads, target)
        }
    }

    fn spans(&self) -> Spans {
        let pack = |lengths: &[usize]| Packed::from_sentences(lengths.iter().map(|&length| vec![0; length]));
        let target = pack(&self.target);
        match &self.source {
            Some(source) => Spans::across(&target, &pack(source)),
            None => Spans::within(&target, self.mask).windowed(self.window),
        }
    }
}

fn call<D: Size, HK: Size, HV: Size, Dev: OnDevice>(
    inputs: &mut Inputs<Dev>,
    setting: &Setting,
    operation: Operation<D, HK, HV, Dev>,
) -> Call<Dev> {
    let x = inputs.tensor("x", (setting.target.iter().sum(), D::default()));
    let memory_rows = setting.source.as_ref().map(|lengths| lengths.iter().sum());
    let memory = memory_rows.map(|rows| inputs.tensor("memory", (rows, D::default())));
    let query = inputs.tensor("query", (HK::default(), D::default()));
    let key = inputs.tensor("key", (HK::default(), D::default()));
    let value = inputs.tensor("value", (HV::default(), D::default()));
    let output = inputs.tensor("output", (D::default(), HV::default()));
    let (heads, spans) = (setting.heads, setting.spans());
    Call::rows(move |recording| {
        let weights = AttentionWeights {
            query: &query,
            key: &key,
            value: &value,
            output: &output,
        };
        operation(recording, &x, memory.as_ref(), &weights, heads, &spans)
    })
}

/// One case.
#[must_use]
pub fn case<D: Size, HK: Size, HV: Size, Dev: Attention>(setting: Setting) -> Case<Dev> {
    let to = match &setting.source {
        Some(source) => format!("{source:?}"),
        None => match setting.window {
            None => format!("itself, {:?}", setting.mask),
            Some(window) => format!("itself, {:?}, window {window}", setting.mask),
        },
    };
    let HeadSizes { heads, key, value } = HeadSizes::split(setting.heads, HK::SIZE, HV::SIZE);
    let name = format!(
        "attention {heads} x {key}/{value} of {}, {:?} to {to}",
        D::SIZE,
        setting.target
    );
    let other = setting.clone();
    Case::new(
        name,
        move |inputs| call::<D, HK, HV, Dev>(inputs, &setting, Dev::multi_head_attention),
        move |inputs| call::<D, HK, HV, Cpu>(inputs, &other, plain),
    )
    .rounded()
}

/// Restricted self-attention.
fn windowed<Dev: Attention>(mask: Mask, window: usize, target: &[usize]) -> Case<Dev> {
    case::<Const<16>, Const<12>, Const<20>, Dev>(Setting {
        mask,
        window: Some(window),
        ..Setting::within(2, target)
    })
}

/// Cases that a device must get right.
#[must_use]
pub fn cases<Dev: Attention>() -> Vec<Case<Dev>> {
    let (short, source) = (&[3, 1, 0, 20], &[1, 2, 4, 33]);
    vec![
        case::<Const<16>, Const<16>, Const<16>, Dev>(Setting::within(2, short)),
        case::<Const<16>, Const<16>, Const<16>, Dev>(Setting {
            mask: Mask::Full,
            ..Setting::within(2, short)
        }),
        case::<Const<7>, Const<15>, Const<6>, Dev>(Setting::across(3, short, source)),
        case::<Const<8>, Const<40>, Const<70>, Dev>(Setting::across(1, &[9, 1, 130], &[1, 40, 65])),
        case::<Const<64>, Const<64>, Const<64>, Dev>(Setting::within(4, &[40, 7, 33, 32])),
        case::<Const<4>, Const<4>, Const<4>, Dev>(Setting::within(4, &[1])),
        windowed(Mask::Causal, 0, short),
        windowed(Mask::Causal, 3, &[40, 1, 0, 130]),
        windowed(Mask::Full, 3, &[40, 1, 0, 130]),
        windowed(Mask::Full, 17, &[70, 5]),
        windowed(Mask::Causal, 500, short),
    ]
}
