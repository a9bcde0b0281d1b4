//! The checkpoints of a run: the two newest are kept, so that a damaged one has a predecessor.

use std::fs;
use std::path::{Path, PathBuf};

use super::RunError;
use crate::atomic;
use crate::train::Checkpoint;

const KEPT: usize = 2;

/// The folder they lie in.
#[derive(Debug)]
pub struct Checkpoints {
    folder: PathBuf,
}

impl Checkpoints {
    pub fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// Keeps a checkpoint, then drops the oldest ones.
    pub fn save(&self, checkpoint: &Checkpoint) -> Result<(), RunError> {
        let path = self
            .folder
            .join(format!("step-{:09}.safetensors", checkpoint.progress.step));
        atomic::write(&path, &checkpoint.to_bytes()).map_err(RunError::io(&path))?;
        for old in self.newest_first()?.into_iter().skip(KEPT) {
            fs::remove_file(&old).map_err(RunError::io(&old))?;
        }
        Ok(())
    }

    /// The newest checkpoint that can be read and whose identity `belongs`. `note` hears of those passed over.
    pub fn newest(
        &self,
        belongs: impl Fn(&str) -> bool,
        mut note: impl FnMut(String),
    ) -> Result<Option<Checkpoint>, RunError> {
        for path in self.newest_first()? {
            let bytes = fs::read(&path).map_err(RunError::io(&path))?;
            match Checkpoint::from_bytes(&bytes) {
                Ok(checkpoint) if belongs(&checkpoint.identity) => return Ok(Some(checkpoint)),
                Ok(_) => note(format!(
                    "{} belongs to another spec, seed or corpus; passed over",
                    name(&path)
                )),
                Err(error) => note(format!("{}: {error}; the one before it is used", name(&path))),
            }
        }
        Ok(None)
    }

    fn newest_first(&self) -> Result<Vec<PathBuf>, RunError> {
        let entries = fs::read_dir(&self.folder).map_err(RunError::io(&self.folder))?;
        let mut paths: Vec<PathBuf> = entries
            .map(|entry| entry.map(|entry| entry.path()))
            .collect::<Result<_, _>>()
            .map_err(RunError::io(&self.folder))?;
        paths.retain(|path| name(path).starts_with("step-") && path.extension().is_some_and(|e| e == "safetensors"));
        paths.sort();
        paths.reverse();
        Ok(paths)
    }
}

fn name(path: &Path) -> String {
    path.file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default()
}
