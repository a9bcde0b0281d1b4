//! The folder of one run, and the names of its files.

use std::fs;
use std::path::{Path, PathBuf};

use super::RecordError;
use crate::durable;
use crate::spec::Weights;

/// Folder of a run, `results/<suite>/<row>-s<seed>/`, which need not exist yet.
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

    /// Opens the folder of a run; `None` if it does not exist or its name is not that of a run. Resolves `.` and links if
    /// necessary.
    #[must_use]
    pub fn open(path: &Path) -> Option<Self> {
        let named = |path: PathBuf| {
            let (_, seed) = path.file_name()?.to_str()?.rsplit_once("-s")?;
            let seed = seed.split('.').next()?.parse().ok()?;
            path.is_dir().then_some(Self { path, seed })
        };
        named(path.to_owned()).or_else(|| named(path.canonicalize().ok()?))
    }

    /// Prepares the folder for a run: creates it and its checkpoint folder, and removes temporary files of a killed run.
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

    /// Lock of the process that works in the folder; the file lies beside the folder.
    #[must_use]
    pub fn lock(&self) -> PathBuf {
        let name = self
            .path
            .file_name()
            .expect("a run folder has a name")
            .to_string_lossy();
        self.path.with_file_name(format!(".{name}.lock"))
    }

    /// History of this run on another corpus, kept until that corpus is used again.
    #[must_use]
    pub fn history_of(&self, data_hash: &str) -> PathBuf {
        self.path.join(format!("history.{data_hash}.csv"))
    }

    /// Detokenised hypotheses of a split, one per line, in reference order.
    #[must_use]
    pub fn hypotheses(&self, split: &str) -> PathBuf {
        self.path.join(format!("hypotheses.{split}.txt"))
    }

    /// Hypotheses of weights whose scores are not in the table.
    #[must_use]
    pub fn hypotheses_of(&self, split: &str, weights: Weights) -> PathBuf {
        self.hypotheses(&format!("{split}.{}", weights.name()))
    }
}

/// Functions that return the path of a file or folder of a run.
macro_rules! paths {
    ($($(#[$doc:meta])* $name:ident = $file:literal;)*) => {
        impl RunFolder {$(
            $(#[$doc])*
            #[must_use]
            pub fn $name(&self) -> PathBuf {
                self.path.join($file)
            }
        )*}
    };
}

paths! {
    /// Resolved spec: every value, with every default written out.
    spec = "spec.toml";
    /// Vocabulary, in the format of the `tokenizers` library.
    tokenizer = "tokenizer.json";
    /// See [`super::Provenance`].
    provenance = "provenance.toml";
    /// See [`super::History`].
    history = "history.csv";
    checkpoints = "checkpoints";
    /// Weights during training that a selection may choose; removed when the run is done.
    snapshots = "snapshots";
    /// Weights that the scores in the table belong to, if they are not the last.
    weights = "weights.safetensors";
    /// See [`super::RunScore`].
    score = "score.toml";
    /// Log of the run.
    log = "log.txt";
    /// Marker of a run with a result.
    done = "DONE";
    /// Marker of a run that ended without a result.
    failed = "FAILED";
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
