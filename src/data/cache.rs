//! Trained vocabularies on disk, named by what they were trained on.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use serde_json::{Value, json};

use super::error::DataError;
use super::report::VocabularyOrigin;
use super::splits::Pair;
use super::text::hash_pairs;
use super::vocabulary::Vocabulary;
use crate::atomic;

/// Part of the name, so that a vocabulary learned another way is not mistaken for this one.
const RECIPE: &str = "tokenizers 0.23 bpe, metaspace, punctuation, min frequency 2";

/// The vocabulary of a training text: read if it is there and whole, else trained and kept.
///
/// # Errors
/// It cannot be trained, or the cache folder cannot be read or written.
pub fn vocabulary(
    pairs: &[Pair],
    vocab_size: usize,
    cache_dir: &Path,
) -> Result<(Vocabulary, VocabularyOrigin), DataError> {
    let path = cache_dir.join(format!("vocab-{}.json", key(pairs, vocab_size)));
    let cached = match fs::read_to_string(&path) {
        Ok(sealed) => Some(unseal(&sealed)),
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        // Bytes that are no text are a damaged file like any other.
        Err(error) if error.kind() == ErrorKind::InvalidData => Some(None),
        Err(source) => return Err(DataError::Cache { path, source }),
    };
    if let Some(Some(vocabulary)) = cached {
        return Ok((vocabulary, VocabularyOrigin::Cached));
    }
    let vocabulary = Vocabulary::train(pairs, vocab_size)?;
    write(&path, cache_dir, &seal(&vocabulary.to_json()?))?;
    let origin = if cached.is_some() {
        VocabularyOrigin::Repaired
    } else {
        VocabularyOrigin::Trained
    };
    Ok((vocabulary, origin))
}

fn key(pairs: &[Pair], vocab_size: usize) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher
        .update(RECIPE.as_bytes())
        .update(&(vocab_size as u64).to_le_bytes());
    hash_pairs(&mut hasher, pairs);
    hasher.finalize().to_hex()[..16].to_owned()
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

/// Whole or not at all: two processes that train the same vocabulary replace each other's file with an equal one.
fn write(path: &Path, cache_dir: &Path, content: &str) -> Result<(), DataError> {
    let failed = |source| DataError::Cache {
        path: path.to_owned(),
        source,
    };
    fs::create_dir_all(cache_dir).map_err(failed)?;
    atomic::write(path, content.as_bytes()).map_err(failed)
}
