//! Attention to the steps so far. Every step's rows stay where they were made; a row finds its own by its ancestors.

use crate::ops::cpu::attention::softmax;
use crate::ops::cpu::lanes::{LANES, axpy, dot};
use crate::ops::cpu::scratch::Scratch;
use crate::ops::{HeadSizes, Lineage};

/// Queries, keys and values of all steps, each `[rows, 2*H*K + H*VD]`.
#[derive(Default)]
pub struct History {
    steps: Vec<Scratch>,
}

impl History {
    pub fn push(&mut self, projected: Scratch) {
        self.steps.push(projected);
    }

    /// Each row of the last step attends to itself and the ancestors that the lineage shows: `[N, H*VD]`.
    pub fn attend(&self, sizes: HeadSizes, lineage: &Lineage, y: &mut [f32]) {
        let first = lineage.first_seen();
        // Room for whole registers of scores, which softmax works on.
        let width = (lineage.length() - first).next_multiple_of(LANES);
        let mut weights = Scratch::of(sizes.heads * width);
        let factor = (sizes.key as f32).sqrt().recip();
        let mut rows = Vec::with_capacity(lineage.length());
        for (ancestors, y) in lineage.rows().zip(y.chunks_exact_mut(sizes.values())) {
            rows.clear();
            rows.extend(self.rows(sizes, ancestors).skip(first));
            score(sizes, &rows, &mut weights);
            for weights in weights.chunks_exact_mut(width) {
                softmax(weights, 0..rows.len(), factor);
            }
            mix(sizes, &rows, &weights, y);
        }
    }

    /// The rows of a hypothesis from its first step on.
    fn rows(&self, sizes: HeadSizes, ancestors: &[u32]) -> impl Iterator<Item = &[f32]> {
        let stride = 2 * sizes.keys() + sizes.values();
        let rows = self.steps.iter().zip(ancestors);
        rows.map(move |(step, &row)| &step[row as usize * stride..][..stride])
    }
}

/// `q . k^T` of the last row with all, head by head. Row by row, so that memory is read in its order.
fn score(sizes: HeadSizes, rows: &[&[f32]], scores: &mut [f32]) {
    let width = rows.len().next_multiple_of(LANES);
    let Some(own) = rows.last() else {
        return;
    };
    let queries = own[..sizes.keys()].chunks_exact(sizes.key);
    for (time, row) in rows.iter().enumerate() {
        let keys = row[sizes.keys()..][..sizes.keys()].chunks_exact(sizes.key);
        for (head, (query, key)) in queries.clone().zip(keys).enumerate() {
            scores[head * width + time] = dot(query, key);
        }
    }
}

/// `weights . v`, head by head.
fn mix(sizes: HeadSizes, rows: &[&[f32]], weights: &[f32], y: &mut [f32]) {
    let width = rows.len().next_multiple_of(LANES);
    y.fill(0.0);
    for (time, row) in rows.iter().enumerate() {
        let values = row[2 * sizes.keys()..].chunks_exact(sizes.value);
        for (head, (y, value)) in y.chunks_exact_mut(sizes.value).zip(values).enumerate() {
            axpy(y, weights[head * width + time], value);
        }
    }
}
