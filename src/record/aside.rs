//! Results of an edited spec: moved aside when the spec is edited, moved back when the edit is undone.

use std::fs;
use std::path::{Path, PathBuf};

use super::{RecordError, RunFolder, RunState};
use crate::durable;

impl RunFolder {
    /// Renames the folder: adds the first eight characters of the hash of its spec. Returns the new path.
    ///
    /// Deletes and replaces nothing: if that name is taken too, adds a number.
    ///
    /// # Errors
    /// When the file system refuses.
    pub fn set_aside(&self, spec_hash: &str) -> Result<PathBuf, RecordError> {
        let mut names = self.names_aside(spec_hash);
        let to = names.find(|path| !path.exists()).expect("numbers do not end");
        rename(self.path(), &to)?;
        Ok(to)
    }

    /// Moves a run of this spec back that was set aside: a finished one before an unfinished one, and the latest of several.
    ///
    /// The folder itself must not exist.
    ///
    /// # Errors
    /// When the file system refuses.
    pub fn bring_back(&self, spec_hash: &str) -> Result<(), RecordError> {
        let rank = |path: &PathBuf| match RunState::read(&Self::open(path)?, spec_hash) {
            RunState::Absent | RunState::Stale { .. } => None,
            state => Some(state.is_done()),
        };
        let aside = self.names_aside(spec_hash).take_while(|path| path.exists());
        let ranked = aside.filter_map(|path| rank(&path).map(|rank| (rank, path)));
        // `max_by_key` takes the last of several equals.
        match ranked.max_by_key(|&(rank, _)| rank) {
            Some((_, from)) => rename(&from, self.path()),
            None => Ok(()),
        }
    }

    /// Names for the folder once it is set aside, the first choice first.
    fn names_aside(&self, spec_hash: &str) -> impl Iterator<Item = PathBuf> + use<'_> {
        let name = self
            .path()
            .file_name()
            .expect("a run folder has a name")
            .to_string_lossy();
        let hash8: String = spec_hash.chars().filter(char::is_ascii_alphanumeric).take(8).collect();
        let name = format!("{name}.{hash8}");
        let first = self.path().with_file_name(&name);
        let numbered = (2..).map(move |n: u64| self.path().with_file_name(format!("{name}.{n}")));
        std::iter::once(first).chain(numbered)
    }
}

fn rename(from: &Path, to: &Path) -> Result<(), RecordError> {
    fs::rename(from, to)
        .and_then(|()| durable::sync_folder(durable::folder_of(to)))
        .map_err(|source| RecordError::Rename {
            from: from.to_owned(),
            to: to.to_owned(),
            source,
        })
}

#[cfg(test)]
mod tests {
    use super::super::{Ending, Marker};
    use super::*;

    #[test]
    fn the_same_row_can_be_set_aside_again_and_again() {
        let results = tempfile::tempdir().unwrap();
        let folder = RunFolder::new(results.path(), "table3", "A1", 7);
        for attempt in ["first", "second", "third"] {
            folder.create().unwrap();
            fs::write(folder.log(), attempt).unwrap();
            folder.set_aside("0123456789abcdef").unwrap();
        }
        let log = |name: &str| fs::read_to_string(results.path().join("table3").join(name).join("log.txt")).unwrap();
        assert_eq!(log("A1-s7.01234567"), "first");
        assert_eq!(log("A1-s7.01234567.2"), "second");
        assert_eq!(log("A1-s7.01234567.3"), "third");
        assert!(!folder.path().exists());
    }

    #[test]
    fn what_was_set_aside_comes_back_and_a_result_before_anything_later() {
        let results = tempfile::tempdir().unwrap();
        let folder = RunFolder::new(results.path(), "table3", "A1", 7);
        let hash = "0123456789abcdef";
        folder.bring_back(hash).unwrap();
        assert!(!folder.path().exists());
        for attempt in ["first", "second"] {
            folder.create().unwrap();
            fs::write(folder.log(), attempt).unwrap();
            folder.set_aside(hash).unwrap();
        }
        folder.bring_back(hash).unwrap();
        assert_eq!(fs::read_to_string(folder.log()).unwrap(), "second");
        folder.set_aside(hash).unwrap();

        let other = "01234567 of another spec";
        let marker = |spec_hash: &str| Marker {
            spec_hash: spec_hash.to_owned(),
            seed: 7,
            ending: Ending::Diverged { step: 3 },
        };
        let second = RunFolder::open(&results.path().join("table3/A1-s7.01234567.2")).unwrap();
        marker(other).write(&second).unwrap();
        folder.bring_back(hash).unwrap();
        assert_eq!(fs::read_to_string(folder.log()).unwrap(), "first");
    }
}
