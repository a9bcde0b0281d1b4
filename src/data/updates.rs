//! The pairs of each training update: a function of seed, corpus and step, so that any run can be continued.

use rand::seq::SliceRandom;

use super::batches::EncodedPairs;
use crate::model::Batch;
use crate::random::stream;
use crate::spec::Training;

/// Pairs are sorted by length among this many shuffled ones, so that a batch holds sentences of similar length
/// (section 5.1) and an epoch still mixes them.
const WINDOW_PAIRS: usize = 8192;

/// Size of updates, in target tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UpdateSize {
    pub batch_tokens: usize,
    /// Size of one forward and backward pass; an update needs one or more.
    pub micro_batch_tokens: usize,
}

impl UpdateSize {
    #[must_use]
    pub fn of(training: &Training) -> Self {
        Self {
            batch_tokens: training.batch_tokens,
            micro_batch_tokens: training.micro_batch_tokens,
        }
    }
}

/// The updates of a training run, in order.
pub struct Updates<'a> {
    pairs: &'a EncodedPairs,
    size: UpdateSize,
    seed: u64,
    /// The first step of each epoch known so far, and of the one after.
    epoch_starts: Vec<usize>,
    epoch: usize,
    /// The pairs of each update of `epoch`.
    current: Vec<Vec<usize>>,
}

impl<'a> Updates<'a> {
    /// # Panics
    /// Without pairs there is nothing to update from.
    #[must_use]
    pub fn new(pairs: &'a EncodedPairs, size: UpdateSize, seed: u64) -> Self {
        assert!(!pairs.is_empty(), "training needs at least one pair");
        let updates = epoch_updates(pairs, size, seed, 0);
        Self {
            pairs,
            size,
            seed,
            epoch_starts: vec![0, updates.len()],
            epoch: 0,
            current: updates,
        }
    }

    /// Updates of the first epoch; later epochs differ by a few, as the shuffle falls.
    #[must_use]
    pub fn steps_per_epoch(&self) -> usize {
        self.epoch_starts[1]
    }

    /// The micro-batches of one update, counted from zero over all epochs; any step may be asked for at any time.
    pub fn update(&mut self, step: usize) -> Vec<Batch> {
        let indices = self.indices(step);
        self.pairs
            .cut(&indices, self.size.micro_batch_tokens)
            .into_iter()
            .map(|pass| self.pairs.batch(pass))
            .collect()
    }

    fn indices(&mut self, step: usize) -> Vec<usize> {
        while *self.epoch_starts.last().expect("epoch 0 is known from the start") <= step {
            self.shuffle(self.epoch_starts.len() - 1);
            let end = self.epoch_starts[self.epoch] + self.current.len();
            self.epoch_starts.push(end);
        }
        let epoch = self.epoch_starts.partition_point(|start| *start <= step) - 1;
        self.shuffle(epoch);
        self.current[step - self.epoch_starts[epoch]].clone()
    }

    fn shuffle(&mut self, epoch: usize) {
        if self.epoch != epoch {
            self.current = epoch_updates(self.pairs, self.size, self.seed, epoch);
            self.epoch = epoch;
        }
    }
}

