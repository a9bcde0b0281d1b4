//! One TOML document, read against the schema. Names and single values are checked here; rules over several keys are
//! not.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

use super::fault::{Expected, Fault, FaultKind};
use super::keys::{Key, key, keys};
use super::nearest::nearest;
use super::place::{Place, Source};
use super::resolve::Layer;
use super::value::{Kind, Refusal, Value};

/// A value and its place.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Located<T> {
    pub value: T,
    pub place: Place,
}

/// A name and its value in a table.
type Entry<'t, 's> = (&'t Spanned<DeString<'s>>, &'t Spanned<DeValue<'s>>);

/// Reads one source and collects its faults.
pub(super) struct Reader<'s> {
    source: &'s Source,
    pub faults: Vec<Fault>,
}

/// Experiment keys found in a table, before their values are read.
pub(super) struct Leaves<'t, 's> {
    pub found: Vec<(&'static Key, &'t Spanned<DeValue<'s>>)>,
    /// Everything but the settings.
    pub layer: Layer,
}

impl<'s> Reader<'s> {
    pub fn new(source: &'s Source) -> Self {
        Self {
            source,
            faults: Vec::new(),
        }
    }

    /// Returns the document's tree, or `None` and faults when it is not TOML.
    pub fn document(&mut self) -> Option<DeTable<'s>> {
        let (tree, errors) = DeTable::parse_recoverable(&self.source.text);
        let mut last_line = 0;
        for error in &errors {
            let end = self.source.text.len();
            let place = self.place(error.span().unwrap_or(end..end));
            // Further errors on the same line mostly follow from the first.
            if std::mem::replace(&mut last_line, place.line) != place.line {
                let reason = error.message().to_owned();
                self.faults.push(Fault::at(place, FaultKind::Syntax { reason }));
            }
        }
        errors.is_empty().then(|| tree.into_inner())
    }

    pub fn place(&self, span: Range<usize>) -> Place {
        self.source.place(span)
    }

    pub fn fault(&mut self, span: Range<usize>, kind: FaultKind) {
        let place = self.place(span);
        self.faults.push(Fault::at(place, kind));
    }

    /// Reads one value; faults call it `name`.
    pub fn value(&mut self, name: &str, kind: &Kind, written: &Spanned<DeValue<'_>>) -> Option<Located<Value>> {
        match kind.read(written.get_ref()) {
            Ok(value) => {
                return Some(Located {
                    value,
                    place: self.place(written.span()),
                });
            }
            Err(Refusal::WrongType) => self.wrong_type(name, Expected::Value(*kind), written),
            Err(Refusal::OutOfRange) => {
                let nearest = written
                    .get_ref()
                    .as_str()
                    .and_then(|text| nearest(text, kind.names().iter().copied()));
                let kind = FaultKind::OutOfRange {
                    key: name.to_owned(),
                    found: self.source.excerpt(written.span()),
                    expected: *kind,
                    nearest: nearest.map(str::to_owned),
                };
                self.fault(written.span(), kind);
            }
        }
        None
    }

    pub fn text(&mut self, name: &str, written: &Spanned<DeValue<'_>>) -> Option<Located<String>> {
        let Located { value, place } = self.value(name, &Kind::Text, written)?;
        Some(Located {
            value: value.text().to_owned(),
            place,
        })
    }

