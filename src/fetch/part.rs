//! What there is of a download: the bytes in `NAME.part`, and in `NAME.part.toml` of which version of which file they
//! are. Killed at any moment, the two tell where to go on.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::error::FetchError;
use super::http::Version;
use crate::durable;

#[derive(Debug)]
pub struct PartFile {
    path: PathBuf,
    file: File,
    length: u64,
    state: State,
}

#[derive(Debug, Default, Deserialize, Serialize)]
struct State {
    url: String,
    validator: Option<String>,
    total: Option<u64>,
}

impl PartFile {
    /// What is there of this URL, or nothing.
    pub fn open(archive: &Path, url: &str) -> Result<Self, FetchError> {
        let path = with_ending(archive, ".part");
        let io = FetchError::io(&path);
        let file = OpenOptions::new().append(true).create(true).open(&path).map_err(&io)?;
        let length = file.metadata().map_err(&io)?.len();
        let state = fs::read_to_string(with_ending(archive, ".part.toml"));
        let state: State = state
            .ok()
            .and_then(|text| toml::from_str(&text).ok())
            .unwrap_or_default();
        let mut part = Self {
            path,
            file,
            length,
            state,
        };
        if part.state.url != url {
            url.clone_into(&mut part.state.url);
            part.clear()?;
        }
        Ok(part)
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn length(&self) -> u64 {
        self.length
    }

    pub fn version(&self) -> Version {
        Version {
            total: self.state.total,
            validator: self.state.validator.clone(),
        }
    }

    /// Starts over, with the first byte of this version. Emptied before it is labelled: the label never speaks of bytes
    /// that came before it.
    pub fn begin(&mut self, version: Version) -> Result<(), FetchError> {
        self.clear()?;
        self.state.total = version.total;
        self.state.validator = version.validator;
        let path = self.state_path();
        let text = toml::to_string(&self.state).expect("strings and numbers");
        durable::write(&path, text.as_bytes()).map_err(FetchError::io(&path))
    }

    pub fn append(&mut self, bytes: &[u8]) -> Result<(), FetchError> {
        self.file.write_all(bytes).map_err(FetchError::io(&self.path))?;
        self.length += bytes.len() as u64;
        Ok(())
    }

    pub fn clear(&mut self) -> Result<(), FetchError> {
        if self.length == 0 {
            return Ok(());
        }
        self.file.set_len(0).map_err(FetchError::io(&self.path))?;
        self.length = 0;
        Ok(())
    }

    /// Gives the whole download its name.
    pub fn finish(self, archive: &Path) -> Result<(), FetchError> {
        let io = FetchError::io(archive);
        let state = self.state_path();
        self.file.sync_all().map_err(&io)?;
        // Some systems rename no open file.
        drop(self.file);
        fs::rename(&self.path, archive).map_err(&io)?;
        durable::sync_folder(durable::folder_of(archive)).map_err(&io)?;
        remove(&state)
    }

    pub fn discard(self) -> Result<(), FetchError> {
        let state = self.state_path();
        drop(self.file);
        remove(&self.path)?;
        remove(&state)
    }

    fn state_path(&self) -> PathBuf {
        with_ending(&self.path, ".toml")
    }
}

/// Removes a file that may not be there.
pub fn remove(path: &Path) -> Result<(), FetchError> {
    durable::if_there(fs::remove_file(path)).map_err(FetchError::io(path))
}

fn with_ending(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}
