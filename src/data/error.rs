//! What can be wrong with a corpus.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use crate::spec::Split;

/// Why a corpus cannot be used.
#[derive(Debug)]
pub enum DataError {
    /// No folder holds the file. `corpus` is the name under which it can be downloaded.
    Missing {
        file: PathBuf,
        tried: Vec<PathBuf>,
        corpus: Option<&'static str>,
    },
    Unreadable {
        path: PathBuf,
        source: io::Error,
    },
    /// `line` and `byte` count from one; `byte` within the line.
    InvalidUtf8 {
        path: PathBuf,
        line: usize,
        byte: usize,
    },
    LineCounts {
        source: (PathBuf, usize),
        target: (PathBuf, usize),
    },
    /// A split without pairs, or whose every pair was skipped.
    NoPairs {
        split: Split,
        skipped: usize,
    },
    /// Single characters alone would not leave room.
    VocabularyTooSmall {
        vocab_size: usize,
        smallest: usize,
    },
    Tokenizer {
        source: tokenizers::Error,
    },
    /// A `tokenizer.json` whose piece `id` is not the special piece that models expect there.
    SpecialPiece {
        id: u32,
        expected: &'static str,
    },
    /// A `tokenizer.json` with a piece whose id is not below their number.
    PieceId {
        piece: String,
        id: u32,
        pieces: usize,
    },
    Cache {
        path: PathBuf,
        source: io::Error,
    },
}

impl DataError {
    pub(super) fn cache(path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_owned();
        |source| Self::Cache { path, source }
    }
}

impl fmt::Display for DataError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing { file, tried, corpus } => {
                let tried: Vec<_> = tried.iter().map(|folder| folder.display().to_string()).collect();
                write!(
                    f,
                    "{} was not found; looked in {}; ",
                    file.display(),
                    tried.join(" and ")
                )?;
                match corpus {
                    Some(corpus) => write!(
                        f,
                        "download the corpus with `ablate data fetch {corpus}`, or point to the folder that holds it; both \
                         commands take --data-dir DIR"
                    ),
                    None => write!(f, "point to the folder that holds the corpus with --data-dir DIR"),
                }
            }
            Self::Unreadable { path, source } => write!(f, "{}: cannot be read: {source}", path.display()),
            Self::InvalidUtf8 { path, line, byte } => {
                write!(f, "{}:{line}: not UTF-8 at byte {byte} of the line", path.display())
            }
            Self::LineCounts {
                source: (source, sources),
                target: (target, targets),
            } => write!(
                f,
                "{} has {sources} lines but {} has {targets}: they must match line by line",
                source.display(),
                target.display()
            ),
            Self::NoPairs { split, skipped } => {
                write!(
                    f,
                    "no sentence pair is left in the corpus's {} split; {skipped} were skipped as empty or too long",
                    split.name()
                )
            }
            Self::VocabularyTooSmall { vocab_size, smallest } => write!(
                f,
                "data.vocab_size = {vocab_size} cannot hold the corpus's characters: at least {smallest} is needed"
            ),
            Self::Tokenizer { source } => write!(f, "the tokenizer failed: {source}"),
            Self::SpecialPiece { id, expected } => write!(f, "piece {id} of the vocabulary is not {expected}"),
            Self::PieceId { piece, id, pieces } => write!(
                f,
                "piece `{piece}` of the vocabulary has the id {id}, but the ids of {pieces} pieces are 0 to {}",
                pieces.saturating_sub(1)
            ),
            Self::Cache { path, source } => write!(f, "{}: the cache cannot be used: {source}", path.display()),
        }
    }
}

impl std::error::Error for DataError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Unreadable { source, .. } | Self::Cache { source, .. } => Some(source),
            Self::Tokenizer { source } => Some(source.as_ref()),
            _ => None,
        }
    }
}
