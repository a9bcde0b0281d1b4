//! The kernels of attention on packed rows, sentence by sentence and head by head: no padded row, and nothing stored
//! but the probabilities.

use std::array;
use std::ops::Range;

use super::lanes::{LANES, Lanes, copy_to, dot, exp, highest, lanes_from, scale};
use super::scratch::Scratch;
use super::tiles::{Chunk, Extent, Grid, Panel, multiply};
use crate::ops::{HeadSizes, Span, Spans};

/// Rows of which every head has its part, one beside the other.
#[derive(Clone, Copy)]
pub struct Heads<'a> {
    data: &'a [f32],
    /// From row to row.
    stride: usize,
}

impl<'a> Heads<'a> {
    /// The heads fill the rows.
    pub fn dense(data: &'a [f32], width: usize) -> Self {
        Self { data, stride: width }
    }

    /// The heads begin `offset` numbers behind the start of each row.
    pub fn inside(data: &'a [f32], offset: usize, stride: usize) -> Self {
        Self {
            data: &data[offset.min(data.len())..],
            stride,
        }
    }

    /// One head of some rows, `size` numbers each.
    pub fn of(self, rows: &Range<usize>, head: usize, size: usize) -> Self {
        let first = (rows.start * self.stride + head * size).min(self.data.len());
        Self {
            data: &self.data[first..],
            stride: self.stride,
        }
    }

    fn grid(self) -> Grid<'a> {
        Grid::Rows {
            data: self.data,
            stride: self.stride,
        }
    }

    /// `count` rows of `size` numbers, each filled up with zeros to whole registers.
    pub fn pack(self, count: usize, size: usize) -> Scratch {
        let width = size.next_multiple_of(LANES);
        let mut packed = Scratch::of(count * width);
        for (packed, row) in packed.chunks_exact_mut(width).zip(self.data.chunks(self.stride)) {
            for (packed, row) in packed.as_chunks_mut().0.iter_mut().zip(row[..size].chunks(LANES)) {
                *packed = filled(row);
            }
        }
        packed
    }

    /// The same as columns, `[size, width]` with zeros behind the last: by squares, which the compiler turns around in
    /// registers.
    pub fn pack_columns(self, count: usize, size: usize) -> Scratch {
        let width = count.next_multiple_of(LANES);
        let mut packed = Scratch::of(size * width);
        for first_row in (0..count).step_by(LANES) {
            let rows = (count - first_row).min(LANES);
            for first in (0..size).step_by(LANES) {
                let mut square = [[0.0; LANES]; LANES];
                for (line, row) in square.iter_mut().zip(first_row..first_row + rows) {
                    *line = filled(&self.data[row * self.stride + first..][..(size - first).min(LANES)]);
                }
                let columns = packed[first * width + first_row..].chunks_mut(width).take(size - first);
                for (i, column) in columns.take(LANES).enumerate() {
                    let turned: Chunk = array::from_fn(|j| square[j][i]);
                    column.as_chunks_mut().0[0] = turned;
                }
            }
        }
        packed
    }
}

/// At most a register's worth of numbers, with zeros behind them.
#[inline]
fn filled(numbers: &[f32]) -> Chunk {
    if let Some(chunk) = numbers.first_chunk() {
        return *chunk;
    }
    let mut chunk = [0.0; LANES];
    chunk[..numbers.len()].copy_from_slice(numbers);
    chunk
}

/// Queries `[N, H*K]`, keys `[M, H*K]` and values `[M, H*VD]`.
pub struct Operands<'a> {
    pub q: Heads<'a>,
    pub k: Heads<'a>,
    pub v: Heads<'a>,
}

/// Whose gradient it is.
#[derive(Clone, Copy)]
pub enum Part {
    Query,
    Key,
    Value,
}

/// Sizes, and who attends to whom.
pub struct Kernel {
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
}

impl Block<'_> {
    fn queries(&self) -> usize {
        self.span.queries.len()
    }

    fn keys(&self) -> usize {
        self.span.keys.len()
    }

    /// The keys rounded up to whole registers: the length of one query's weights in memory.
    fn width(&self) -> usize {
        self.keys().next_multiple_of(LANES)
    }

    /// Weights of all its queries.
    fn weights(&self) -> usize {
        self.queries() * self.width()
    }
}

impl Kernel {
    pub fn new(spans: &Spans, HeadSizes { heads, key, value }: HeadSizes) -> Self {
        Self {
            spans: spans.clone(),
            heads,
            k: key,
            v: value,
        }
    }

