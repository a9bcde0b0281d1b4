//! Faults of a layer of settings over the layers underneath it.

use super::check::CHECKS;
use super::conflict::Conflict;
use super::fault::{Fault, FaultKind, Related, Relation};
use super::keys::key;
use super::place::Place;
use super::resolve::{Draft, Layer};
use super::value::Value;

impl Draft {
    /// Returns the faults of this draft that `layer` causes. A missing key is reported at the table it belongs to, or
    /// at `start`.
    pub fn faults(&self, parent: &Self, layer: &Layer, start: &Place) -> Vec<Fault> {
        let missing = self
            .missing
            .difference(&parent.missing)
            .map(|path| self.missing_fault(path, layer, start));
        let idle = layer
            .settings
            .iter()
            .filter_map(|(path, (_, place))| self.idle_fault(path, place));
        missing.chain(idle).chain(self.conflicts(layer)).collect()
    }

    fn missing_fault(&self, path: &'static str, layer: &Layer, start: &Place) -> Fault {
        let key = key(path).expect("missing keys come from the schema");
        let needed_by = key.needs.and_then(|needs| self.settings.get_key_value(needs.key.path));
        let place = match needed_by {
            Some((_, setting)) => &setting.place,
            None => layer.tables.get(key.table()).unwrap_or(start),
        };
        let needed_by = needed_by.map(|(key, setting)| format!("{key} = {}", setting.value));
        Fault::at(
            place.clone(),
            FaultKind::Missing {
                key: path.to_owned(),
                needed_by,
            },
        )
    }

    fn idle_fault(&self, path: &str, place: &Place) -> Option<Fault> {
        let key = key(path)?;
        let needs = key.needs?;
        if self.unknown.contains(needs.key.path) || key.has_effect(&self.experiment) {
            return None;
        }
        let kind = FaultKind::NoEffect {
            key: key.path,
            needs: format!("`{}` {}", needs.key.path, needs.condition),
        };
        let related = self.related(&[needs.key.path]);
        Some(Fault::at(place.clone(), kind).with(related))
    }

    fn conflicts(&self, layer: &Layer) -> impl Iterator<Item = Fault> {
        CHECKS
            .iter()
            .filter(|check| check.keys.iter().any(|path| layer.settings.contains_key(path)))
            .filter(|check| check.keys.iter().all(|path| !self.unknown.contains(path)))
            .filter_map(|check| self.conflict_fault(check.keys, check.conflict_in(self)?))
    }

    /// Points at the key that was set last; the others are related.
    fn conflict_fault(&self, paths: &[&'static str], conflict: Conflict) -> Option<Fault> {
        let set = paths.iter().filter_map(|path| Some((*path, self.settings.get(path)?)));
        let (last, setting) = set.rev().max_by_key(|(_, setting)| setting.depth)?;
        let others: Vec<_> = paths.iter().copied().filter(|path| *path != last).collect();
        let fault = Fault::at(setting.place.clone(), FaultKind::Conflict(conflict));
        Some(fault.with(self.related(&others)))
    }

    fn related(&self, paths: &[&'static str]) -> Vec<Related> {
        let set = paths.iter().filter_map(|path| Some((*path, self.settings.get(path)?)));
        set.map(|(path, setting)| Related {
            place: setting.place.clone(),
            what: Relation::Setting(path, setting.value.clone()),
        })
        .collect()
    }

    /// Returns the settings of a row that change nothing in the base, as faults.
    pub fn restated(&self, base: &Self, layer: &Layer) -> Vec<Fault> {
        let restated = layer
            .settings
            .iter()
            .filter(|(path, _)| self.restates(base, layer, path));
        let fault = |(&key, (value, place)): (&&'static str, &(Value, Place))| {
            let kind = FaultKind::SameAsBase {
                key,
                value: value.clone(),
            };
            Fault::at(place.clone(), kind).with(base.related(&[key]))
        };
        restated.map(fault).collect()
    }

    /// Whether the layer sets the key to the base's value and has the same effect without it. `d_v = 64` beside
    /// `heads = 1` does not restate: it keeps `d_v` from following the heads.
    fn restates(&self, base: &Self, layer: &Layer, path: &str) -> bool {
        let value = key(path).and_then(|key| Some((key, key.value_in(&self.experiment)?)));
        if value.is_none_or(|(key, value)| key.value_in(&base.experiment) != Some(value)) {
            return false;
        }
        let mut rest = layer.clone();
        rest.settings.remove(path);
        let without = base.under(&rest);
        without.experiment == self.experiment && without.conflicts(&rest).count() <= self.conflicts(layer).count()
    }
}
