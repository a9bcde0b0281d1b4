//! The program as a user meets it: what it prints, what it leaves behind, and its exit codes.

mod batches;
mod commands;
mod export;
mod interruption;
mod recovery;
mod sweeps;
mod translate;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const EXPERIMENTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/smoke/experiments");

/// The program with arguments, run where nothing of the checkout is in reach.
fn ablate(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ablate"));
    command
        .args(arguments)
        .current_dir(folder)
        .env_remove("ABLATE_DATA_DIR")
        .env_remove("ABLATE_EXPERIMENTS")
        .env("NO_COLOR", "1");
    command
}

/// The same on the suite `smoke`, whose runs take seconds.
fn on_smoke(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = ablate(folder, arguments);
    command.args(["--experiments", EXPERIMENTS]);
    command
}

/// A suite `edited` of one row, `base`, whose base is that of the smoke suite; `set` changes the row.
fn write_edited(folder: &Path, set: &str) {
    let experiments = folder.join("experiments");
    std::fs::create_dir_all(&experiments).expect("a writable folder");
    write(
        experiments.join("base.toml"),
        &read(Path::new(EXPERIMENTS).join("bases/tiny.toml")),
    );
    let suite = format!("title = \"t\"\nbase = \"base.toml\"\nseeds = [1]\n[[row]]\nid = \"base\"\n{set}");
    write(experiments.join("edited.toml"), &suite);
}

fn run(mut command: Command) -> Output {
    command.output().expect("the program starts")
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("UTF-8")
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("UTF-8")
}

/// Fails with what the program said unless it ended with `code`.
fn assert_exit(output: &Output, code: i32) {
    assert_eq!(output.status.code(), Some(code), "{}{}", stdout(output), stderr(output));
}

fn write(path: impl AsRef<Path>, text: &str) -> PathBuf {
    std::fs::write(&path, text).expect("a writable folder");
    path.as_ref().to_owned()
}

fn read(path: impl AsRef<Path>) -> String {
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.as_ref().display()))
}

/// A table without its columns of times.
fn without_times(csv: &str, columns: &[&str]) -> Vec<Vec<String>> {
    let header: Vec<&str> = csv.lines().next().expect("a header").split(',').collect();
    let kept: Vec<usize> = (0..header.len()).filter(|&i| !columns.contains(&header[i])).collect();
    let row = |line: &str| {
        let cells: Vec<&str> = line.split(',').collect();
        kept.iter().map(|&i| cells[i].to_owned()).collect()
    };
    csv.lines().map(row).collect()
}
