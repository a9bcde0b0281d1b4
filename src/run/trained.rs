//! A finished run as a translator.

use std::fs;
use std::ops::ControlFlow;
use std::path::Path;

use super::checkpoints::restore_scored;
use super::{Device, RunError};
use crate::data::Vocabulary;
use crate::decode::{Hypothesis, translate};
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
    /// Reads the weights whose scores are in the table: those the run chose, or the newest checkpoint that is whole;
    /// `note` hears of those passed over.
    ///
    /// # Errors
    /// If the folder is not that of a run with a checkpoint, or this binary was not built with its shape.
    pub fn open(folder: &RunFolder, device: Device, note: impl FnMut(String)) -> Result<Self, RunError> {
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
        restore_scored(folder, &mut *model, note)?;
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
        mut advance: impl FnMut(usize),
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
        let found = translate(&*self.model, &sources, &decoding, |done| {
            advance(done);
            ControlFlow::Continue(())
        });
        let decode = |hypotheses: Vec<Hypothesis>| Ok(self.vocabulary.decode(&hypotheses[0].tokens)?);
        found.unwrap_or_default().into_iter().map(decode).collect()
    }
}

fn read_spec(path: &Path) -> Result<Experiment, RunError> {
    load_experiment(path, &|path| fs::read_to_string(path)).map_err(|faults: Faults| RunError::Spec(Box::new(faults)))
}
