//! Decoding with a cache: each step computes one row per hypothesis, and attends to keys and values kept from before.

use super::batch::EOS;
use super::prepared::Prepared;
use super::{Continuation, Session};
use crate::ops::{Inference, Lineage, Packed, RankedRow};

/// Decodes with a [`Prepared`] model; all hypotheses have the same length.
pub struct CachedDecoder<'m, I: Inference> {
    model: &'m Prepared<'m, I>,
    /// What the source sentences say, per layer.
    memories: Vec<I::Memory>,
    /// What the hypotheses have said so far, per layer.
    histories: Vec<I::History>,
    lineage: Lineage,
    /// The sentence that each row of the last step translates.
    sentences: Vec<usize>,
}

impl<'m, I: Inference> CachedDecoder<'m, I> {
    pub fn new(model: &'m Prepared<'_, I>, source: &Packed) -> Self {
        let encoded = model.encode(source, |_| {});
        let memories = model.decoder.iter().map(|layer| {
            let keys_values = model.source_keys_values(layer, &encoded);
            model.device.memory(&keys_values, model.sizes, source)
        });
        Self {
            memories: memories.collect(),
            histories: model.decoder.iter().map(|_| I::History::default()).collect(),
            model,
            lineage: Lineage::default(),
            sentences: (0..source.sentences()).collect(),
        }
    }
}

impl<I: Inference> Session for CachedDecoder<'_, I> {
    fn step(&mut self, rows: &[Continuation], k: usize) -> Vec<RankedRow> {
        let Self { model, sentences, .. } = self;
        let parents: Vec<usize> = rows.iter().map(|row| row.parent).collect();
        let tokens: Vec<u32> = rows.iter().map(|row| row.token).collect();
        *sentences = parents.iter().map(|&parent| sentences[parent]).collect();
        let position = self.lineage.length();
        self.lineage.advance(&parents);

        let positions = model.positions.rows(position..position + 1).repeat(rows.len());
        let mut x = model.embed(&tokens, positions);
        for ((layer, memory), history) in model.decoder.iter().zip(&self.memories).zip(&mut self.histories) {
            x = model.decode_layer(
                layer,
                x,
                |projected| {
                    model
                        .device
                        .attend_history(projected, history, model.sizes, &self.lineage)
                },
                |queries| model.device.attend_memory(&queries, memory, sentences),
            );
        }
        model.device.rank(&model.finish_decoder(x), &model.table, k, EOS)
    }
}
