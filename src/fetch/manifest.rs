//! Records of the files that this program made in a corpus's folder, so that it never touches other files.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::digest::Digest;
use super::error::FetchError;
use crate::durable;

/// The file's name, in the corpus's folder.
pub const MANIFEST: &str = "fetched.toml";

/// A finished file, and the archives that it was made of.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
pub struct FileRecord {
    pub lines: u64,
    pub bytes: u64,
    pub sha256: Digest,
    pub archives: Vec<String>,
}

#[derive(Debug)]
pub struct Manifest {
    path: PathBuf,
    files: BTreeMap<String, FileRecord>,
}

impl Manifest {
    /// # Errors
    /// If there is one that cannot be read or understood.
    pub fn read(folder: &Path) -> Result<Self, FetchError> {
        let path = folder.join(MANIFEST);
        let files = match fs::read_to_string(&path) {
            Ok(text) => toml::from_str(&text).map_err(|error| FetchError::Record {
                path: path.clone(),
                what: error.to_string().trim_end().to_owned(),
            })?,
            Err(error) if error.kind() == ErrorKind::NotFound => BTreeMap::new(),
            Err(error) => return Err(FetchError::io(&path)(error)),
        };
        Ok(Self { path, files })
    }

    pub fn get(&self, name: &str) -> Option<&FileRecord> {
        self.files.get(name)
    }

    /// Adds a record. Call it before the file gets its name: a file without a record would be taken for a foreign one.
    pub fn add(&mut self, name: &str, record: FileRecord) -> Result<(), FetchError> {
        self.files.insert(name.to_owned(), record);
        let text = toml::to_string(&self.files).expect("strings and numbers");
        durable::write(&self.path, text.as_bytes()).map_err(FetchError::io(&self.path))
    }
}
