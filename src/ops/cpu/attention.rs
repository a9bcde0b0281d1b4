//! Attention on packed rows, sentence by sentence and head by head: no padded row, and nothing stored but the
//! probabilities.

use std::ops::Range;

use dfdx::prelude::*;

use super::lanes::{Strided, dot, exp, max, scale, sum, weighted_sum};
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
    let mut weights = Vec::new();
    let inputs = Inputs {
        q: &q[..],
        k: &k,
        v: &v,
    };
    let rows = kernel.forward(&inputs, T::OWNS_TAPE.then_some(&mut weights));
    let y = queries.device().tensor_from_vec(rows, (queries.shape().0, Const::<HV>));
    if T::OWNS_TAPE {
        let (queries, keys, values_, y) = (queries.ghost(), keys.ghost(), values_.ghost(), y.ghost());
        tape.add_backward_op(move |gradients| {
            let d_y = take_gradient!(gradients, y);
            let mut d = Inputs {
                q: take_gradient!(gradients, queries),
                k: take_gradient!(gradients, keys),
                v: take_gradient!(gradients, values_),
            };
            kernel.backward(&Inputs { q: &q, k: &k, v: &v }, &weights, &d_y, &mut d);
            put_gradient!(gradients, queries, d.q);
            put_gradient!(gradients, keys, d.k);
            put_gradient!(gradients, values_, d.v);
            Ok(())
        });
    }
    y.put_tape(tape)
}

/// Weights are computed in groups of so many keys: half a register, since most sentences are short.
const GROUP: usize = 8;

/// Sizes, and who attends to whom.
struct Kernel {
    spans: Spans,
    heads: usize,
    /// `d_k`.
    k: usize,
    /// `d_v`.
    v: usize,
}

/// One head of one sentence: what a kernel works on at a time.
struct Block<'a> {
    span: &'a Span,
    head: usize,
    /// The keys rounded up to whole groups: the length of one query's weights in memory. An empty sentence has one
    /// group too, so that rows can be cut by this length.
    width: usize,
}

impl Block<'_> {
    /// Weights of all its queries.
    fn weights(&self) -> usize {
        self.span.queries.len() * self.width
    }
}

/// Queries, keys and values, or their gradients: `[N, H*K]`, `[M, H*K]`, `[M, H*VD]`.
struct Inputs<T> {
    q: T,
    k: T,
    v: T,
}

