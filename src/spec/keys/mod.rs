//! The schema: every key of an experiment, once. Reading, defaults, suggestions, the resolved `spec.toml`, its hash,
//! the columns of tables and the key reference all come from this table.

mod data;
mod decoding;
mod entry;
mod model;
mod selection;
mod training;

pub use entry::{Column, Condition, Effect, Fallback, Identity, Key, Needs};

/// Tables in the order of `spec.toml`. A key whose meaning hangs on another comes after it.
const KEYS: [&[Key]; 5] = [model::KEYS, data::KEYS, training::KEYS, selection::KEYS, decoding::KEYS];

/// Returns all keys, in the order of `spec.toml`.
pub fn keys() -> impl Iterator<Item = &'static Key> {
    KEYS.into_iter().flatten()
}

/// Returns the keys with a column of their own and its title, in the order of the columns.
#[must_use]
pub fn columns() -> Vec<(&'static Key, &'static str)> {
    let mut found: Vec<_> = keys().filter_map(|key| Some((key.column?, key))).collect();
    found.sort_by_key(|(column, _)| *column);
    found.into_iter().map(|(column, key)| (key, column.title)).collect()
}

/// Returns the key with this dotted path.
#[must_use]
pub fn key(path: &str) -> Option<&'static Key> {
    keys().find(|key| key.path == path)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn no_path_stands_twice_and_tables_are_not_torn_apart() {
        let paths: BTreeSet<_> = keys().map(|key| key.path).collect();
        assert_eq!(paths.len(), keys().count());

        let mut tables: Vec<_> = keys().map(Key::table).collect();
        tables.dedup();
        assert_eq!(tables.len(), tables.iter().collect::<BTreeSet<_>>().len(), "{tables:?}");
    }

    #[test]
    fn what_a_key_hangs_on_comes_before_it() {
        let mut seen = BTreeSet::new();
        for key in keys() {
            if let Fallback::Derived { from, .. } = key.fallback {
                assert!(from.iter().all(|path| seen.contains(path)), "{}", key.path);
            }
            assert!(
                key.needs.is_none_or(|needs| seen.contains(needs.key.path)),
                "{}",
                key.path
            );
            seen.insert(key.path);
        }
    }

    #[test]
    fn columns_have_places_of_their_own() {
        let places: BTreeSet<_> = keys().filter_map(|key| Some(key.column?.place)).collect();
        assert_eq!(places.len(), columns().len());
        let titles: Vec<_> = columns().into_iter().map(|(_, title)| title).collect();
        assert_eq!(titles[..3], ["N", "d_model", "d_ff"]);
    }

    #[test]
    fn a_doc_is_one_short_line() {
        for key in keys() {
            assert!(
                !key.doc.is_empty() && key.doc.len() <= 100 && !key.doc.ends_with('.'),
                "{}",
                key.path
            );
        }
    }
}
