//! The last file that a run writes: it says how the run ended.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{Ending, RecordError, RunFolder, toml_file};
use crate::durable;

/// Content of `DONE` or `FAILED`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Marker {
    pub spec_hash: String,
    pub seed: u64,
    #[serde(flatten)]
    pub ending: Ending,
}

impl Marker {
    /// Ends the run in `folder`: call this last, when every other file is in place.
    ///
    /// # Errors
    /// When the file system refuses.
    pub fn write(&self, folder: &RunFolder) -> Result<(), RecordError> {
        let (this, other) = match self.ending {
            Ending::Done(()) => (folder.done(), folder.failed()),
            Ending::Diverged { .. } | Ending::Failed { .. } => (folder.failed(), folder.done()),
        };
        remove_if_there(&other)?;
        toml_file::write(&this, self)
    }

    /// Makes an ended run unfinished again, for another attempt in the same folder.
    ///
    /// # Errors
    /// When the file system refuses.
    pub fn remove(folder: &RunFolder) -> Result<(), RecordError> {
        remove_if_there(&folder.done())?;
        remove_if_there(&folder.failed())
    }

    /// Reads the marker at `path`; `None` if the file does not exist.
    ///
    /// # Errors
    /// When the file exists and is not a marker.
    pub(super) fn read(path: &Path) -> Result<Option<Self>, RecordError> {
        match toml_file::read(path) {
            Err(RecordError::Read { source, .. }) if source.kind() == ErrorKind::NotFound => Ok(None),
            marker => marker.map(Some),
        }
    }
}

fn remove_if_there(path: &Path) -> Result<(), RecordError> {
    durable::if_there(fs::remove_file(path)).map_err(RecordError::write(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_ending_has_this_file_and_is_read_back() {
        let results = tempfile::tempdir().unwrap();
        let folder = RunFolder::new(results.path(), "table3", "A1", 7);
        folder.create().unwrap();
        let reason = "out of memory".to_owned();
        for (ending, path, rest) in [
            (
                Ending::Diverged { step: 3 },
                folder.failed(),
                "\"diverged\"\nstep = 3\n",
            ),
            (Ending::Done(()), folder.done(), "\"done\"\n"),
            (
                Ending::Failed { reason },
                folder.failed(),
                "\"failed\"\nreason = \"out of memory\"\n",
            ),
        ] {
            let marker = Marker {
                spec_hash: "5eed".to_owned(),
                seed: 7,
                ending,
            };
            marker.write(&folder).unwrap();
            let expected = format!("spec_hash = \"5eed\"\nseed = 7\nstatus = {rest}");
            assert_eq!(fs::read_to_string(&path).unwrap(), expected);
            assert_eq!(Marker::read(&path).unwrap(), Some(marker));
        }
        assert_eq!(Marker::read(&folder.done()).unwrap(), None);
    }
}
