//! `[[row]]` and `[[grid]]`, read but not yet put over the base.

use std::ops::Bound::{Excluded, Included, Unbounded};

use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

use super::fault::FaultKind;
use super::grid::Grid;
use super::keys::key;
use super::read::{Located, Reader, entries_of};
use super::resolve::Layer;
use super::suite::PaperTarget;
use super::value::Kind;

pub(super) const ROW_FIELDS: [&str; 5] = ["id", "label", "note", "set", "paper"];
pub(super) const GRID_FIELDS: [&str; 2] = ["id", "set"];
pub(super) const PAPER_FIELDS: [&str; 3] = ["ppl", "bleu", "params_millions"];

/// A row as written, or as expanded from its grid.
#[derive(Debug)]
pub(super) struct RowEntry {
    pub id: Located<String>,
    pub label: Option<String>,
    pub note: Option<String>,
    pub paper: PaperTarget,
    pub layer: Layer,
    pub origin: Origin,
}

/// A grid may list the base's value; a row that sets it again is a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    Row,
    Grid,
}

impl RowEntry {
    /// Reads a table of the suite: one row, or the rows of a grid. Without an id there are none.
    pub fn read<'s>(reader: &mut Reader<'s>, origin: Origin, written: &Spanned<DeValue<'s>>) -> Vec<Self> {
        let what = match origin {
            Origin::Row => "row",
            Origin::Grid => "grid",
        };
        let Some(table) = reader.table(what, written) else {
            return Vec::new();
        };
        if !table.contains_key("id") {
            reader.missing(written.span(), "id", Some(what));
        }
        match origin {
            Origin::Row => row(reader, table).into_iter().collect(),
            Origin::Grid => {
                if !table.contains_key("set") {
                    reader.missing(written.span(), "set", Some(what));
                }
                grid(reader, table)
            }
        }
    }

    fn new(id: Located<String>, layer: Layer, origin: Origin) -> Self {
        let (label, note, paper) = (None, None, PaperTarget::default());
        Self {
            id,
            label,
            note,
            paper,
            layer,
            origin,
        }
    }
}

fn row<'s>(reader: &mut Reader<'s>, table: &DeTable<'s>) -> Option<RowEntry> {
    let (mut id, mut label, mut note) = (None, None, None);
    let (mut paper, mut layer) = (PaperTarget::default(), Layer::default());
    for (name, value) in entries_of(table) {
        match name.get_ref().as_ref() {
            "id" => id = reader.text("id", value),
            "label" => label = reader.text("label", value).map(|label| label.value),
            "note" => note = reader.text("note", value).map(|note| note.value),
            "paper" => paper = paper_target(reader, value),
            "set" => {
                if let Some(set) = reader.table("set", value) {
                    layer = reader.layer(&entries_of(set));
                }
            }
            _ => unknown_field(reader, name, value, &ROW_FIELDS),
        }
    }
    Some(RowEntry {
        label,
        note,
        paper,
        ..RowEntry::new(id?, layer, Origin::Row)
    })
}

fn grid<'s>(reader: &mut Reader<'s>, table: &DeTable<'s>) -> Vec<RowEntry> {
    let (mut template, mut leaves) = (None, None);
    for (name, value) in entries_of(table) {
        match name.get_ref().as_ref() {
            "id" => template = reader.text("id", value),
            "set" => leaves = reader.table("set", value).map(|set| reader.leaves(&entries_of(set))),
            _ => unknown_field(reader, name, value, &GRID_FIELDS),
        }
    }
    let (Some(template), Some(leaves)) = (template, leaves) else {
        return Vec::new();
    };
    let place = template.place.clone();
    let rows = Grid::read(reader, template, leaves).expand(reader);
    let entry = |(id, layer)| {
        RowEntry::new(
            Located {
                value: id,
                place: place.clone(),
            },
            layer,
            Origin::Grid,
        )
    };
    rows.into_iter().map(entry).collect()
}

fn paper_target<'s>(reader: &mut Reader<'s>, written: &Spanned<DeValue<'s>>) -> PaperTarget {
    let mut paper = PaperTarget::default();
    let Some(table) = reader.table("paper", written) else {
        return paper;
    };
    for (name, value) in entries_of(table) {
        let (field, kind) = match name.get_ref().as_ref() {
            "ppl" => (&mut paper.ppl, Kind::Real(Included(1.0), Unbounded)),
            "bleu" => (&mut paper.bleu, Kind::Real(Included(0.0), Included(100.0))),
            "params_millions" => (&mut paper.params_millions, Kind::Real(Excluded(0.0), Unbounded)),
            _ => {
                reader.unknown(name, &PAPER_FIELDS);
                continue;
            }
        };
        let number = reader.value(&format!("paper.{}", name.get_ref()), &kind, value);
        *field = number.map(|number| number.value.real());
    }
    paper
}

/// Reports a name that a row or grid does not have. An experiment's key belongs into `set`.
fn unknown_field(
    reader: &mut Reader<'_>,
    name: &Spanned<DeString<'_>>,
    written: &Spanned<DeValue<'_>>,
    known: &[&str],
) {
    let nested = written
        .get_ref()
        .as_table()
        .and_then(|table| entries_of(table).into_iter().next());
    let path = nested.map(|(inner, _)| format!("{}.{}", name.get_ref(), inner.get_ref()));
    match path.filter(|path| key(path).is_some()) {
        Some(found) => reader.fault(name.span(), FaultKind::OutsideSet { found }),
        None => {
            reader.unknown(name, known);
        }
    }
}
