//! A finished run comes in; a folder goes out that holds all another program needs to translate with it, and that
//! [`super::Trained`] reads back. It refuses to know how such a folder is used.
//!
#![doc = include_str!("layout.md")]

mod error;
mod names;
mod weights;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

pub use error::ExportError;
pub use weights::WeightsError;

use self::names::{FILES, SPEC, TOKENIZER, WEIGHTS};
use super::RunError;
use super::checkpoints::scored_weights;
use super::files::{read_spec, read_text, read_vocabulary};
use crate::durable::{self, Pending};
use crate::model::NamedArray;
use crate::record::RunFolder;
use crate::spec::{Experiment, Positional};

/// Treatment of an existing export.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Existing {
    Keep,
    Replace,
}

/// The folder of an export.
#[derive(Debug, Clone)]
pub struct Export {
    folder: PathBuf,
}

impl Export {
    /// The export in a folder, if there is one.
    #[must_use]
    pub fn open(folder: &Path) -> Option<Self> {
        folder.join(WEIGHTS).is_file().then(|| Self {
            folder: folder.to_owned(),
        })
    }

    /// Exports the weights whose scores are in the table; `note` hears of checkpoints skipped, and of a run that is
    /// not done. This needs no binary with the shape of the run.
    ///
    /// A process that is killed on the way leaves a folder without weights, which is no export.
    ///
    /// # Errors
    /// If the run has no checkpoint, or the folder is taken.
    pub fn write(
        folder: &Path,
        run: &RunFolder,
        existing: Existing,
        note: impl FnMut(String),
    ) -> Result<Self, RunError> {
        let experiment = read_spec(&run.spec())?;
        let (_, tokenizer) = read_vocabulary(&run.tokenizer())?;
        let scored = scored_weights(run, note)?;
        let export = Self {
            folder: folder.to_owned(),
        };
        export.check_room(existing)?;
        let contents = [
            readme(&experiment, &scored.steps).into_bytes(),
            tokenizer.into_bytes(),
            read_text(&run.spec())?.into_bytes(),
            weights::to_bytes(scored.weights(), &scored.steps),
        ];
        // All of them are written, under other names, before one takes the place of an older export's.
        let begin = |(name, contents): (&str, Vec<u8>)| export.begin(name, &contents);
        let begun: Vec<Pending> = FILES.into_iter().zip(contents).map(begin).collect::<Result<_, _>>()?;
        export.remove_weights()?;
        for (name, file) in FILES.into_iter().zip(begun) {
            file.finish().map_err(RunError::io(folder.join(name)))?;
        }
        Ok(export)
    }

    /// Path of the resolved experiment.
    #[must_use]
    pub fn spec(&self) -> PathBuf {
        self.folder.join(SPEC)
    }

    /// Path of the vocabulary.
    #[must_use]
    pub fn tokenizer(&self) -> PathBuf {
        self.folder.join(TOKENIZER)
    }

    /// The weights of a model whose own arrays are `model`.
    ///
    /// # Errors
    /// If they are damaged, or those of another model.
    pub fn weights(&self, model: &[NamedArray]) -> Result<Vec<NamedArray>, RunError> {
        let path = self.folder.join(WEIGHTS);
        let bytes = fs::read(&path).map_err(RunError::io(&path))?;
        weights::from_bytes(&bytes, model).map_err(|source| ExportError::Weights { path, source }.into())
    }

    /// Checks that the folder is empty, or that its export may be replaced.
    fn check_room(&self, existing: Existing) -> Result<(), RunError> {
        let folder = &self.folder;
        fs::create_dir_all(folder).map_err(RunError::io(folder))?;
        durable::remove_leftovers(folder).map_err(RunError::io(folder))?;
        let names = file_names(folder)?;
        if let Some(name) = names.iter().find(|name| !FILES.contains(&name.as_str())) {
            let (folder, name) = (folder.clone(), name.clone());
            return Err(ExportError::HoldsOthers { folder, name }.into());
        }
        if existing == Existing::Keep && !names.is_empty() {
            let folder = folder.clone();
            return Err(ExportError::Exists { folder }.into());
        }
        Ok(())
    }

    /// Removes the weights. A folder without them is not an export, so they go first and come last.
    fn remove_weights(&self) -> Result<(), RunError> {
        let path = self.folder.join(WEIGHTS);
        durable::if_there(fs::remove_file(&path))
            .and_then(|()| durable::sync_folder(&self.folder))
            .map_err(RunError::io(path))
    }

    fn begin(&self, name: &str, contents: &[u8]) -> Result<Pending, RunError> {
        let path = self.folder.join(name);
        let begin = || {
            let mut file = durable::begin(&path)?;
            file.write_all(contents)?;
            file.flush()?;
            Ok(file)
        };
        begin().map_err(RunError::io(&path))
    }
}

fn file_names(folder: &Path) -> Result<Vec<String>, RunError> {
    let entries = fs::read_dir(folder).map_err(RunError::io(folder))?;
    let mut names = entries
        .map(|entry| entry.map(|entry| entry.file_name().to_string_lossy().into_owned()))
        .collect::<Result<Vec<_>, _>>()
        .map_err(RunError::io(folder))?;
    names.sort();
    Ok(names)
}

/// The layout, under a head that describes the model.
fn readme(experiment: &Experiment, steps: &[usize]) -> String {
    let model = &experiment.model;
    let positional = match model.positional {
        Positional::Sinusoidal => "sinusoidal".to_owned(),
        Positional::Learned { max_positions } => format!("learned, {max_positions} of them"),
    };
    let norm = experiment.model.norm.name();
    let numbers: Vec<String> = steps.iter().map(usize::to_string).collect();
    let origin = match &numbers[..] {
        [step] => format!("the weights after step {step}"),
        several => format!("the mean of the weights after steps {}", several.join(", ")),
    };
    format!(
        "A Transformer of {} + {} layers, exported by ablate {}: {origin}.\n\n\
         d_model {}, d_ff {}, {} heads of d_k {} and d_v {}, {} tokens; positions {positional}; {norm}-norm.\n\n\
         `ablate translate` reads this folder. A binary that was not built with this shape says so: a suite whose `base` \
         is the `spec.toml` here makes the build compile it.\n\n{}",
        model.layers,
        model.layers,
        env!("CARGO_PKG_VERSION"),
        model.d_model,
        model.d_ff,
        model.heads,
        model.d_k,
        model.d_v,
        experiment.data.vocab_size,
        include_str!("layout.md")
    )
}
