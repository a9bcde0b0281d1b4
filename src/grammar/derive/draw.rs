//! Draws from a random stream.

use rand::RngExt;
use rand::distr::{Distribution, weighted::WeightedIndex};
use rand::rngs::ChaCha8Rng;
use rand::seq::IndexedRandom;

/// Draws sentences from one stream.
pub struct Deriver {
    pub stream: ChaCha8Rng,
}

impl Deriver {
    pub fn new(stream: ChaCha8Rng) -> Self {
        Self { stream }
    }

    pub fn chance(&mut self, percent: u32) -> bool {
        self.stream.random_ratio(percent, 100)
    }

    pub fn choose<'a, T>(&mut self, options: &'a [T]) -> &'a T {
        options
            .choose(&mut self.stream)
            .expect("every list of options holds one")
    }

    pub fn choose_word<T: Copy>(&mut self, words: impl Iterator<Item = T>) -> T {
        self.choose_word_if_any(words)
            .expect("the lexicon holds a word for every frame and class")
    }

    /// Early words more often, as in any language: the first sixteenth of a table gets half of the draws.
    pub fn choose_word_if_any<T: Copy>(&mut self, words: impl Iterator<Item = T>) -> Option<T> {
        let words: Vec<T> = words.collect();
        let draw = self.stream.random::<f64>();
        words
            .get((draw * draw * draw * draw * words.len() as f64) as usize)
            .copied()
    }

    pub fn weighted(&mut self, weights: &[u32]) -> usize {
        WeightedIndex::new(weights)
            .expect("weights are positive")
            .sample(&mut self.stream)
    }
}
