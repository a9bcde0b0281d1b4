//! Attention on packed rows, sentence by sentence and head by head: no padded row, and nothing stored but the
//! probabilities.

use dfdx::prelude::*;

use super::lanes::{LANES, axpy, dot, exp, max, scale, sum};
use super::tape::{put_gradient, take_gradient, values};
use crate::ops::{Rows, Span, Spans};

pub fn attention<const HK: usize, const HV: usize, T: Tape<f32, Cpu>>(
    queries: Rows<HK, Cpu, T>,
    keys: Rows<HK, Cpu, T>,
    values_: Rows<HV, Cpu, T>,
    spans: &Spans,
    heads: usize,
) -> Rows<HV, Cpu, T> {
    let (queries, query_tape) = queries.split_tape();
    let (keys, key_tape) = keys.split_tape();
    let (values_, value_tape) = values_.split_tape();
    let mut tape = query_tape.merge(key_tape).merge(value_tape);
    let kernel = Kernel {
        spans: spans.clone(),
        heads,
        k: HK / heads,
        v: HV / heads,
    };
    let (q, k, v) = (values(&queries), values(&keys), values(&values_));
    let (rows, weights) = kernel.forward(&q, &k, &v);
    let y = queries.device().tensor_from_vec(rows, (queries.shape().0, Const::<HV>));
    if T::OWNS_TAPE {
        let (queries, keys, values_, y) = (queries.ghost(), keys.ghost(), values_.ghost(), y.ghost());
        tape.add_backward_op(move |gradients| {
            let d_y = take_gradient!(gradients, y);
            let mut d = [
                take_gradient!(gradients, queries),
                take_gradient!(gradients, keys),
                take_gradient!(gradients, values_),
            ];
            kernel.backward([&q, &k, &v], &weights, &d_y, &mut d);
            let [d_q, d_k, d_v] = d;
            put_gradient!(gradients, queries, d_q);
            put_gradient!(gradients, keys, d_k);
            put_gradient!(gradients, values_, d_v);
            Ok(())
        });
    }
    y.put_tape(tape)
}

/// Sizes, and who attends to whom.
struct Kernel {
    spans: Spans,
    heads: usize,
    /// `d_k`.
    k: usize,
    /// `d_v`.
    v: usize,
}

/// The keys of a span rounded up to whole vectors: the length of one query's weights in memory. An empty sentence has
/// one vector too, so that rows can be cut by this length.
fn padded(span: &Span) -> usize {
    span.keys.len().max(1).next_multiple_of(LANES)
}

impl Kernel {
    /// Output rows `[N, H*VD]`, and the attention weights of every span, head and query, one after another.
    fn forward(&self, q: &[f32], k: &[f32], v: &[f32]) -> (Vec<f32>, Vec<f32>) {
        let queries = q.len() / (self.heads * self.k);
        let mut rows = vec![0.0; queries * self.heads * self.v];
        let mut weights = vec![
            0.0;
            self.spans
                .iter()
                .map(|span| self.heads * span.queries.len() * padded(span))
                .sum()
        ];
        let mut rest = &mut weights[..];
        let mut columns = Vec::new();
        for span in &self.spans {
            for head in 0..self.heads {
                let (own, others) = rest.split_at_mut(span.queries.len() * padded(span));
                rest = others;
                transpose(k, span, self.heads, head, self.k, &mut columns);
                self.attend(span, head, q, &columns, v, own, &mut rows);
            }
        }
        (rows, weights)
    }

