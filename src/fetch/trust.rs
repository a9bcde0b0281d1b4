//! Whether an archive is the right one. Where the catalogue knows no hash, the first download is trusted and its hash
//! kept beside it; every later one must have the same.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::digest::Digest;
use super::entry::Archive;
use super::error::FetchError;
use crate::durable;

/// Knowledge about an archive before it is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trust {
    /// The catalogue has its hash.
    Known(Digest),
    /// An earlier download recorded its hash in this file.
    Recorded(Digest, PathBuf),
    /// The files made of it have known hashes.
    ByItsFiles,
    /// No hash is known yet; this file will hold it.
    FirstUse(PathBuf),
}

impl Trust {
    /// `downloads` is the folder of archives and their hashes.
    pub fn in_archive(archive: &Archive, do_files_vouch: bool, downloads: &Path) -> Result<Self, FetchError> {
        if let Some(digest) = archive.sha256 {
            return Ok(Self::Known(digest));
        }
        if do_files_vouch {
            return Ok(Self::ByItsFiles);
        }
        let path = record_path(archive, downloads);
        match fs::read_to_string(&path) {
            Ok(text) => Ok(Self::Recorded(parse(&text, &path)?, path)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Self::FirstUse(path)),
            Err(error) => Err(FetchError::io(&path)(error)),
        }
    }
}

/// Path of the hash of a first download.
pub fn record_path(archive: &Archive, downloads: &Path) -> PathBuf {
    downloads.join(format!("{}.sha256", archive.name))
}

/// Writes a hash as `sha256sum` does, so that `sha256sum --check` reads it.
pub fn record(path: &Path, digest: Digest, name: &str) -> Result<(), FetchError> {
    durable::write(path, format!("{digest}  {name}\n").as_bytes()).map_err(FetchError::io(path))
}

fn parse(text: &str, path: &Path) -> Result<Digest, FetchError> {
    let first = text.split_whitespace().next().unwrap_or_default();
    first.parse().map_err(|what| FetchError::Record {
        path: path.to_owned(),
        what,
    })
}
