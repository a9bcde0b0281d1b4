//! Translation on CUDA: no tape and no types of sizes. Products are of `f32`, so that a translation does not depend on
//! the precision that the model was trained in.

use std::rc::Rc;

use cudarc::driver::{CudaSlice, DeviceSlice};

use super::attention::{Heads, Kernel, Operands};
use super::context::{Context, int, of};
use super::elementwise::add_to;
use super::gather::choose;
use super::loss::{THREADS as LOSS_THREADS, rows_at_once};
use super::norm::Normalized;
use super::product::{Operand, Output, product};
use crate::ops::{Activation, HeadSizes, Inference, Lineage, Mask, Packed, Ranked, RankedRow, Span, Spans};

/// A CUDA device, as it translates.
#[derive(Clone)]
pub struct CudaInference(pub Rc<Context>);

/// `[N, width]`.
pub struct Rows {
    numbers: CudaSlice<f32>,
    width: usize,
}

impl Rows {
    fn count(&self) -> usize {
        self.numbers.len() / self.width
    }
}

pub struct Linear {
    /// `[O, I]`.
    weight: CudaSlice<f32>,
    inputs: usize,
    bias: Option<CudaSlice<f32>>,
}

pub struct Norm {
    weight: CudaSlice<f32>,
    bias: CudaSlice<f32>,
}

/// Keys and values side by side, and whose they are.
pub struct Memory {
    projected: Rows,
    sizes: HeadSizes,
    sentences: Packed,
}

/// The projected rows of every step.
#[derive(Default)]
pub struct History(Vec<Rows>);

impl CudaInference {
    fn rows(&self, count: usize, width: usize) -> Rows {
        Rows {
            numbers: self.0.uninitialized(count * width),
            width,
        }
    }

    /// `x [N, I] . weight^T [I, O]`, into `out`.
    fn multiply(&self, x: &Rows, first: usize, count: usize, weight: &CudaSlice<f32>, out: &Rows) {
        let x = Operand::of(&self.0, of(&x.numbers), x.numbers.len(), x.width);
        let inputs = weight.len() / out.width;
        let weight = Operand::of(&self.0, of(weight), weight.len(), inputs);
        let (left, right) = (x.rows_from(first), weight.view().transposed());
        let size = [count, out.width, inputs];
        // SAFETY: rows of the weight's inputs, and room for its outputs.
        unsafe {
            product(
                &self.0,
                size,
                left,
                right,
                (of(&out.numbers), out.width),
                Output::Overwrite,
            );
        };
    }

    fn attend(&self, operands: &Operands, rows: usize, sizes: HeadSizes, spans: &Spans) -> Rows {
        let mixed = self.rows(rows, sizes.values());
        let out = Heads::at(of(&mixed.numbers), mixed.width, 0, sizes.value);
        Kernel::new(&self.0, spans, sizes).forward(operands, out);
        mixed
    }

    /// The best classes and the log-probabilities of `count` rows whose logits are given.
    fn ranked(&self, logits: &Rows, count: usize, k: usize, asked: u32) -> Vec<RankedRow> {
        let k = k.min(logits.width);
        let best = self.0.uninitialized::<u32>(count * k);
        let log_probabilities = self.0.uninitialized::<f64>(count * (k + 1));
        let arguments = (
            int(logits.width),
            int(k),
            asked,
            &logits.numbers,
            &best,
            &log_probabilities,
        );
        // SAFETY: a row of logits for each block, with so many classes; room for k of them, and one more.
        unsafe { self.0.launch("rank_rows", [count, 1], LOSS_THREADS, arguments) };
        let (best, log_probabilities) = (self.0.download(&best), self.0.download(&log_probabilities));
        let rows = best.chunks_exact(k).zip(log_probabilities.chunks_exact(k + 1));
        let row = |(classes, numbers): (&[u32], &[f64])| RankedRow {
            best: classes
                .iter()
                .zip(numbers)
                .map(|(&class, &log_probability)| Ranked { class, log_probability })
                .collect(),
            asked: numbers[k],
        };
        rows.map(row).collect()
    }
}

impl Inference for CudaInference {
    type Rows = Rows;
    type Linear = Linear;
    type Norm = Norm;
    type Table = Linear;
    type Memory = Memory;
    type History = History;

    fn prepare_linear(&self, weight: Vec<f32>, inputs: usize, bias: Option<Vec<f32>>) -> Linear {
        Linear {
            weight: self.0.upload(weight),
            inputs,
            bias: bias.map(|bias| self.0.upload(bias)),
        }
    }

    fn prepare_norm(&self, weight: Vec<f32>, bias: Vec<f32>) -> Norm {
        Norm {
            weight: self.0.upload(weight),
            bias: self.0.upload(bias),
        }
    }

    fn prepare_table(&self, embedding: Vec<f32>, width: usize) -> Linear {
        self.prepare_linear(embedding, width, None)
    }

    fn read(&self, rows: &Rows) -> Vec<f32> {
        self.0.download(&rows.numbers)
    }

