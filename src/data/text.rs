//! The text of a corpus: generated, or read from files, pair after pair, never all of it at once.

use std::path::Path;

use super::error::DataError;
use super::files;
use super::lines::{LineReader, Repairs};
use super::splits::Splits;
use crate::grammar::{GrammarPairs, Pair};
use crate::spec::{Corpus, FilePair, Split};

const GRAMMAR_DEV_PAIRS: usize = 500;
const GRAMMAR_TEST_PAIRS: usize = 1000;

/// Source of the pairs of one split. It can be read as often as needed.
#[derive(Debug, Clone, PartialEq)]
pub enum PairSource {
    Grammar { split: Split, pairs: usize },
    Files(FilePair),
}

/// Counts of one reading.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Reading {
    pub pairs: usize,
    pub source_repairs: Repairs,
    pub target_repairs: Repairs,
}

/// The three splits of a corpus.
///
/// # Errors
/// A file is missing.
pub fn sources(corpus: &Corpus, data_dir: Option<&Path>) -> Result<Splits<PairSource>, DataError> {
    let files = match corpus {
        Corpus::Grammar { train_pairs } => return Ok(grammar(*train_pairs)),
        Corpus::Multi30k { source, target } => files::multi30k(data_dir, source.name(), target.name())?,
        Corpus::Wmt14 { source, target } => files::wmt14(data_dir, source.name(), target.name())?,
        Corpus::Text { train, dev, test } => files::text(data_dir, &Splits { train, dev, test })?,
    };
    Ok(files.map(|files| PairSource::Files(files.clone())))
}

fn grammar(train_pairs: usize) -> Splits<PairSource> {
    let counts = Splits {
        train: (Split::Train, train_pairs),
        dev: (Split::Dev, GRAMMAR_DEV_PAIRS),
        test: (Split::Test, GRAMMAR_TEST_PAIRS),
    };
    counts.map(|&(split, pairs)| PairSource::Grammar { split, pairs })
}

impl PairSource {
    /// Passes every pair to `take`, in order; none is dropped.
    ///
    /// # Errors
    /// A file is unreadable, not UTF-8, or out of step with its other side; or what `take` returns.
    pub fn read(&self, mut take: impl FnMut(&str, &str) -> Result<(), DataError>) -> Result<Reading, DataError> {
        match self {
            Self::Grammar { split, pairs } => {
                for (source, target) in GrammarPairs::new(*split).take(*pairs) {
                    take(&source, &target)?;
                }
                Ok(Reading {
                    pairs: *pairs,
                    ..Reading::default()
                })
            }
            Self::Files(files) => read_files(files, take),
        }
    }

    /// All pairs, for a split that fits in memory.
    ///
    /// # Errors
    /// The errors of [`Self::read`].
    pub fn collect(&self) -> Result<(Vec<Pair>, Reading), DataError> {
        let mut pairs = Vec::new();
        let reading = self.read(|source, target| {
            pairs.push((source.to_owned(), target.to_owned()));
            Ok(())
        })?;
        Ok((pairs, reading))
    }
}

fn read_files(
    files: &FilePair,
    mut take: impl FnMut(&str, &str) -> Result<(), DataError>,
) -> Result<Reading, DataError> {
    let mut source = LineReader::open(&files.source)?;
    let mut target = LineReader::open(&files.target)?;
    loop {
        let (source_line, target_line) = (source.next_line()?, target.next_line()?);
        match (source_line, target_line) {
            (Some(source), Some(target)) => take(source, target)?,
            (None, None) => break,
            _ => {
                return Err(DataError::LineCounts {
                    source_file: (files.source.clone(), source.count_rest()?),
                    target_file: (files.target.clone(), target.count_rest()?),
                });
            }
        }
    }
    Ok(Reading {
        pairs: source.lines(),
        source_repairs: source.repairs(),
        target_repairs: target.repairs(),
    })
}

/// A hash of pairs in their order. Lengths go in as well, so that no two different texts look alike.
#[derive(Debug, Clone, Default)]
pub struct ContentHash {
    hasher: blake3::Hasher,
    pairs: u64,
}

impl ContentHash {
    pub fn add(&mut self, source: &str, target: &str) {
        self.pairs += 1;
        for sentence in [source, target] {
            self.hasher.update(&(sentence.len() as u64).to_le_bytes());
            self.hasher.update(sentence.as_bytes());
        }
    }

    pub fn finish(mut self) -> blake3::Hash {
        self.hasher.update(&self.pairs.to_le_bytes());
        self.hasher.finalize()
    }
}
