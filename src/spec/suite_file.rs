//! A suite's document, read but not yet laid over its base.

use std::ops::Bound::{Excluded, Included, Unbounded};

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::fault::FaultKind;
use super::grid::Grid;
use super::keys::key;
use super::place::Place;
use super::read::{Located, Reader, entries_of};
use super::resolve::Layer;
use super::suite::PaperTarget;
use super::value::{Kind, Value};

/// Enough to give a mean and a deviation.
const SEEDS: [u64; 3] = [1, 2, 3];
/// TOML's whole numbers end here.
const SEED: Kind = Kind::Whole(0, i64::MAX as u64);

/// Names and docs of what is not an experiment's key, for suggestions and the key reference.
pub(super) const SUITE_FIELDS: [&str; 6] = ["title", "base", "seeds", "baseline", "row", "grid"];
const ROW_FIELDS: [&str; 5] = ["id", "label", "note", "set", "paper"];
const GRID_FIELDS: [&str; 2] = ["id", "set"];
const PAPER_FIELDS: [&str; 3] = ["ppl", "bleu", "params_millions"];

/// What a suite's file says.
#[derive(Debug)]
pub(super) struct SuiteFile {
    pub title: Option<String>,
    pub base: Option<Located<String>>,
    pub seeds: Vec<u64>,
    pub baseline: Option<Located<String>>,
    pub rows: Vec<RowEntry>,
}

/// A row as written, or as its grid wrote it.
#[derive(Debug)]
pub(super) struct RowEntry {
    pub id: Located<String>,
    pub label: Option<String>,
    pub note: Option<String>,
    pub paper: PaperTarget,
    pub layer: Layer,
    pub origin: Origin,
}

/// A grid passes through the base's values; a row that restates one is a slip.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    Row,
    Grid,
}

impl SuiteFile {
    pub fn read(reader: &mut Reader<'_>) -> Option<Self> {
        let document = reader.document()?;
        let mut suite = Self {
            title: None,
            base: None,
            seeds: SEEDS.to_vec(),
            baseline: None,
            rows: Vec::new(),
        };
        let mut tables = Vec::new();
        for (name, written) in entries_of(&document) {
            match name.get_ref().as_ref() {
                "title" => suite.title = reader.text("title", written).map(|title| title.value),
                "base" => suite.base = reader.text("base", written),
                "seeds" => suite.seeds = seeds(reader, written),
                "baseline" => suite.baseline = reader.text("baseline", written),
                "row" => tables.extend(reader.list("row", written).iter().map(|table| (Origin::Row, table))),
                "grid" => tables.extend(reader.list("grid", written).iter().map(|table| (Origin::Grid, table))),
                _ => reader.unknown(name, &SUITE_FIELDS),
            }
        }
        for required in ["title", "base", "row"] {
            let grid_instead = required == "row" && document.contains_key("grid");
            if !document.contains_key(required) && !grid_instead {
                reader.fault(
                    0..0,
                    FaultKind::Missing {
                        key: required.to_owned(),
                        needed_by: None,
                    },
                );
            }
        }
        tables.sort_by_key(|(_, table)| table.span().start);
        for (origin, table) in tables {
            match origin {
                Origin::Row => suite.rows.extend(row(reader, table)),
                Origin::Grid => suite.rows.extend(grid(reader, table)),
            }
        }
        Some(suite)
    }
}

fn seeds<'s>(reader: &mut Reader<'s>, written: &Spanned<DeValue<'s>>) -> Vec<u64> {
    let mut seeds = Vec::new();
    let list = reader.list("seeds", written);
    if list.is_empty() && written.get_ref().is_array() {
        reader.fault(
            written.span(),
            FaultKind::Missing {
                key: "a seed".to_owned(),
                needed_by: None,
            },
        );
    }
    for one in list {
        let Some(Located {
            value: Value::Whole(seed),
            ..
        }) = reader.value("seeds", &SEED, one)
        else {
            continue;
        };
        if seeds.contains(&seed) {
            reader.fault(
                one.span(),
                FaultKind::Duplicate {
                    what: "seed",
                    found: seed.to_string(),
                },
            );
        }
        seeds.push(seed);
    }
    seeds
}

