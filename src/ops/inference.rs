//! What translation is made of: operations without a tape, on sizes that are known at run time only. Weights come from
//! the host once and are kept in whatever form the device multiplies fastest.

use super::{Activation, HeadSizes, Lineage, Packed, Spans};
use crate::threads::Shareable;

/// A class and its log-probability.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ranked {
    pub class: u32,
    /// In nats.
    pub log_probability: f64,
}

/// The likeliest classes of one row.
#[derive(Debug, Clone, PartialEq)]
pub struct RankedRow {
    /// The likeliest first; of equals, the one with the smaller number.
    pub best: Vec<Ranked>,
    /// Log-probability, in nats, of the one class that was asked for whatever its rank.
    pub asked: f64,
}

impl RankedRow {
    /// The `k` likeliest of all classes, whose log-probabilities are given, and that of the class `asked`.
    #[must_use]
    pub fn of(log_probabilities: &[f32], k: usize, asked: u32) -> Self {
        let mut best = Vec::with_capacity(k.min(log_probabilities.len()) + 1);
        for (class, &log_probability) in log_probabilities.iter().enumerate() {
            let class = class as u32;
            offer(&mut best, k, (class, log_probability));
        }
        let ranked = |(class, log_probability): (u32, f32)| Ranked {
            class,
            log_probability: log_probability.into(),
        };
        Self {
            best: best.into_iter().map(ranked).collect(),
            asked: log_probabilities[asked as usize].into(),
        }
    }
}

/// Puts a class into its place among the `k` best, if it has one. Classes are offered by ascending number: of equals,
/// the one offered first stays first. As long as there is room anything is taken, even what is no number.
#[inline]
pub(super) fn offer(best: &mut Vec<(u32, f32)>, k: usize, (class, score): (u32, f32)) {
    let beats = |&(_, other): &(u32, f32)| score > other;
    if best.len() == k && !best.last().is_some_and(beats) {
        return;
    }
    let at = best.partition_point(|other| !beats(other));
    best.insert(at, (class, score));
    best.truncate(k);
}

/// A device that translates. Rows are `[N, D]`, one row per token; widths are those of the weights.
pub trait Inference: Shareable {
    type Rows;
    /// A weight `[O, I]` with its bias, if it has one.
    type Linear: Shareable;
    /// Weight and bias `[D]`.
    type Norm: Shareable;
    /// The embeddings `[V, D]`, which are the projection onto the classes as well.
    type Table: Shareable;
    /// Keys and values of the sentences that are translated.
    type Memory;
    /// Keys and values of all steps so far.
    type History: Default;

    /// Makes a weight ready: `weight` is `[O, inputs]`, `bias` `[O]`.
    fn prepare_linear(&self, weight: Vec<f32>, inputs: usize, bias: Option<Vec<f32>>) -> Self::Linear;

    /// Makes a norm ready.
    fn prepare_norm(&self, weight: Vec<f32>, bias: Vec<f32>) -> Self::Norm;

    /// Makes the embeddings ready: `[V, width]`.
    fn prepare_table(&self, embedding: Vec<f32>, width: usize) -> Self::Table;

    /// A copy on the host, row after row.
    fn read(&self, rows: &Self::Rows) -> Vec<f32>;

    /// Rows of the table chosen by `ids`, times `scale`, plus `positions` (`[N, D]`).
    fn embed(&self, table: &Self::Table, ids: &[u32], scale: f32, positions: Vec<f32>) -> Self::Rows;

    /// `activation(x . weight^T + bias)`: `[N, I] -> [N, O]`.
    fn linear(&self, x: &Self::Rows, linear: &Self::Linear, activation: Activation) -> Self::Rows;

    /// `x + y`.
    fn add(&self, x: Self::Rows, y: &Self::Rows) -> Self::Rows;

    /// Each row to mean 0 and variance 1, times the weight, plus the bias.
    fn normalize(&self, x: &Self::Rows, norm: &Self::Norm) -> Self::Rows;

    /// `normalize(x + y)`.
    fn add_norm(&self, x: Self::Rows, y: &Self::Rows, norm: &Self::Norm) -> Self::Rows {
        self.normalize(&self.add(x, y), norm)
    }

    /// Attention within sentences: queries, keys and values stand side by side in `[N, 2*H*K + H*VD]`, and
    /// `[N, H*VD]` comes out.
    fn attend_within(&self, projected: &Self::Rows, sizes: HeadSizes, spans: &Spans) -> Self::Rows;

    /// Keeps keys and values, side by side in `[N, H*K + H*VD]`, of the sentences that [`Self::attend_memory`] reads.
    fn memory(&self, projected: &Self::Rows, sizes: HeadSizes, sentences: &Packed) -> Self::Memory;

    /// Row `i` of `queries` (`[N, H*K]`) attends to sentence `sentences[i]`; rows of one sentence are neighbours.
    /// Returns `[N, H*VD]`.
    fn attend_memory(&self, queries: &Self::Rows, memory: &Self::Memory, sentences: &[usize]) -> Self::Rows;

    /// Adds the rows of a step (`[N, 2*H*K + H*VD]`: queries, keys and values) to the history. Each attends to its
    /// ancestors and itself: `[N, H*VD]`.
    fn attend_history(
        &self,
        projected: Self::Rows,
        history: &mut Self::History,
        sizes: HeadSizes,
        lineage: &Lineage,
    ) -> Self::Rows;

    /// The `k` likeliest classes of every row after projection and softmax, and the log-probability of class `asked`.
    fn rank(&self, x: &Self::Rows, table: &Self::Table, k: usize, asked: u32) -> Vec<RankedRow>;
}
