//! Layers of settings over defaults: a base, the files it inherits from, and a row's `set`.

use std::collections::{BTreeMap, BTreeSet};

use super::experiment::{
    Case, Corpus, Data, Decoding, Evaluation, Experiment, Model, Norm, Positional, Precision, Regularization,
    Selection, Signature, Split, Training,
};
use super::keys::{Fallback, Key, keys};
use super::place::Place;
use super::value::Value;

/// A value somebody wrote, where, and what it replaced.
#[derive(Debug, Clone, PartialEq)]
pub struct Setting {
    pub value: Value,
    pub place: Place,
    /// The setting of the file or base underneath.
    pub overrides: Option<Box<Setting>>,
    /// 1 for the outermost base, one more for each layer over it.
    pub(super) depth: usize,
}

/// One table of settings as written: a base file, or the `set` of a row.
#[derive(Debug, Clone, Default)]
pub(super) struct Layer {
    pub settings: BTreeMap<&'static str, (Value, Place)>,
    /// Keys that were meant to be set, but whose name or value is faulty.
    pub suspects: BTreeSet<&'static str>,
    /// Where each `[table]` opens.
    pub tables: BTreeMap<String, Place>,
}

/// An experiment that may still lack values.
#[derive(Debug, Clone)]
pub(super) struct Draft {
    pub experiment: Experiment,
    pub settings: BTreeMap<&'static str, Setting>,
    /// Keys without a usable value: what reads them is not judged.
    pub unknown: BTreeSet<&'static str>,
    /// Those among them that nobody set.
    pub missing: BTreeSet<&'static str>,
    suspects: BTreeSet<&'static str>,
    depth: usize,
}

impl Draft {
    /// What is there before anything is read.
    pub fn empty() -> Self {
        Self {
            experiment: unset(),
            settings: BTreeMap::new(),
            unknown: BTreeSet::new(),
            missing: BTreeSet::new(),
            suspects: BTreeSet::new(),
            depth: 0,
        }
    }

    /// This draft under one more layer. Defaults are derived anew: `d_k` follows `heads` where no layer sets it.
    pub fn under(&self, layer: &Layer) -> Self {
        let mut draft = Self {
            depth: self.depth + 1,
            ..Self::empty()
        };
        draft.settings.clone_from(&self.settings);
        draft.suspects = &(&self.suspects | &layer.suspects) - &layer.settings.keys().copied().collect();
        for (&path, (value, place)) in &layer.settings {
            let overrides = draft.settings.remove(path).map(Box::new);
            let setting = Setting {
                value: value.clone(),
                place: place.clone(),
                overrides,
                depth: draft.depth,
            };
            draft.settings.insert(path, setting);
        }
        keys().for_each(|key| draft.fill(key));
        draft
    }

    fn fill(&mut self, key: &'static Key) {
        let undecided = key.needs.is_some_and(|needs| self.unknown.contains(needs.key));
        if !undecided && key.value_in(&self.experiment).is_none() {
            return;
        }
        let value = if undecided || self.suspects.contains(key.path) {
            None
        } else {
            self.value_of(key)
        };
        match value {
            Some(value) => key.store(&mut self.experiment, &value),
            None => {
                self.unknown.insert(key.path);
            }
        }
    }

    fn value_of(&mut self, key: &'static Key) -> Option<Value> {
        if let Some(setting) = self.settings.get(key.path) {
            return Some(setting.value.clone());
        }
        match key.fallback {
            Fallback::Whole(number) => Some(Value::Whole(number)),
            Fallback::Real(number) => Some(Value::Real(number)),
            Fallback::Text(text) => Some(text.into()),
            Fallback::Derived { from, value, .. } => {
                let known = from.iter().all(|path| !self.unknown.contains(path));
                known.then(|| value(&self.experiment))
            }
            Fallback::Required => {
                self.missing.insert(key.path);
                None
            }
        }
    }

    /// Whether any layer sets the key.
    pub fn is_set(&self, path: &str) -> bool {
        self.settings.contains_key(path)
    }

    /// The experiment, once every key has a value.
    pub fn complete(&self) -> Option<&Experiment> {
        self.unknown.is_empty().then_some(&self.experiment)
    }
}

/// An experiment before any key is stored. [`Draft::complete`] lets none out that still holds one of these values,
/// but for the length penalty of a greedy search, which means nothing.
fn unset() -> Experiment {
    Experiment {
        model: Model {
            layers: 0,
            d_model: 0,
            d_ff: 0,
            heads: 0,
            d_k: 0,
            d_v: 0,
            positional: Positional::Sinusoidal,
            norm: Norm::Post,
        },
        regularization: Regularization {
            dropout: 0.0,
            label_smoothing: 0.0,
        },
        data: Data {
            corpus: Corpus::Grammar { train_pairs: 0 },
            vocab_size: 0,
            vocab_pairs: 0,
            case: Case::Keep,
            max_length: 0,
        },
        training: Training {
            steps: 0,
            batch_tokens: 0,
            micro_batch_tokens: 0,
            warmup_steps: 0,
            learning_rate_factor: 0.0,
            adam_beta1: 0.0,
            adam_beta2: 0.0,
            adam_epsilon: 0.0,
            validate_every: 0,
            checkpoint_every: 0,
            precision: Precision::F32,
        },
        selection: Selection::default(),
        decoding: Decoding {
            beam: 0,
            length_penalty: 0.0,
            max_extra_tokens: 0,
        },
        evaluation: Evaluation {
            split: Split::Test,
            bleu: Signature::default(),
        },
    }
}
