//! Translation on the CPU: no tape and no types of sizes, so that it compiles once for all shapes. Weights are packed
//! once, working memory is used aweight, and the result of a row does not depend on the rows beside it.

mod history;
mod memory;
mod panels;
mod rank;

use super::attention::{Heads, Kernel, Operands};
use super::lanes::{add, dot, fma, shift, sum};
use super::scratch::Scratch;
use crate::ops::{Activation, HeadSizes, Inference, LAYER_NORM_EPSILON, Lineage, Packed, RankedRow, Spans};
use history::History;
use memory::Memory;
use panels::{Panels, Target, pack_rows};

/// The CPU, as it translates.
#[derive(Debug, Clone, Copy, Default)]
pub struct CpuInference;

/// `[N, width]`.
pub struct Rows {
    numbers: Scratch,
    width: usize,
}

impl Rows {
    fn of(count: usize, width: usize) -> Self {
        Self {
            numbers: Scratch::of(count * width),
            width,
        }
    }

    fn count(&self) -> usize {
        self.numbers.len() / self.width
    }
}

pub struct Linear {
    weight: Panels,
    /// Empty, or one for each output.
    bias: Vec<f32>,
}

pub struct Norm {
    weight: Vec<f32>,
    bias: Vec<f32>,
}

impl Norm {
    fn apply(&self, row: &mut [f32]) {
        let width = row.len() as f32;
        shift(row, -sum(row) / width);
        let inverse_deviation = (dot(row, row) / width + LAYER_NORM_EPSILON).sqrt().recip();
        for ((x, weight), bias) in row.iter_mut().zip(&self.weight).zip(&self.bias) {
            *x = fma(*x * inverse_deviation, *weight, *bias);
        }
    }
}

/// The embeddings twice: as they are, to read rows, and packed, to multiply by.
pub struct Table {
    rows: Vec<f32>,
    width: usize,
    projection: Panels,
}

impl Inference for CpuInference {
    type Rows = Rows;
    type Linear = Linear;
    type Norm = Norm;
    type Table = Table;
    type Memory = Memory;
    type History = History;

    fn prepare_linear(&self, weight: Vec<f32>, inputs: usize, bias: Option<Vec<f32>>) -> Linear {
        Linear {
            weight: Panels::pack(&weight, inputs),
            bias: bias.unwrap_or_default(),
        }
    }

    fn prepare_norm(&self, weight: Vec<f32>, bias: Vec<f32>) -> Norm {
        Norm { weight, bias }
    }

    fn prepare_table(&self, embedding: Vec<f32>, width: usize) -> Table {
        Table {
            projection: Panels::pack(&embedding, width),
            rows: embedding,
            width,
        }
    }

    fn read(&self, rows: &Rows) -> Vec<f32> {
        rows.numbers.to_vec()
    }

    fn embed(&self, table: &Table, ids: &[u32], scale: f32, positions: Vec<f32>) -> Rows {
        let mut rows = Rows::of(ids.len(), table.width);
        let places = rows.numbers.chunks_exact_mut(table.width);
        for ((row, &id), position) in places.zip(ids).zip(positions.chunks_exact(table.width)) {
            let token = &table.rows[id as usize * table.width..][..table.width];
            for ((x, token), position) in row.iter_mut().zip(token).zip(position) {
                *x = fma(scale, *token, *position);
            }
        }
        rows
    }

    fn linear(&self, x: &Rows, linear: &Linear, activation: Activation) -> Rows {
        let mut y = Rows::of(x.count(), linear.weight.outputs());
        let target = Target {
            stride: y.width,
            bias: &linear.bias,
            activation,
        };
        // x [N, I] . weight^T [I, O] -> y [N, O]
        let packed = pack_rows(&x.numbers, x.width);
        let panels = 0..linear.weight.count();
        linear.weight.multiply(&packed, panels, &target, &mut y.numbers);
        y
    }

    fn add(&self, mut x: Rows, y: &Rows) -> Rows {
        add(&mut x.numbers, &y.numbers);
        x
    }

    fn normalize(&self, x: &Rows, norm: &Norm) -> Rows {
        let mut y = Rows::of(x.count(), x.width);
        y.numbers.copy_from_slice(&x.numbers);
        y.numbers.chunks_exact_mut(x.width).for_each(|row| norm.apply(row));
        y
    }

    fn add_norm(&self, mut x: Rows, y: &Rows, norm: &Norm) -> Rows {
        let rows = x.numbers.chunks_exact_mut(x.width);
        for (row, y) in rows.zip(y.numbers.chunks_exact(x.width)) {
            add(row, y);
            norm.apply(row);
        }
        x
    }

    fn attend_within(&self, projected: &Rows, sizes: HeadSizes, spans: &Spans) -> Rows {
        let mut y = Rows::of(projected.count(), sizes.values());
        let part = |offset| Heads::inside(&projected.numbers, offset, projected.width);
        let operands = Operands {
            q: part(0),
            k: part(sizes.keys()),
            v: part(2 * sizes.keys()),
        };
        let kernel = Kernel::new(spans, sizes);
        kernel.forward(&operands, false, &mut y.numbers);
        y
    }

    fn memory(&self, projected: &Rows, sizes: HeadSizes, sentences: &Packed) -> Memory {
        Memory::new(&projected.numbers, sizes, sentences)
    }

    fn attend_memory(&self, queries: &Rows, memory: &Memory, sentences: &[usize]) -> Rows {
        let mut y = Rows::of(queries.count(), memory.answer_width());
        memory.attend(&queries.numbers, sentences, &mut y.numbers);
        y
    }

    fn attend_history(&self, projected: Rows, history: &mut History, sizes: HeadSizes, lineage: &Lineage) -> Rows {
        let mut y = Rows::of(projected.count(), sizes.values());
        history.push(projected.numbers);
        history.attend(sizes, lineage, &mut y.numbers);
        y
    }

    fn rank(&self, x: &Rows, table: &Table, k: usize, asked: u32) -> Vec<RankedRow> {
        rank::rank(&x.numbers, x.count(), &table.projection, k, asked)
    }
}
