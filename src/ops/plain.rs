//! Every operation as dfdx writes it: the first implementation on any device, and the oracle of the fused ones.
//! Slow and obvious; padding exists inside [`attention`] alone.

use dfdx::prelude::*;

use super::{
    Activation, AttentionWeights, Dropout, FeedForwardWeights, LAYER_NORM_EPSILON, LossTarget, Matrix, Rows, Spans,
    TokenLoss, Vector,
};

/// Added to a score that must not count: `exp` makes it exactly 0, and no row is masked as a whole.
const MASKED: f32 = -1e30;

pub fn gather<const V: usize, const D: usize, Dev: Device<f32>, T: Tape<f32, Dev>>(
    table: &Matrix<V, D, Dev>,
    ids: &[u32],
    scale: f32,
) -> Rows<D, Dev, T> {
    let index = index(table.device(), ids.iter().map(|&id| id as usize).collect());
    table.retaped::<T>().gather(index) * scale
}

/// `activation(x . weight^T + bias)`: `[N, I] -> [N, O]`.
fn linear<const I: usize, const O: usize, Dev: Device<f32>, T: Tape<f32, Dev>>(
    x: Rows<I, Dev, T>,
    weight: &Matrix<O, I, Dev>,
    bias: Option<&Vector<O, Dev>>,
    activation: Activation,
) -> Rows<O, Dev, T> {
    let mut y = x.matmul(weight.retaped::<T>().permute::<Rank2<I, O>, _>()); // [N, I] . [I, O]
    if let Some(bias) = bias {
        let shape = *y.shape();
        y = y + bias.retaped::<T>().broadcast_like(&shape);
    }
    match activation {
        Activation::Identity => y,
        Activation::Relu => y.relu(),
    }
}

pub fn dropout<const D: usize, Dev: Device<f32>, T: Tape<f32, Dev>>(
    x: Rows<D, Dev, T>,
    dropout: Dropout,
) -> Rows<D, Dev, T> {
    if dropout.is_off() {
        return x;
    }
    let mut factors = vec![0.0; x.shape().num_elements()];
    dropout.factors(0, &mut factors);
    let mask = x.device().tensor_from_vec(factors, *x.shape());
    x * mask
}

pub fn add<const D: usize, Dev: Device<f32>, T: Tape<f32, Dev>>(
    x: Rows<D, Dev, T>,
    y: Rows<D, Dev, T>,
) -> Rows<D, Dev, T> {
    x + y
}

pub fn layer_norm<const D: usize, Dev: Device<f32>, T: Tape<f32, Dev>>(
    x: Rows<D, Dev, T>,
    gain: &Vector<D, Dev>,
    bias: &Vector<D, Dev>,
) -> Rows<D, Dev, T> {
    let shape = *x.shape();
    x.normalize::<Axis<1>>(f64::from(LAYER_NORM_EPSILON)) * gain.retaped::<T>().broadcast_like(&shape)
        + bias.retaped::<T>().broadcast_like(&shape)
}

/// Scaled dot-product attention, sentence by sentence and head by head (equation 1): queries `[N, H*K]`, keys
/// `[M, H*K]` and values `[M, H*VD]` give `[N, H*VD]`.
///
/// Gathers the packed rows into `[B, S, ..]`, attends there as the textbook does, and gathers the answers back.
pub fn attention<const H: usize, const K: usize, const VD: usize, const HK: usize, const HV: usize, Dev, T>(
    queries: Rows<HK, Dev, T>,
    keys: Rows<HK, Dev, T>,
    values: Rows<HV, Dev, T>,
    spans: &Spans,
) -> Rows<HV, Dev, T>
where
    Dev: Device<f32>,
    T: Tape<f32, Dev>,
{
    let device = queries.device().clone();
    let padding = Padding::of(spans);
    let (b, s, m) = (padding.sentences, padding.queries, padding.keys);

    let q = heads::<H, K, HK, Dev, T>(queries, index(&device, padding.query_rows), b, s); // [B*H, S, K]
    let k = heads::<H, K, HK, Dev, T>(keys, index(&device, padding.key_rows.clone()), b, m); // [B*H, M, K]
    let v = heads::<H, VD, HV, Dev, T>(values, index(&device, padding.key_rows), b, m); // [B*H, M, VD]

    let scores = q.matmul(k.permute::<_, Axes3<0, 2, 1>>()) * (K as f32).sqrt().recip(); // [B*H, S, M]
    let mask = padding
        .mask
        .iter()
        .flat_map(|sentence| std::iter::repeat_n(sentence, H).flatten().copied())
        .collect();
    let mask = device.tensor_from_vec::<(usize, usize, usize)>(mask, (b * H, s, m));
    let weights = (scores + mask).softmax::<Axis<2>>();

    weights
        .matmul(v) // [B*H, S, VD]
        .reshape_like(&(b, Const::<H>, s, Const::<VD>))
        .permute::<_, Axes4<0, 2, 1, 3>>()
        .reshape_like(&(b * s, Const::<HV>))
        .gather(index(&device, padding.rows_back))
}

pub fn multi_head_attention<
    const D: usize,
    const H: usize,
    const K: usize,
    const VD: usize,
    const HK: usize,
    const HV: usize,
    Dev: Device<f32>,
    T: Tape<f32, Dev>,
