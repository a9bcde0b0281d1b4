//! The order of the house, read from its source: which room may import which, which files import from each other, where
//! `unsafe` and printing live, how long a file may be. The rules are shown to fail, each on an example, before they are asked about the house.

mod circles;
mod exceptions;
mod paths;
mod rules;
mod tokens;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use circles::{circles, imports, way};
use exceptions::EXCEPTIONS;
use rules::{ROOMS, broken_rules, joins_rooms, room_of, rooms_in_circles, rooms_named};
use tokens::tokens;

const SRC: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src");

/// Every Rust file below `src` by its relative path, parts joined by `/`.
fn sources() -> Vec<(String, String)> {
    let mut files = Vec::new();
    collect(Path::new(SRC), &mut files);
    files.sort();
    let named = |file: PathBuf| {
        let parts = file.strip_prefix(SRC).unwrap().components();
        let parts: Vec<_> = parts.map(|part| part.as_os_str().to_string_lossy()).collect();
        (parts.join("/"), fs::read_to_string(&file).unwrap())
    };
    files.into_iter().map(named).collect()
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

#[test]
fn no_file_of_the_house_breaks_a_rule() {
    let broken: Vec<_> = sources()
        .iter()
        .flat_map(|(path, source)| broken_rules(path, source))
        .collect();
    assert!(broken.is_empty(), "\n{}\n", broken.join("\n"));
}

#[test]
fn the_rooms_are_those_on_the_list_and_the_library_opens_them_in_its_order() {
    let sources = sources();
    let paths = sources.iter().map(|(path, _)| path.as_str());
    let found: BTreeSet<_> = paths.filter(|path| !joins_rooms(path)).map(room_of).collect();
    let listed = ROOMS.map(|(room, _)| room);
    assert_eq!(found, BTreeSet::from(listed));

    let (_, library) = sources.iter().find(|(path, _)| path == "lib.rs").unwrap();
    let opened = library
        .lines()
        .filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';'));
    assert_eq!(opened.collect::<Vec<_>>(), listed);
}

#[test]
fn no_room_imports_another_around_a_circle() {
    assert_eq!(rooms_in_circles(&ROOMS), [""; 0]);
    let circle: [(&str, &[&str]); 4] = [("a", &["b", "d"]), ("b", &["c"]), ("c", &["a"]), ("d", &[])];
    assert_eq!(rooms_in_circles(&circle), ["a", "b", "c"]);
}

#[test]
fn every_room_imports_all_that_it_may() {
    let sources = sources();
    let mut unused: BTreeSet<_> = ROOMS
        .iter()
        .flat_map(|(room, allowed)| allowed.iter().map(move |other| (*room, *other)))
        .collect();
    for (path, source) in sources.iter().filter(|(path, _)| !joins_rooms(path)) {
        for (_, other) in rooms_named(path, &tokens(source)) {
            unused.retain(|used| *used != (room_of(path), &*other));
        }
    }
    assert_eq!(unused, BTreeSet::new(), "take these off the lists of the rooms");
}

#[test]
fn no_two_files_import_from_each_other_but_those_on_the_list() {
    let sources = sources();
    let mut imports = imports(&sources);
    for (from, to, _) in EXCEPTIONS {
        let is_needed =
            imports.get(from).is_some_and(|imported| imported.contains(to)) && way(&imports, to, from).is_some();
        assert!(is_needed, "take {from} -> {to} off the list: it closes no circle");
        imports.get_mut(from).unwrap().remove(to);
    }
    let found: Vec<_> = circles(&imports).into_iter().collect();
    assert!(
        found.is_empty(),
        "files that import from each other:\n{}\n",
        found.join("\n")
    );
}

/// A small file of `room` that opens as a room should.
fn broken_by(path: &str, code: &str) -> Vec<String> {
    broken_rules(path, &format!("//! Comes in, goes out.\n{code}"))
}

