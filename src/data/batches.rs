//! Encoded pairs, cut into batches of bounded size.

use crate::model::Batch;
use crate::ops::Packed;

/// The tokens of a split, both sides, without special tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EncodedPairs {
    pub source: Packed,
    pub target: Packed,
}

impl EncodedPairs {
    #[must_use]
    pub fn len(&self) -> usize {
        self.source.sentences()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Source and target tokens of one pair.
    #[must_use]
    pub fn pair(&self, index: usize) -> (&[u32], &[u32]) {
        (self.source.sentence(index), self.target.sentence(index))
    }

    /// Number of target tokens of one pair, with the end.
    #[must_use]
    pub fn target_tokens(&self, index: usize) -> usize {
        self.target.rows(index).len() + 1
    }

    pub(super) fn batch(&self, indices: &[usize]) -> Batch {
        let pairs: Vec<_> = indices.iter().map(|index| self.pair(*index)).collect();
        Batch::from_pairs(&pairs)
    }

    /// Cuts a sequence of pairs where the next one would exceed `max_tokens` target tokens; a longer pair stands alone.
    pub(super) fn cut<'a>(&self, indices: &'a [usize], max_tokens: usize) -> Vec<&'a [usize]> {
        let mut cuts = Vec::new();
        let (mut start, mut tokens) = (0, 0);
        for (position, index) in indices.iter().enumerate() {
            let next = self.target_tokens(*index);
            if tokens + next > max_tokens && position > start {
                cuts.push(&indices[start..position]);
                (start, tokens) = (position, 0);
            }
            tokens += next;
        }
        if start < indices.len() {
            cuts.push(&indices[start..]);
        }
        cuts
    }
}

/// All pairs once, in the order of the corpus, in batches of at most `max_tokens` target tokens.
#[must_use]
pub fn evaluation_batches(pairs: &EncodedPairs, max_tokens: usize) -> Vec<Batch> {
    let indices: Vec<usize> = (0..pairs.len()).collect();
    pairs
        .cut(&indices, max_tokens)
        .into_iter()
        .map(|indices| pairs.batch(indices))
        .collect()
}
