//! Vocabularies and encoded pairs on disk, named by what they were made of.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use super::batches::EncodedPairs;
use super::error::DataError;
use super::prepared::{self, Findings, Writer};
use super::report::Origin;
use super::vocabulary::{Vocabulary, WordCounts};
use crate::durable;
use crate::spec::Data;

/// Method of preparation; a part of the key, so that data prepared in another way is never reused.
const RECIPE: &str = "tokenizers 0.23 bpe, metaspace, punctuation, min frequency 2; pairs 1";

/// Longest time that encoding takes. A killed process left any older temporary file.
const LONGEST_WRITING: Duration = Duration::from_hours(24);

/// Key of prepared data: everything that it depends on.
#[derive(Debug, Clone, Copy)]
pub struct Key<'a> {
    pub data: &'a Data,
    /// Hash of the training text.
    pub training: blake3::Hash,
    /// Hash of the text of all splits.
    pub all: blake3::Hash,
}

impl Key<'_> {
    fn vocabulary(&self) -> String {
        self.hash(&self.training, &[])
    }

    fn pairs(&self) -> String {
        self.hash(&self.all, &[self.data.max_length])
    }

    fn hash(&self, text: &blake3::Hash, more: &[usize]) -> String {
        let mut hasher = blake3::Hasher::new();
        hasher
            .update(RECIPE.as_bytes())
            .update(text.as_bytes())
            .update(self.data.case.name().as_bytes());
        for number in [self.data.vocab_size, self.data.vocab_pairs].iter().chain(more) {
            hasher.update(&(*number as u64).to_le_bytes());
        }
        hasher.finalize().to_hex()[..16].to_owned()
    }
}

/// The vocabulary of a training text: read if it is there and whole, else learned from what `count` counts, and kept.
///
/// # Errors
/// It cannot be trained, or the cache folder cannot be read or written.
pub fn vocabulary(
    key: &Key,
    cache_dir: &Path,
    count: impl FnOnce() -> Result<WordCounts, DataError>,
) -> Result<(Vocabulary, Origin), DataError> {
    let path = cache_dir.join(format!("vocab-{}.json", key.vocabulary()));
    let cached = match fs::read_to_string(&path) {
        Ok(sealed) => Some(unseal(&sealed)),
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        // Bytes that are no text are a damaged file like any other.
        Err(error) if error.kind() == ErrorKind::InvalidData => Some(None),
        Err(source) => return Err(DataError::Cache { path, source }),
    };
    if let Some(Some(vocabulary)) = cached {
        return Ok((vocabulary, Origin::Cached));
    }
    let vocabulary = Vocabulary::train(&count()?, key.data.vocab_size, key.data.case)?;
    write(&path, cache_dir, &seal(&vocabulary.to_json()?))?;
    Ok((vocabulary, Origin::made(cached.is_some())))
}

/// The training pairs in tokens: read if they are there and whole, else encoded by `encode`, and kept.
///
/// # Errors
/// They cannot be encoded, or the cache folder cannot be read or written.
pub fn training_pairs(
    key: &Key,
    cache_dir: &Path,
    encode: impl FnOnce(&mut Writer) -> Result<Findings, DataError>,
) -> Result<(EncodedPairs, Findings, Origin), DataError> {
    let path = cache_dir.join(format!("pairs-{}.bin", key.pairs()));
    let was_there = path.exists();
    if was_there && let Some((pairs, findings)) = prepared::read(&path).map_err(DataError::cache(&path))? {
        return Ok((pairs, findings, Origin::Cached));
    }
    fs::create_dir_all(cache_dir).map_err(DataError::cache(cache_dir))?;
    durable::remove_leftovers_older_than(cache_dir, LONGEST_WRITING).map_err(DataError::cache(cache_dir))?;
    let mut writer = Writer::new(&path)?;
    let findings = encode(&mut writer)?;
    writer.finish(findings)?;
    let written = prepared::read(&path).map_err(DataError::cache(&path))?;
    let (pairs, findings) = written.ok_or_else(|| DataError::cache(&path)(ErrorKind::InvalidData.into()))?;
    Ok((pairs, findings, Origin::made(was_there)))
}

fn seal(tokenizer: &str) -> String {
    json!({ "blake3": checksum(tokenizer), "tokenizer": tokenizer }).to_string()
}

/// None where the checksum does not fit.
fn unseal(sealed: &str) -> Option<Vocabulary> {
    let sealed: Value = serde_json::from_str(sealed).ok()?;
    let tokenizer = sealed["tokenizer"].as_str()?;
    if sealed["blake3"] != checksum(tokenizer) {
        return None;
    }
    Vocabulary::from_json(tokenizer).ok()
}

fn checksum(tokenizer: &str) -> String {
    blake3::hash(tokenizer.as_bytes()).to_hex().to_string()
}

/// Writes a whole file or none. Two processes with the same vocabulary replace each other's file with an equal one.
fn write(path: &Path, cache_dir: &Path, content: &str) -> Result<(), DataError> {
    fs::create_dir_all(cache_dir).map_err(DataError::cache(cache_dir))?;
    durable::write(path, content.as_bytes()).map_err(DataError::cache(path))
}