#[test]
fn a_room_that_imports_what_it_may_not_is_found_however_it_says_it() {
    let found = |line: u32, name: &str| vec![format!("plan/run.rs:{line}: `plan` may not import `{name}`")];
    let broken_by = |code: &str| broken_by("plan/run.rs", code);
    assert_eq!(broken_by("use crate::train::Trainer;"), found(2, "train"));
    assert_eq!(
        broken_by("use crate::{spec::{Suite, Row}, ops::{self}};"),
        found(2, "ops")
    );
    assert_eq!(
        broken_by("use crate::{\n    spec,\n    cli as run,\n};"),
        found(4, "cli")
    );
    assert_eq!(broken_by("pub(crate) fn f() { crate::data::load() }"), found(2, "data"));
    assert_eq!(
        broken_by("#[cfg(test)]\nmod tests {\n    use crate::score::Bleu;\n}"),
        found(4, "score")
    );
    assert_eq!(broken_by("type A = Vec<crate :: model :: Batch>;"), found(2, "model"));
    assert_eq!(broken_by("use super::super::report;"), found(2, "report"));
    assert_eq!(
        broken_by("mod tests { use super::super::super::{sweep, spec}; }"),
        found(2, "sweep")
    );
    assert_eq!(
        broken_by("mod tests { mod b {} }\nuse self::super::super::run;"),
        found(3, "run")
    );
    assert_eq!(
        broken_by("macro_rules! m { () => { $crate::decode::beam() } }"),
        found(2, "decode")
    );
}

#[test]
fn a_room_may_name_itself_those_on_its_list_and_whatever_is_not_code() {
    let code = r#"
        // use crate::train::Trainer;
        pub(crate) const TEXT: &str = "crate::train";
        pub(in crate::spec) fn f<'crate_>() {}
        use super::{cost, super_}; use crate::{plan::Run, spec};
        mod tests { use super::super::{cost, run}; fn f() { super::train() } }
        mod more { mod deeper { use super::super::super::spec; } use super::super::train; }
    "#;
    assert_eq!(broken_by("plan/run.rs", code), [""; 0]);
}

#[test]
fn the_root_has_only_rooms_and_is_named_by_its_name() {
    let found = |name: &str| vec![format!("plan/mod.rs:2: `crate::{name}` is no room of the house")];
    assert_eq!(broken_by("plan/mod.rs", "use crate::*;"), found("*"));
    assert_eq!(broken_by("plan/mod.rs", "use super::*;"), found("*"));
    assert_eq!(broken_by("plan/mod.rs", "use crate::{self};"), found("self"));
    assert_eq!(broken_by("plan/mod.rs", "use crate as house;"), found("self"));
    assert_eq!(broken_by("plan/mod.rs", "use crate::util::max;"), found("util"));
    assert_eq!(broken_by("util.rs", ""), ["util.rs: `util` is no room of the house"]);
}

#[test]
fn unsafe_code_is_found_outside_its_home_and_only_there() {
    let code = "fn f() {\n    unsafe { g() }\n}\n// unsafe\n#[allow(unsafe_code)]\nconst S: &str = \"unsafe\";";
    assert_eq!(
        broken_by("ops/plain.rs", code),
        ["ops/plain.rs:3: `unsafe` outside ops/cpu/ and ops/cuda/"]
    );
    for home in ["ops/cpu/product.rs", "ops/cpu/product/bf16.rs"] {
        assert_eq!(broken_by(home, code), [""; 0]);
    }
}

