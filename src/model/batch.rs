//! What a model reads: packed sentence pairs.

use crate::ops::Packed;

/// A piece the vocabulary does not hold.
pub const UNK: u32 = 0;
/// What the decoder reads first.
pub const BOS: u32 = 1;
/// What ends a source sentence, and what the decoder says last.
pub const EOS: u32 = 2;

/// Sentence pairs, teacher-forced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Batch {
    /// Source pieces, each sentence closed by [`EOS`].
    pub source: Packed,
    /// Decoder input: [`BOS`], then the target pieces.
    pub target: Packed,
    /// What the decoder should say at each row of `target`: the target pieces, then [`EOS`].
    pub labels: Vec<u32>,
}

impl Batch {
    /// Packs pairs of source and target pieces, both without special pieces.
    #[must_use]
    pub fn from_pairs(pairs: &[(&[u32], &[u32])]) -> Self {
        let closed = |pieces: &[u32]| [pieces, &[EOS]].concat();
        Self {
            source: Packed::from_sentences(pairs.iter().map(|(source, _)| closed(source))),
            target: Packed::from_sentences(pairs.iter().map(|(_, target)| [&[BOS], *target].concat())),
            labels: pairs.iter().flat_map(|(_, target)| closed(target)).collect(),
        }
    }

    /// Target tokens, the end of each sentence counted.
    #[must_use]
    pub fn target_tokens(&self) -> usize {
        self.labels.len()
    }
}
