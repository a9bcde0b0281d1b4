//! Execution of one run, from its spec to its result or to the reason why there is none.

use std::fs;
use std::path::Path;
use std::time::Duration;

use super::attempt::Attempt;
use super::evaluate::finish;
use super::judge::DevJudge;
use super::keeper::FolderKeeper;
use super::records::{describe, mark, provenance};
use super::training::Training;
use super::watch::{Listener, Pace, Watch};
use super::{Device, Environment, Event, Job, RunError, Scores, peak_memory_bytes};
use crate::clock;
use crate::data::{self, Dataset, UpdateSize, Updates, check_files, evaluation_batches};
use crate::durable;
use crate::generated::SHAPES;
use crate::lock::Lock;
use crate::model::Seq2Seq;
use crate::plan::{CorpusSize, Regime, Run, ShapeKey, oddities};
use crate::record::{Ending, History, Marker, RecordError, RunFolder, RunState};
use crate::train::{Outcome, Trainer};

const LOCK_PATIENCE: Duration = Duration::from_mins(2);

/// Runs the job, or the rest of it. Returns the last event: finished, diverged or interrupted.
///
/// # Errors
/// If the run cannot end; its folder then has no marker, and the run can be continued.
pub fn execute(job: &Job, environment: &Environment, listener: &mut dyn Listener) -> Result<Event, RunError> {
    // Before the folder is touched: what cannot run must not set a finished result aside.
    if !RunState::read(&job.folder, &job.run.spec_hash).is_done() {
        check(&job.suite, &job.run, job.device, job.data_dir.as_deref())?;
    }
    let _lock = Lock::wait(&job.folder.lock(), LOCK_PATIENCE)?;
    let event = match claim(job)? {
        RunState::Ended(Ending::Done(finished)) => Event::Ended(Ending::Done(Scores {
            ppl: finished.score.ppl,
            bleu: finished.score.in_table().score,
        })),
        state => {
            let mut attempt = Attempt::begin(job, environment, listener)?;
            if let RunState::Damaged { reason } = state {
                attempt.note(format!("{reason}; the run continues from its newest checkpoint"));
            }
            attempt.complete(environment)?
        }
    };
    if matches!(event, Event::Ended(Ending::Done(_))) {
        remove_snapshots(&job.folder)?;
    }
    listener.hear(&event);
    Ok(event)
}

/// Makes the folder that of the job's spec: what another spec left there goes aside, what this one left comes back.
fn claim(job: &Job) -> Result<RunState, RunError> {
    let spec_hash = &job.run.spec_hash;
    if let RunState::Stale { spec_hash } = RunState::read(&job.folder, spec_hash) {
        job.folder.set_aside(&spec_hash)?;
    }
    if !job.folder.path().exists() {
        job.folder.bring_back(spec_hash)?;
    }
    job.folder.create()?;
    Ok(RunState::read(&job.folder, spec_hash))
}

/// A finished run has the weights that it asked for, those of its average among them.
fn remove_snapshots(folder: &RunFolder) -> Result<(), RunError> {
    let path = folder.snapshots();
    durable::if_there(fs::remove_dir_all(&path)).map_err(RunError::io(path))
}

/// Whether this machine and this binary can train the run: its device, its precision, its shape, its corpus.
///
/// # Errors
/// If one of them is missing.
pub fn check(suite: &str, run: &Run, device: Device, data_dir: Option<&Path>) -> Result<(), RunError> {
    device.check()?;
    device.check_precision(run)?;
    device.check_memory(run)?;
    let shape = ShapeKey::of(&run.experiment);
    if !SHAPES.contains(&shape) {
        let suite = suite.to_owned();
        return Err(RunError::NotBuilt { suite, shape });
    }
    Ok(check_files(&run.experiment.data.corpus, data_dir)?)
}

