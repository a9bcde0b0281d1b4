//! A corpus ready to train on.

use std::collections::HashSet;
use std::path::Path;

use rand::seq::index;

use super::batches::EncodedPairs;
use super::cache;
use super::error::DataError;
use super::report::{CorpusReport, SplitReport, is_blank, split_report};
use super::splits::{Pair, Splits};
use super::text::{SplitText, data_hash, read_text};
use super::vocabulary::{Encoder, Vocabulary};
use crate::ops::Packed;
use crate::ops::stream;
use crate::plan::CorpusSize;
use crate::spec::{Data, Split};

/// Text, pieces and findings of one corpus.
#[derive(Debug)]
pub struct Dataset {
    /// All pairs, also those that training skips.
    pub text: Splits<Vec<Pair>>,
    /// Training without the skipped pairs; dev and test in step with `text`.
    pub ids: Splits<EncodedPairs>,
    pub vocabulary: Vocabulary,
    pub report: CorpusReport,
    /// First 16 hexadecimal digits of BLAKE3 over the text of all splits.
    pub data_hash: String,
}

impl Dataset {
    /// How large the training split is, without what is skipped.
    #[must_use]
    pub fn training_size(&self) -> CorpusSize {
        let train = &self.ids.train;
        CorpusSize {
            pairs: train.len(),
            source_pieces: train.source.tokens(),
            target_pieces: train.target.tokens() + train.len(),
        }
    }
}

/// Reads or generates the corpus, learns or recalls its vocabulary, and encodes all of it.
///
/// # Errors
/// The corpus is missing, malformed or empty; the vocabulary is too small for it; the cache cannot be written.
pub fn load(data: &Data, data_dir: Option<&Path>, cache_dir: &Path) -> Result<Dataset, DataError> {
    let text = read_text(&data.corpus, data_dir)?;
    let (vocabulary, origin) = cache::vocabulary(&text.train.pairs, data.vocab_size, cache_dir)?;
    let mut encoder = vocabulary.encoder();
    let mut ids = Splits {
        train: encode(&mut encoder, &text.train.pairs)?,
        dev: encode(&mut encoder, &text.dev.pairs)?,
        test: encode(&mut encoder, &text.test.pairs)?,
    };
    let mut splits = report_splits(&text, &ids);
    ids.train = training_pairs(&text.train.pairs, &ids.train, data.max_length, &mut splits.train);
    if ids.train.is_empty() {
        return Err(DataError::NoPairs {
            split: Split::Train,
            skipped: text.train.pairs.len(),
        });
    }
    let pieces = vocabulary.len();
    Ok(Dataset {
        data_hash: data_hash(&text),
        text: Splits {
            train: text.train.pairs,
            dev: text.dev.pairs,
            test: text.test.pairs,
        },
        ids,
        vocabulary,
        report: CorpusReport {
            splits,
            vocab_size: data.vocab_size,
            pieces,
            vocabulary: origin,
        },
    })
}

/// Pairs to show, drawn without replacement and in the order of the corpus.
#[must_use]
pub fn sample(pairs: &[Pair], count: usize, seed: u64) -> Vec<&Pair> {
    let mut stream = stream(&[&seed.to_string(), "show"]);
    let mut indices = index::sample(&mut stream, pairs.len(), count.min(pairs.len())).into_vec();
    indices.sort_unstable();
    indices.into_iter().map(|index| &pairs[index]).collect()
}

fn encode(encoder: &mut Encoder, pairs: &[Pair]) -> Result<EncodedPairs, DataError> {
    Ok(EncodedPairs {
        source: encoder.encode_all(pairs.iter().map(|(source, _)| source.as_str()))?,
        target: encoder.encode_all(pairs.iter().map(|(_, target)| target.as_str()))?,
    })
}

fn report_splits(text: &Splits<SplitText>, ids: &Splits<EncodedPairs>) -> Splits<SplitReport> {
    let training_sources: HashSet<&str> = text.train.pairs.iter().map(|(source, _)| source.as_str()).collect();
    Splits {
        train: split_report(&text.train, &ids.train, &HashSet::new()),
        dev: split_report(&text.dev, &ids.dev, &training_sources),
        test: split_report(&text.test, &ids.test, &training_sources),
    }
}

/// Without pairs that have an empty or an overlong side, each counted.
fn training_pairs(pairs: &[Pair], ids: &EncodedPairs, max_length: usize, report: &mut SplitReport) -> EncodedPairs {
    let mut kept = Vec::with_capacity(pairs.len());
    for (index, (source, target)) in pairs.iter().enumerate() {
        let longer_side = ids.source.rows(index).len().max(ids.target.rows(index).len());
        if is_blank(source) || is_blank(target) {
            report.skipped_empty += 1;
        } else if longer_side > max_length {
            report.skipped_too_long += 1;
        } else {
            kept.push(index);
        }
    }
    EncodedPairs {
        source: Packed::from_sentences(kept.iter().map(|index| ids.source.sentence(*index))),
        target: Packed::from_sentences(kept.iter().map(|index| ids.target.sentence(*index))),
    }
}
