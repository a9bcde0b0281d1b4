//! What a model reads: packed sentence pairs.

use std::ops::Range;

use crate::ops::Packed;
use crate::plan::Work;

/// A token the vocabulary does not hold.
pub const UNK: u32 = 0;
/// What the decoder reads first.
pub const BOS: u32 = 1;
/// What ends a source sentence, and what the decoder says last.
pub const EOS: u32 = 2;

/// Sentence pairs, teacher-forced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Batch {
    /// Source tokens, each sentence closed by [`EOS`].
    pub source: Packed,
    /// Decoder input: [`BOS`], then the target tokens.
    pub target: Packed,
    /// What the decoder should say at each row of `target`: the target tokens, then [`EOS`].
    pub labels: Vec<u32>,
    /// The rows that come before, if this is a share of a larger batch.
    pub before: RowsBefore,
}

/// How many rows of a batch come before a share of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RowsBefore {
    pub source: usize,
    pub target: usize,
}

impl Batch {
    /// Packs pairs of source and target tokens, both without special tokens.
    #[must_use]
    pub fn from_pairs(pairs: &[(&[u32], &[u32])]) -> Self {
        let closed = |tokens: &[u32]| [tokens, &[EOS]].concat();
        Self {
            source: Packed::from_sentences(pairs.iter().map(|(source, _)| closed(source))),
            target: Packed::from_sentences(pairs.iter().map(|(_, target)| [&[BOS], *target].concat())),
            labels: pairs.iter().flat_map(|(_, target)| closed(target)).collect(),
            before: RowsBefore::default(),
        }
    }

    /// Source and target tokens of one pair, without special tokens: what the batch was packed from.
    #[must_use]
    pub fn pair(&self, index: usize) -> (&[u32], &[u32]) {
        let source = self.source.sentence(index);
        (&source[..source.len() - 1], &self.target.sentence(index)[1..])
    }

    /// The batch in about `count` shares of whole sentences, with about as many target tokens each.
    #[must_use]
    pub fn shares(&self, count: usize) -> Vec<Self> {
        let tokens = self.target_tokens();
        let count = count.clamp(1, self.target.sentences().max(1));
        let mut first = 0;
        let end = |share: usize| {
            let tokens = tokens * (share + 1) / count;
            self.target.offsets().partition_point(|&offset| offset < tokens)
        };
        (0..count)
            .map(|share| std::mem::replace(&mut first, end(share))..end(share))
            .filter(|range| !range.is_empty())
            .map(|range| self.sentences(range))
            .collect()
    }

    fn sentences(&self, range: Range<usize>) -> Self {
        let rows = self.target.offsets()[range.start]..self.target.offsets()[range.end];
        let before = RowsBefore {
            source: self.before.source + self.source.offsets()[range.start],
            target: self.before.target + rows.start,
        };
        Self {
            source: Packed::from_sentences(range.clone().map(|index| self.source.sentence(index))),
            target: Packed::from_sentences(range.map(|index| self.target.sentence(index))),
            labels: self.labels[rows].to_vec(),
            before,
        }
    }

    /// What there is to read.
    #[must_use]
    pub fn work(&self, window: Option<usize>) -> Work {
        let length = |side: &Packed, index| side.sentence(index).len();
        let mut work = Work::default();
        for index in 0..self.target.sentences() {
            work += Work::of_pair(length(&self.source, index), length(&self.target, index), window);
        }
        work
    }

    /// Target tokens, the end of each sentence counted.
    #[must_use]
    pub fn target_tokens(&self) -> usize {
        self.labels.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batch(lengths: &[usize]) -> Batch {
        let sentences: Vec<Vec<u32>> = lengths.iter().map(|&length| (0..length as u32).collect()).collect();
        let pairs: Vec<(&[u32], &[u32])> = sentences.iter().map(|s| (&s[..s.len() / 2], &s[..])).collect();
        Batch::from_pairs(&pairs)
    }

    #[test]
    fn pairs_come_back_as_they_were_packed() {
        let pairs: [(&[u32], &[u32]); 3] = [(&[5, 9], &[7]), (&[], &[4, 4, 8]), (&[6], &[])];
        let batch = Batch::from_pairs(&pairs);
        assert_eq!([0, 1, 2].map(|index| batch.pair(index)), pairs);
    }

    #[test]
    fn shares_are_the_batch_in_its_order() {
        for lengths in [&[3, 0, 9, 4, 4, 20, 1][..], &[50], &[1, 1, 1, 1], &[0, 0], &[]] {
            let whole = batch(lengths);
            for count in [1, 2, 3, 100] {
                let shares = whole.shares(count);
                let mut before = RowsBefore::default();
                for share in &shares {
                    assert_eq!(share.before, before);
                    before.source += share.source.tokens();
                    before.target += share.target.tokens();
                }
                let joined = |part: fn(&Batch) -> &Packed| {
                    let sentences = shares
                        .iter()
                        .flat_map(|share| (0..part(share).sentences()).map(move |index| part(share).sentence(index)));
                    Packed::from_sentences(sentences)
                };
                assert_eq!(joined(|share| &share.source), whole.source);
                assert_eq!(joined(|share| &share.target), whole.target);
                assert_eq!(
                    shares.iter().flat_map(|share| share.labels.clone()).collect::<Vec<_>>(),
                    whole.labels
                );
            }
        }
    }

    #[test]
    fn a_share_of_a_share_knows_all_rows_before_it() {
        let whole = batch(&[3, 0, 9, 4, 4, 20, 1]);
        let of_shares: Vec<_> = whole.shares(2).iter().flat_map(|share| share.shares(2)).collect();
        let last = of_shares.last().expect("there are shares");
        assert_eq!(last.before.source + last.source.tokens(), whole.source.tokens());
        assert_eq!(last.before.target + last.target.tokens(), whole.target.tokens());
    }

    #[test]
    fn shares_are_of_about_the_same_size() {
        let shares = batch(&[15; 64]).shares(2);
        assert_eq!(shares.iter().map(Batch::target_tokens).collect::<Vec<_>>(), [512, 512]);
    }
}