impl Attempt<'_> {
    fn complete(mut self, environment: &Environment) -> Result<Event, RunError> {
        let mut model = self.build()?;
        let dataset = self.prepare()?;
        let mut training = Training::restore(self.job, &dataset.data_hash, &mut *model, |text| self.note(text))?;
        // What was there before is given up only now, when it is sure that something can take its place.
        Marker::remove(&self.job.folder)?;
        let mut provenance = provenance(self.job, environment, &dataset);
        describe(self.job, &dataset, &provenance)?;

        let trained_before_s = training.progress.elapsed_s;
        let outcome = self.train(&mut *model, &dataset, &mut training)?;
        let event = self.conclude(&mut *model, &dataset, &training, outcome)?;
        let progress = &training.progress;

        if !matches!(event, Event::Interrupted { .. }) {
            provenance.finished = Some(clock::now());
            provenance.wall_s = Some(trained_before_s + self.started.elapsed().as_secs_f64());
        }
        provenance.training_s = Some(progress.elapsed_s);
        provenance.tokens_per_s = (progress.elapsed_s > 0.0).then(|| progress.tokens as f64 / progress.elapsed_s);
        provenance.peak_memory_bytes = peak_memory_bytes();
        provenance.write(&self.job.folder.provenance())?;
        match event {
            Event::Ended(Ending::Done(_)) => mark(self.job, Ending::Done(()))?,
            Event::Ended(Ending::Diverged { step }) => mark(self.job, Ending::Diverged { step })?,
            _ => {}
        }
        Ok(event)
    }

    fn build(&self) -> Result<Box<dyn Seq2Seq>, RunError> {
        let Job { suite, run, device, .. } = self.job;
        device.build(suite, &run.experiment, run.seed)
    }

    /// Loads the corpus. The log holds all counts; warnings are shown as well.
    fn prepare(&mut self) -> Result<Dataset, RunError> {
        let data = &self.job.run.experiment.data;
        let dataset = data::load(data, self.job.data_dir.as_deref(), &self.job.cache_dir)?;
        for line in dataset.report.to_string().lines() {
            self.log.line(line);
        }
        for text in dataset.report.warnings() {
            self.note(text);
        }
        Ok(dataset)
    }

    fn train(
        &mut self,
        model: &mut dyn Seq2Seq,
        dataset: &Dataset,
        training: &mut Training,
    ) -> Result<Outcome, RunError> {
        let experiment = &self.job.run.experiment;
        let (steps, size) = (experiment.training.steps, UpdateSize::of(&experiment.training));
        let (step, parameters) = (training.progress.step, model.parameter_count());
        self.log.line(&format!("training from step {step} to {steps}"));
        self.log_regime(&dataset.training_size());
        self.listener.hear(&Event::Training {
            step,
            steps,
            parameters,
        });
        let history = self.open_history(step as u64)?;
        let mut keeper = FolderKeeper {
            history,
            checkpoints: &training.checkpoints,
            snapshots: training.snapshots.as_ref(),
            best_by: experiment.selection.best_by,
        };
        let mut watch = Watch {
            experiment,
            log: &mut self.log,
            listener: &mut *self.listener,
            pace: Pace::start(),
        };
        let mut updates = Updates::new(&dataset.ids.train, size, self.job.run.seed);
        Trainer {
            experiment,
            seed: self.job.run.seed,
            updates: &mut |step| updates.update(step),
            dev: &evaluation_batches(&dataset.ids.dev, size.micro_batch_tokens),
            judge: &mut DevJudge { experiment, dataset },
            keeper: &mut keeper,
            observer: &mut watch,
        }
        .train(model, &mut training.progress)
    }

    /// Logs the learning rate, the epochs and what is odd about the training. `plan --lint` prints this for all rows.
    fn log_regime(&mut self, corpus: &CorpusSize) {
        let experiment = &self.job.run.experiment;
        let regime = Regime::of(experiment, Some(*corpus));
        let passes = regime.corpus.expect("of a known corpus");
        self.log.line(&format!(
            "learning rate: peak {:.3e} at step {}, {:.0} % of training; {} target tokens an update, {:.0} updates an \
             epoch, {:.1} epochs",
            regime.peak_learning_rate,
            regime.warmup_steps,
            100.0 * regime.warmup_share(),
            regime.batch_tokens,
            passes.steps_per_epoch,
            passes.epochs
        ));
        for oddity in oddities(experiment, Some(*corpus)) {
            self.log.line(&format!("warning: {oddity}"));
        }
    }

    /// The history up to `step`. One that cannot be read is kept under another name: the weights are worth more.
    fn open_history(&mut self, step: u64) -> Result<History, RunError> {
        let path = self.job.folder.history();
        if step > 0 && !path.exists() {
            let path = path.display();
            self.note(format!(
                "{path} is missing; a new one starts, without the first {step} steps"
            ));
        }
        let opened = History::open(&path).and_then(|mut history| history.truncate_after(step).map(|()| history));
        match opened {
            Err(error @ RecordError::History { .. }) => {
                let aside = path.with_extension("damaged.csv");
                fs::rename(&path, &aside).map_err(RunError::io(&path))?;
                self.note(format!(
                    "{error}; the file is kept as {}, and a new one starts",
                    aside.display()
                ));
                Ok(History::open(&path)?)
            }
            opened => Ok(opened?),
        }
    }

    fn conclude(
        &mut self,
        model: &mut dyn Seq2Seq,
        dataset: &Dataset,
        training: &Training,
        outcome: Outcome,
    ) -> Result<Event, RunError> {
        let progress = &training.progress;
        match outcome {
            Outcome::Finished => {
                let steps = self.job.run.experiment.training.steps;
                if progress.step < steps {
                    let since = progress.ranking.since_best;
                    self.note(format!(
                        "stopped early at step {} of {steps}: {since} measurements on dev brought nothing better",
                        progress.step
                    ));
                }
                finish(self, dataset, model, training)
            }
            Outcome::Interrupted => {
                self.log.line(&format!("interrupted after step {}", progress.step));
                Ok(Event::Interrupted {
                    step: Some(progress.step),
                })
            }
            Outcome::Diverged {
                step,
                loss_nats,
                gradient_norm,
            } => {
                self.log.line(&format!(
                    "diverged at step {step}: loss {loss_nats} nats, gradient norm {gradient_norm}"
                ));
                Ok(Event::Ended(Ending::Diverged { step: step as u64 }))
            }
        }
    }
}
