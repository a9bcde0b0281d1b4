//! A finished run as a translator.

use std::fs;
use std::path::Path;

use super::checkpoints::Checkpoints;
use super::{Device, RunError};
use crate::data::Vocabulary;
use crate::decode::translate;
use crate::model::Seq2Seq;
use crate::plan::ShapeKey;
use crate::results::RunFolder;
use crate::spec::{Decoding, Experiment, Faults, load_experiment};

/// Model, vocabulary and settings of a run.
pub struct Trained {
    experiment: Experiment,
    model: Box<dyn Seq2Seq>,
    vocabulary: Vocabulary,
}

impl Trained {
    /// Reads the newest checkpoint of the run.
    ///
    /// # Errors
    /// If the folder is not that of a run with a checkpoint, or this binary was not built with its shape.
    pub fn open(folder: &RunFolder, device: Device) -> Result<Self, RunError> {
        let experiment = read_spec(&folder.spec())?;
        let path = folder.tokenizer();
        let json = fs::read_to_string(&path).map_err(RunError::io(&path))?;
        let vocabulary = Vocabulary::from_json(&json)?;
        let shape = ShapeKey::of(&experiment);
        let model = device.build(&shape, experiment.model.norm, folder.seed())?;
        let mut model = model.ok_or_else(|| RunError::NotBuilt {
            suite: String::new(),
            shape,
        })?;
        let checkpoints = folder.checkpoints();
        let newest = Checkpoints::new(checkpoints.clone()).newest(|_| true, |_| ())?;
        let checkpoint = newest.ok_or(RunError::NoCheckpoint {
            folder: checkpoints.clone(),
        })?;
        checkpoint.restore(&mut *model).map_err(|source| RunError::Checkpoint {
            path: checkpoints,
            source,
        })?;
        Ok(Self {
            experiment,
            model,
            vocabulary,
        })
    }

    /// The best translation of every sentence. `beam` replaces the run's own; `advance` hears how many are done.
    ///
    /// # Errors
    /// If the tokenizer fails.
    pub fn translate(
        &self,
        sentences: &[String],
        beam: Option<usize>,
        advance: impl FnMut(usize),
    ) -> Result<Vec<String>, RunError> {
        let own = &self.experiment.decoding;
        let decoding = Decoding {
            beam: beam.unwrap_or(own.beam),
            ..own.clone()
        };
        let sources = sentences
            .iter()
            .map(|line| self.vocabulary.encode(line))
            .collect::<Result<Vec<_>, _>>()?;
        translate(&*self.model, &sources, &decoding, advance)
            .into_iter()
            .map(|found| {
                found
                    .first()
                    .map_or(Ok(String::new()), |best| Ok(self.vocabulary.decode(&best.tokens)?))
            })
            .collect()
    }
}

fn read_spec(path: &Path) -> Result<Experiment, RunError> {
    load_experiment(path, &|path| fs::read_to_string(path)).map_err(|faults: Faults| RunError::Spec(Box::new(faults)))
}