impl Kernel {
    fn blocks(&self) -> impl Iterator<Item = Block<'_>> {
        let block = |span, head| Block {
            span,
            head,
            width: span.keys.len().max(1).next_multiple_of(GROUP),
        };
        self.spans
            .iter()
            .flat_map(move |span| (0..self.heads).map(move |head| block(span, head)))
    }

    /// Output rows `[N, H*VD]`. The attention weights go to `kept`, block by block and query by query, if a backward pass
    /// will want them; otherwise only one block's exist at a time.
    fn forward(&self, inputs: &Inputs<&[f32]>, mut kept: Option<&mut Vec<f32>>) -> Vec<f32> {
        let queries = inputs.q.len() / (self.heads * self.k);
        let mut rows = vec![0.0; queries * self.heads * self.v];
        let (mut columns, mut weights) = (Vec::new(), Vec::new());
        for block in self.blocks() {
            let keys = self.rows(inputs.k, self.k, &block.span.keys, &block);
            transpose(keys, &block, self.k, &mut columns);
            weights.clear();
            weights.resize(block.weights(), 0.0);
            self.attend(&block, inputs, &columns, &mut weights, &mut rows);
            if let Some(kept) = &mut kept {
                kept.extend_from_slice(&weights);
            }
        }
        rows
    }

    /// `softmax(q . k^T / sqrt(K)) . v`, the keys given as columns.
    fn attend(&self, block: &Block, inputs: &Inputs<&[f32]>, k: &[f32], weights: &mut [f32], y: &mut [f32]) {
        let inverse_root = (self.k as f32).sqrt().recip();
        let values = self.rows(inputs.v, self.v, &block.span.keys, block);
        let keys = Strided {
            data: k,
            stride: block.width,
        };
        for (position, weights) in weights.chunks_exact_mut(block.width).enumerate() {
            let query = self.row(inputs.q, self.k, block.span.queries.start + position, block);
            let visible = self.spans.visible(block.span, position);
            let weights = &mut weights[..visible.next_multiple_of(GROUP)];
            weighted_sum(weights, self.k, Strided::dense(query), keys);
            scale(weights, inverse_root);
            softmax(weights, visible);
            let row = self.offset(self.v, block.span.queries.start + position, block);
            weighted_sum(&mut y[row..][..self.v], visible, Strided::dense(weights), values);
        }
    }

    /// Adds to the gradients of queries, keys and values.
    fn backward(&self, inputs: &Inputs<&[f32]>, weights: &[f32], d_y: &[f32], d: &mut Inputs<Vec<f32>>) {
        let mut rest = weights;
        let (mut columns, mut d_scores) = (Vec::new(), Vec::new());
        for block in self.blocks().filter(|block| !block.span.queries.is_empty()) {
            let weights;
            (weights, rest) = rest.split_at(block.weights());
            transpose(
                self.rows(inputs.v, self.v, &block.span.keys, &block),
                &block,
                self.v,
                &mut columns,
            );
            let d_y = self.rows(d_y, self.v, &block.span.queries, &block);
            self.score_gradients(&block, weights, d_y, &columns, &mut d_scores);
            self.query_gradients(&block, inputs, &d_scores, &mut d.q);
            let queries = self.rows(inputs.q, self.k, &block.span.queries, &block);
            self.column_gradients(&block, &d_scores, queries, self.k, &mut d.k);
            self.column_gradients(&block, weights, d_y, self.v, &mut d.v);
        }
    }

    /// Of the scaled scores: `p * (d_p - sum(p * d_p)) / sqrt(K)` with `d_p = d_y . v^T`, query by query.
    fn score_gradients(&self, block: &Block, weights: &[f32], d_y: Strided, v: &[f32], d_scores: &mut Vec<f32>) {
        let inverse_root = (self.k as f32).sqrt().recip();
        d_scores.clear();
        d_scores.resize(block.weights(), 0.0);
        let values = Strided {
            data: v,
            stride: block.width,
        };
        let rows = d_scores
            .chunks_exact_mut(block.width)
            .zip(weights.chunks_exact(block.width));
        for (position, (d_scores, weights)) in rows.enumerate() {
            let live = self.spans.visible(block.span, position).next_multiple_of(GROUP);
            let (d_scores, weights) = (&mut d_scores[..live], &weights[..live]);
            weighted_sum(
                d_scores,
                self.v,
                Strided::dense(&d_y.data[position * d_y.stride..]),
                values,
            );
            let mean = dot(weights, d_scores);
            for (d_score, weight) in d_scores.iter_mut().zip(weights) {
                *d_score = (*d_score - mean) * weight * inverse_root;
            }
        }
    }

    /// `d_q = d_scores . k`.
    fn query_gradients(&self, block: &Block, inputs: &Inputs<&[f32]>, d_scores: &[f32], d_q: &mut [f32]) {
        let keys = self.rows(inputs.k, self.k, &block.span.keys, block);
        for (position, d_scores) in d_scores.chunks_exact(block.width).enumerate() {
            let row = self.offset(self.k, block.span.queries.start + position, block);
            let visible = self.spans.visible(block.span, position);
            weighted_sum(&mut d_q[row..][..self.k], visible, Strided::dense(d_scores), keys);
        }
    }

    /// `d_k = d_scores^T . q`, or `d_v = weights^T . d_y`: what is masked has weight 0.
    fn column_gradients(&self, block: &Block, weights: &[f32], rows: Strided, size: usize, d: &mut [f32]) {
        for (key, row) in block.span.keys.clone().enumerate() {
            let column = Strided {
                data: &weights[key..],
                stride: block.width,
            };
            let row = self.offset(size, row, block);
            weighted_sum(&mut d[row..][..size], block.span.queries.len(), column, rows);
        }
    }

    /// Where the block's head begins in a row.
    fn offset(&self, size: usize, row: usize, block: &Block) -> usize {
        (row * self.heads + block.head) * size
    }

    fn row<'a>(&self, data: &'a [f32], size: usize, row: usize, block: &Block) -> &'a [f32] {
        &data[self.offset(size, row, block)..][..size]
    }

    /// The block's head of a range of rows.
    fn rows<'a>(&self, data: &'a [f32], size: usize, rows: &Range<usize>, block: &Block) -> Strided<'a> {
        let first = if rows.is_empty() {
            data.len()
        } else {
            self.offset(size, rows.start, block)
        };
        Strided {
            data: &data[first..],
            stride: self.heads * size,
        }
    }
}

/// Rows as columns, `[size, width]` with zeros behind the last: products with them then run along the rows.
fn transpose(rows: Strided, block: &Block, size: usize, columns: &mut Vec<f32>) {
    columns.clear();
    columns.resize(size * block.width, 0.0);
    for (j, row) in rows.data.chunks(rows.stride).take(block.span.keys.len()).enumerate() {
        for (i, value) in row.iter().take(size).enumerate() {
            columns[i * block.width + j] = *value;
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
    scale(scores, sum(scores).recip());
}
