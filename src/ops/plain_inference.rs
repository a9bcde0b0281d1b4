//! Translation as dfdx writes it: the first implementation on any device, and the oracle of the one for the CPU.

use dfdx::prelude::*;

use super::plain::{Padding, index};
use super::{Activation, HeadSizes, Inference, LAYER_NORM_EPSILON, Lineage, Mask, Packed, RankedRow, Span, Spans};
use crate::threads::Shareable;

/// Translates with dfdx's own operations on `Dev`.
#[derive(Debug, Clone)]
pub struct PlainInference<Dev>(pub Dev);

type Rows<Dev> = Tensor<(usize, usize), f32, Dev>;

#[derive(Debug)]
pub struct Linear<Dev: Storage<f32>> {
    /// `[I, O]`.
    weight: Rows<Dev>,
    bias: Option<Tensor<(usize,), f32, Dev>>,
}

#[derive(Debug)]
pub struct Norm<Dev: Storage<f32>> {
    gain: Tensor<(usize,), f32, Dev>,
    bias: Tensor<(usize,), f32, Dev>,
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

impl<Dev: Device<f32> + Storage<f32, Vec: Shareable> + Shareable> PlainInference<Dev> {
    fn rows(&self, values: Vec<f32>, width: usize) -> Rows<Dev> {
        let rows = values.len() / width;
        self.0.tensor_from_vec(values, (rows, width))
    }

    fn vector(&self, values: Vec<f32>) -> Tensor<(usize,), f32, Dev> {
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

    /// As [`super::plain::attention`], with sizes that are values.
    fn attend(&self, [q, k, v]: [Rows<Dev>; 3], sizes: HeadSizes, spans: &Spans) -> Rows<Dev> {
        let padding = Padding::of(spans);
        let (b, s, m, h) = (padding.sentences, padding.queries, padding.keys, sizes.heads);
        let q = self.heads(q, padding.query_rows, [b, s, h, sizes.key]); // [B*H, S, K]
        let k = self.heads(k, padding.key_rows.clone(), [b, m, h, sizes.key]); // [B*H, M, K]
        let v = self.heads(v, padding.key_rows, [b, m, h, sizes.value]); // [B*H, M, VD]
        let scores = q.matmul(k.permute::<_, Axes3<0, 2, 1>>()) * (sizes.key as f32).sqrt().recip(); // [B*H, S, M]
        let mask = padding
            .mask
            .iter()
            .flat_map(|sentence| std::iter::repeat_n(sentence, h).flatten().copied());
        let mask = self
            .0
            .tensor_from_vec::<(usize, usize, usize)>(mask.collect(), (b * h, s, m));
        let mixed = (scores + mask).softmax::<Axis<2>>().matmul(v); // [B*H, S, VD]
        mixed
            .reshape_like(&(b, h, s, sizes.value))
            .permute::<_, Axes4<0, 2, 1, 3>>()
            .reshape_like(&(b * s, h * sizes.value))
            .gather(index(&self.0, padding.rows_back))
    }

    /// `[N, H*K] -> [B*H, S, K]`.
    fn heads(
        &self,
        rows: Rows<Dev>,
        order: Vec<usize>,
        [b, s, h, k]: [usize; 4],
    ) -> Tensor<(usize, usize, usize), f32, Dev> {
        let padded: Rows<Dev> = rows.gather(index(&self.0, order));
        padded
            .reshape_like(&(b, s, h, k))
            .permute::<_, Axes4<0, 2, 1, 3>>()
            .reshape_like(&(b * h, s, k))
    }
}

impl<Dev: Device<f32> + Storage<f32, Vec: Shareable> + Shareable> Inference for PlainInference<Dev> {
    type Rows = Rows<Dev>;
    type Linear = Linear<Dev>;
    type Norm = Norm<Dev>;
    type Table = Rows<Dev>;
    type Memory = Memory<Dev>;
    type History = History;

    fn prepare_linear(&self, weight: Vec<f32>, inputs: usize, bias: Option<Vec<f32>>) -> Linear<Dev> {
        Linear {
            weight: self.rows(weight, inputs).permute::<_, Axes2<1, 0>>(),
            bias: bias.map(|bias| self.vector(bias)),
        }
    }

    fn prepare_norm(&self, gain: Vec<f32>, bias: Vec<f32>) -> Norm<Dev> {
        Norm {
            gain: self.vector(gain),
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
        let ids = index(&self.0, ids.iter().map(|&id| id as usize).collect());
        let rows: Rows<Dev> = table.clone().gather(ids);
        rows * scale + self.rows(positions, table.shape().1)
    }

    fn linear(&self, x: &Rows<Dev>, linear: &Linear<Dev>, activation: Activation) -> Rows<Dev> {
        let mut y = x.clone().matmul(linear.weight.clone()); // [N, I] . [I, O]
        if let Some(bias) = &linear.bias {
            let shape = *y.shape();
            y = y + bias.clone().broadcast_like::<_, Axis<0>>(&shape);
        }
        match activation {
            Activation::Identity => y,
            Activation::Relu => y.relu(),
        }
    }

    fn add(&self, x: Rows<Dev>, y: &Rows<Dev>) -> Rows<Dev> {
        x + y.clone()
    }

    fn normalize(&self, x: &Rows<Dev>, norm: &Norm<Dev>) -> Rows<Dev> {
        let shape = *x.shape();
        x.clone().normalize::<Axis<1>>(f64::from(LAYER_NORM_EPSILON))
            * norm.gain.clone().broadcast_like::<_, Axis<0>>(&shape)
            + norm.bias.clone().broadcast_like::<_, Axis<0>>(&shape)
    }

    fn attend_within(&self, projected: &Rows<Dev>, sizes: HeadSizes, spans: &Spans) -> Rows<Dev> {
        self.attend(self.split(projected, sizes), sizes, spans)
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
        self.attend(rows, memory.sizes, &spans)
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
            keys: row * length..(row + 1) * length,
        };
        let spans = Spans::new((0..projected.shape().0).map(span).collect(), Mask::Full);
        self.attend(rows, sizes, &spans)
    }

    fn rank(&self, x: &Rows<Dev>, table: &Rows<Dev>, k: usize, asked: u32) -> Vec<RankedRow> {
        let classes = table.shape().0;
        let logits = x.clone().matmul(table.clone().permute::<_, Axes2<1, 0>>());
        let log_probabilities = logits.log_softmax::<Axis<1>>().as_vec();
        let rows = log_probabilities.chunks_exact(classes);
        rows.map(|row| RankedRow::of(row, k, asked)).collect()
    }
}
