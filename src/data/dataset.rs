//! A corpus ready to train on.

use std::collections::HashSet;
use std::path::Path;

use rand::seq::index;

use super::batches::EncodedPairs;
use super::cache::{self, Key};
use super::error::DataError;
use super::prepared::{Findings, Writer};
use super::report::{CorpusReport, Side, SplitReport, Survey};
use super::splits::Splits;
use super::text::{ContentHash, PairSource, Reading, sources};
use super::vocabulary::{Encoder, Vocabulary, WordCounts};
use crate::grammar::Pair;
use crate::plan::CorpusSize;
use crate::random::stream;
use crate::spec::{Data, Split};

/// Text, tokens and findings of one corpus.
#[derive(Debug)]
pub struct Dataset {
    /// All pairs of dev and test. The training text is not kept, because it may be large.
    pub text: HeldOut<Vec<Pair>>,
    /// Training without the skipped pairs; dev and test in step with `text`.
    pub ids: Splits<EncodedPairs>,
    pub vocabulary: Vocabulary,
    pub report: CorpusReport,
    /// First 16 hexadecimal digits of BLAKE3 over the text of all splits.
    pub data_hash: String,
}

/// One value for each of dev and test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeldOut<T> {
    pub dev: T,
    pub test: T,
}

impl<T> HeldOut<T> {
    /// # Panics
    /// If the split is training.
    pub fn get(&self, split: Split) -> &T {
        match split {
            Split::Train => panic!("the training split is not held out"),
            Split::Dev => &self.dev,
            Split::Test => &self.test,
        }
    }
}

impl Dataset {
    /// Size of the training split, without skipped pairs.
    #[must_use]
    pub fn training_size(&self) -> CorpusSize {
        let train = &self.ids.train;
        CorpusSize {
            pairs: train.len(),
            source_tokens: train.source.tokens(),
            target_tokens: train.target.tokens() + train.len(),
        }
    }
}

/// Reads or generates the corpus, learns or recalls its vocabulary, and encodes all of it or recalls it encoded. The
/// training text passes by pair after pair, at most three times; never is all of it in memory.
///
/// # Errors
/// The corpus is missing, malformed or empty; the vocabulary is too small for it; the cache cannot be written.
pub fn load(data: &Data, data_dir: Option<&Path>, cache_dir: &Path) -> Result<Dataset, DataError> {
    let sources = sources(&data.corpus, data_dir)?;
    let (training_pairs, training) = hash(&sources.train)?;
    let held_out = |source: &PairSource, split| {
        let (pairs, reading) = source.collect()?;
        not_empty(split, pairs.len()).map(|()| (pairs, reading))
    };
    let (dev, test) = (
        held_out(&sources.dev, Split::Dev)?,
        held_out(&sources.test, Split::Test)?,
    );
    not_empty(Split::Train, training_pairs)?;
    let key = Key {
        data,
        training,
        all: hash_all(training, [&dev.0, &test.0]),
    };
    let (vocabulary, origin) = cache::vocabulary(&key, cache_dir, || {
        count_words(&sources.train, training_pairs, data.vocab_pairs)
    })?;
    let (train, findings, training_origin) = cache::training_pairs(&key, cache_dir, |writer| {
        encode_training(&sources.train, &vocabulary, data.max_length, [&dev.0, &test.0], writer)
    })?;
    if train.is_empty() {
        return Err(DataError::NoPairs {
            split: Split::Train,
            skipped: training_pairs,
        });
    }
    let mut encoder = vocabulary.encoder();
    let (dev_ids, mut dev_report) = encode(&mut encoder, &dev)?;
    let (test_ids, mut test_report) = encode(&mut encoder, &test)?;
    dev_report.sources_in_training = findings.dev_sources_in_training;
    test_report.sources_in_training = findings.test_sources_in_training;
    let tokens = vocabulary.len();
    Ok(Dataset {
        data_hash: key.all.to_hex()[..16].to_owned(),
        text: HeldOut {
            dev: dev.0,
            test: test.0,
        },
        ids: Splits {
            train,
            dev: dev_ids,
            test: test_ids,
        },
        vocabulary,
        report: CorpusReport {
            splits: Splits {
                train: findings.train,
                dev: dev_report,
                test: test_report,
            },
            vocab_size: data.vocab_size,
            tokens,
            vocabulary: origin,
            training: training_origin,
        },
    })
}

fn not_empty(split: Split, pairs: usize) -> Result<(), DataError> {
    if pairs == 0 {
        return Err(DataError::NoPairs { split, skipped: 0 });
    }
    Ok(())
}

