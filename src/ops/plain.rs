//! dfdx's own operations with sizes that are values: what the oracles of training and translation are made of. Slow and
//! obvious; padding exists inside [`attention`] alone.

use std::ops::Range;

use dfdx::prelude::*;

use super::{Activation, HeadSizes, LAYER_NORM_EPSILON, Span, Spans};

/// Rows of numbers, `[N, D]`.
pub type Rows<Dev, T = NoneTape> = Tensor<(usize, usize), f32, Dev, T>;
/// A bias or the weight of a norm, `[D]`.
pub type Vector<Dev, T = NoneTape> = Tensor<(usize,), f32, Dev, T>;

/// Added to a score that must not count: `exp` makes it exactly 0, and no row is masked as a whole.
const MASKED: f32 = -1e30;

/// `activation(x . weight^T + bias)`: `[N, I] -> [N, O]`.
pub fn linear<Dev: Device<f32>, T: Tape<f32, Dev>>(
    x: Rows<Dev, T>,
    weight: Rows<Dev, T>,
    bias: Option<Vector<Dev, T>>,
    activation: Activation,
) -> Rows<Dev, T> {
    let mut y = x.matmul(weight.permute::<_, Axes2<1, 0>>()); // [N, I] . [I, O]
    if let Some(bias) = bias {
        let shape = *y.shape();
        y = y + bias.broadcast_like::<_, Axis<0>>(&shape);
    }
    match activation {
        Activation::Identity => y,
        Activation::Relu => y.relu(),
    }
}

/// Rows of a table, chosen by their numbers.
pub fn gather<Dev: Device<f32>, T: Tape<f32, Dev>>(table: Rows<Dev, T>, ids: &[u32]) -> Rows<Dev, T> {
    let index = index(table.device(), ids.iter().map(|&id| id as usize).collect());
    table.gather(index)
}

/// Each row to mean 0 and variance 1, times `weight`, plus `bias`.
pub fn layer_norm<Dev: Device<f32>, T: Tape<f32, Dev>>(
    x: Rows<Dev, T>,
    weight: Vector<Dev, T>,
    bias: Vector<Dev, T>,
) -> Rows<Dev, T> {
    let shape = *x.shape();
    x.normalize::<Axis<1>>(f64::from(LAYER_NORM_EPSILON)) * weight.broadcast_like::<_, Axis<0>>(&shape)
        + bias.broadcast_like::<_, Axis<0>>(&shape)
}

/// Scaled dot-product attention, sentence by sentence and head by head (equation 1): queries `[N, H*K]`, keys
/// `[M, H*K]` and values `[M, H*VD]` give `[N, H*VD]`.
///
/// Gathers the packed rows into `[B, S, ..]`, attends there as the textbook does, and gathers the answers back.
pub fn attention<Dev: Device<f32>, T: Tape<f32, Dev>>(
    [q, k, v]: [Rows<Dev, T>; 3],
    sizes: HeadSizes,
    spans: &Spans,
) -> Rows<Dev, T> {
    let device = q.device().clone();
    let padding = Padding::of(spans);
    let (b, s, m, h) = (padding.sentences, padding.queries, padding.keys, sizes.heads);
    let q = heads(q, padding.query_rows, [b, s, h, sizes.key]); // [B*H, S, K]
    let k = heads(k, padding.key_rows.clone(), [b, m, h, sizes.key]); // [B*H, M, K]
    let v = heads(v, padding.key_rows, [b, m, h, sizes.value]); // [B*H, M, VD]
    let scores = q.matmul(k.permute::<_, Axes3<0, 2, 1>>()) * (sizes.key as f32).sqrt().recip(); // [B*H, S, M]
    let mask = padding
        .mask
        .iter()
        .flat_map(|sentence| std::iter::repeat_n(sentence, h).flatten().copied());
    let mask = device.tensor_from_vec::<(usize, usize, usize)>(mask.collect(), (b * h, s, m));
    let mixed = (scores + mask).softmax::<Axis<2>>().matmul(v); // [B*H, S, VD]
    mixed
        .reshape_like(&(b, h, s, sizes.value))
        .permute::<_, Axes4<0, 2, 1, 3>>()
        .reshape_like(&(b * s, h * sizes.value))
        .gather(index(&device, padding.rows_back))
}

/// `[N, H*K] -> [B*H, S, K]`, the rows of each sentence padded by repetitions of row 0.
fn heads<Dev: Device<f32>, T: Tape<f32, Dev>>(
    rows: Rows<Dev, T>,
    order: Vec<usize>,
    [b, s, h, k]: [usize; 4],
) -> Tensor<(usize, usize, usize), f32, Dev, T> {
    let order = index(rows.device(), order);
    let padded: Rows<Dev, T> = rows.gather(order);
    padded
        .reshape_like(&(b, s, h, k))
        .permute::<_, Axes4<0, 2, 1, 3>>()
        .reshape_like(&(b * h, s, k))
}

/// Where each packed row goes in a padded rectangle, and back.
struct Padding {
    sentences: usize,
    queries: usize,
    keys: usize,
    query_rows: Vec<usize>,
    key_rows: Vec<usize>,
    rows_back: Vec<usize>,
    /// For each sentence, `[S, M]` of 0 or [`MASKED`].
    mask: Vec<Vec<f32>>,
}

impl Padding {
    fn of(spans: &Spans) -> Self {
        let longest = |length: fn(&Span) -> usize| spans.iter().map(length).max().unwrap_or(0);
        let queries = longest(|span| span.queries.len());
        let keys = longest(|span| span.keys.len());
        let row = |rows: &Range<usize>, i: usize| if i < rows.len() { rows.start + i } else { 0 };
        let rows_back = |(sentence, span): (usize, &Span)| {
            (0..span.queries.len())
                .map(move |i| sentence * queries + i)
                .collect::<Vec<_>>()
        };
        let mask = |span: &Span| {
            (0..queries)
                .flat_map(|i| {
                    let seen = spans.seen(span, i.min(span.queries.len().saturating_sub(1)));
                    (0..keys).map(move |j| if seen.contains(&j) { 0.0 } else { MASKED })
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

pub fn index<Dev: Device<f32>>(device: &Dev, rows: Vec<usize>) -> Tensor<(usize,), usize, Dev> {
    let length = rows.len();
    device.tensor_from_vec(rows, (length,))
}

/// Forgets which of the sizes the compiler knows.
pub fn untyped<R: super::Size, C: super::Size, Dev: Device<f32>, T: Tape<f32, Dev>>(
    matrix: &super::Matrix<R, C, Dev>,
) -> Rows<Dev, T> {
    matrix.retaped::<T>().reshape_like(&(R::SIZE, C::SIZE))
}
