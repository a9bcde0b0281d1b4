//! From files to a valid suite: follows bases, puts rows over them, and returns all faults at once.

use std::collections::BTreeMap;
use std::io;
use std::path::{Component, Path, PathBuf};

use super::experiment::Experiment;
use super::fault::{Fault, FaultKind, Faults};
use super::place::{Place, Source};
use super::read::{Located, Reader, entries_of};
use super::resolve::{Draft, Layer};
use super::suite::Suite;

/// Reads the text at a path, as [`std::fs::read_to_string`] does.
pub type ReadText<'a> = &'a dyn Fn(&Path) -> io::Result<String>;

/// Loads a suite and its bases.
///
/// # Errors
/// All faults of the suite and its bases.
pub fn load_suite(path: &Path, read: ReadText<'_>) -> Result<Suite, Faults> {
    let mut loader = Loader::new(read);
    let suite = loader.suite(path);
    loader.finish(suite)
}

/// Loads one complete experiment: a base, or the `spec.toml` that [`render`](super::render()) wrote.
///
/// # Errors
/// All faults of the file and its bases.
pub fn load_experiment(path: &Path, read: ReadText<'_>) -> Result<Experiment, Faults> {
    let mut loader = Loader::new(read);
    let draft = loader.base(path, None, &mut Vec::new());
    loader.finish(draft.and_then(|draft| draft.complete().cloned()))
}

/// Texts read so far and their faults.
pub(super) struct Loader<'a> {
    read: ReadText<'a>,
    sources: BTreeMap<String, String>,
    pub faults: Vec<Fault>,
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

    pub fn fault(&mut self, place: &Place, kind: FaultKind) {
        self.faults.push(Fault::at(place.clone(), kind));
    }

    /// Reads a text; a failure is the fault of the place that named it.
    pub fn source(&mut self, path: &Path, named_at: Option<&Place>) -> Option<Source> {
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

    /// Loads a base file over the bases it inherits from. `chain` holds the files that led here.
    pub fn base(&mut self, path: &Path, named_at: Option<&Place>, chain: &mut Vec<String>) -> Option<Draft> {
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

    /// Returns the base that a file names and its own settings, or `None` when either cannot be known.
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
}

/// Resolves a path relative to the file that names it, without detours that would hide a cycle.
pub(super) fn beside(file: &Path, named: &str) -> PathBuf {
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
