//! Rows of a suite, put over its base, checked against each other and compared with their baseline.

use std::collections::BTreeMap;
use std::path::Path;

use super::fault::{Fault, FaultKind, Related, Relation};
use super::keys::key;
use super::load::{Loader, beside};
use super::nearest::nearest;
use super::place::Place;
use super::read::{Located, Reader};
use super::render::render;
use super::resolve::Draft;
use super::row_entry::{Origin, RowEntry};
use super::suite::{Row, Suite, changes};
use super::suite_file::SuiteFile;

impl Loader<'_> {
    /// Reads a suite, puts its rows over its base, and compares them.
    pub fn suite(&mut self, path: &Path) -> Option<Suite> {
        let source = self.source(path, None)?;
        let mut reader = Reader::new(&source);
        let file = SuiteFile::read(&mut reader);
        self.faults.append(&mut reader.faults);
        let file = file?;

        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        self.check_name(&name, &source.place(0..0));
        self.check_ids(&file.rows);
        let base = file.base.as_ref()?;
        let base = self.base(
            &beside(path, &base.value),
            Some(&base.place),
            &mut vec![source.path.clone()],
        )?;
        let rows: Vec<_> = file
            .rows
            .into_iter()
            .filter_map(|entry| self.row(&base, entry))
            .collect();
        self.check_distinct(&rows);
        let baseline = self.baseline(file.baseline, &rows)?;
        self.check_scored_alike(&rows, &baseline);
        Some(Suite {
            name,
            title: file.title?,
            seeds: file.seeds,
            device: file.device,
            rows: compared(rows, &baseline),
            baseline,
        })
    }

    fn row(&mut self, base: &Draft, entry: RowEntry) -> Option<(Place, Row)> {
        let RowEntry {
            id,
            label,
            note,
            paper,
            layer,
            origin,
        } = entry;
        let draft = base.under(&layer);
        let mut faults = draft.faults(base, &layer, &id.place);
        if origin == Origin::Row {
            faults.extend(draft.restated(base, &layer));
        }
        self.faults
            .extend(faults.into_iter().map(|fault| fault.in_row(&id.value)));
        let experiment = draft.complete()?.clone();
        let row = Row {
            id: id.value,
            label,
            note,
            experiment,
            paper,
            changes: Vec::new(),
            places: draft.settings,
        };
        Some((id.place, row))
    }

    /// Checks that ids differ in more than case: an id becomes a folder, and some file systems do not tell `a` from
    /// `A`.
    fn check_ids(&mut self, rows: &[RowEntry]) {
        let mut seen: BTreeMap<String, &Place> = BTreeMap::new();
        for RowEntry { id, .. } in rows {
            self.check_name(&id.value, &id.place);
            if let Some(first) = seen.get(&id.value.to_ascii_lowercase()) {
                let kind = FaultKind::Duplicate {
                    what: "row id",
                    found: id.value.clone(),
                };
                let related = Related {
                    place: (*first).clone(),
                    what: Relation::FirstUse,
                };
                self.faults.push(Fault::at(id.place.clone(), kind).with(vec![related]));
            } else {
                seen.insert(id.value.to_ascii_lowercase(), &id.place);
            }
        }
    }

    fn check_name(&mut self, name: &str, place: &Place) {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
        if name.is_empty() || name.starts_with('.') || !name.chars().all(is_plain) {
            self.fault(place, FaultKind::BadName { found: name.to_owned() });
        }
    }

    fn check_distinct(&mut self, rows: &[(Place, Row)]) {
        let mut seen: BTreeMap<String, &(Place, Row)> = BTreeMap::new();
        for entry in rows {
            let (place, row) = entry;
            let Some((first_place, first)) = seen.insert(render(&row.experiment), entry) else {
                continue;
            };
            let related = Related {
                place: first_place.clone(),
                what: Relation::Row(first.id.clone()),
            };
            let kind = FaultKind::SameExperiment {
                other: first.id.clone(),
            };
            let fault = Fault::at(place.clone(), kind).in_row(&row.id);
            self.faults.push(fault.with(vec![related]));
        }
    }

    /// Checks that all rows are scored on one split, under one signature.
    fn check_scored_alike(&mut self, rows: &[(Place, Row)], baseline: &str) {
        let Some((_, first)) = rows.iter().find(|(_, row)| row.id == baseline) else {
            return;
        };
        for (place, row) in rows {
            for path in ["evaluation.split", "evaluation.bleu"] {
                let key = key(path).expect("a key of the schema");
                let [ours, theirs] = [row, first].map(|row| key.value_in(&row.experiment));
                let (Some(found), Some(expected)) = (ours, theirs) else {
                    continue;
                };
                if found != expected {
                    let set_at = row.places.get(path).map_or(place, |setting| &setting.place);
                    let kind = FaultKind::ScoredOtherwise {
                        key: path,
                        found,
                        expected,
                        baseline: baseline.to_owned(),
                    };
                    self.faults.push(Fault::at(set_at.clone(), kind).in_row(&row.id));
                }
            }
        }
    }

    /// Returns the named row; without a name the row `base`, or the first if there is none.
    fn baseline(&mut self, named: Option<Located<String>>, rows: &[(Place, Row)]) -> Option<String> {
        let mut ids = rows.iter().map(|(_, row)| row.id.as_str());
        let Some(Located { value: found, place }) = named else {
            let first = rows.first()?.1.id.as_str();
            return Some(ids.find(|id| *id == "base").unwrap_or(first).to_owned());
        };
        if ids.clone().any(|id| id == found) {
            return Some(found);
        }
        // A faulty row is missing from `rows`.
        if self.faults.is_empty() {
            let nearest = nearest(&found, &mut ids).map(str::to_owned);
            self.fault(&place, FaultKind::UnknownRow { found, nearest });
        }
        None
    }
}

/// Fills in how each row differs from the baseline.
fn compared(rows: Vec<(Place, Row)>, baseline: &str) -> Vec<Row> {
    let mut rows: Vec<Row> = rows.into_iter().map(|(_, row)| row).collect();
    if let Some(baseline) = rows
        .iter()
        .find(|row| row.id == baseline)
        .map(|row| row.experiment.clone())
    {
        for row in &mut rows {
            row.changes = changes(&baseline, &row.experiment, &row.places);
        }
    }
    rows
}
