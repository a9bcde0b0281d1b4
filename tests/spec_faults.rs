//! A wrong spec is refused with the place, the value and what to do. `suites/` and `bases/` hold wrong files, each with one
//! fault and named after it. The first line of each file is the expected message.

use std::fs;
use std::path::{Path, PathBuf};

use ablate::spec::{Faults, load_experiment, load_suite};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/spec_faults");

fn read(path: &Path) -> std::io::Result<String> {
    fs::read_to_string(Path::new(FOLDER).join(path))
}

/// Returns the faults of a file of the folder, by its path relative to the folder.
fn faults(path: &Path) -> Option<Faults> {
    if path.starts_with("bases") {
        load_experiment(path, &read).err()
    } else {
        load_suite(path, &read).err()
    }
}

fn wrong_files() -> Vec<PathBuf> {
    let listed = ["suites", "bases"]
        .into_iter()
        .flat_map(|kind| fs::read_dir(Path::new(FOLDER).join(kind)).unwrap());
    let mut files: Vec<PathBuf> = listed
        .map(|entry| entry.unwrap().path().strip_prefix(FOLDER).unwrap().to_owned())
        .collect();
    files.sort();
    files
}

/// Returns the message in the first line, which is a comment; lossy, because one of the files is not UTF-8.
fn expected(path: &Path) -> String {
    let bytes = fs::read(Path::new(FOLDER).join(path)).unwrap();
    let text = String::from_utf8_lossy(&bytes);
    text.lines()
        .next()
        .and_then(|line| line.strip_prefix("# "))
        .expect("the first line is a comment")
        .to_owned()
}

#[test]
fn each_wrong_file_is_refused_with_its_one_fault() {
    let files = wrong_files();
    assert!(files.len() >= 40, "only {} wrong files found", files.len());
    let surprise = |path: PathBuf| {
        let found = faults(&path).map_or_else(|| "nothing wrong".to_owned(), |faults| faults.to_string());
        let expected = expected(&path);
        (found != expected).then(|| format!("{}\n  expected {expected}\n  found    {found}\n", path.display()))
    };
    let report: String = files.into_iter().filter_map(surprise).collect();
    assert!(report.is_empty(), "{report}");
}

#[test]
fn the_base_of_the_wrong_files_is_valid() {
    assert!(load_experiment(Path::new("good/base.toml"), &read).is_ok());
}

/// Returns the faults of a suite that is given as text, without its path in front.
fn faults_of_text(suite: &str) -> Vec<String> {
    let read = |path: &Path| {
        if path == Path::new("x.toml") {
            Ok(suite.to_owned())
        } else {
            read(path)
        }
    };
    let faults = load_suite(Path::new("x.toml"), &read)
        .err()
        .map_or_else(Vec::new, |faults| faults.faults);
    faults
        .iter()
        .map(|fault| format!("{}:{} {}", fault.place.line, fault.place.column, fault.message()))
        .collect()
}

#[test]
fn all_faults_of_a_suite_are_reported_at_once_and_in_reading_order() {
    let found = faults_of_text(
        r#"title = "many"
base = "good/base.toml"
seeds = [1, 1]
colour = "red"

[[row]]
id = "A1"
set = { model.heads = 3, training.warmup_step = 100, training.warmup_steps = 5000 }
paper = { bleu = 101 }

[[row]]
id = "a1"
set = { model.max_positions = 512, decoding.beam = "4" }

[[grid]]
id = "x"
set = { model.d_ff = [128, 0] }
"#,
    );
    let expected = [
        "3:13 seed `1` is used twice",
        "4:1 unknown key `colour`",
        "8:23 row `A1`: `model.heads = 3` does not divide `model.d_model = 64`",
        "8:35 unknown key `training.warmup_step`",
        "8:78 row `A1`: `training.warmup_steps = 5000` is longer than the training, `training.steps = 1200`",
        "9:18 `paper.bleu` expects a number from 0 to 100, found `101`",
        "12:6 row id `a1` is used twice",
        "13:31 row `a1`: `model.max_positions` has no effect: it needs `model.positional` = \"learned\"",
        "13:52 `decoding.beam` expects a whole number from 1 to 1024, found the string `\"4\"`",
        "17:28 `model.d_ff` expects a whole number from 1 to 262144, found `0`",
    ];
    assert_eq!(found, expected);
}

#[test]
fn a_fault_of_the_base_is_reported_once_however_many_rows_inherit_it() {
    let base = read(Path::new("good/base.toml"))
        .unwrap()
        .replace("heads = 4", "heads = 3");
    let rows = "title = 't'\nbase = 'base.toml'\nrow = [{ id = 'a' }, { id = 'b', set = { training.steps = 900 } }]";
    let text = |path: &Path| {
        Ok(if path == Path::new("base.toml") {
            base.clone()
        } else {
            rows.to_owned()
        })
    };
    let faults = load_suite(Path::new("x.toml"), &text).unwrap_err().faults;
    assert_eq!(faults.len(), 1, "{faults:?}");
    assert_eq!(faults[0].place.to_string(), "base.toml:6:9");
}

#[test]
fn a_misspelt_key_is_not_also_reported_as_missing() {
    let base = read(Path::new("good/base.toml"))
        .unwrap()
        .replace("heads = 4", "haeds = 4");
    let faults = load_experiment(Path::new("base.toml"), &|_| Ok(base.clone())).unwrap_err();
    assert_eq!(
        faults.to_string(),
        "base.toml:6:1: unknown key `model.haeds`; did you mean `model.heads`?"
    );
}
