//! Which files import from each other.
//!
//! A file imports the file in which the path that it writes ends: `crate::train::Trainer` leads to the `mod.rs` of
//! `train`, whose `use` leads on to `train/trainer.rs`. So a child that takes from its own `mod.rs` what that has from a
//! sibling imports the sibling. Paths count wherever they stand, tests included, also when they begin with a module
//! that the file declares or uses. Two things are no import: `mod child;`, and a `pub use` of what lies in a child.
//! A method that is called on a value names no path and is not seen.

use std::collections::{BTreeMap, BTreeSet};

use crate::paths::{Named, paths};
use crate::tokens::tokens;

/// Files by the files that they import.
pub type Imports<'s> = BTreeMap<&'s str, BTreeSet<&'s str>>;

/// Who imports whom among `sources`, pairs of a path below `src` and a text.
pub fn imports(sources: &[(String, String)]) -> Imports<'_> {
    let files = sources
        .iter()
        .map(|(path, source)| {
            let module = module_of(path);
            let named = paths(&tokens(source), &module);
            (module, File { path, source, named })
        })
        .collect();
    let house = House { files };
    house
        .files
        .iter()
        .map(|(module, file)| (file.path, house.imports_of(module, file)))
        .collect()
}

/// The way from the root to the module in a file: `["spec", "keys"]` of `spec/keys.rs` and of `spec/keys/mod.rs`.
pub fn module_of(path: &str) -> Vec<String> {
    let path = path.strip_suffix(".rs").unwrap_or(path);
    path.strip_suffix("/mod")
        .unwrap_or(path)
        .split('/')
        .map(str::to_owned)
        .collect()
}

struct File<'s> {
    path: &'s str,
    source: &'s str,
    named: Vec<Named>,
}

impl File<'_> {
    fn defines(&self, name: &str) -> bool {
        const KINDS: [&str; 8] = [
            "struct",
            "enum",
            "trait",
            "fn",
            "type",
            "const",
            "static",
            "macro_rules!",
        ];
        KINDS.iter().any(|kind| self.source.contains(&format!("{kind} {name}")))
    }
}

struct House<'s> {
    files: BTreeMap<Vec<String>, File<'s>>,
}

impl<'s> House<'s> {
    fn imports_of(&self, module: &[String], file: &File) -> BTreeSet<&'s str> {
        let is_import = |named: &&Named| !(named.is_shared && named.path.starts_with(module));
        let leads_to = |named: &Named| self.file_at(&named.path, 0);
        let found = file.named.iter().filter(is_import).filter_map(leads_to);
        found.filter(|other| *other != file.path).collect()
    }

    /// The file in which a path ends.
    fn file_at(&self, path: &[String], detours: usize) -> Option<&'s str> {
        const LONGEST_WAY: usize = 20;
        let modules = (1..=path.len())
            .take_while(|&length| self.files.contains_key(&path[..length]))
            .count();
        let file = self.files.get(&path[..modules])?;
        let Some(name) = path.get(modules) else {
            return Some(file.path);
        };
        let is_itself = |named: &&Named| named.path == path[..=modules];
        let bound = |named: &&Named| named.binds.as_ref() == Some(name) && !is_itself(named);
        let inside = |named: &&Named| {
            let module = &named.path[..named.path.len().saturating_sub(1)];
            named.binds.as_deref() == Some("*") && self.files.get(module).is_some_and(|file| file.defines(name))
        };
        let on = file.named.iter().find(bound).map(|named| named.path.clone());
        let on = on.or_else(|| {
            let glob = file.named.iter().find(inside)?;
            Some([&glob.path[..glob.path.len() - 1], std::slice::from_ref(name)].concat())
        });
        match on {
            Some(mut on) if detours < LONGEST_WAY => {
                on.extend_from_slice(&path[modules + 1..]);
                self.file_at(&on, detours + 1).or(Some(file.path))
            }
            _ => Some(file.path),
        }
    }
}

/// A shortest circle through every file that lies on one, each circle once: `a.rs -> b.rs -> a.rs`.
pub fn circles(imports: &Imports) -> BTreeSet<String> {
    imports
        .keys()
        .filter_map(|file| way(imports, file, file))
        .map(from_the_first)
        .collect()
}

/// A shortest way from a file to another, over at least one import.
pub fn way<'s>(imports: &Imports<'s>, from: &'s str, to: &str) -> Option<Vec<&'s str>> {
    let mut ways = vec![vec![from]];
    let mut seen = BTreeSet::new();
    while !ways.is_empty() {
        let mut longer = Vec::new();
        for way in ways {
            for next in imports.get(way[way.len() - 1]).into_iter().flatten() {
                if *next == to {
                    return Some(way);
                }
                if seen.insert(*next) {
                    longer.push([way.as_slice(), &[*next]].concat());
                }
            }
        }
        ways = longer;
    }
    None
}

/// A circle as text, the same wherever it was entered.
fn from_the_first(mut circle: Vec<&str>) -> String {
    let first = (0..circle.len()).min_by_key(|&at| circle[at]).unwrap_or(0);
    circle.rotate_left(first);
    circle.push(circle[0]);
    circle.join(" -> ")
}