    /// One head of one span: `softmax(q . k^T / sqrt(K)) . v`.
    #[expect(clippy::too_many_arguments, reason = "three inputs and two outputs of one kernel")]
    fn attend(&self, span: &Span, head: usize, q: &[f32], k: &[f32], v: &[f32], weights: &mut [f32], y: &mut [f32]) {
        let inverse_root = (self.k as f32).sqrt().recip();
        let width = padded(span);
        for (position, weights) in weights.chunks_exact_mut(width).enumerate() {
            let query = self.head_row(q, span.queries.start + position, head, self.k);
            for (q, k) in query.iter().zip(k.chunks_exact(width)) {
                axpy(weights, q * inverse_root, k);
            }
            let visible = self.spans.visible(span, position);
            softmax(weights, visible);
            let y = &mut y[((span.queries.start + position) * self.heads + head) * self.v..][..self.v];
            for (key, weight) in weights[..visible].iter().enumerate() {
                axpy(y, *weight, self.head_row(v, span.keys.start + key, head, self.v));
            }
        }
    }

    /// Adds to the gradients of queries, keys and values.
    fn backward(&self, [q, k, v]: [&[f32]; 3], weights: &[f32], d_y: &[f32], [d_q, d_k, d_v]: &mut [Vec<f32>; 3]) {
        let inverse_root = (self.k as f32).sqrt().recip();
        let mut rest = weights;
        let (mut columns, mut d_scores) = (Vec::new(), Vec::new());
        for span in &self.spans {
            let width = padded(span);
            for head in 0..self.heads {
                transpose(v, span, self.heads, head, self.v, &mut columns);
                for position in span.queries.clone() {
                    let weights;
                    (weights, rest) = rest.split_at(width);
                    let d_y = self.head_row(d_y, position, head, self.v);
                    score_gradient(&mut d_scores, weights, d_y, &columns, inverse_root);
                    let query = self.head_row(q, position, head, self.k);
                    let d_query = &mut d_q[(position * self.heads + head) * self.k..][..self.k];
                    let visible = self.spans.visible(span, position - span.queries.start);
                    for (key, (weight, d_score)) in weights.iter().zip(&d_scores).take(visible).enumerate() {
                        let row = (span.keys.start + key) * self.heads + head;
                        axpy(d_query, *d_score, &k[row * self.k..][..self.k]);
                        axpy(&mut d_k[row * self.k..][..self.k], *d_score, query);
                        axpy(&mut d_v[row * self.v..][..self.v], *weight, d_y);
                    }
                }
            }
        }
    }

    fn head_row<'a>(&self, rows: &'a [f32], row: usize, head: usize, size: usize) -> &'a [f32] {
        &rows[(row * self.heads + head) * size..][..size]
    }
}

/// The rows of one span and head as columns, `[size, padded keys]`: products with them then run along the keys.
fn transpose(rows: &[f32], span: &Span, heads: usize, head: usize, size: usize, columns: &mut Vec<f32>) {
    let width = padded(span);
    columns.clear();
    columns.resize(size * width, 0.0);
    for (key, row) in span.keys.clone().enumerate() {
        for (i, value) in rows[(row * heads + head) * size..][..size].iter().enumerate() {
            columns[i * width + key] = *value;
        }
    }
}

/// Softmax over the first `visible` scores; the rest, and the padding, get weight 0.
fn softmax(scores: &mut [f32], visible: usize) {
    let largest = max(&scores[..visible]);
    scores[visible..].fill(f32::NEG_INFINITY);
    for score in scores.iter_mut() {
        *score = exp(*score - largest);
    }
    let factor = sum(scores).recip();
    scale(scores, factor);
}

/// The gradient of the unscaled scores: `p * (d_p - sum(p * d_p)) / sqrt(K)` with `d_p = d_y . v^T`.
fn score_gradient(d_scores: &mut Vec<f32>, weights: &[f32], d_y: &[f32], values: &[f32], inverse_root: f32) {
    d_scores.clear();
    d_scores.resize(weights.len(), 0.0);
    for (d_y, value) in d_y.iter().zip(values.chunks_exact(weights.len())) {
        axpy(d_scores, *d_y, value);
    }
    let mean = dot(weights, d_scores);
    for (d_score, weight) in d_scores.iter_mut().zip(weights) {
        *d_score = (*d_score - mean) * weight * inverse_root;
    }
}
