//! What is lost, damaged or in the way ends no run without need, and no result is given up for nothing.

use std::fs;
use std::process::Stdio;

use super::*;

/// A folder with a finished run of a row of the smoke suite, and the run's own.
fn finished(row: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    assert_exit(&again(folder.path(), row), 0);
    let run_folder = folder.path().join(format!("results/smoke/{row}-s1"));
    (folder, run_folder)
}

/// The same command as at first.
fn again(folder: &Path, row: &str) -> Output {
    run(on_smoke(folder, &["run", "smoke", row]))
}

/// An empty input through the run's model.
fn translated(folder: &Path, run_folder: &Path) -> Output {
    let mut command = ablate(folder, &["translate", run_folder.to_str().expect("UTF-8")]);
    command.stdin(Stdio::null());
    run(command)
}

/// An export of the run.
fn exported(folder: &Path, run_folder: &Path) -> Output {
    run(ablate(folder, &["export", run_folder.to_str().expect("UTF-8"), "out"]))
}

#[test]
fn a_run_outlives_whoever_reads_its_messages() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut command = on_smoke(folder.path(), &["run", "smoke", "base"]);
    let mut child = command.stderr(Stdio::piped()).spawn().expect("the program starts");
    drop(child.stderr.take());
    assert!(child.wait().expect("it ends").success());
    assert!(folder.path().join("results/smoke/base-s1/DONE").is_file());
}

#[test]
fn a_result_whose_scores_are_damaged_is_made_again_or_left_as_it_is() {
    let (folder, run_folder) = finished("base");
    let score = read(run_folder.join("score.toml"));
    write(run_folder.join("score.toml"), "damaged");
    let repaired = again(folder.path(), "base");
    assert_exit(&repaired, 0);
    assert!(stderr(&repaired).contains("score.toml"), "{}", stderr(&repaired));
    assert_eq!(read(run_folder.join("score.toml")), score);

    // The weights that its average was made of are gone, so these scores cannot be made again.
    let (folder, run_folder) = finished("average");
    write(run_folder.join("score.toml"), "damaged");
    let refused = again(folder.path(), "average");
    assert_exit(&refused, 6);
    for name in ["score.toml", "snapshots"] {
        assert!(stderr(&refused).contains(name), "{}", stderr(&refused));
    }
    assert!(run_folder.join("DONE").is_file());
    let translated = translated(folder.path(), &run_folder);
    assert_exit(&translated, 0);
    assert_eq!(stderr(&translated), "", "the weights in the table are there");
}

#[test]
fn other_weights_than_those_in_the_table_are_never_used_in_silence() {
    let (folder, run_folder) = finished("base");
    let weights = interruption::last_checkpoint(&run_folder);
    fs::remove_file(weights).expect("two checkpoints");
    let refused = translated(folder.path(), &run_folder);
    assert_exit(&refused, 6);
    assert!(stderr(&refused).contains("of step 30"), "{}", stderr(&refused));
    assert_exit(&exported(folder.path(), &run_folder), 6);
    // As the message says.
    fs::remove_file(run_folder.join("DONE")).expect("a finished run");
    assert_exit(&again(folder.path(), "base"), 0);
    assert_exit(&translated(folder.path(), &run_folder), 0);
}

#[test]
fn weights_that_are_lost_or_another_s_are_never_replaced_in_silence() {
    let (folder, run_folder) = finished("average");
    let translate = || translated(folder.path(), &run_folder);
    assert_exit(&translate(), 0);
    let weights = run_folder.join("weights.safetensors");
    fs::rename(&weights, folder.path().join("gone")).expect("weights");
    let refused = translate();
    assert_exit(&refused, 6);
    assert!(stderr(&refused).contains("weights.safetensors"), "{}", stderr(&refused));
    assert_exit(&exported(folder.path(), &run_folder), 6);
}

#[test]
fn a_history_that_is_gone_is_told() {
    let (folder, run_folder) = finished("base");
    fs::remove_file(run_folder.join("history.csv")).expect("a finished run");
    fs::remove_file(run_folder.join("DONE")).expect("a finished run");
    let output = again(folder.path(), "base");
    assert_exit(&output, 0);
    assert!(
        stderr(&output).contains("without the first 30 steps"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn an_edit_that_is_undone_finds_its_result_again() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let train = |set: &str| {
        write_edited(folder.path(), set);
        let output = run(ablate(folder.path(), &["run", "edited", "base"]));
        assert_exit(&output, 0);
        stderr(&output)
    };
    let log = || read(folder.path().join("results/edited/base-s1/log.txt"));
    train("");
    let first = log();
    train("set = { training.steps = 31 }\n");
    assert!(log() != first);
    let undone = train("");
    assert!(!undone.contains("preparing"), "{undone}");
    assert_eq!(log(), first);
}
