//! Reads the text files of a run or an export.

use std::fs;
use std::path::Path;

use super::RunError;
use crate::data::Vocabulary;
use crate::spec::{Experiment, Faults, load_experiment};

pub fn read_spec(path: &Path) -> Result<Experiment, RunError> {
    load_experiment(path, &|path| fs::read_to_string(path)).map_err(|faults: Faults| RunError::Spec(Box::new(faults)))
}

/// A `tokenizer.json`, and its text.
pub fn read_vocabulary(path: &Path) -> Result<(Vocabulary, String), RunError> {
    let text = read_text(path)?;
    let vocabulary = Vocabulary::from_json(&text).map_err(|source| RunError::Tokenizer {
        path: path.to_owned(),
        source,
    })?;
    Ok((vocabulary, text))
}

pub fn read_text(path: &Path) -> Result<String, RunError> {
    fs::read_to_string(path).map_err(RunError::io(path))
}
