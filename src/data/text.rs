//! The text of a corpus: generated, or read from six files.

use std::path::Path;

use super::error::DataError;
use super::files;
use super::grammar::GrammarPairs;
use super::lines::{Repairs, read_lines};
use super::splits::{Pair, Splits};
use crate::spec::{Corpus, FilePair, Split};

const GRAMMAR_DEV_PAIRS: usize = 500;
const GRAMMAR_TEST_PAIRS: usize = 1000;

/// The pairs of one split, and what was repaired in the files they come from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SplitText {
    pub pairs: Vec<Pair>,
    pub source_repairs: Repairs,
    pub target_repairs: Repairs,
}

/// Generates or reads all three splits; nothing is dropped.
///
/// # Errors
/// A file is missing, unreadable, not UTF-8, or out of step with its other side; a split is empty.
pub fn read_text(corpus: &Corpus, data_dir: Option<&Path>) -> Result<Splits<SplitText>, DataError> {
    let text = match corpus {
        Corpus::Grammar { train_pairs } => grammar(*train_pairs),
        Corpus::Multi30k { source, target } => parallel(&files::multi30k(data_dir, source, target)?)?,
        Corpus::Wmt14 { source, target } => parallel(&files::wmt14(data_dir, source, target)?)?,
        Corpus::Text { train, dev, test } => parallel(&files::text(data_dir, &Splits { train, dev, test })?)?,
    };
    for split in [Split::Train, Split::Dev, Split::Test] {
        if text.get(split).pairs.is_empty() {
            return Err(DataError::NoPairs { split, skipped: 0 });
        }
    }
    Ok(text)
}

/// First 16 hexadecimal digits of BLAKE3 over the text of all splits, whatever files it came from.
#[must_use]
pub fn data_hash(text: &Splits<SplitText>) -> String {
    let mut hasher = blake3::Hasher::new();
    for split in [&text.train, &text.dev, &text.test] {
        hash_pairs(&mut hasher, &split.pairs);
    }
    hasher.finalize().to_hex()[..16].to_owned()
}

/// Lengths go in as well, so that no two different texts look alike.
pub fn hash_pairs(hasher: &mut blake3::Hasher, pairs: &[Pair]) {
    hasher.update(&(pairs.len() as u64).to_le_bytes());
    for sentence in pairs.iter().flat_map(|(source, target)| [source, target]) {
        hasher.update(&(sentence.len() as u64).to_le_bytes());
        hasher.update(sentence.as_bytes());
    }
}

fn grammar(train_pairs: usize) -> Splits<SplitText> {
    let counts = Splits {
        train: (Split::Train, train_pairs),
        dev: (Split::Dev, GRAMMAR_DEV_PAIRS),
        test: (Split::Test, GRAMMAR_TEST_PAIRS),
    };
    counts.map(|&(split, count)| SplitText {
        pairs: GrammarPairs::new(split).take(count).collect(),
        ..SplitText::default()
    })
}

fn parallel(files: &Splits<FilePair>) -> Result<Splits<SplitText>, DataError> {
    Ok(Splits {
        train: read_pair(&files.train)?,
        dev: read_pair(&files.dev)?,
        test: read_pair(&files.test)?,
    })
}

fn read_pair(files: &FilePair) -> Result<SplitText, DataError> {
    let source = read_lines(&files.source)?;
    let target = read_lines(&files.target)?;
    if source.lines.len() != target.lines.len() {
        return Err(DataError::LineCounts {
            source: (files.source.clone(), source.lines.len()),
            target: (files.target.clone(), target.lines.len()),
        });
    }
    Ok(SplitText {
        pairs: source.lines.into_iter().zip(target.lines).collect(),
        source_repairs: source.repairs,
        target_repairs: target.repairs,
    })
}
