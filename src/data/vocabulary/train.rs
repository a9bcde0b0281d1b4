//! Learning the tokens.

use std::collections::{BTreeMap, HashMap};

use tokenizers::models::bpe::{BPE, BpeTrainer};
use tokenizers::{AddedToken, NormalizedString, Normalizer, OffsetReferential, OffsetType, PreTokenizedString};
use tokenizers::{PreTokenizer, Tokenizer};

use super::alphabet::Alphabet;
use super::special::SPECIAL_TOKENS;
use crate::data::error::DataError;
use crate::grammar::Pair;
use crate::model::UNK;

/// Least frequency of a pair of tokens that becomes one token.
const MIN_FREQUENCY: u64 = 2;

/// Count of each run between spaces in a text.
#[derive(Debug, Clone, Default)]
pub struct WordCounts {
    runs: HashMap<String, u64>,
}

impl WordCounts {
    /// Counts both sides of every pair.
    #[must_use]
    pub fn of(pairs: &[Pair]) -> Self {
        let mut counts = Self::default();
        for (source, target) in pairs {
            counts.add(source);
            counts.add(target);
        }
        counts
    }

    pub fn add(&mut self, sentence: &str) {
        for run in sentence.split(' ') {
            match self.runs.get_mut(run) {
                Some(count) => *count += 1,
                None => {
                    self.runs.insert(run.to_owned(), 1);
                }
            }
        }
    }

    /// Counts each pre-tokenized word. Equal runs are split once.
    pub(super) fn words(&self, tokenizer: &Tokenizer) -> Result<BTreeMap<String, u64>, DataError> {
        let mut words = BTreeMap::new();
        for (run, count) in &self.runs {
            for word in pre_tokenize(tokenizer, run)? {
                *words.entry(word).or_default() += count;
            }
        }
        Ok(words)
    }
}

fn pre_tokenize(tokenizer: &Tokenizer, text: &str) -> Result<Vec<String>, DataError> {
    let mut normalized = NormalizedString::from(text);
    if let Some(normalizer) = tokenizer.get_normalizer() {
        normalizer.normalize(&mut normalized)?;
    }
    let mut splits = PreTokenizedString::from(normalized);
    if let Some(pre_tokenizer) = tokenizer.get_pre_tokenizer() {
        pre_tokenizer.pre_tokenize(&mut splits)?;
    }
    let splits = splits.get_splits(OffsetReferential::Normalized, OffsetType::None);
    Ok(splits.into_iter().map(|(word, ..)| word.to_owned()).collect())
}

/// Learns the tokens, without prefix or suffix: with either, the trainer would number them in the order of a hash map.
pub fn learn_tokens(words: BTreeMap<String, u64>, vocab_size: usize) -> Result<BPE, DataError> {
    let alphabet = Alphabet::of(&words, vocab_size)?;
    let mut known_words: BTreeMap<String, u64> = BTreeMap::new();
    for (word, count) in words {
        for known in alphabet.known_parts(&word) {
            *known_words.entry(known.to_owned()).or_default() += count;
        }
    }
    let trainer = BpeTrainer::builder()
        .vocab_size(vocab_size)
        .min_frequency(MIN_FREQUENCY)
        .show_progress(false)
        .special_tokens(SPECIAL_TOKENS.map(|token| AddedToken::from(token, true)).to_vec())
        .build();
    let mut model = BPE::default();
    let known_words = known_words
        .into_iter()
        .map(|(word, count)| (word.into(), count))
        .collect();
    trainer.do_train(&known_words, &mut model)?;
    model.unk_token = Some(SPECIAL_TOKENS[UNK as usize].to_owned());
    Ok(model)
}
