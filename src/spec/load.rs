//! From files to a valid suite: follows bases, lays rows over them, and returns all faults at once.

use std::collections::BTreeMap;
use std::io;
use std::path::{Component, Path, PathBuf};

use super::experiment::Experiment;
use super::fault::{Fault, FaultKind, Faults, Related, Relation};
use super::nearest::nearest;
use super::place::{Place, Source};
use super::read::{Located, Reader, entries_of};
use super::render::render;
use super::resolve::{Draft, Layer};
use super::suite::{Row, Suite, changes};
use super::suite_file::{Origin, RowEntry, SuiteFile};

/// How a text is had from its path; [`std::fs::read_to_string`] for one.
pub type ReadText<'a> = &'a dyn Fn(&Path) -> io::Result<String>;

/// Loads a suite and the bases it stands on.
///
/// # Errors
/// Everything that is wrong with the suite and its bases.
pub fn load_suite(path: &Path, read: ReadText<'_>) -> Result<Suite, Faults> {
    let mut loader = Loader::new(read);
    let suite = loader.suite(path);
    loader.finish(suite)
}

/// Loads one complete experiment: a base, or the `spec.toml` that [`render`] wrote.
///
/// # Errors
/// Everything that is wrong with the file and its bases.
pub fn load_experiment(path: &Path, read: ReadText<'_>) -> Result<Experiment, Faults> {
    let mut loader = Loader::new(read);
    let draft = loader.base(path, None, &mut Vec::new());
    loader.finish(draft.and_then(|draft| draft.complete().cloned()))
}

struct Loader<'a> {
    read: ReadText<'a>,
    sources: BTreeMap<String, String>,
    faults: Vec<Fault>,
}

impl<'a> Loader<'a> {
    fn new(read: ReadText<'a>) -> Self {
        Self {
            read,
            sources: BTreeMap::new(),
            faults: Vec::new(),
        }
    }

    fn finish<T>(self, loaded: Option<T>) -> Result<T, Faults> {
        let Self {
            sources, mut faults, ..
        } = self;
        faults.sort_by(|a, b| (&a.place.file, a.place.span.start).cmp(&(&b.place.file, b.place.span.start)));
        match loaded {
            Some(loaded) if faults.is_empty() => Ok(loaded),
            _ => Err(Faults { faults, sources }),
        }
    }

    fn fault(&mut self, place: &Place, kind: FaultKind) {
        self.faults.push(Fault::at(place.clone(), kind));
    }

    /// Reads a text; a failure is the fault of the place that named it.
    fn source(&mut self, path: &Path, named_at: Option<&Place>) -> Option<Source> {
        let path_text = path.display().to_string();
        match (self.read)(path) {
            Ok(text) => {
                self.sources.insert(path_text.clone(), text.clone());
                Some(Source { path: path_text, text })
            }
            Err(error) => {
                let place = named_at.cloned().unwrap_or_else(|| Place::start_of(&path_text));
                self.fault(
                    &place,
                    FaultKind::Unreadable {
                        path: path_text,
                        reason: error.kind(),
                    },
                );
                None
            }
        }
    }

    /// A base file over the bases it inherits from. `chain` holds the files that led here.
    fn base(&mut self, path: &Path, named_at: Option<&Place>, chain: &mut Vec<String>) -> Option<Draft> {
        let name = path.display().to_string();
        let known = chain.iter().position(|file| *file == name);
        chain.push(name);
        if let (Some(start), Some(place)) = (known, named_at) {
            self.fault(
                place,
                FaultKind::Cycle {
                    chain: chain.split_off(start),
                },
            );
            return None;
        }
        let source = self.source(path, named_at)?;
        let (parent, layer) = self.base_file(&source)?;
        let parent = match parent {
            Some(Located { value, place }) => self.base(&beside(path, &value), Some(&place), chain)?,
            None => Draft::empty(),
        };
        let draft = parent.under(&layer);
        self.faults.extend(draft.faults(&parent, &layer, &source.place(0..0)));
        Some(draft)
    }

    /// The base that a file names and its own settings; `None` when either cannot be known.
    fn base_file(&mut self, source: &Source) -> Option<(Option<Located<String>>, Layer)> {
        let mut reader = Reader::new(source);
        let file = reader.document().and_then(|document| {
            let mut entries = entries_of(&document);
            let named = entries
                .iter()
                .position(|(name, _)| name.get_ref() == "base")
                .map(|index| entries.remove(index));
            let layer = reader.layer(&entries);
            match named {
                Some((_, written)) => reader.text("base", written).map(|base| (Some(base), layer)),
                None => Some((None, layer)),
            }
        });
        self.faults.append(&mut reader.faults);
        file
    }

    fn suite(&mut self, path: &Path) -> Option<Suite> {
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
        Some(Suite {
            name,
            title: file.title?,
            seeds: file.seeds,
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
        self.faults.extend(faults.into_iter().map(|fault| Fault {
            row: Some(id.value.clone()),
            ..fault
        }));
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

    /// An id becomes a folder, on file systems that may not tell `a` from `A`.
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
                    what: Relation::First("first used".to_owned()),
                };
                self.faults.push(Fault {
                    related: vec![related],
                    ..Fault::at(id.place.clone(), kind)
                });
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
                what: Relation::First(format!("row `{}`", first.id)),
            };
            let kind = FaultKind::SameExperiment {
                other: first.id.clone(),
            };
            let fault = Fault {
                row: Some(row.id.clone()),
                ..Fault::at(place.clone(), kind)
            };
            self.faults.push(Fault {
                related: vec![related],
                ..fault
            });
        }
    }

    /// The named row, else the row `base`, else the first.
    fn baseline(&mut self, named: Option<Located<String>>, rows: &[(Place, Row)]) -> Option<String> {
        let mut ids = rows.iter().map(|(_, row)| row.id.as_str());
        let Some(Located { value: found, place }) = named else {
            let first = rows.first()?.1.id.as_str();
            return Some(ids.find(|id| *id == "base").unwrap_or(first).to_owned());
        };
        if ids.clone().any(|id| id == found) {
            return Some(found);
        }
        // A row that is itself faulty is not here to be found.
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

/// A path relative to the file that names it, without the detours that would hide a cycle.
fn beside(file: &Path, named: &str) -> PathBuf {
    let mut path = PathBuf::new();
    for component in file.parent().unwrap_or(Path::new("")).join(named).components() {
        let can_rise = matches!(path.components().next_back(), Some(Component::Normal(_)));
        match component {
            Component::CurDir => {}
            Component::ParentDir if can_rise => {
                path.pop();
            }
            other => path.push(other),
        }
    }
    path
}