    /// All heads of all sentences that ask anything.
    fn blocks(&self) -> impl Iterator<Item = Block<'_>> {
        let asking = self.spans.iter().filter(|span| !span.queries.is_empty());
        asking.flat_map(|span| (0..self.heads).map(move |head| Block { span, head }))
    }

    /// Writes the rows `[N, H*VD]` and returns the attention weights, block by block and query by query, if a backward
    /// pass will want them; otherwise only one block's exist at a time.
    pub fn forward(&self, inputs: &Operands, keep: bool, y: &mut [f32]) -> Scratch {
        let sizes = self.blocks().map(|block| block.weights());
        let mut kept = Scratch::of(if keep { sizes.sum() } else { sizes.max().unwrap_or(0) });
        let mut rest = &mut kept[..];
        for block in self.blocks() {
            if keep {
                let (weights, behind) = rest.split_at_mut(block.weights());
                self.attend(&block, inputs, weights, y);
                rest = behind;
            } else {
                self.attend(&block, inputs, &mut rest[..block.weights()], y);
            }
        }
        kept
    }

    /// `softmax(q . k^T / sqrt(K)) . v`.
    fn attend(&self, block: &Block, inputs: &Operands, weights: &mut [f32], y: &mut [f32]) {
        let (span, width) = (block.span, block.width());
        let keys = inputs
            .k
            .of(&span.keys, block.head, self.k)
            .pack_columns(block.keys(), self.k);
        let queries = inputs.q.of(&span.queries, block.head, self.k).grid();
        self.scores(block, queries, self.k, Panel::new(&keys, width), weights);
        let inverse_root = (self.k as f32).sqrt().recip();
        for (position, weights) in weights.chunks_exact_mut(width).enumerate() {
            let seen = self.spans.seen(span, position);
            softmax(weights, seen.clone(), inverse_root);
            clear_around(weights, &seen);
        }
        let values = inputs.v.of(&span.keys, block.head, self.v).pack(block.keys(), self.v);
        self.mix(block, weights, &values, self.v, |row, column, lanes, length| {
            copy_to(&mut y[row * self.heads * self.v + column..], lanes, length);
        });
    }

    /// The keys that any of some queries sees.
    fn keys_of(&self, block: &Block, queries: &Range<usize>) -> Range<usize> {
        let seen = |position| self.spans.seen(block.span, position);
        seen(queries.start).start..seen(queries.end - 1).end
    }

    /// `out = a . b` with a column for every key, as far as each query sees.
    fn scores(&self, block: &Block, a: Grid, size: usize, b: Panel, out: &mut [f32]) {
        let width = block.width();
        let extent = |queries: Range<usize>| Extent {
            terms: 0..size,
            chunks: registers(&self.keys_of(block, &queries)),
        };
        multiply(a, block.queries(), b, extent, |query, chunk, sums| {
            let row = &mut out[query * width..][..width];
            row.as_chunks_mut().0[chunk] = sums.to_array();
        });
    }

    /// `weights . rows` for every query; `store` is given row, column, numbers, and how many.
    fn mix(
        &self,
        block: &Block,
        weights: &[f32],
        rows: &[f32],
        size: usize,
        store: impl FnMut(usize, usize, Lanes, usize),
    ) {
        let weights = Grid::Rows {
            data: weights,
            stride: block.width(),
        };
        let terms = |queries: Range<usize>| self.keys_of(block, &queries);
        mix_rows(block.head, weights, &block.span.queries, rows, size, terms, store);
    }

    /// `weights^T . rows` for every key.
    fn mix_back(
        &self,
        block: &Block,
        weights: &[f32],
        rows: &[f32],
        size: usize,
        store: impl FnMut(usize, usize, Lanes, usize),
    ) {
        let weights = Grid::Columns {
            data: weights,
            stride: block.width(),
        };
        // Who sees the first of the keys, who sees the last, and whoever is between them.
        let seers = |key| self.spans.seers(block.span, key);
        let terms = |keys: Range<usize>| seers(keys.start).start..seers(keys.end - 1).end;
        mix_rows(block.head, weights, &block.span.keys, rows, size, terms, store);
    }

    /// `add` is given pieces of the gradients: whose, row, column in the row, numbers to be added, and how many.
    pub fn backward(
        &self,
        inputs: &Operands,
        weights: &[f32],
        d_y: &[f32],
        mut add: impl FnMut(Part, usize, usize, Lanes, usize),
    ) {
        let d_y = Heads::dense(d_y, self.heads * self.v);
        let mut rest = weights;
        for block in self.blocks() {
            let (weights, behind) = rest.split_at(block.weights());
            rest = behind;
            let (span, head) = (block.span, block.head);
            let (queries, keys) = (block.queries(), block.keys());
            let d_y = d_y.of(&span.queries, head, self.v);
            let values = inputs.v.of(&span.keys, head, self.v).pack_columns(keys, self.v);
            let d_scores = self.score_gradients(&block, weights, d_y.grid(), &values);
            let packed = inputs.k.of(&span.keys, head, self.k).pack(keys, self.k);
            self.mix(&block, &d_scores, &packed, self.k, |row, column, d, length| {
                add(Part::Query, row, column, d, length);
            });
            let packed = inputs.q.of(&span.queries, head, self.k).pack(queries, self.k);
            self.mix_back(&block, &d_scores, &packed, self.k, |row, column, d, length| {
                add(Part::Key, row, column, d, length);
            });
            let packed = d_y.pack(queries, self.v);
            self.mix_back(&block, weights, &packed, self.v, |row, column, d, length| {
                add(Part::Value, row, column, d, length);
            });
        }
    }

    /// Of the scores before they are scaled: `p * (d_p - sum(p * d_p)) / sqrt(K)` with `d_p = d_y . v^T`.
    fn score_gradients(&self, block: &Block, weights: &[f32], d_y: Grid, values: &[f32]) -> Scratch {
        let width = block.width();
        let mut d_scores = Scratch::of(block.weights());
        self.scores(block, d_y, self.v, Panel::new(values, width), &mut d_scores);
        let inverse_root = (self.k as f32).sqrt().recip();
        let rows = d_scores.chunks_exact_mut(width).zip(weights.chunks_exact(width));
        for (position, (d_scores, weights)) in rows.enumerate() {
            let seen = self.spans.seen(block.span, position);
            let whole = numbers(registers(&seen));
            let (d_seen, weights) = (&mut d_scores[whole.clone()], &weights[whole]);
            let mean = dot(weights, d_seen);
            // Where the weight is 0, of padding or of what is hidden, the gradient becomes 0 as well.
            for (d_score, weight) in d_seen.iter_mut().zip(weights) {
                *d_score = (*d_score - mean) * weight * inverse_root;
            }
            clear_around(d_scores, &seen);
        }
        d_scores
    }
}

