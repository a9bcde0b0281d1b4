/// BLEU looks at n-grams of 1 to 4 words (Papineni et al., 2002).
pub const MAX_ORDER: usize = 4;

/// The n-grams of one sentence, all orders at once.
///
/// Four ids fill a `u128`, the first word in the highest bits and 0 past the end of the sentence, so the n-gram that
/// begins at a word is an exact prefix of its key, and sorted keys have the n-grams of every order sorted.
pub(super) struct Ngrams(Vec<u128>);

impl Ngrams {
    pub(super) fn new(ids: &[u32]) -> Self {
        let from_the_end = ids.iter().rev().scan(0, |key, &id| {
            *key = u128::from(id) << 96 | *key >> 32;
            Some(*key)
        });
        let mut keys: Vec<u128> = from_the_end.collect();
        keys.sort_unstable();
        Self(keys)
    }

    /// Number of keys: every word begins one.
    pub(super) fn words(&self) -> usize {
        self.0.len()
    }

    /// Different n-grams of one order, in order, each with how often it occurs.
    fn of_order(&self, order: usize) -> impl Iterator<Item = (u128, usize)> {
        // Shorter n-grams at the end of the sentence have a 0 where their last word should be.
        let prefix = move |key: u128| key >> (32 * (MAX_ORDER - order));
        let runs = self
            .0
            .chunk_by(move |&a, &b| prefix(a) == prefix(b))
            .map(move |run| (prefix(run[0]), run.len()));
        runs.filter(|&(ngram, _)| ngram as u32 != 0)
    }
}

/// Hypothesis n-grams that a reference has, each at most as often as the reference that has it most often.
pub(super) fn clipped_matches(hypothesis: &Ngrams, references: &[Ngrams], order: usize) -> u64 {
    let mut references: Vec<_> = references
        .iter()
        .map(|ngrams| ngrams.of_order(order).peekable())
        .collect();
    let clipped = hypothesis.of_order(order).map(|(ngram, occurrences)| {
        let in_references = references.iter_mut().map(|rest| {
            while rest.next_if(|&(other, _)| other < ngram).is_some() {}
            rest.next_if(|&(other, _)| other == ngram)
                .map_or(0, |(_, occurrences)| occurrences)
        });
        in_references.max().unwrap_or(0).min(occurrences) as u64
    });
    clipped.sum()
}