/// Every pair once.
fn epoch_updates(pairs: &EncodedPairs, size: UpdateSize, seed: u64, epoch: usize) -> Vec<Vec<usize>> {
    let mut stream = stream(&[&seed.to_string(), "shuffle", &epoch.to_string()]);
    let mut order: Vec<usize> = (0..pairs.len()).collect();
    order.shuffle(&mut stream);
    for window in order.chunks_mut(WINDOW_PAIRS) {
        window.sort_by_key(|index| (pairs.target_tokens(*index), pairs.source.rows(*index).len()));
    }
    let mut updates: Vec<_> = pairs
        .cut(&order, size.batch_tokens)
        .into_iter()
        .map(<[usize]>::to_vec)
        .collect();
    updates.shuffle(&mut stream);
    updates
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::ops::Packed;

    const SIZE: UpdateSize = UpdateSize {
        batch_tokens: 100,
        micro_batch_tokens: 30,
    };

    /// Pair `i` has target tokens `[i; i % 13]`, so that batches tell which pairs they hold.
    fn pairs(count: u32) -> EncodedPairs {
        let sentence = |index: u32| vec![index + 10; index as usize % 13];
        EncodedPairs {
            source: Packed::from_sentences((0..count).map(|index| vec![index + 10])),
            target: Packed::from_sentences((0..count).map(sentence)),
        }
    }

    fn sources(update: &[Batch]) -> Vec<u32> {
        update
            .iter()
            .flat_map(|batch| (0..batch.source.sentences()).map(|index| batch.source.sentence(index)[0]))
            .collect()
    }

    #[test]
    fn an_epoch_holds_every_pair_once() {
        let pairs = pairs(1000);
        let mut updates = Updates::new(&pairs, SIZE, 7);
        let mut seen: BTreeMap<u32, usize> = BTreeMap::new();
        for step in 0..updates.steps_per_epoch() {
            for source in sources(&updates.update(step)) {
                *seen.entry(source).or_default() += 1;
            }
        }
        assert_eq!(seen.len(), 1000);
        assert!(seen.values().all(|times| *times == 1));
    }

    #[test]
    fn any_step_can_be_asked_for_first() {
        let pairs = pairs(300);
        let mut from_start = Updates::new(&pairs, SIZE, 7);
        let undisturbed: Vec<_> = (0..80).map(|step| from_start.update(step)).collect();
        assert!(
            from_start.steps_per_epoch() * 3 < 80,
            "the test must reach a fourth epoch"
        );
        for step in [79, 3, 40, 0, 60] {
            assert_eq!(Updates::new(&pairs, SIZE, 7).update(step), undisturbed[step]);
            assert_eq!(from_start.update(step), undisturbed[step]);
        }
    }

    #[test]
    fn updates_and_their_passes_keep_to_their_sizes() {
        let pairs = pairs(500);
        let mut updates = Updates::new(&pairs, SIZE, 7);
        let mut full = 0;
        for step in 0..updates.steps_per_epoch() {
            let update = updates.update(step);
            let tokens: usize = update.iter().map(Batch::target_tokens).sum();
            assert!(tokens <= 100 && update.iter().all(|batch| batch.target_tokens() <= 30));
            full += usize::from(tokens > 100 - 14);
        }
        assert!(
            full + 1 >= updates.steps_per_epoch(),
            "only the last cut of an epoch may be short"
        );
    }

    #[test]
    fn epochs_and_seeds_differ() {
        let pairs = pairs(300);
        let mut updates = Updates::new(&pairs, SIZE, 7);
        let second_epoch = updates.steps_per_epoch();
        assert_ne!(updates.update(0), updates.update(second_epoch));
        assert_ne!(updates.update(0), Updates::new(&pairs, SIZE, 8).update(0));
    }

    #[test]
    fn a_pair_longer_than_a_batch_stands_alone() {
        let pairs = EncodedPairs {
            source: Packed::from_sentences([[10], [11], [12]]),
            target: Packed::from_sentences([vec![5; 200], vec![6], vec![7]]),
        };
        let mut updates = Updates::new(&pairs, SIZE, 7);
        assert_eq!(updates.steps_per_epoch(), 2);
        let mut sizes: Vec<_> = (0..2).map(|step| sources(&updates.update(step)).len()).collect();
        sizes.sort_unstable();
        assert_eq!(sizes, [1, 2]);
    }

    #[test]
    fn evaluation_keeps_the_order_of_the_corpus() {
        let pairs = pairs(100);
        let batches = crate::data::evaluation_batches(&pairs, 50);
        assert!(batches.iter().all(|batch| batch.target_tokens() <= 50));
        assert_eq!(sources(&batches), (10..110).collect::<Vec<_>>());
    }
}