    pub fn table<'t>(&mut self, name: &str, written: &'t Spanned<DeValue<'s>>) -> Option<&'t DeTable<'s>> {
        let table = written.get_ref().as_table();
        if table.is_none() {
            self.wrong_type(name, Expected::Table, written);
        }
        table
    }

    /// Returns the values of an array; an empty array is a fault.
    pub fn array<'t>(&mut self, name: &str, written: &'t Spanned<DeValue<'s>>) -> &'t [Spanned<DeValue<'s>>] {
        match written.get_ref().as_array() {
            Some(array) if array.is_empty() => self.fault(written.span(), FaultKind::Empty { key: name.to_owned() }),
            Some(array) => return array,
            None => self.wrong_type(name, Expected::Array, written),
        }
        &[]
    }

    /// Reports a key that is missing at `span`.
    pub fn missing(&mut self, span: Range<usize>, key: &str, needed_by: Option<&str>) {
        let needed_by = needed_by.map(str::to_owned);
        self.fault(
            span,
            FaultKind::Missing {
                key: key.to_owned(),
                needed_by,
            },
        );
    }

    fn wrong_type(&mut self, name: &str, expected: Expected, written: &Spanned<DeValue<'_>>) {
        let kind = FaultKind::WrongType {
            key: name.to_owned(),
            found_type: written.get_ref().type_str(),
            found: self.source.excerpt(written.span()),
            expected,
        };
        self.fault(written.span(), kind);
    }

    /// Reports a name that is not in `known`, and returns the name that was probably meant.
    pub fn unknown<'k>(&mut self, name: &Spanned<DeString<'_>>, known: &[&'k str]) -> Option<&'k str> {
        let found = name.get_ref().to_string();
        let meant = nearest(&found, known.iter().copied());
        let nearest = meant.map(str::to_owned);
        self.fault(name.span(), FaultKind::UnknownKey { found, nearest });
        meant
    }

    /// Reads a table of settings.
    pub fn layer(&mut self, entries: &[Entry<'_, 's>]) -> Layer {
        let Leaves { found, mut layer } = self.leaves(entries);
        for (key, written) in found {
            match self.value(key.path, &key.kind, written) {
                Some(Located { value, place }) => {
                    layer.settings.insert(key.path, (value, place));
                }
                None => {
                    layer.suspects.insert(key.path);
                }
            }
        }
        layer
    }

    /// Finds the experiment's keys in nested tables, and reports every other name.
    pub fn leaves<'t>(&mut self, entries: &[Entry<'t, 's>]) -> Leaves<'t, 's> {
        let mut leaves = Leaves {
            found: Vec::new(),
            layer: Layer::default(),
        };
        self.descend("", entries, &mut leaves);
        leaves
    }

    fn descend<'t>(&mut self, prefix: &str, entries: &[Entry<'t, 's>], leaves: &mut Leaves<'t, 's>) {
        for &(name, written) in entries {
            let path = format!("{prefix}{}", name.get_ref());
            let is_plain = !name.get_ref().contains('.');
            if let Some(key) = key(&path).filter(|_| is_plain) {
                leaves.found.push((key, written));
            } else if is_plain && keys().any(|key| key.table() == path) {
                leaves.layer.tables.insert(path.clone(), self.place(name.span()));
                match self.table(&path, written) {
                    Some(table) => self.descend(&format!("{path}."), &entries_of(table), leaves),
                    None => suspect(&path, &mut leaves.layer),
                }
            } else {
                let meant = nearest(&path, keys().flat_map(|key| [key.path, key.table()]));
                if let Some(meant) = meant {
                    suspect(meant, &mut leaves.layer);
                }
                let nearest = meant.map(str::to_owned);
                // A dot inside a quoted name is no path: show the quotes that make the difference.
                let found = if is_plain {
                    path
                } else {
                    format!("{prefix}{}", self.source.excerpt(name.span()))
                };
                self.fault(name.span(), FaultKind::UnknownKey { found, nearest });
            }
        }
    }
}

/// Marks a key, or all keys of a table, as set but not usable.
fn suspect(path: &str, layer: &mut Layer) {
    layer.suspects.extend(
        keys()
            .filter(|key| key.path == path || key.table() == path)
            .map(|key| key.path),
    );
}

/// Returns the entries of a table in the order of the file.
pub(super) fn entries_of<'t, 's>(table: &'t DeTable<'s>) -> Vec<Entry<'t, 's>> {
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_by_key(|(name, _)| name.span().start);
    entries
}
