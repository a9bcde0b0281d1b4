//! Sources of archives.

use std::convert::Infallible;
use std::path::PathBuf;
use std::str::FromStr;

use super::entry::Archive;

/// Another place that holds the archives under their names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mirror {
    Folder(PathBuf),
    Url(String),
}

impl FromStr for Mirror {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(if text.starts_with("https://") || text.starts_with("http://") {
            Self::Url(text.trim_end_matches('/').to_owned())
        } else {
            Self::Folder(text.into())
        })
    }
}

/// Source of one archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// A file that is used where it lies, and never changed.
    File(PathBuf),
    Url(String),
}

impl Source {
    #[must_use]
    pub fn of(archive: &Archive, mirror: Option<&Mirror>) -> Self {
        match mirror {
            None => Self::Url(archive.url.clone()),
            Some(Mirror::Folder(folder)) => Self::File(folder.join(&archive.name)),
            Some(Mirror::Url(base)) => Self::Url(format!("{base}/{}", archive.name)),
        }
    }
}