/// Of one head: `weights . rows` goes to the rows `to`; `terms` says which of the sums' terms are not known to be zero.
#[inline]
fn mix_rows(
    head: usize,
    weights: Grid,
    to: &Range<usize>,
    rows: &[f32],
    size: usize,
    terms: impl Fn(Range<usize>) -> Range<usize>,
    mut store: impl FnMut(usize, usize, Lanes, usize),
) {
    let panel = Panel::new(rows, size.next_multiple_of(LANES));
    let extent = |group: Range<usize>| Extent {
        terms: terms(group),
        chunks: 0..panel.chunks(),
    };
    multiply(weights, to.len(), panel, extent, |row, chunk, sums| {
        let (column, length) = part_of_head(head, size, chunk);
        store(to.start + row, column, sums, length);
    });
}

/// Where a register of results belongs in the row of all heads, and how many of its lanes are not padding.
#[inline]
pub fn part_of_head(head: usize, size: usize, chunk: usize) -> (usize, usize) {
    let first = chunk * LANES;
    (head * size + first, LANES.min(size - first))
}

/// The registers that hold any of some numbers.
fn registers(numbers: &Range<usize>) -> Range<usize> {
    numbers.start / LANES..numbers.end.div_ceil(LANES)
}

/// The numbers that some registers hold.
fn numbers(registers: Range<usize>) -> Range<usize> {
    registers.start * LANES..registers.end * LANES
}

/// Sets to 0 what lies beside the registers of the seen keys, as far as anybody reads.
///
/// Products take up to 8 queries or keys at once and read what any of them sees, which is at most 7 numbers beyond what
/// each of them sees. Further away nothing is read: neither computed nor cleared, so that a narrow window costs what it
/// shows and not what the sentence is long.
fn clear_around(row: &mut [f32], seen: &Range<usize>) {
    const READ_BEYOND: usize = 7;
    let inner = numbers(registers(seen));
    let outer = numbers(registers(
        &(seen.start.saturating_sub(READ_BEYOND)..seen.end + READ_BEYOND),
    ));
    row[outer.start..inner.start].fill(0.0);
    let end = outer.end.min(row.len());
    row[inner.end..end].fill(0.0);
}

/// Softmax of the seen scores times `factor`; the others in the same registers become 0.
pub fn softmax(scores: &mut [f32], seen: Range<usize>, factor: f32) {
    let within = registers(&seen);
    let first = within.start * LANES;
    let scores = &mut scores[numbers(within)];
    let chunks = scores.as_chunks_mut::<LANES>().0;
    let mut largest = Lanes::splat(f32::NEG_INFINITY);
    for (index, chunk) in chunks.iter_mut().enumerate() {
        let at = first + index * LANES;
        let after = lanes_from(seen.end.saturating_sub(at));
        let before = lanes_from(seen.start.saturating_sub(at));
        let hidden = Lanes::splat(f32::NEG_INFINITY);
        let scores = after.select(hidden, Lanes::new(*chunk) * factor);
        let scores = before.select(scores, hidden);
        *chunk = scores.to_array();
        largest = scores.fast_max(largest);
    }
    let largest = Lanes::splat(highest(largest));
    let mut sum = Lanes::ZERO;
    for chunk in chunks.iter_mut() {
        let power = exp(Lanes::new(*chunk) - largest);
        *chunk = power.to_array();
        sum += power;
    }
    scale(scores, sum.reduce_add().recip());
}
