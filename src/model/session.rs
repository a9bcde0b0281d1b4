//! Decoding with a cache: each step computes one row per hypothesis, and attends to keys and values kept from before.

use super::batch::EOS;
use super::maps::{AttentionMaps, maps};
use super::translator::{Pass, Translator, Unwatched, Within};
use super::{Continuation, Decoder, Session};
use crate::ops::{Inference, Lineage, Packed, RankedRow};

/// Decodes with a [`Translator`]; all hypotheses have the same length.
pub struct CachedDecoder<'m, I: Inference> {
    model: &'m Translator<I>,
    /// What the source sentences say, per layer.
    memories: Vec<I::Memory>,
    /// What the hypotheses have said so far, per layer.
    histories: Vec<I::History>,
    lineage: Lineage,
    /// The sentence that each row of the last step translates.
    sentences: Vec<usize>,
}

impl<'m, I: Inference> CachedDecoder<'m, I> {
    pub fn new(model: &'m Translator<I>, source: &Packed) -> Self {
        let encoded = model.encode(source, &mut Unwatched);
        let memories = model.network.decoder.iter().map(|layer| {
            let keys_values = model.source_keys_values(layer, &encoded);
            model.device.memory(&keys_values, model.dimensions.heads, source)
        });
        Self {
            memories: memories.collect(),
            histories: model.network.decoder.iter().map(|_| I::History::default()).collect(),
            model,
            lineage: Lineage::windowed(model.dimensions.window),
            sentences: (0..source.sentences()).collect(),
        }
    }
}

impl<I: Inference> Decoder for Translator<I> {
    fn session(&self, source: &Packed) -> Box<dyn Session + '_> {
        Box::new(CachedDecoder::new(self, source))
    }

    fn attention(&self, source: &[u32], target: &[u32]) -> AttentionMaps {
        maps(self, source, target)
    }
}

impl<I: Inference> Session for CachedDecoder<'_, I> {
    fn step(&mut self, rows: &[Continuation], k: usize) -> Vec<RankedRow> {
        let model = self.model;
        let parents: Vec<usize> = rows.iter().map(|row| row.parent).collect();
        let tokens: Vec<u32> = rows.iter().map(|row| row.token).collect();
        self.sentences = parents.iter().map(|&parent| self.sentences[parent]).collect();
        let position = self.lineage.length();
        self.lineage.advance(&parents);
        let embedded = model.embed(&tokens, std::iter::repeat_n(position, rows.len()));
        let mut pass = Pass {
            model,
            within: Within::Steps(&mut self.histories, &self.lineage),
            memories: &self.memories,
            sentences: &self.sentences,
            watch: &mut Unwatched,
        };
        let decoded = model.network.decode(&mut pass, embedded);
        model.device.rank(&decoded, &model.table, k, EOS)
    }
}
