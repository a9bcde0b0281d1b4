//! Why a corpus cannot be used.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::spec::Split;

/// Why a corpus cannot be used.
#[derive(Debug, Error)]
pub enum DataError {
    /// No folder holds the file. `corpus` is the name under which it can be downloaded.
    #[error("{} was not found; looked in {}; {}", .file.display(), folders(.tried), advice(*.corpus))]
    Missing {
        file: PathBuf,
        tried: Vec<PathBuf>,
        corpus: Option<&'static str>,
    },
    #[error("{}: cannot be read: {source}", .path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    /// `line` and `byte` count from one; `byte` within the line.
    #[error("{}:{line}: not UTF-8 at byte {byte} of the line", .path.display())]
    InvalidUtf8 { path: PathBuf, line: usize, byte: usize },
    #[error(
        "{} has {} lines but {} has {}: they must match line by line",
        .source_file.0.display(), .source_file.1, .target_file.0.display(), .target_file.1
    )]
    LineCounts {
        source_file: (PathBuf, usize),
        target_file: (PathBuf, usize),
    },
    /// A split without pairs, or whose every pair was skipped.
    #[error(
        "no sentence pair is left in the corpus's {} split; {skipped} were skipped as empty or too long",
        .split.name()
    )]
    NoPairs { split: Split, skipped: usize },
    /// The characters of the corpus leave no room in the vocabulary.
    #[error("data.vocab_size = {vocab_size} cannot hold the corpus's characters: at least {smallest} is needed")]
    VocabularyTooSmall { vocab_size: usize, smallest: usize },
    #[error("the tokenizer failed: {0}")]
    Tokenizer(#[from] tokenizers::Error),
    /// A `tokenizer.json` whose token `id` is not the special token that models expect there.
    #[error("token {id} of the vocabulary is not {expected}")]
    SpecialToken { id: u32, expected: &'static str },
    /// A `tokenizer.json` with a token whose id is not below their number.
    #[error(
        "token `{token}` of the vocabulary has the id {id}, but the ids of {tokens} tokens are 0 to {}",
        .tokens.saturating_sub(1)
    )]
    TokenId { token: String, id: u32, tokens: usize },
    #[error("{}: the cache cannot be used: {source}", .path.display())]
    Cache { path: PathBuf, source: io::Error },
}

impl DataError {
    pub(super) fn cache(path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_owned();
        |source| Self::Cache { path, source }
    }
}

fn folders(tried: &[PathBuf]) -> String {
    let names: Vec<_> = tried.iter().map(|folder| folder.display().to_string()).collect();
    names.join(" and ")
}

fn advice(corpus: Option<&str>) -> String {
    match corpus {
        Some(corpus) => format!(
            "download the corpus with `ablate data fetch {corpus}`, or point to the folder that holds it; both commands \
             take --data-dir DIR"
        ),
        None => "point to the folder that holds the corpus with --data-dir DIR".to_owned(),
    }
}
