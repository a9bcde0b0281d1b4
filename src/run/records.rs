//! Files that a run writes about itself: its provenance before anything else, and its marker after everything else.

use std::fs;
use std::path::{Path, PathBuf};

use super::{Environment, Job, RunError};
use crate::clock;
use crate::data::Dataset;
use crate::durable;
use crate::record::{Ending, Marker, Provenance, RunFolder};
use crate::spec::render;
use crate::threads::threads;

pub fn provenance(job: &Job, environment: &Environment, dataset: &Dataset) -> Provenance {
    Provenance {
        command: environment.command.clone(),
        ablate_version: env!("CARGO_PKG_VERSION").to_owned(),
        git_commit: environment.git_commit.clone(),
        git_diff_hash: environment.git_diff_hash.clone(),
        spec_hash: job.run.spec_hash.clone(),
        data_hash: dataset.data_hash.clone(),
        device: job.device.to_string(),
        gpu: job.device.gpu_name(),
        cpu: environment.cpu.clone(),
        threads: threads() as u32,
        started: clock::now(),
        finished: None,
        wall_s: None,
        training_s: None,
        sustained_flops_per_s: job.device.sustained_flops_per_s(),
        tokens_per_s: None,
        peak_memory_bytes: None,
    }
}

/// Writes provenance, spec and vocabulary before the run does anything.
pub fn describe(job: &Job, dataset: &Dataset, provenance: &Provenance) -> Result<(), RunError> {
    let write = |path: PathBuf, text: &str| durable::write(&path, text.as_bytes()).map_err(RunError::io(path));
    change_history(&job.folder, &dataset.data_hash)?;
    provenance.write(&job.folder.provenance())?;
    write(job.folder.spec(), &render(&job.run.experiment))?;
    write(job.folder.tokenizer(), &dataset.vocabulary.to_json()?)
}

/// Keeps one history per corpus, as there are checkpoints per corpus: puts aside the history of the corpus that the
/// provenance names if the corpus is another now, and takes back the history of the present corpus.
fn change_history(folder: &RunFolder, data_hash: &str) -> Result<(), RunError> {
    let Ok(before) = Provenance::read(&folder.provenance()) else {
        return Ok(());
    };
    let (history, aside) = (folder.history(), folder.history_of(&before.data_hash));
    if before.data_hash == data_hash {
        return Ok(());
    }
    let rename = |from: &Path, to: &Path| durable::if_there(fs::rename(from, to)).map_err(RunError::io(from));
    // It exists if a process was killed between here and the new provenance.
    if !aside.exists() {
        rename(&history, &aside)?;
    }
    rename(&folder.history_of(data_hash), &history)
}

/// Writes the marker, the last file: a folder with a marker is complete.
pub fn mark(job: &Job, ending: Ending) -> Result<(), RunError> {
    let marker = Marker {
        spec_hash: job.run.spec_hash.clone(),
        seed: job.run.seed,
        ending,
    };
    Ok(marker.write(&job.folder)?)
}
