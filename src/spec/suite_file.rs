//! The document of a suite, read but not yet put over its base.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::device::DeviceWish;
use super::fault::FaultKind;
use super::keys::keys;
use super::read::{Located, Reader, entries_of};
use super::row_entry::{Origin, RowEntry};
use super::value::{Kind, Value};

/// Enough for a mean and a standard deviation.
const SEEDS: [u64; 3] = [1, 2, 3];
const SEED: Kind = Kind::Whole(0, u32::MAX as u64);

pub(super) const FIELDS: [&str; 7] = ["title", "base", "seeds", "device", "baseline", "row", "grid"];

/// The content of a suite's file.
#[derive(Debug)]
pub(super) struct SuiteFile {
    pub title: Option<String>,
    pub base: Option<Located<String>>,
    pub seeds: Vec<u64>,
    pub device: Option<DeviceWish>,
    pub baseline: Option<Located<String>>,
    pub rows: Vec<RowEntry>,
}

impl SuiteFile {
    /// Reads the document; `None` when it is not TOML.
    pub fn read(reader: &mut Reader<'_>) -> Option<Self> {
        let document = reader.document()?;
        if let Some((name, table)) = table_of_a_base(&document) {
            reader.fault(name, FaultKind::BaseAsSuite { table });
            return None;
        }
        let mut suite = Self {
            title: None,
            base: None,
            seeds: SEEDS.to_vec(),
            device: None,
            baseline: None,
            rows: Vec::new(),
        };
        let (mut present, mut tables) = (Vec::new(), Vec::new());
        for (name, written) in entries_of(&document) {
            let name_text = name.get_ref().as_ref();
            present.push(name_text);
            match name_text {
                "title" => suite.title = reader.text("title", written).map(|title| title.value),
                "base" => suite.base = reader.text("base", written),
                "seeds" => suite.seeds = seeds(reader, written),
                "device" => suite.device = device(reader, written),
                "baseline" => suite.baseline = reader.text("baseline", written),
                "row" => tables.extend(reader.array("row", written).iter().map(|table| (Origin::Row, table))),
                "grid" => tables.extend(reader.array("grid", written).iter().map(|table| (Origin::Grid, table))),
                _ => present.extend(reader.unknown(name, &FIELDS)),
            }
        }
        missing_fields(reader, &present);
        tables.sort_by_key(|(_, table)| table.span().start);
        suite.rows = tables
            .into_iter()
            .flat_map(|(origin, table)| RowEntry::read(reader, origin, table))
            .collect();
        Some(suite)
    }
}

/// Finds a table of an experiment, with its place, in a document without any field of a suite except `base`.
fn table_of_a_base(document: &DeTable<'_>) -> Option<(Range<usize>, String)> {
    let entries = entries_of(document);
    let is_suite = |name: &str| FIELDS.contains(&name) && name != "base";
    if entries.iter().any(|(name, _)| is_suite(name.get_ref())) {
        return None;
    }
    let is_table = |name: &str| keys().any(|key| key.table() == name);
    let (name, _) = entries.iter().find(|(name, _)| is_table(name.get_ref()))?;
    Some((name.span(), name.get_ref().to_string()))
}

/// Reports required fields that are not present, not even misspelt.
fn missing_fields(reader: &mut Reader<'_>, present: &[&str]) {
    for required in ["title", "base", "row"] {
        let grid_instead = required == "row" && present.contains(&"grid");
        if !present.contains(&required) && !grid_instead {
            reader.missing(0..0, required, None);
        }
    }
}

fn device(reader: &mut Reader<'_>, written: &Spanned<DeValue<'_>>) -> Option<DeviceWish> {
    let Located { value, .. } = reader.value("device", &Kind::Device, written)?;
    value.text().parse().ok()
}

fn seeds<'s>(reader: &mut Reader<'s>, written: &Spanned<DeValue<'s>>) -> Vec<u64> {
    let mut seeds = Vec::new();
    for one in reader.array("seeds", written) {
        if let Some(Located {
            value: Value::Whole(seed),
            ..
        }) = reader.value("seeds", &SEED, one)
        {
            if seeds.contains(&seed) {
                let found = seed.to_string();
                reader.fault(one.span(), FaultKind::Duplicate { what: "seed", found });
            }
            seeds.push(seed);
        }
    }
    seeds
}
