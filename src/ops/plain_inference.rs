//! Translation as dfdx writes it: the first implementation on any device, and the oracle of the one for the CPU.

use dfdx::prelude::*;

use super::plain::{self, Rows, Vector};
use super::{Activation, HeadSizes, Inference, Lineage, Mask, OnDevice, Packed, RankedRow, Span, Spans};

/// Translates with dfdx's own operations on `Dev`.
#[derive(Debug, Clone)]
pub struct PlainInference<Dev>(pub Dev);

#[derive(Debug)]
pub struct Linear<Dev: Storage<f32>> {
    /// `[O, I]`.
    weight: Rows<Dev>,
    bias: Option<Vector<Dev>>,
}

#[derive(Debug)]
pub struct Norm<Dev: Storage<f32>> {
    weight: Vector<Dev>,
    bias: Vector<Dev>,
}

#[derive(Debug)]
pub struct Memory<Dev: Storage<f32>> {
    sizes: HeadSizes,
    keys: Rows<Dev>,
    values: Rows<Dev>,
    sentences: Packed,
}

/// Keys and values of all rows of all steps, `[rows, H*K]` and `[rows, H*VD]`, on the host.
#[derive(Debug, Default)]
pub struct History {
    keys: Vec<f32>,
    values: Vec<f32>,
    /// The first row of each step.
    steps: Vec<usize>,
    rows: usize,
}

impl<Dev: OnDevice> PlainInference<Dev> {
    fn rows(&self, values: Vec<f32>, width: usize) -> Rows<Dev> {
        let rows = values.len() / width;
        self.0.tensor_from_vec(values, (rows, width))
    }

    fn vector(&self, values: Vec<f32>) -> Vector<Dev> {
        let length = values.len();
        self.0.tensor_from_vec(values, (length,))
    }

    /// Some columns, in a matrix of their own.
    fn columns(&self, rows: &Rows<Dev>, first: usize, count: usize) -> Rows<Dev> {
        let width = rows.shape().1;
        let values = rows.as_vec();
        let part = values.chunks_exact(width).flat_map(|row| &row[first..][..count]);
        self.rows(part.copied().collect(), count)
    }

    /// Queries, keys and values that stood side by side.
    fn split(&self, projected: &Rows<Dev>, sizes: HeadSizes) -> [Rows<Dev>; 3] {
        [
            self.columns(projected, 0, sizes.keys()),
            self.columns(projected, sizes.keys(), sizes.keys()),
            self.columns(projected, 2 * sizes.keys(), sizes.values()),
        ]
    }
}

impl<Dev: OnDevice> Inference for PlainInference<Dev> {
    type Rows = Rows<Dev>;
    type Linear = Linear<Dev>;
    type Norm = Norm<Dev>;
    type Table = Rows<Dev>;
    type Memory = Memory<Dev>;
    type History = History;

    fn prepare_linear(&self, weight: Vec<f32>, inputs: usize, bias: Option<Vec<f32>>) -> Linear<Dev> {
        Linear {
            weight: self.rows(weight, inputs),
            bias: bias.map(|bias| self.vector(bias)),
        }
    }

    fn prepare_norm(&self, weight: Vec<f32>, bias: Vec<f32>) -> Norm<Dev> {
        Norm {
            weight: self.vector(weight),
            bias: self.vector(bias),
        }
    }

    fn prepare_table(&self, embedding: Vec<f32>, width: usize) -> Rows<Dev> {
        self.rows(embedding, width)
    }

    fn read(&self, rows: &Rows<Dev>) -> Vec<f32> {
        rows.as_vec()
    }

    fn embed(&self, table: &Rows<Dev>, ids: &[u32], scale: f32, positions: Vec<f32>) -> Rows<Dev> {
        plain::gather(table.clone(), ids) * scale + self.rows(positions, table.shape().1)
    }

    fn linear(&self, x: &Rows<Dev>, linear: &Linear<Dev>, activation: Activation) -> Rows<Dev> {
        plain::linear(x.clone(), linear.weight.clone(), linear.bias.clone(), activation)
    }

    fn add(&self, x: Rows<Dev>, y: &Rows<Dev>) -> Rows<Dev> {
        x + y.clone()
    }

    fn normalize(&self, x: &Rows<Dev>, norm: &Norm<Dev>) -> Rows<Dev> {
        plain::layer_norm(x.clone(), norm.weight.clone(), norm.bias.clone())
    }

    fn attend_within(&self, projected: &Rows<Dev>, sizes: HeadSizes, spans: &Spans) -> Rows<Dev> {
        plain::attention(self.split(projected, sizes), sizes, spans)
    }

    fn memory(&self, projected: &Rows<Dev>, sizes: HeadSizes, sentences: &Packed) -> Memory<Dev> {
        Memory {
            sizes,
            keys: self.columns(projected, 0, sizes.keys()),
            values: self.columns(projected, sizes.keys(), sizes.values()),
            sentences: sentences.clone(),
        }
    }

    fn attend_memory(&self, queries: &Rows<Dev>, memory: &Memory<Dev>, sentences: &[usize]) -> Rows<Dev> {
        let span = |(row, &sentence): (usize, &usize)| Span {
            queries: row..row + 1,
            keys: memory.sentences.rows(sentence),
        };
        let spans = Spans::new(sentences.iter().enumerate().map(span).collect(), Mask::Full);
        let rows = [queries.clone(), memory.keys.clone(), memory.values.clone()];
        plain::attention(rows, memory.sizes, &spans)
    }

    fn attend_history(
        &self,
        projected: Rows<Dev>,
        history: &mut History,
        sizes: HeadSizes,
        lineage: &Lineage,
    ) -> Rows<Dev> {
        let [queries, keys, values] = self.split(&projected, sizes);
        history.keys.extend(keys.as_vec());
        history.values.extend(values.as_vec());
        history.steps.push(history.rows);
        history.rows += projected.shape().0;
        let steps = || history.steps.iter().cycle();
        let ancestors = lineage.rows().flatten().zip(steps());
        let ancestors: Vec<usize> = ancestors.map(|(&row, step)| step + row as usize).collect();
        let chosen = |rows: &[f32], width: usize| -> Rows<Dev> {
            let rows = ancestors.iter().flat_map(|row| &rows[row * width..][..width]);
            self.rows(rows.copied().collect(), width)
        };
        let rows = [
            queries,
            chosen(&history.keys, sizes.keys()),
            chosen(&history.values, sizes.values()),
        ];
        let length = lineage.length();
        let span = |row| Span {
            queries: row..row + 1,
            keys: row * length + lineage.first_seen()..(row + 1) * length,
        };
        let spans = Spans::new((0..projected.shape().0).map(span).collect(), Mask::Full);
        plain::attention(rows, sizes, &spans)
    }

    fn rank(&self, x: &Rows<Dev>, table: &Rows<Dev>, k: usize, asked: u32) -> Vec<RankedRow> {
        let classes = table.shape().0;
        let logits = plain::linear(x.clone(), table.clone(), None, Activation::Identity);
        let log_probabilities = logits.log_softmax::<Axis<1>>().as_vec();
        let rows = log_probabilities.chunks_exact(classes);
        rows.map(|row| RankedRow::of(row, k, asked)).collect()
    }
}
