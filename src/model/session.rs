//! Decoding with a cache: each step computes one row per hypothesis, and attends to keys and values kept from before.

use std::ops::Range;

use dfdx::prelude::*;

use super::positions::Positional;
use super::transformer::Transformer;
use super::{Continuation, Session};
use crate::ops::{DropoutStream, Mask, Ops, Packed, Rows, Span, Spans};

/// Decodes with a [`Transformer`]; all hypotheses have the same length.
pub struct CachedDecoder<
    'm,
    Dev: Ops,
    const N: usize,
    const D: usize,
    const F: usize,
    const H: usize,
    const K: usize,
    const VD: usize,
    const HK: usize,
    const HV: usize,
    const V: usize,
    P: Positional,
> {
    model: &'m Transformer<Dev, N, D, F, H, K, VD, HK, HV, V, P>,
    /// What the source sentences say, per layer.
    sources: Vec<(Rows<HK, Dev>, Rows<HV, Dev>)>,
    /// The source rows of each sentence.
    source_rows: Vec<Range<usize>>,
    /// What the hypotheses have said so far, per layer.
    histories: Vec<History>,
    /// The sentence that each row of the last step translates.
    sentences: Vec<usize>,
    /// Tokens read so far by every row.
    length: usize,
}

/// Keys `[rows, length, H*K]` and values `[rows, length, H*VD]` of one layer.
#[derive(Clone, Default)]
struct History {
    keys: Vec<f32>,
    values: Vec<f32>,
}

impl<
    'm,
    Dev: Ops,
    const N: usize,
    const D: usize,
    const F: usize,
    const H: usize,
    const K: usize,
    const VD: usize,
    const HK: usize,
    const HV: usize,
    const V: usize,
    P: Positional,
> CachedDecoder<'m, Dev, N, D, F, H, K, VD, HK, HV, V, P>
{
    pub fn new(model: &'m Transformer<Dev, N, D, F, H, K, VD, HK, HV, V, P>, source: &Packed) -> Self {
        let memory = model.encode::<NoneTape>(source, &mut DropoutStream::off());
        Self {
            model,
            sources: model
                .decoder
                .iter()
                .map(|layer| layer.cross_attention.keys_values(&memory))
                .collect(),
            source_rows: (0..source.sentences()).map(|index| source.rows(index)).collect(),
            histories: vec![History::default(); N],
            sentences: (0..source.sentences()).collect(),
            length: 0,
        }
    }

    /// Each row attends to its own `length` keys.
    fn spans_to_self(rows: usize, length: usize) -> Spans {
        let span = |row| Span {
            queries: row..row + 1,
            keys: row * length..(row + 1) * length,
        };
        Spans::new((0..rows).map(span).collect(), Mask::Full)
    }

    fn spans_to_source(&self) -> Spans {
        let span = |(row, sentence): (usize, &usize)| Span {
            queries: row..row + 1,
            keys: self.source_rows[*sentence].clone(),
        };
        Spans::new(self.sentences.iter().enumerate().map(span).collect(), Mask::Full)
    }
}

impl<
    Dev: Ops,
    const N: usize,
    const D: usize,
    const F: usize,
    const H: usize,
    const K: usize,
    const VD: usize,
    const HK: usize,
    const HV: usize,
    const V: usize,
    P: Positional,
> Session for CachedDecoder<'_, Dev, N, D, F, H, K, VD, HK, HV, V, P>
{
    fn step(&mut self, rows: &[Continuation]) -> Vec<f32> {
        self.sentences = rows.iter().map(|row| self.sentences[row.parent]).collect();
        let parents: Vec<usize> = rows.iter().map(|row| row.parent).collect();
        let tokens: Vec<u32> = rows.iter().map(|row| row.token).collect();
        let to_source = self.spans_to_source();
        let to_self = Self::spans_to_self(rows.len(), self.length + 1);
        let dropout = &mut DropoutStream::off();

        let model = self.model;
        let mut x: Rows<D, Dev> = model.embed(&tokens, &vec![self.length; rows.len()], dropout);
        for ((layer, history), (keys, values)) in model.decoder.iter().zip(&mut self.histories).zip(&self.sources) {
            x = layer.forward(
                x,
                model.norm(),
                dropout,
                |attention, x| {
                    let (new_keys, new_values) = attention.keys_values(&x);
                    history.keys = extend(&history.keys, self.length, &parents, &new_keys);
                    history.values = extend(&history.values, self.length, &parents, &new_values);
                    let total = rows.len() * (self.length + 1);
                    let keys = x.device().tensor_from_vec(history.keys.clone(), (total, Const::<HK>));
                    let values = x.device().tensor_from_vec(history.values.clone(), (total, Const::<HV>));
                    attention.attend(x, keys, values, &to_self)
                },
                |attention, x| attention.attend(x, keys.clone(), values.clone(), &to_source),
            );
        }
        self.length += 1;
        Dev::log_probabilities(model.finish_decoder(x), &model.embedding)
    }
}

/// The parents' histories `[rows, length, width]`, each with its new row behind it.
fn extend<const W: usize, Dev: Ops>(history: &[f32], length: usize, parents: &[usize], new: &Rows<W, Dev>) -> Vec<f32> {
    let stride = length * W;
    let mut extended = Vec::with_capacity(parents.len() * (stride + W));
    for (&parent, new) in parents.iter().zip(new.as_vec().chunks_exact(W)) {
        extended.extend_from_slice(&history[parent * stride..][..stride]);
        extended.extend_from_slice(new);
    }
    extended
}
