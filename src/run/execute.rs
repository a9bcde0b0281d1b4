//! One run from its spec to its result, or to the reason why there is none.

use std::fs::{File, TryLockError};
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use super::checkpoints::Checkpoints;
use super::evaluate::finish;
use super::log::Log;
use super::watch::{Listener, Pace, Watch};
use super::{Device, Environment, Event, RunError, peak_memory_bytes};
use crate::atomic;
use crate::data::{self, CorpusReport, Dataset, UpdateSize, Updates, evaluation_batches};
use crate::model::Seq2Seq;
use crate::plan::{Run, ShapeKey};
use crate::results::{History, Marker, Outcome as Ending, Provenance, RunFolder, RunState, rfc3339_utc};
use crate::spec::render;
use crate::train::{Outcome, Progress, Trainer};

const LOCK_PATIENCE: Duration = Duration::from_mins(2);
const LOCK_PAUSE: Duration = Duration::from_millis(100);

/// What is to be run, and where.
#[derive(Debug, Clone)]
pub struct Job {
    pub suite: String,
    pub run: Run,
    pub folder: RunFolder,
    /// Where corpora lie, for those that are not built in.
    pub data_dir: Option<PathBuf>,
    /// Where prepared vocabularies are kept from run to run.
    pub cache_dir: PathBuf,
    pub device: Device,
}

/// Runs the job, or the rest of it. Returns the last event: finished, diverged or interrupted.
///
/// # Errors
/// Whatever kept the run from ending; its folder then has no marker, and the run can be continued.
pub fn execute(job: &Job, environment: &Environment, listener: &mut dyn Listener) -> Result<Event, RunError> {
    let started = Instant::now();
    if let RunState::Stale { spec_hash } = RunState::read(&job.folder, &job.run.spec_hash) {
        job.folder.set_aside(&spec_hash)?;
    }
    job.folder.create()?;
    let _lock = lock(&job.folder)?;
    Marker::remove(&job.folder)?;
    let mut log = Log::open(&job.folder.log())?;
    log.line(&format!(
        "{} {}, seed {}: {}",
        job.suite, job.run.row, job.run.seed, environment.command
    ));

    listener.hear(&Event::Preparing);
    let mut model = build(job)?;
    let dataset = data::load(&job.run.experiment.data, job.data_dir.as_deref(), &job.cache_dir)?;
    tell_about_data(&dataset.report, &mut log, listener);
    let mut provenance = provenance(job, environment, &dataset);
    describe(job, &dataset, &provenance)?;

    let checkpoints = Checkpoints::new(job.folder.checkpoints());
    let identity = format!("{}/{}/{}", job.run.spec_hash, job.run.seed, dataset.data_hash);
    let mut progress = restore(job, &checkpoints, &identity, &mut *model, &mut log, listener)?;
    let trained_before_s = progress.elapsed_s;
    let steps = job.run.experiment.training.steps;
    log.line(&format!("training from step {} to {steps}", progress.step));
    listener.hear(&Event::Training {
        step: progress.step,
        steps,
        parameters: model.parameter_count(),
    });
    let mut history = History::open(&job.folder.history())?;
    history.truncate_after(progress.step as u64)?;
    let watch = Watch {
        steps,
        identity: &identity,
        history,
        checkpoints: &checkpoints,
        log: &mut log,
        listener,
        pace: Pace::start(),
    };
    let outcome = train(job, &dataset, &mut *model, &mut progress, watch)?;
    let event = conclude(job, &dataset, &mut *model, &progress, outcome, &mut log, listener)?;

    provenance.finished = Some(rfc3339_utc(SystemTime::now()));
    provenance.wall_s = Some(trained_before_s + started.elapsed().as_secs_f64());
    provenance.tokens_per_s = (progress.elapsed_s > 0.0).then(|| progress.tokens as f64 / progress.elapsed_s);
    provenance.peak_memory_bytes = peak_memory_bytes();
    provenance.write(&job.folder.provenance())?;
    mark(job, &event)?;
    listener.hear(&event);
    Ok(event)
}

/// Held until the process ends, however it ends: two processes in one folder would mix their results. A run whose
/// sweep was killed needs a moment to stop by itself, so this waits.
fn lock(folder: &RunFolder) -> Result<File, RunError> {
    let path = folder.path().join(".lock");
    let file = File::create(&path).map_err(RunError::io(&path))?;
    let deadline = Instant::now() + LOCK_PATIENCE;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) if Instant::now() < deadline => thread::sleep(LOCK_PAUSE),
            Err(TryLockError::WouldBlock) => {
                return Err(RunError::Busy {
                    folder: folder.path().to_owned(),
                });
            }
            Err(TryLockError::Error(error)) => return Err(RunError::io(path)(error)),
        }
    }
}

