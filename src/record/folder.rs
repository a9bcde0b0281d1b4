//! Where one run keeps its files.

use std::fs;
use std::path::{Path, PathBuf};

use super::RecordError;
use crate::durable;
use crate::spec::Weights;

/// `results/<suite>/<row>-s<seed>/`, whether or not it exists yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunFolder {
    path: PathBuf,
    seed: u64,
}

impl RunFolder {
    #[must_use]
    pub fn new(results: &Path, suite: &str, row: &str, seed: u64) -> Self {
        Self {
            path: results.join(suite).join(format!("{row}-s{seed}")),
            seed,
        }
    }

    /// The folder of a run that is there, or `None` if its name is not that of a run. `.` and links have the name of what
    /// they stand for.
    #[must_use]
    pub fn open(path: &Path) -> Option<Self> {
        let named = |path: PathBuf| {
            let (_, seed) = path.file_name()?.to_str()?.rsplit_once("-s")?;
            let seed = seed.split('.').next()?.parse().ok()?;
            path.is_dir().then_some(Self { path, seed })
        };
        named(path.to_owned()).or_else(|| named(path.canonicalize().ok()?))
    }

    /// Makes the folder ready for a run: it and its checkpoint folder exist, and a killed run's temporary files are gone.
    ///
    /// # Errors
    /// When the file system refuses.
    pub fn create(&self) -> Result<(), RecordError> {
        fs::create_dir_all(self.checkpoints()).map_err(RecordError::write(&self.path))?;
        [&self.path, &self.checkpoints()]
            .into_iter()
            .try_for_each(|folder| durable::remove_leftovers(folder).map_err(RecordError::write(folder)))
    }

    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    #[must_use]
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// The resolved spec: every value, every default written out.
    #[must_use]
    pub fn spec(&self) -> PathBuf {
        self.path.join("spec.toml")
    }

    /// What the process that works in the folder holds; it lies beside the folder.
    #[must_use]
    pub fn lock(&self) -> PathBuf {
        let name = self
            .path
            .file_name()
            .expect("a run folder has a name")
            .to_string_lossy();
        self.path.with_file_name(format!(".{name}.lock"))
    }

    /// The vocabulary, as the `tokenizers` library reads it.
    #[must_use]
    pub fn tokenizer(&self) -> PathBuf {
        self.path.join("tokenizer.json")
    }

    /// See [`super::Provenance`].
    #[must_use]
    pub fn provenance(&self) -> PathBuf {
        self.path.join("provenance.toml")
    }

    /// See [`super::History`].
    #[must_use]
    pub fn history(&self) -> PathBuf {
        self.path.join("history.csv")
    }

    /// Where the history of a run on another corpus waits for its return.
    #[must_use]
    pub fn history_of(&self, data_hash: &str) -> PathBuf {
        self.path.join(format!("history.{data_hash}.csv"))
    }

    #[must_use]
    pub fn checkpoints(&self) -> PathBuf {
        self.path.join("checkpoints")
    }

    /// Weights on the way, while a run that selects among them goes on.
    #[must_use]
    pub fn snapshots(&self) -> PathBuf {
        self.path.join("snapshots")
    }

    /// The weights whose scores are in the table, where those are not the last.
    #[must_use]
    pub fn weights(&self) -> PathBuf {
        self.path.join("weights.safetensors")
    }

    /// Detokenised hypotheses of a split, one per line, in reference order.
    #[must_use]
    pub fn hypotheses(&self, split: &str) -> PathBuf {
        self.path.join(format!("hypotheses.{split}.txt"))
    }

    /// The same of weights that are not those in the table.
    #[must_use]
    pub fn hypotheses_of(&self, split: &str, weights: Weights) -> PathBuf {
        self.hypotheses(&format!("{split}.{}", weights.name()))
    }

    /// See [`super::RunScore`].
    #[must_use]
    pub fn score(&self) -> PathBuf {
        self.path.join("score.toml")
    }

    /// What the run said.
    #[must_use]
    pub fn log(&self) -> PathBuf {
        self.path.join("log.txt")
    }

    /// The marker of a run with a result.
    #[must_use]
    pub fn done(&self) -> PathBuf {
        self.path.join("DONE")
    }

    /// The marker of a run that ended without one.
    #[must_use]
    pub fn failed(&self) -> PathBuf {
        self.path.join("FAILED")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_link_has_the_seed_of_the_folder_it_leads_to() {
        let results = tempfile::tempdir().unwrap();
        let folder = RunFolder::new(results.path(), "table3", "A1", 7);
        folder.create().unwrap();
        let link = results.path().join("best");
        std::os::unix::fs::symlink(folder.path(), &link).unwrap();
        assert_eq!(RunFolder::open(&link).unwrap().seed(), 7);
        assert_eq!(RunFolder::open(results.path()), None);
    }

    #[test]
    fn creating_a_folder_twice_keeps_its_files() {
        let results = tempfile::tempdir().unwrap();
        let folder = RunFolder::new(results.path(), "mit Leerzeichen", "größer", 1);
        folder.create().unwrap();
        fs::write(folder.checkpoints().join("step-10.safetensors"), b"weights").unwrap();
        fs::write(folder.path().join(".killed.partial"), b"half").unwrap();
        folder.create().unwrap();
        assert!(folder.checkpoints().join("step-10.safetensors").exists());
        assert!(!folder.path().join(".killed.partial").exists());
    }
}