#[test]
fn a_print_that_can_panic_is_found() {
    let code = "fn f() {\n    println!(\"cargo::a\");\n    eprint! (\"b\");\n    dbg!(1);\n    writeln!(f, \"println!()\");\n}";
    let found = |path: &str, lines: &[(u32, &str)]| {
        let line = |(line, name): &(u32, &str)| {
            format!("{path}:{line}: `{name}!`, which panics where nobody reads; cli::output does not")
        };
        lines.iter().map(line).collect::<Vec<_>>()
    };
    let at = |path: &str| broken_by(path, code);
    for path in ["run/log.rs", "cli/show.rs"] {
        assert_eq!(at(path), found(path, &[(3, "println"), (4, "eprint"), (5, "dbg")]));
    }
    assert_eq!(at("build.rs"), found("build.rs", &[(4, "eprint"), (5, "dbg")]));
    let told = "fn f() { println!(\"built\") }";
    assert_eq!(broken_by("build.rs", told), found("build.rs", &[(2, "println")]));
}

#[test]
fn a_file_that_is_too_long_is_found() {
    let lines = |count: usize| "//!\n".repeat(count);
    assert_eq!(broken_rules("data/tree.rs", &lines(400)), [""; 0]);
    assert_eq!(
        broken_rules("data/tree.rs", &lines(401)),
        ["data/tree.rs: 401 lines, more than 400"]
    );
}

#[test]
fn a_room_that_does_not_say_what_it_is_for_is_found() {
    let silent = |path: &str| vec![format!("{path}:1: does not open with what the module is for")];
    for path in ["spec/mod.rs", "spec/keys/mod.rs", "generated.rs"] {
        assert_eq!(broken_rules(path, "mod keys;"), silent(path));
    }
    for path in ["spec/value.rs", "main.rs"] {
        assert_eq!(broken_rules(path, "mod keys;"), [""; 0]);
    }
}

/// Circles among files, given as a path and its code.
fn circles_of(files: &[(&str, &str)]) -> Vec<String> {
    let owned: Vec<_> = files
        .iter()
        .map(|(path, code)| ((*path).to_owned(), (*code).to_owned()))
        .collect();
    circles(&imports(&owned)).into_iter().collect()
}

#[test]
fn files_that_import_from_each_other_are_found_however_they_say_it() {
    let found = ["a/b.rs -> a/c.rs -> a/b.rs"];
    let door = ("a/mod.rs", "mod b; mod c; pub use b::B; pub use c::{C as D, C};");
    let b = ("a/b.rs", "use crate::a::c::C; pub struct B;");
    for c in [
        "use super::b::B;",
        "use super::B;",
        "use super::{C, b};",
        "fn f() -> crate::a::B {}",
        "use crate::a; fn f(b: a::B) {}",
        "mod tests { use super::super::B; }",
    ] {
        assert_eq!(circles_of(&[door, b, ("a/c.rs", c)]), found, "{c}");
    }
    let glob = ("a/mod.rs", "mod b; mod c; pub use b::*; pub use c::C;");
    assert_eq!(circles_of(&[glob, b, ("a/c.rs", "use super::B;")]), found);
    let renamed = [door, ("a/b.rs", "use super::D;"), ("a/c.rs", "use super::B;")];
    assert_eq!(circles_of(&renamed), found);
    let parent = [("a.rs", "mod b; use b::B; struct A;"), ("a/b.rs", "use super::A;")];
    assert_eq!(circles_of(&parent), ["a.rs -> a/b.rs -> a.rs"]);
    let long = [
        ("a.rs", "use crate::b::B;"),
        ("b.rs", "use crate::c::C;"),
        ("c.rs", "use crate::a::A;"),
    ];
    assert_eq!(circles_of(&long), ["a.rs -> b.rs -> c.rs -> a.rs"]);
}

#[test]
fn a_door_may_pass_on_what_a_child_has_that_takes_from_the_door() {
    let door = ("a/mod.rs", "mod b; mod tests; pub use b::B; const WIDTH: usize = 1;");
    let child = (
        "a/b.rs",
        "use super::WIDTH; use std::fmt; pub struct B; mod tests { use super::*; }",
    );
    let tests = ("a/tests.rs", "use super::{B, b};");
    assert_eq!(circles_of(&[door, child, tests]), [""; 0]);
}
