//! The only I/O at build time: suites in, generated files out.

#[allow(
    dead_code,
    unused_imports,
    reason = "the library uses more of these rooms than the build does"
)]
#[path = "spec/mod.rs"]
mod spec;

#[allow(
    dead_code,
    unused_imports,
    reason = "the library uses more of these rooms than the build does"
)]
#[path = "plan/mod.rs"]
mod plan;

#[path = "codegen/mod.rs"]
mod codegen;

use std::path::{Path, PathBuf};
use std::{env, fs, io};

use codegen::SourceFile;
use spec::Suite;

/// Names another folder of suites.
const EXPERIMENTS: &str = "ABLATE_EXPERIMENTS";
/// Names the suites to build for, separated by commas; all when unset.
const SUITES: &str = "ABLATE_SUITES";

fn main() {
    let folder = env::var_os(EXPERIMENTS).map_or_else(|| PathBuf::from("experiments"), PathBuf::from);
    println!("cargo::rerun-if-changed={}", folder.display());
    println!("cargo::rerun-if-env-changed={EXPERIMENTS}");
    println!("cargo::rerun-if-env-changed={SUITES}");

    let written = wanted_suites(&folder).and_then(|paths| {
        let files = codegen::generate(&load(&paths)?);
        write(&files).map_err(|error| vec![format!("cannot write the generated files: {error}")])
    });
    for fault in written.err().into_iter().flatten() {
        println!("cargo::error={fault}");
    }
}

/// The suites to build for, by name, or what is wrong.
fn wanted_suites(folder: &Path) -> Result<Vec<PathBuf>, Vec<String>> {
    let found = suite_files(folder).map_err(|error| vec![format!("cannot list {}: {error}", folder.display())])?;
    if found.is_empty() {
        return Err(vec![format!("no suite in {}", folder.display())]);
    }
    let Ok(named) = env::var(SUITES) else { return Ok(found) };
    let wanted = named.split(',').map(str::trim).filter(|name| !name.is_empty());
    let (known, unknown): (Vec<_>, Vec<_>) = wanted
        .map(|name| {
            found
                .iter()
                .find(|path| path.file_stem().is_some_and(|stem| stem == name))
                .ok_or(name)
        })
        .partition(Result::is_ok);
    if unknown.is_empty() {
        return Ok(known.into_iter().flatten().cloned().collect());
    }
    let missing = |name| format!("{SUITES} names `{name}`, which is no suite in {}", folder.display());
    Err(unknown.into_iter().filter_map(Result::err).map(missing).collect())
}

/// The `*.toml` directly in the folder; bases lie deeper.
fn suite_files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path()));
    let mut files = entries.collect::<io::Result<Vec<_>>>()?;
    files.retain(|path| path.is_file() && path.extension().is_some_and(|extension| extension == "toml"));
    files.sort();
    Ok(files)
}

/// Loads all suites, or returns the faults of all of them, a line each.
fn load(paths: &[PathBuf]) -> Result<Vec<Suite>, Vec<String>> {
    let mut suites = Vec::new();
    let mut faults: Vec<String> = Vec::new();
    for path in paths {
        match spec::load_suite(path, &|path| fs::read_to_string(path)) {
            Ok(suite) => suites.push(suite),
            // Suites that share a faulty base find the same faults.
            Err(found) => {
                let lines = found.faults.iter().map(ToString::to_string);
                let new: Vec<_> = lines.filter(|line| !faults.contains(line)).collect();
                faults.extend(new);
            }
        }
    }
    if faults.is_empty() { Ok(suites) } else { Err(faults) }
}

/// Leaves an equal file alone: a new date would recompile every model.
fn write(files: &[SourceFile]) -> io::Result<()> {
    let folder = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    for SourceFile { name, text } in files {
        let path = folder.join(name);
        if !fs::read_to_string(&path).is_ok_and(|old| old == *text) {
            fs::write(path, text)?;
        }
    }
    Ok(())
}
