//! From the name on the command line to a valid suite.

use std::fs;
use std::path::{Path, PathBuf};

use super::args::{ExperimentsDir, RowArgs};
use super::failure::Failure;
use super::output::tell;
use crate::plan::{Plan, Run};
use crate::run::Device;
use crate::spec::{DeviceWish, Row, Suite, load_suite, nearest};

/// Loads a suite by name, or by the path of its file.
pub fn load(experiments: &Path, suite: &str) -> Result<Suite, Failure> {
    let path = find(experiments, suite)?;
    load_suite(&path, &|path: &Path| fs::read_to_string(path)).map_err(|faults| Failure::Spec(Box::new(faults)))
}

fn find(experiments: &Path, suite: &str) -> Result<PathBuf, Failure> {
    let by_name = experiments.join(format!("{suite}.toml"));
    if by_name.is_file() {
        return Ok(by_name);
    }
    let path = PathBuf::from(suite);
    if path.extension().is_some_and(|extension| extension == "toml") && path.is_file() {
        return Ok(path);
    }
    let names = names(experiments);
    if names.is_empty() {
        let folder = experiments.display();
        return Err(Failure::Usage(format!(
            "{folder} contains no suite; name another folder with --experiments DIR"
        )));
    }
    Err(Failure::Usage(unknown("suite", suite, &names)))
}

fn names(experiments: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(experiments) else {
        return Vec::new();
    };
    let paths = entries.filter_map(Result::ok).map(|entry| entry.path());
    let mut names: Vec<String> = paths
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .filter_map(|path| Some(path.file_stem()?.to_string_lossy().into_owned()))
        .collect();
    names.sort();
    names
}

/// Returns the devices to train a suite on, one or several GPUs. The command line overrides the suite.
pub fn devices(suite: &Suite, given: Option<DeviceWish>) -> Vec<Device> {
    let wish = given.or(suite.device).unwrap_or_default();
    let devices = Device::all_of_wish(wish);
    if wish == DeviceWish::Auto
        && devices == [Device::Cpu]
        && let Err(why) = Device::of_wish(DeviceWish::Cuda).check()
    {
        tell(format_args!("note: no GPU can be used, so runs use the CPU: {why}"));
    }
    devices
}

pub fn row<'s>(suite: &'s Suite, id: &str) -> Result<&'s Row, Failure> {
    let ids: Vec<String> = suite.rows.iter().map(|row| row.id.clone()).collect();
    suite.row(id).ok_or_else(|| Failure::Usage(unknown("row", id, &ids)))
}

/// Returns the runs that the command line names, or all if it names none.
pub fn runs(suite: &Suite, rows: &[String], seeds: &[u64]) -> Result<Vec<Run>, Failure> {
    rows.iter().try_for_each(|id| row(suite, id).map(|_| ()))?;
    if let Some(seed) = seeds.iter().find(|seed| !suite.seeds.contains(seed)) {
        let allowed: Vec<String> = suite.seeds.iter().map(u64::to_string).collect();
        return Err(Failure::Usage(format!(
            "the suite has no seed {seed}; it has {}",
            allowed.join(", ")
        )));
    }
    let mut runs = Plan::of(suite).runs;
    runs.retain(|run| (rows.is_empty() || rows.contains(&run.row)) && (seeds.is_empty() || seeds.contains(&run.seed)));
    Ok(runs)
}

/// Loads a suite and one of its runs. The default seed is the suite's first.
pub fn run(folder: &ExperimentsDir, wanted: &RowArgs) -> Result<(Suite, Run), Failure> {
    let suite = load(&folder.experiments, &wanted.suite)?;
    let seeds = [wanted.seed.unwrap_or(suite.seeds[0])];
    let run = runs(&suite, std::slice::from_ref(&wanted.row), &seeds)?.remove(0);
    Ok((suite, run))
}

fn unknown(kind: &str, name: &str, known: &[String]) -> String {
    let hint = nearest(name, known.iter().map(String::as_str));
    let hint = hint.map_or_else(String::new, |nearest| format!("; did you mean `{nearest}`?"));
    format!("there is no {kind} `{name}`{hint}\n  there are: {}", known.join(", "))
}