fn build(job: &Job) -> Result<Box<dyn Seq2Seq>, RunError> {
    let experiment = &job.run.experiment;
    let shape = ShapeKey::of(experiment);
    let model = job.device.build(&shape, experiment.model.norm, job.run.seed)?;
    model.ok_or_else(|| RunError::NotBuilt {
        suite: job.suite.clone(),
        shape,
    })
}

/// What was counted in the corpus goes into the log; what a person should look at is told as well.
fn tell_about_data(report: &CorpusReport, log: &mut Log, listener: &mut dyn Listener) {
    for line in report.to_string().lines() {
        log.line(line);
    }
    for text in report.warnings() {
        listener.hear(&Event::Note { text });
    }
}

fn provenance(job: &Job, environment: &Environment, dataset: &Dataset) -> Provenance {
    Provenance {
        command: environment.command.clone(),
        ablate_version: env!("CARGO_PKG_VERSION").to_owned(),
        git_commit: environment.git_commit.clone(),
        git_diff_hash: environment.git_diff_hash.clone(),
        spec_hash: job.run.spec_hash.clone(),
        data_hash: dataset.data_hash.clone(),
        device: job.device.to_string(),
        cpu: environment.cpu.clone(),
        threads: 1,
        started: rfc3339_utc(SystemTime::now()),
        finished: None,
        wall_s: None,
        tokens_per_s: None,
        peak_memory_bytes: None,
    }
}

/// Writes what the run is, before it does anything.
fn describe(job: &Job, dataset: &Dataset, provenance: &Provenance) -> Result<(), RunError> {
    let write = |path: PathBuf, text: &str| atomic::write(&path, text.as_bytes()).map_err(RunError::io(path));
    provenance.write(&job.folder.provenance())?;
    write(job.folder.spec(), &render(&job.run.experiment))?;
    write(job.folder.tokenizer(), &dataset.vocabulary.to_json()?)
}

/// Gives the model the newest checkpoint that can be used, if there is one.
fn restore(
    job: &Job,
    checkpoints: &Checkpoints,
    identity: &str,
    model: &mut dyn Seq2Seq,
    log: &mut Log,
    listener: &mut dyn Listener,
) -> Result<Progress, RunError> {
    let newest = checkpoints.newest(
        |other| other == identity,
        |text| {
            log.line(&text);
            listener.hear(&Event::Note { text });
        },
    )?;
    let Some(checkpoint) = newest else {
        return Ok(Progress::default());
    };
    checkpoint.restore(model).map_err(|source| RunError::Checkpoint {
        path: job.folder.checkpoints(),
        source,
    })?;
    Ok(checkpoint.progress)
}

fn train(
    job: &Job,
    dataset: &Dataset,
    model: &mut dyn Seq2Seq,
    progress: &mut Progress,
    mut watch: Watch,
) -> Result<Outcome, RunError> {
    let training = &job.run.experiment.training;
    let size = UpdateSize {
        batch_tokens: training.batch_tokens,
        micro_batch_tokens: training.micro_batch_tokens,
    };
    let mut updates = Updates::new(&dataset.ids.train, size, job.run.seed);
    Trainer {
        experiment: &job.run.experiment,
        seed: job.run.seed,
        updates: &mut |step| updates.update(step),
        dev: &evaluation_batches(&dataset.ids.dev, training.micro_batch_tokens),
    }
    .train(model, progress, &mut watch)
}

fn conclude(
    job: &Job,
    dataset: &Dataset,
    model: &mut dyn Seq2Seq,
    progress: &Progress,
    outcome: Outcome,
    log: &mut Log,
    listener: &mut dyn Listener,
) -> Result<Event, RunError> {
    match outcome {
        Outcome::Finished => finish(job, dataset, model, progress, log, listener),
        Outcome::Interrupted => {
            log.line(&format!("interrupted after step {}", progress.step));
            Ok(Event::Interrupted { step: progress.step })
        }
        Outcome::Diverged {
            step,
            loss_nats,
            gradient_norm,
        } => {
            log.line(&format!(
                "diverged at step {step}: loss {loss_nats} nats, gradient norm {gradient_norm}"
            ));
            Ok(Event::Diverged { step })
        }
    }
}

/// Written last: a folder with a marker is complete.
fn mark(job: &Job, event: &Event) -> Result<(), RunError> {
    let outcome = match event {
        Event::Finished { .. } => Ending::Done,
        Event::Diverged { step } => Ending::Diverged { step: *step as u64 },
        _ => return Ok(()),
    };
    let marker = Marker {
        spec_hash: job.run.spec_hash.clone(),
        seed: job.run.seed,
        outcome,
    };
    Ok(marker.write(&job.folder)?)
}
