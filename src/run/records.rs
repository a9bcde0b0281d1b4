//! What a run writes about itself: where it comes from before it does anything, and how it ended after everything else.

use std::fs;
use std::path::{Path, PathBuf};

use super::{Environment, Event, Job, RunError};
use crate::clock;
use crate::data::Dataset;
use crate::durable;
use crate::record::{Marker, Outcome, Provenance, RunFolder};
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

/// Writes what the run is, before it does anything.
pub fn describe(job: &Job, dataset: &Dataset, provenance: &Provenance) -> Result<(), RunError> {
    let write = |path: PathBuf, text: &str| durable::write(&path, text.as_bytes()).map_err(RunError::io(path));
    change_history(&job.folder, &dataset.data_hash)?;
    provenance.write(&job.folder.provenance())?;
    write(job.folder.spec(), &render(&job.run.experiment))?;
    write(job.folder.tokenizer(), &dataset.vocabulary.to_json()?)
}

/// The history in the folder is of the corpus that the provenance names. If that is another now, it is put aside, and
/// taken back when its corpus comes back, as its checkpoints are.
fn change_history(folder: &RunFolder, data_hash: &str) -> Result<(), RunError> {
    let Ok(before) = Provenance::read(&folder.provenance()) else {
        return Ok(());
    };
    let (history, aside) = (folder.history(), folder.history_of(&before.data_hash));
    if before.data_hash == data_hash {
        return Ok(());
    }
    let rename = |from: &Path, to: &Path| durable::if_there(fs::rename(from, to)).map_err(RunError::io(from));
    // There already: a process was killed between here and the new provenance.
    if !aside.exists() {
        rename(&history, &aside)?;
    }
    rename(&folder.history_of(data_hash), &history)
}

/// Written last: a folder with a marker is complete.
pub fn mark(job: &Job, event: &Event) -> Result<(), RunError> {
    let outcome = match event {
        Event::Finished { .. } => Outcome::Done,
        Event::Diverged { step } => Outcome::Diverged { step: *step as u64 },
        _ => return Ok(()),
    };
    let marker = Marker {
        spec_hash: job.run.spec_hash.clone(),
        seed: job.run.seed,
        outcome,
    };
    Ok(marker.write(&job.folder)?)
}