fn row<'s>(reader: &mut Reader<'s>, written: &Spanned<DeValue<'s>>) -> Option<RowEntry> {
    let table = reader.table("row", written)?;
    let (mut label, mut note, mut paper, mut layer) = (None, None, PaperTarget::default(), Layer::default());
    let id = id(reader, "row", table, written);
    for (name, value) in entries_of(table) {
        match name.get_ref().as_ref() {
            "id" => {}
            "label" => label = reader.text("label", value).map(|label| label.value),
            "note" => note = reader.text("note", value).map(|note| note.value),
            "paper" => paper = paper_target(reader, value),
            "set" => layer = set(reader, value),
            _ => unknown_in_row(reader, (name, value), &ROW_FIELDS),
        }
    }
    Some(RowEntry {
        id: id?,
        label,
        note,
        paper,
        layer,
        origin: Origin::Row,
    })
}

fn grid<'s>(reader: &mut Reader<'s>, written: &Spanned<DeValue<'s>>) -> Vec<RowEntry> {
    let Some(table) = reader.table("grid", written) else {
        return Vec::new();
    };
    let template = id(reader, "grid", table, written);
    let mut leaves = None;
    for (name, value) in entries_of(table) {
        match name.get_ref().as_ref() {
            "id" => {}
            "set" => {
                let table = reader.table("set", value);
                leaves = table.map(|table| reader.leaves(&entries_of(table)));
            }
            _ => unknown_in_row(reader, (name, value), &GRID_FIELDS),
        }
    }
    if !table.contains_key("set") {
        reader.fault(
            written.span(),
            FaultKind::Missing {
                key: "set".to_owned(),
                needed_by: Some("grid".to_owned()),
            },
        );
    }
    let (Some(template), Some(leaves)) = (template, leaves) else {
        return Vec::new();
    };
    let place = template.place.clone();
    let rows = Grid::read(reader, template, leaves).expand(reader);
    rows.into_iter()
        .map(|(id, layer)| grid_row(id, place.clone(), layer))
        .collect()
}

fn grid_row(id: String, place: Place, layer: Layer) -> RowEntry {
    let id = Located { value: id, place };
    RowEntry {
        id,
        label: None,
        note: None,
        paper: PaperTarget::default(),
        layer,
        origin: Origin::Grid,
    }
}

fn id<'s>(
    reader: &mut Reader<'s>,
    what: &str,
    table: &DeTable<'s>,
    written: &Spanned<DeValue<'s>>,
) -> Option<Located<String>> {
    let Some(id) = table.get("id") else {
        reader.fault(
            written.span(),
            FaultKind::Missing {
                key: "id".to_owned(),
                needed_by: Some(what.to_owned()),
            },
        );
        return None;
    };
    reader.text("id", id)
}

fn set<'s>(reader: &mut Reader<'s>, written: &Spanned<DeValue<'s>>) -> Layer {
    match reader.table("set", written) {
        Some(table) => reader.layer(&entries_of(table)),
        None => Layer::default(),
    }
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
        *field = reader
            .value(&format!("paper.{}", name.get_ref()), &kind, value)
            .map(|number| number.value.real());
    }
    paper
}

/// A name that is unknown in a row or grid; an experiment's key there was meant for `set`.
fn unknown_in_row(
    reader: &mut Reader<'_>,
    (name, written): (&Spanned<toml::de::DeString<'_>>, &Spanned<DeValue<'_>>),
    known: &[&str],
) {
    let nested = written
        .get_ref()
        .as_table()
        .and_then(|table| entries_of(table).into_iter().next());
    let path = nested.map(|(inner, _)| format!("{}.{}", name.get_ref(), inner.get_ref()));
    match path.filter(|path| key(path).is_some()) {
        Some(found) => reader.fault(name.span(), FaultKind::OutsideSet { found }),
        None => reader.unknown(name, known),
    }
}