/// Number of pairs, and their hash.
fn hash(source: &PairSource) -> Result<(usize, blake3::Hash), DataError> {
    let mut hash = ContentHash::default();
    let reading = source.read(|source, target| {
        hash.add(source, target);
        Ok(())
    })?;
    Ok((reading.pairs, hash.finish()))
}

fn hash_all(training: blake3::Hash, others: [&[Pair]; 2]) -> blake3::Hash {
    let mut hasher = blake3::Hasher::new();
    hasher.update(training.as_bytes());
    for pairs in others {
        let mut hash = ContentHash::default();
        for (source, target) in pairs {
            hash.add(source, target);
        }
        hasher.update(hash.finish().as_bytes());
    }
    hasher.finalize()
}

/// The words of all pairs, or of `sample` of them, evenly spread.
fn count_words(source: &PairSource, pairs: usize, sample: usize) -> Result<WordCounts, DataError> {
    let sample = if sample == 0 { pairs } else { sample.min(pairs) };
    let (mut counts, mut number) = (WordCounts::default(), 0);
    source.read(|source, target| {
        // A share of `sample / pairs` for each pair rises past a whole number so many times.
        if (number + 1) * sample / pairs > number * sample / pairs {
            counts.add(source);
            counts.add(target);
        }
        number += 1;
        Ok(())
    })?;
    Ok(counts)
}

/// Writes the tokens of every pair that training keeps.
fn encode_training(
    pairs: &PairSource,
    vocabulary: &Vocabulary,
    max_length: usize,
    held_out: [&[Pair]; 2],
    writer: &mut Writer,
) -> Result<Findings, DataError> {
    let held_out_sources: HashSet<&str> = held_out
        .into_iter()
        .flatten()
        .map(|(source, _)| source.as_str())
        .collect();
    let mut also_in_training: HashSet<String> = HashSet::new();
    let (mut encoder, mut survey) = (vocabulary.encoder(), Survey::default());
    let (mut source_ids, mut target_ids) = (Vec::new(), Vec::new());
    let reading = pairs.read(|source, target| {
        source_ids.clear();
        target_ids.clear();
        encoder.encode_into(source, &mut source_ids)?;
        encoder.encode_into(target, &mut target_ids)?;
        let [source_side, target_side] =
            [(source, &source_ids), (target, &target_ids)].map(|(text, ids)| Side { text, ids });
        survey.add(source_side, target_side);
        if held_out_sources.contains(source) && !also_in_training.contains(source) {
            also_in_training.insert(source.to_owned());
        }
        if !survey.skips(source_side, target_side, max_length) {
            writer.add(&source_ids, &target_ids)?;
        }
        Ok(())
    })?;
    let [dev_sources_in_training, test_sources_in_training] = held_out.map(|pairs| {
        let known = |(source, _): &&Pair| also_in_training.contains(source);
        pairs.iter().filter(known).count()
    });
    Ok(Findings {
        train: survey.finish(&reading),
        dev_sources_in_training,
        test_sources_in_training,
    })
}

/// All pairs of a split that is scored.
fn encode(
    encoder: &mut Encoder,
    (pairs, reading): &(Vec<Pair>, Reading),
) -> Result<(EncodedPairs, SplitReport), DataError> {
    let ids = EncodedPairs {
        source: encoder.encode_all(pairs.iter().map(|(source, _)| source.as_str()))?,
        target: encoder.encode_all(pairs.iter().map(|(_, target)| target.as_str()))?,
    };
    let mut survey = Survey::default();
    for (index, (source, target)) in pairs.iter().enumerate() {
        let (source_ids, target_ids) = ids.pair(index);
        let [source, target] = [(source, source_ids), (target, target_ids)].map(|(text, ids)| Side { text, ids });
        survey.add(source, target);
    }
    Ok((ids, survey.finish(reading)))
}

/// Pairs to show, drawn without replacement and in the order of the corpus.
///
/// # Errors
/// The corpus is malformed.
pub fn sample(pairs: &PairSource, count: usize, seed: u64) -> Result<Vec<Pair>, DataError> {
    let total = pairs.read(|_, _| Ok(()))?.pairs;
    let mut stream = stream(&[&seed.to_string(), "show"]);
    let mut wanted = index::sample(&mut stream, total, count.min(total)).into_vec();
    wanted.sort_unstable();
    let (mut wanted, mut number, mut drawn) = (wanted.into_iter().peekable(), 0, Vec::new());
    pairs.read(|source, target| {
        if wanted.next_if_eq(&number).is_some() {
            drawn.push((source.to_owned(), target.to_owned()));
        }
        number += 1;
        Ok(())
    })?;
    Ok(drawn)
}
