//! Layers of settings over defaults: a base, the files it inherits from, and a row's `set`.

use std::collections::{BTreeMap, BTreeSet};

use super::experiment::Experiment;
use super::keys::{Fallback, Key, keys};
use super::place::Place;
use super::value::Value;

/// A value as set in a file, its place, and the setting it replaced.
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
    /// Keys that are set with a faulty name or value.
    pub suspects: BTreeSet<&'static str>,
    /// Places where a `[table]` opens.
    pub tables: BTreeMap<String, Place>,
}

/// An experiment that may still lack values.
#[derive(Debug, Clone)]
pub(super) struct Draft {
    pub experiment: Experiment,
    pub settings: BTreeMap<&'static str, Setting>,
    /// Keys without a usable value: rules that read them are not checked.
    pub unknown: BTreeSet<&'static str>,
    /// Unknown keys that nobody set.
    pub missing: BTreeSet<&'static str>,
    suspects: BTreeSet<&'static str>,
    depth: usize,
}

impl Draft {
    /// Returns the draft before anything is read.
    pub fn empty() -> Self {
        Self {
            experiment: Experiment::default(),
            settings: BTreeMap::new(),
            unknown: BTreeSet::new(),
            missing: BTreeSet::new(),
            suspects: BTreeSet::new(),
            depth: 0,
        }
    }

    /// Puts one more layer over this draft. Defaults are derived anew: `d_k` follows `heads` where no layer sets it.
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
        let undecided = key.needs.is_some_and(|needs| self.unknown.contains(needs.key.path));
        if !undecided && !key.has_effect(&self.experiment) {
            return;
        }
        if undecided || self.suspects.contains(key.path) {
            self.unknown.insert(key.path);
            return;
        }
        let set = self.settings.get(key.path).map(|setting| setting.value.clone());
        let value = match (set, key.fallback) {
            (Some(value), _) => Some(value),
            (None, Fallback::Absent) => return,
            (None, Fallback::Derived { from, value, .. }) => {
                let known = from.iter().all(|path| !self.unknown.contains(path));
                known.then(|| value(&self.experiment))
            }
            (None, Fallback::Required) => {
                self.missing.insert(key.path);
                None
            }
            (None, Fallback::Whole(_) | Fallback::Real(_) | Fallback::Text(_)) => key.fallback.constant(),
        };
        match value {
            Some(value) => key.store(&mut self.experiment, &value),
            None => {
                self.unknown.insert(key.path);
            }
        }
    }

    /// Whether any layer sets the key.
    pub fn is_set(&self, path: &str) -> bool {
        self.settings.contains_key(path)
    }

    /// Returns the experiment, once every key has a value. Only the length penalty of a greedy search, which means
    /// nothing, still has its blank value.
    pub fn complete(&self) -> Option<&Experiment> {
        self.unknown.is_empty().then_some(&self.experiment)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::field::Field;
    use crate::spec::value::Kind;

    /// An optional key, absent by default. The blank's number of heads stands for a field of its own.
    static OPTIONAL: Key = Key::new(
        "model.optional",
        Kind::Whole(1, 9),
        "a key of this test",
        |e| (e.model.heads > 0).then_some(e.model.heads).to_value(),
        |e, value| e.model.heads = Option::from_value(value).unwrap_or_default(),
    )
    .or(Fallback::Absent);

    fn value_in(draft: &Draft) -> Option<Value> {
        OPTIONAL.value_in(&draft.experiment)
    }

    #[test]
    fn an_optional_key_that_nobody_sets_is_absent_and_not_missing() {
        let mut draft = Draft::empty();
        draft.fill(&OPTIONAL);
        assert_eq!((value_in(&draft), draft.complete().is_some()), (None, true));
        assert!(draft.missing.is_empty());
    }

    #[test]
    fn an_optional_key_that_a_layer_sets_has_its_value() {
        let mut layer = Layer::default();
        let place = Place::start_of("x.toml");
        layer.settings.insert(OPTIONAL.path, (Value::Whole(8), place));
        let mut draft = Draft::empty().under(&layer);
        draft.fill(&OPTIONAL);
        assert_eq!(value_in(&draft), Some(Value::Whole(8)));
    }

    #[test]
    fn an_optional_key_that_is_misspelt_is_not_taken_as_absent() {
        let mut draft = Draft::empty();
        draft.suspects.insert(OPTIONAL.path);
        draft.fill(&OPTIONAL);
        assert!(draft.complete().is_none());
    }
}
