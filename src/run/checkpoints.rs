//! The checkpoints of a run: the two newest are kept, so that a damaged one has a predecessor.

use std::fs;
use std::path::PathBuf;

use super::RunError;
use super::files::read_spec;
use crate::durable;
use crate::model::Seq2Seq;
use crate::record::{Provenance, RunFolder, RunScore};
use crate::spec::Weights;
use crate::train::{Checkpoint, Progress, Snapshot};

const KEPT: usize = 2;

/// The folder they lie in, seen by one run. Checkpoints of another spec or corpus may lie beside its own and are left
/// alone: their names end in another hash.
#[derive(Debug)]
pub struct Checkpoints {
    folder: PathBuf,
    identity: String,
}

impl Checkpoints {
    pub fn new(folder: PathBuf, identity: String) -> Self {
        Self { folder, identity }
    }

    /// Keeps the state of a training, then drops its oldest checkpoints.
    pub fn save(&self, model: &mut dyn Seq2Seq, progress: &Progress) -> Result<(), RunError> {
        let path = self.folder.join(file_name(progress.step, &self.identity));
        let checkpoint = Checkpoint::of(model, progress, &self.identity);
        durable::write(&path, &checkpoint.to_bytes()).map_err(RunError::io(&path))?;
        for old in self.newest_first()?.into_iter().skip(KEPT) {
            fs::remove_file(&old).map_err(RunError::io(&old))?;
        }
        Ok(())
    }

    /// Reads the newest checkpoint that is whole. `note` hears of those that are skipped.
    pub fn newest(&self, mut note: impl FnMut(String)) -> Result<Option<Checkpoint>, RunError> {
        for path in self.newest_first()? {
            let bytes = fs::read(&path).map_err(RunError::io(&path))?;
            match Checkpoint::from_bytes(&bytes) {
                Ok(checkpoint) if checkpoint.identity == self.identity => return Ok(Some(checkpoint)),
                Ok(_) => note(format!("{} belongs to another run; skipped", path.display())),
                Err(error) => note(format!("{}: {error}; skipped", path.display())),
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
        let is_own = |path: &PathBuf| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with("step-") && name.ends_with(&name_ending(&self.identity))
        };
        paths.retain(is_own);
        paths.sort();
        paths.reverse();
        Ok(paths)
    }
}

/// File name of a run's state after `step` updates.
pub fn file_name(step: usize, identity: &str) -> String {
    format!("step-{step:09}{}", name_ending(identity))
}

/// Ending of the file names of a run's states, and of no others.
pub fn name_ending(identity: &str) -> String {
    format!(".{}.safetensors", &blake3::hash(identity.as_bytes()).to_hex()[..8])
}

/// The newest checkpoint of a run that has at least begun; the run's provenance says which are its own. `note` hears of
/// those skipped.
///
/// # Errors
/// If there is none.
pub fn newest_of(folder: &RunFolder, note: impl FnMut(String)) -> Result<Checkpoint, RunError> {
    let checkpoints = folder.checkpoints();
    let newest = Checkpoints::new(checkpoints.clone(), identity_of(folder)?).newest(note)?;
    newest.ok_or(RunError::NoCheckpoint { folder: checkpoints })
}

/// The weights that a run's scores in the table belong to: those it chose, or the newest checkpoint that is whole. `note`
/// hears of checkpoints skipped, and of a run that is not finished.
///
/// # Errors
/// If there are none, or they are damaged, or a run that is done has lost them.
pub fn scored_weights(folder: &RunFolder, mut note: impl FnMut(String)) -> Result<Snapshot, RunError> {
    if let Some(chosen) = chosen(folder)? {
        return Ok(chosen);
    }
    let newest = newest_of(folder, &mut note)?;
    let found = newest.progress.step;
    if !folder.done().exists() {
        note(format!(
            "the run is not finished: these are the weights after step {found}"
        ));
        return Ok(newest.into_snapshot());
    }
    let scored = RunScore::read(&folder.score())?.steps as usize;
    if found == scored {
        return Ok(newest.into_snapshot());
    }
    Err(RunError::NotScored {
        folder: folder.clone(),
        found,
        scored,
    })
}

/// The weights that a run chose over its last; nothing if those are the last, or it is not done.
fn chosen(folder: &RunFolder) -> Result<Option<Snapshot>, RunError> {
    let chooses = read_spec(&folder.spec())?.selection.weights != Weights::Last;
    if !chooses || !folder.done().exists() {
        return Ok(None);
    }
    let path = folder.weights();
    let bytes = fs::read(&path).map_err(RunError::io(&path))?;
    let identity = identity_of(folder)?;
    let chosen = Snapshot::from_bytes(&bytes).and_then(|chosen| chosen.of_run(&identity));
    chosen.map(Some).map_err(|source| RunError::Checkpoint { path, source })
}

fn identity_of(folder: &RunFolder) -> Result<String, RunError> {
    let provenance = Provenance::read(&folder.provenance())?;
    Ok(identity(&provenance.spec_hash, folder.seed(), &provenance.data_hash))
}

/// Identity that a checkpoint shares with the run that continues from it.
#[must_use]
pub fn identity(spec_hash: &str, seed: u64, data_hash: &str) -> String {
    format!("{spec_hash}/{seed}/{data_hash}")
}