>(
    x: Rows<D, Dev, T>,
    memory: Option<&Rows<D, Dev>>,
    weights: &AttentionWeights<D, HK, HV, Dev>,
    spans: &Spans,
) -> Rows<D, Dev, T> {
    let rows = x.retaped::<NoneTape>();
    let read = || memory.unwrap_or(&rows).retaped::<T>();
    let keys = linear(read(), weights.key, None, Activation::Identity); // [M, D] -> [M, H*K]
    let values = linear(read(), weights.value, None, Activation::Identity); // [M, D] -> [M, H*VD]
    let queries = linear(x, weights.query, None, Activation::Identity); // [N, D] -> [N, H*K]
    let mixed = attention::<H, K, VD, HK, HV, Dev, T>(queries, keys, values, spans); // [N, H*VD]
    linear(mixed, weights.output, None, Activation::Identity) // [N, D]
}

pub fn feed_forward<const D: usize, const F: usize, Dev: Device<f32>, T: Tape<f32, Dev>>(
    x: Rows<D, Dev, T>,
    weights: &FeedForwardWeights<D, F, Dev>,
) -> Rows<D, Dev, T> {
    let hidden = linear(x, weights.inner, Some(weights.inner_bias), Activation::Relu); // [N, D] -> [N, F]
    linear(hidden, weights.outer, Some(weights.outer_bias), Activation::Identity) // [N, F] -> [N, D]
}

/// `[N, H*K] -> [B*H, S, K]`, the rows of each sentence padded by repetitions of row 0.
fn heads<const H: usize, const K: usize, const HK: usize, Dev: Device<f32>, T: Tape<f32, Dev>>(
    rows: Rows<HK, Dev, T>,
    index: Tensor<(usize,), usize, Dev>,
    sentences: usize,
    length: usize,
) -> Tensor<(usize, usize, Const<K>), f32, Dev, T> {
    let padded: Rows<HK, Dev, T> = rows.gather(index);
    padded
        .reshape_like(&(sentences, length, Const::<H>, Const::<K>))
        .permute::<_, Axes4<0, 2, 1, 3>>()
        .reshape_like(&(sentences * H, length, Const::<K>))
}

/// Where each packed row goes in a padded rectangle, and back.
pub(super) struct Padding {
    pub sentences: usize,
    pub queries: usize,
    pub keys: usize,
    pub query_rows: Vec<usize>,
    pub key_rows: Vec<usize>,
    pub rows_back: Vec<usize>,
    /// For each sentence, `[S, M]` of 0 or [`MASKED`].
    pub mask: Vec<Vec<f32>>,
}

impl Padding {
    pub fn of(spans: &Spans) -> Self {
        let longest = |length: fn(&super::Span) -> usize| spans.iter().map(length).max().unwrap_or(0);
        let queries = longest(|span| span.queries.len());
        let keys = longest(|span| span.keys.len());
        let row = |rows: &std::ops::Range<usize>, i: usize| if i < rows.len() { rows.start + i } else { 0 };
        let rows_back = |(sentence, span): (usize, &super::Span)| {
            (0..span.queries.len())
                .map(move |i| sentence * queries + i)
                .collect::<Vec<_>>()
        };
        let mask = |span: &super::Span| {
            (0..queries)
                .flat_map(|i| {
                    let visible = spans.visible(span, i.min(span.queries.len().saturating_sub(1)));
                    (0..keys).map(move |j| if j < visible { 0.0 } else { MASKED })
                })
                .collect()
        };
        Self {
            sentences: spans.iter().len(),
            queries,
            keys,
            query_rows: spans
                .iter()
                .flat_map(|span| (0..queries).map(move |i| row(&span.queries, i)))
                .collect(),
            key_rows: spans
                .iter()
                .flat_map(|span| (0..keys).map(move |i| row(&span.keys, i)))
                .collect(),
            rows_back: spans.iter().enumerate().flat_map(rows_back).collect(),
            mask: spans.iter().map(mask).collect(),
        }
    }
}

pub fn smoothed_loss<const V: usize, const D: usize, Dev: Device<f32>, T: Tape<f32, Dev>>(
    x: Rows<D, Dev, T>,
    table: &Matrix<V, D, Dev>,
    target: LossTarget,
) -> TokenLoss<Dev, T> {
    let labels = index(
        table.device(),
        target.labels.iter().map(|&label| label as usize).collect(),
    );
    let log_p = logits(x, table).log_softmax::<Axis<1>>(); // [N, V]
    let (right, tape) = log_p.retaped::<T>().select(labels).sum::<Rank0, _>().split_tape();
    let nll_sum = -f64::from(right.as_vec()[0]);
    let right = right.put_tape(tape) * (target.smoothing - 1.0);
    let even = log_p.sum::<Rank0, _>() * (-target.smoothing / V as f32);
    let (sum, tape) = (right + even).split_tape();
    let smoothed_sum = f64::from(sum.as_vec()[0]);
    TokenLoss {
        loss: sum.put_tape(tape) * target.scale,
        smoothed_sum,
        nll_sum,
    }
}

fn logits<const V: usize, const D: usize, Dev: Device<f32>, T: Tape<f32, Dev>>(
    x: Rows<D, Dev, T>,
    table: &Matrix<V, D, Dev>,
) -> Rows<V, Dev, T> {
    linear(x, table, None, Activation::Identity)
}

pub(super) fn index<Dev: Device<f32>>(device: &Dev, rows: Vec<usize>) -> Tensor<(usize,), usize, Dev> {
    let length = rows.len();
    device.tensor_from_vec(rows, (length,))
}
