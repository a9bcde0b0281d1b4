//! Attention to the sentences that are translated. Their keys and values are packed once; the hypotheses of a sentence
//! ask together.

use crate::ops::cpu::attention::{Heads, part_of_head, softmax};
use crate::ops::cpu::lanes::{LANES, Lanes, copy_to};
use crate::ops::cpu::scratch::Scratch;
use crate::ops::cpu::tiles::{Extent, Grid, Panel, multiply};
use crate::ops::{HeadSizes, Packed};

pub struct Memory {
    sizes: HeadSizes,
    /// By sentence and head.
    heads: Vec<Head>,
}

/// One head of one sentence.
struct Head {
    /// How many keys there are.
    count: usize,
    /// `[K, width]`, the count rounded up to whole registers.
    keys: Scratch,
    /// `[count, VD]`, each row filled up to whole registers.
    values: Scratch,
}

impl Memory {
    /// `projected` holds keys and values side by side, `[M, H*K + H*VD]`.
    pub fn new(projected: &[f32], sizes: HeadSizes, sentences: &Packed) -> Self {
        let stride = sizes.keys() + sizes.values();
        let all_keys = Heads::inside(projected, 0, stride);
        let all_values = Heads::inside(projected, sizes.keys(), stride);
        let head = |(sentence, head): (usize, usize)| {
            let rows = sentences.rows(sentence);
            Head {
                count: rows.len(),
                keys: all_keys.of(&rows, head, sizes.key).pack_columns(rows.len(), sizes.key),
                values: all_values.of(&rows, head, sizes.value).pack(rows.len(), sizes.value),
            }
        };
        let numbers =
            (0..sentences.sentences()).flat_map(|sentence| (0..sizes.heads).map(move |head| (sentence, head)));
        Self {
            sizes,
            heads: numbers.map(head).collect(),
        }
    }

    /// Width of an answer.
    pub fn answer_width(&self) -> usize {
        self.sizes.values()
    }

    /// Queries `[N, H*K]`, a sentence for each row; answers `[N, H*VD]`.
    pub fn attend(&self, queries: &[f32], sentences: &[usize], y: &mut [f32]) {
        let HeadSizes { heads, key, value } = self.sizes;
        let mut first = 0;
        for neighbours in sentences.chunk_by(|a, b| a == b) {
            let rows = first..first + neighbours.len();
            first = rows.end;
            let queries = &queries[rows.start * heads * key..];
            let y = &mut y[rows.start * heads * value..];
            for (number, head) in self.heads[neighbours[0] * heads..][..heads].iter().enumerate() {
                let weights = head.weights(&queries[number * key..], heads * key, rows.len(), key);
                head.mix(&weights, rows.len(), value, |row, chunk, lanes| {
                    let (column, length) = part_of_head(number, value, chunk);
                    copy_to(&mut y[row * heads * value + column..], lanes, length);
                });
            }
        }
    }
}

impl Head {
    fn width(&self) -> usize {
        self.count.next_multiple_of(LANES)
    }

    /// `softmax(q . k^T / sqrt(K))`, `[rows, width]`.
    fn weights(&self, queries: &[f32], stride: usize, rows: usize, key: usize) -> Scratch {
        let width = self.width();
        let mut weights = Scratch::of(rows * width);
        let extent = |_| Extent {
            terms: 0..key,
            chunks: 0..width / LANES,
        };
        let grid = Grid::Rows { data: queries, stride };
        multiply(grid, rows, Panel::new(&self.keys, width), extent, |row, chunk, sums| {
            weights[row * width..][..width].as_chunks_mut().0[chunk] = sums.to_array();
        });
        for weights in weights.chunks_exact_mut(width) {
            softmax(weights, 0..self.count, (key as f32).sqrt().recip());
        }
        weights
    }

    /// `weights . v`; `store` is given row, register within the row, and numbers.
    fn mix(&self, weights: &[f32], rows: usize, value: usize, store: impl FnMut(usize, usize, Lanes)) {
        let panel = Panel::new(&self.values, value.next_multiple_of(LANES));
        let extent = |_| Extent {
            terms: 0..self.count,
            chunks: 0..panel.chunks(),
        };
        let weights = Grid::Rows {
            data: weights,
            stride: self.width(),
        };
        multiply(weights, rows, panel, extent, store);
    }
}
