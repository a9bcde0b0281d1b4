//! A finished run, or an export of one, as a translator.

use std::ops::ControlFlow;
use std::path::Path;

use super::checkpoints::scored_weights;
use super::files::{read_spec, read_vocabulary};
use super::{Device, Export, RunError};
use crate::data::Vocabulary;
use crate::decode::{Hypothesis, n_best};
use crate::model::{AttentionMaps, BOS, EOS, Seq2Seq};
use crate::record::RunFolder;
use crate::spec::{Decoding, Experiment};

/// Model, vocabulary and settings of a run.
pub struct Trained {
    experiment: Experiment,
    model: Box<dyn Seq2Seq>,
    vocabulary: Vocabulary,
}

impl Trained {
    /// Reads the weights whose scores are in the table: those the run chose, or the newest checkpoint that is whole;
    /// `note` hears of those skipped, and of a run that is not finished.
    ///
    /// # Errors
    /// If the folder is not that of a run with a checkpoint, or this binary was not built with its shape.
    pub fn open_run(folder: &RunFolder, device: Device, note: impl FnMut(String)) -> Result<Self, RunError> {
        let mut trained = Self::untrained(&folder.spec(), &folder.tokenizer(), device)?;
        let (scored, path) = (scored_weights(folder, note)?, folder.checkpoints());
        let restored = scored.restore(&mut *trained.model);
        restored.map_err(|source| RunError::Checkpoint { path, source })?;
        Ok(trained)
    }

    /// Reads an export.
    ///
    /// # Errors
    /// If a file is missing, damaged or of another model, or this binary was not built with its shape.
    pub fn open_export(export: &Export, device: Device) -> Result<Self, RunError> {
        let mut trained = Self::untrained(&export.spec(), &export.tokenizer(), device)?;
        let weights = export.weights(&trained.model.weights())?;
        trained
            .model
            .restore_weights(&weights)
            .expect("the export was read with the model's own names, order and shapes");
        Ok(trained)
    }

    /// Everything but the trained weights: the model has fresh ones.
    fn untrained(spec: &Path, tokenizer: &Path, device: Device) -> Result<Self, RunError> {
        let experiment = read_spec(spec)?;
        let (vocabulary, _) = read_vocabulary(tokenizer)?;
        let allowed = experiment.data.vocab_size;
        if vocabulary.len() > allowed {
            return Err(RunError::Vocabulary {
                path: tokenizer.to_owned(),
                found: vocabulary.len(),
                allowed,
            });
        }
        let model = device.build("", &experiment, 0)?;
        Ok(Self {
            experiment,
            model,
            vocabulary,
        })
    }

    /// Decoding settings of the run.
    #[must_use]
    pub fn decoding(&self) -> &Decoding {
        &self.experiment.decoding
    }

    /// Encodes every sentence, without its end.
    ///
    /// # Errors
    /// If the tokenizer fails.
    pub fn encode(&self, sentences: &[String]) -> Result<Vec<Vec<u32>>, RunError> {
        let mut encoder = self.vocabulary.encoder();
        let encode = |sentence: &String| {
            let mut tokens = Vec::new();
            encoder.encode_into(sentence, &mut tokens).map(|()| tokens)
        };
        Ok(sentences.iter().map(encode).collect::<Result<_, _>>()?)
    }

    /// Up to `wanted` translations of every source, best first, as [`n_best`] finds them; `advance` hears how many
    /// sources are done.
    #[must_use]
    pub fn translate(
        &self,
        sources: &[Vec<u32>],
        decoding: &Decoding,
        wanted: usize,
        mut advance: impl FnMut(usize),
    ) -> Vec<Vec<Hypothesis>> {
        let advance = |done| {
            advance(done);
            ControlFlow::Continue(())
        };
        n_best(&*self.model, sources, decoding, wanted, advance).expect("nobody breaks")
    }

    /// Attention weights of every head for a source and its translation, both given without the end.
    pub fn attention(&self) -> impl Fn(&[u32], &[u32]) -> AttentionMaps + '_ {
        let decoder = self.model.decoder();
        move |source, tokens| decoder.attention(&[source, &[EOS]].concat(), &[&[BOS], tokens].concat())
    }

    /// Detokenised text.
    ///
    /// # Errors
    /// If the tokenizer fails.
    pub fn text(&self, tokens: &[u32]) -> Result<String, RunError> {
        Ok(self.vocabulary.decode(tokens)?)
    }

    /// Names of tokens in `tokenizer.json`.
    #[must_use]
    pub fn names(&self, tokens: &[u32]) -> Vec<String> {
        tokens.iter().map(|&token| self.vocabulary.name(token)).collect()
    }
}