    fn embed(&self, table: &Linear, ids: &[u32], scale: f32, positions: Vec<f32>) -> Rows {
        let rows = self.rows(ids.len(), table.inputs);
        let (chosen, positions) = (of(&rows.numbers), self.0.upload(positions));
        choose(&self.0, rows.width, of(&table.weight), ids, scale, chosen);
        add_to(&self.0, rows.numbers.len(), of(&positions), chosen);
        rows
    }

    fn linear(&self, x: &Rows, linear: &Linear, activation: Activation) -> Rows {
        let y = self.rows(x.count(), linear.weight.len() / linear.inputs);
        self.multiply(x, 0, x.count(), &linear.weight, &y);
        let relu = i32::from(activation == Activation::Relu);
        let bias = match (&linear.bias, activation) {
            (Some(bias), _) => bias,
            (None, Activation::Identity) => return y,
            (None, Activation::Relu) => &self.0.zeros(y.width),
        };
        // SAFETY: rows of the bias's width.
        unsafe {
            self.0
                .launch_by_row("add_bias", y.count(), (int(y.width), relu, bias, &y.numbers));
        };
        y
    }

    fn add(&self, x: Rows, y: &Rows) -> Rows {
        let numbers = x.numbers.len();
        assert_eq!(numbers, y.numbers.len(), "as many rows on both sides");
        add_to(&self.0, numbers, of(&y.numbers), of(&x.numbers));
        x
    }

    fn normalize(&self, x: &Rows, norm: &Norm) -> Rows {
        let y = self.rows(x.count(), x.width);
        let parameters = [of(&norm.weight), of(&norm.bias)];
        Normalized::of(
            &self.0,
            [x.count(), x.width],
            of(&x.numbers),
            None,
            parameters,
            of(&y.numbers),
        );
        y
    }

    fn attend_within(&self, projected: &Rows, sizes: HeadSizes, spans: &Spans) -> Rows {
        let operands = Operands::side_by_side(of(&projected.numbers), projected.width, sizes);
        self.attend(&operands, projected.count(), sizes, spans)
    }

    fn memory(&self, projected: &Rows, sizes: HeadSizes, sentences: &Packed) -> Memory {
        let copy = self.0.device().clone();
        let mut kept = self.rows(projected.count(), projected.width);
        copy.dtod_copy(&projected.numbers, &mut kept.numbers)
            .expect("memory of the same size");
        Memory {
            projected: kept,
            sizes,
            sentences: sentences.clone(),
        }
    }

    fn attend_memory(&self, queries: &Rows, memory: &Memory, sentences: &[usize]) -> Rows {
        let (sizes, rows) = (memory.sizes, &memory.projected);
        let mut first = 0;
        let span = |group: &[usize]| {
            let end = first + group.len();
            Span {
                queries: std::mem::replace(&mut first, end)..end,
                keys: memory.sentences.rows(group[0]),
            }
        };
        // Rows of one sentence are neighbours.
        let spans = Spans::new(sentences.chunk_by(|a, b| a == b).map(span).collect(), Mask::Full);
        let (data, stride) = (of(&rows.numbers), rows.width);
        let operands = Operands {
            queries: Heads::at(of(&queries.numbers), queries.width, 0, sizes.key),
            keys: Heads::at(data, stride, 0, sizes.key),
            values: Heads::at(data, stride, sizes.keys(), sizes.value),
        };
        self.attend(&operands, queries.count(), sizes, &spans)
    }

    fn attend_history(&self, projected: Rows, history: &mut History, sizes: HeadSizes, lineage: &Lineage) -> Rows {
        const THREADS: u32 = 32;
        let rows = projected.count();
        history.0.push(projected);
        let steps = self.0.upload(history.0.iter().map(|step| of(&step.numbers)).collect());
        let ancestors = self.0.upload(lineage.rows().flatten().copied().collect::<Vec<u32>>());
        let weights = self.0.uninitialized::<f32>(rows * sizes.heads * history.0.len());
        let mixed = self.rows(rows, sizes.values());
        let arguments = (
            int(lineage.first_seen()),
            int(history.0.len()),
            &steps,
            &ancestors,
            int(sizes.key),
            int(sizes.value),
            (sizes.key as f32).sqrt().recip(),
            &weights,
            &mixed.numbers,
        );
        // SAFETY: the lineage names an ancestor of each row in each step; a weight for each of them and each head.
        unsafe { self.0.launch("attend_history", [rows, sizes.heads], THREADS, arguments) };
        mixed
    }

    fn rank(&self, x: &Rows, table: &Linear, k: usize, asked: u32) -> Vec<RankedRow> {
        let classes = table.weight.len() / table.inputs;
        let at_once = rows_at_once(classes, x.count());
        let logits = self.rows(at_once, classes);
        let mut ranked = Vec::with_capacity(x.count());
        for first in (0..x.count()).step_by(at_once) {
            let count = at_once.min(x.count() - first);
            self.multiply(x, first, count, &table.weight, &logits);
            ranked.extend(self.ranked(&logits, count, k, asked));
        }
        ranked
    }
}
