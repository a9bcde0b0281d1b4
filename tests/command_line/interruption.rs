//! A run that is killed and started again ends with the same bits as one that never was.

use std::process::Stdio;
use std::thread::sleep;
use std::time::Instant;

use ablate::record::RunFolder;
use ablate::selftest::first_difference;
use ablate::spec::{Split, Weights};
use ablate::train::Checkpoint;

use super::*;

const ARGUMENTS: [&str; 4] = ["run", "smoke", "base", "--results"];

/// The file of the newest checkpoint.
pub fn last_checkpoint(run: &Path) -> PathBuf {
    let entries = std::fs::read_dir(run.join("checkpoints")).expect("a folder");
    entries
        .map(|entry| entry.expect("an entry").path())
        .max()
        .expect("a checkpoint")
}

/// What a run leaves that does not depend on the clock.
#[derive(PartialEq)]
struct Fruits {
    history: Vec<Vec<String>>,
    texts: [String; 2],
    chosen_weights: Option<Vec<u8>>,
    checkpoint: Checkpoint,
}

impl Fruits {
    fn of(folder: &Path) -> Self {
        let newest = std::fs::read(last_checkpoint(folder)).expect("the last checkpoint");
        let mut checkpoint = Checkpoint::from_bytes(&newest).expect("undamaged");
        checkpoint.progress.elapsed_s = 0.0;
        Self {
            history: without_times(&read(folder.join("history.csv")), &["tokens_per_s"]),
            texts: ["score.toml", "hypotheses.test.txt"].map(|name| read(folder.join(name))),
            chosen_weights: std::fs::read(folder.join("weights.safetensors")).ok(),
            checkpoint,
        }
    }
}

#[test]
fn kills_at_any_moment_change_nothing() {
    kills_change_nothing("base");
}

#[test]
fn kills_at_any_moment_change_nothing_about_averaged_weights() {
    kills_change_nothing("average");
}

fn kills_change_nothing(row: &str) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let arguments = |results| ["run", "smoke", row, "--results", results];
    let started = Instant::now();
    assert_exit(&run(on_smoke(folder.path(), &arguments("calm"))), 0);
    let whole = started.elapsed();
    let right = Fruits::of(&folder.path().join(format!("calm/smoke/{row}-s1")));
    // Moments spread over the whole run; the time a run takes varies, so these are different moments every time.
    for part in 1..8 {
        let mut child = on_smoke(folder.path(), &arguments("killed"))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the program starts");
        sleep(whole.mul_f64(f64::from(part) / 8.0));
        child.kill().expect("it can be killed");
        child.wait().expect("it ends");
    }
    assert_exit(&run(on_smoke(folder.path(), &arguments("killed"))), 0);
    let killed = folder.path().join(format!("killed/smoke/{row}-s1"));
    assert!(Fruits::of(&killed) == right, "the killed run differs from the calm one");
    assert!(!killed.join("snapshots").exists(), "a finished run needs them no more");
}

#[test]
fn resumption_is_verified_with_one_command() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let output = run(on_smoke(
        folder.path(),
        &["verify-resume", "smoke", "base", "--kills", "3"],
    ));
    assert_exit(&output, 0);
    assert!(
        stdout(&output).contains("continuations after steps "),
        "{}",
        stdout(&output)
    );
    let left = std::fs::read_dir(folder.path()).expect("a folder").count();
    assert_eq!(left, 0, "it leaves nothing where it is called");

    let output = run(on_smoke(
        folder.path(),
        &["verify-resume", "smoke", "base", "--steps", "5"],
    ));
    assert_exit(&output, 2);
    assert!(stderr(&output).contains("warm-up of 20 steps"), "{}", stderr(&output));
    let output = run(on_smoke(
        folder.path(),
        &["verify-resume", "smoke", "base", "--steps", "31"],
    ));
    assert_exit(&output, 2);
    assert!(
        stderr(&output).contains("the row's own 30 steps"),
        "{}",
        stderr(&output)
    );
}

/// The parent is killed and can tidy up nothing; its child must not go on for ever.
#[cfg(target_os = "linux")]
#[test]
fn a_run_to_verify_ends_with_the_command_that_started_it() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let experiments = folder.path().join("experiments");
    std::fs::create_dir_all(experiments.join("bases")).expect("a writable folder");
    // A run that would take hours.
    let base = read(Path::new(EXPERIMENTS).join("bases/tiny.toml")).replace("steps = 30", "steps = 1_000_000");
    write(experiments.join("bases/tiny.toml"), &base);
    write(
        experiments.join("smoke.toml"),
        &read(Path::new(EXPERIMENTS).join("smoke.toml")),
    );
    let mut command = ablate(folder.path(), &["verify-resume", "smoke", "base"]);
    // Where the run works, so that it can be found; removed with the folder.
    command.env("TMPDIR", folder.path());
    let mut parent = command
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the program starts");
    let works_there = || {
        let processes = std::fs::read_dir("/proc").expect("a system that tells");
        let lines = processes.filter_map(|entry| std::fs::read(entry.ok()?.path().join("cmdline")).ok());
        let wanted = folder.path().to_str().expect("UTF-8").to_owned();
        lines
            .filter(|line| String::from_utf8_lossy(line).contains(&wanted))
            .count()
    };
    let wait_for = |done: &dyn Fn() -> bool| {
        let started = Instant::now();
        while !done() {
            assert!(started.elapsed().as_secs() < 60, "nothing happens");
            sleep(std::time::Duration::from_millis(20));
        }
    };
    // The child is the one whose arguments name the folder.
    wait_for(&|| works_there() > 0);
    parent.kill().expect("it can be killed");
    parent.wait().expect("it ends");
    wait_for(&|| works_there() == 0);
}

/// A check that cannot fail proves nothing.
#[test]
fn runs_that_differ_are_told_apart_by_whatever_differs() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let trained = |results: &str| {
        assert_exit(&run(on_smoke(folder.path(), &[&ARGUMENTS[..], &[results]].concat())), 0);
        RunFolder::new(&folder.path().join(results), "smoke", "base", 1)
    };
    let (one, other) = (trained("one"), trained("other"));
    let difference = || first_difference(&one, &other, Split::Test).expect("two finished runs");
    assert_eq!(difference(), None);

    let changed = |path: PathBuf, from: &str, to: &str| {
        let text = read(&path);
        assert!(text.contains(from), "{text}");
        write(&path, &text.replacen(from, to, 1));
        let found = difference().expect("a difference");
        write(&path, &text);
        found
    };
    assert_eq!(changed(other.history(), "15,dev,", "15,dev,1"), "history.csv: step 15");
    assert!(changed(other.score(), "ppl = ", "ppl = 1").starts_with("score.toml: line "));
    assert_eq!(
        changed(other.hypotheses("test"), "\n", ".\n"),
        "hypotheses.test.txt: line 1"
    );
    for (folder, text) in [(&one, "one\n"), (&other, "other\n")] {
        write(folder.hypotheses_of("test", Weights::Best), text);
    }
    assert_eq!(difference().expect("a difference"), "hypotheses.test.best.txt: line 1");
    for folder in [&one, &other] {
        std::fs::remove_file(folder.hypotheses_of("test", Weights::Best)).expect("written above");
    }

    std::fs::remove_file(last_checkpoint(other.path())).expect("two checkpoints");
    assert_eq!(difference().expect("an older one"), "checkpoint: progress at step 30");
}

#[test]
fn a_damaged_checkpoint_is_passed_over() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let arguments = [&ARGUMENTS[..], &["results"]].concat();
    assert_exit(&run(on_smoke(folder.path(), &arguments)), 0);
    let run_folder = folder.path().join("results/smoke/base-s1");
    let right = Fruits::of(&run_folder);
    let last = last_checkpoint(&run_folder);
    let mut bytes = std::fs::read(&last).expect("the last checkpoint");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&last, bytes).expect("a writable folder");
    std::fs::remove_file(run_folder.join("DONE")).expect("a finished run");
    assert_exit(&run(on_smoke(folder.path(), &arguments)), 0);
    assert!(read(run_folder.join("log.txt")).contains("damaged"));
    assert!(Fruits::of(&run_folder) == right);
}

/// What Ctrl-C does is also done when the sweep that started the run is gone.
#[test]
fn a_run_whose_sweep_is_gone_stops_after_a_checkpoint() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let arguments = [&ARGUMENTS[..], &["results", "--progress", "json"]].concat();
    let output = on_smoke(folder.path(), &arguments)
        .stdin(Stdio::null())
        .output()
        .expect("the program starts");
    assert_exit(&output, 130);
    let last = stdout(&output).lines().last().expect("events").to_owned();
    assert!(last.contains("\"interrupted\""), "{last}");
    assert_exit(
        &run(on_smoke(folder.path(), &[&ARGUMENTS[..], &["results"]].concat())),
        0,
    );
}

#[test]
fn two_sweeps_cannot_work_in_one_folder() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let _lock = ablate::lock::Lock::take(&folder.path().join("results/smoke/.lock")).expect("nobody else");
    let output = run(on_smoke(folder.path(), &["sweep", "smoke"]));
    assert_exit(&output, 6);
    assert!(
        stderr(&output).contains(&format!("process {}", std::process::id())),
        "{}",
        stderr(&output)
    );
}

#[test]
fn a_result_of_an_edited_spec_is_kept_beside_the_new_one() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let experiments = folder.path().join("experiments");
    std::fs::create_dir_all(experiments.join("bases")).expect("a writable folder");
    let base = read(Path::new(EXPERIMENTS).join("bases/tiny.toml"));
    write(experiments.join("bases/tiny.toml"), &base);
    write(
        experiments.join("smoke.toml"),
        &read(Path::new(EXPERIMENTS).join("smoke.toml")),
    );
    let sweep = || run(ablate(folder.path(), &["sweep", "smoke", "--rows", "base"]));
    assert_exit(&sweep(), 0);
    write(
        experiments.join("bases/tiny.toml"),
        &base.replace("beam = 2", "beam = 1\n"),
    );
    let report = run(ablate(folder.path(), &["report", "smoke"]));
    assert!(stdout(&report).contains("STALE"), "{}", stdout(&report));
    assert_exit(&sweep(), 0);
    let folders = std::fs::read_dir(folder.path().join("results/smoke")).expect("a folder");
    let names: Vec<String> = folders
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("UTF-8"))
        .collect();
    assert_eq!(
        names.iter().filter(|name| name.starts_with("base-s1")).count(),
        2,
        "{names:?}"
    );
}

const OWN_SUITE: &str = "title = \"t\"\nbase = \"bases/own.toml\"\nseeds = [1]\n[[row]]\nid = \"base\"\n";

/// The base of the smoke suite, on text files.
fn own_corpus() -> String {
    let files = ["train", "dev", "test"]
        .map(|split| format!("{split}_source = \"{split}.en\"\n{split}_target = \"{split}.de\"\n"));
    let corpus = format!("corpus = \"text\"\n{}", files.concat());
    let base = read(Path::new(EXPERIMENTS).join("bases/tiny.toml"));
    base.replace("corpus = \"grammar-en-de\"\ntrain_pairs = 2000\n", &corpus)
}

/// Those files, with so many pairs to train on.
fn write_corpus(folder: &Path, pairs: usize) {
    for (split, stream, pairs) in [
        ("train", Split::Train, pairs),
        ("dev", Split::Dev, 20),
        ("test", Split::Test, 20),
    ] {
        let pairs: Vec<_> = ablate::grammar::GrammarPairs::new(stream).take(pairs).collect();
        let side = |pick: fn(&(String, String)) -> &String| {
            pairs.iter().map(|pair| pick(pair).clone() + "\n").collect::<String>()
        };
        write(folder.join(format!("{split}.en")), &side(|pair| &pair.0));
        write(folder.join(format!("{split}.de")), &side(|pair| &pair.1));
    }
}

#[test]
fn a_changed_corpus_starts_anew_and_its_checkpoints_are_kept() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let experiments = folder.path().join("experiments");
    std::fs::create_dir_all(experiments.join("bases")).expect("a writable folder");
    write(experiments.join("bases/own.toml"), &own_corpus());
    write(experiments.join("own.toml"), OWN_SUITE);
    let train = |stdin: Stdio| {
        let mut command = ablate(
            folder.path(),
            &["run", "own", "base", "--data-dir", ".", "--progress", "json"],
        );
        command.stdin(stdin).output().expect("the program starts")
    };
    let run_folder = folder.path().join("results/own/base-s1");
    write_corpus(folder.path(), 2000);
    assert_exit(&train(Stdio::piped()), 130);
    write_corpus(folder.path(), 2001);
    assert_exit(&train(Stdio::null()), 130);
    let kept = std::fs::read_dir(run_folder.join("checkpoints"))
        .expect("a folder")
        .count();
    assert!(kept >= 2, "a checkpoint of each corpus, not {kept}");
    let said = stdout(&train(Stdio::null()));
    assert!(
        said.contains("\"training\",\"step\":") && !said.contains("\"training\",\"step\":0"),
        "{said}"
    );
}

/// As if the other corpus had never been there: history and weights to choose from are kept apart as well.
#[test]
fn a_corpus_that_comes_back_finds_its_history_and_weights() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let experiments = folder.path().join("experiments");
    std::fs::create_dir_all(experiments.join("bases")).expect("a writable folder");
    let selects = "validate_every = 5\n\n[selection]\naverage = 6\nweights = \"average\"\n";
    write(
        experiments.join("bases/own.toml"),
        &own_corpus().replace("validate_every = 15\n", selects),
    );
    write(experiments.join("own.toml"), OWN_SUITE);
    let train = |results: &str| {
        run(ablate(
            folder.path(),
            &["run", "own", "base", "--data-dir", ".", "--results", results],
        ))
    };
    write_corpus(folder.path(), 2000);
    assert_exit(&train("calm"), 0);
    // Stopped by the end of its standard input, somewhere on the way.
    let stopped = || {
        let mut command = ablate(
            folder.path(),
            &[
                "run",
                "own",
                "base",
                "--data-dir",
                ".",
                "--results",
                "changed",
                "--tied",
            ],
        );
        let mut child = command.stdin(Stdio::piped()).spawn().expect("the program starts");
        let history = folder.path().join("changed/own/base-s1/history.csv");
        while std::fs::read_to_string(&history).unwrap_or_default().lines().count() < 4 {
            assert!(child.try_wait().expect("a child").is_none(), "it ended too early");
            sleep(std::time::Duration::from_millis(2));
        }
        drop(child.stdin.take());
        child.wait().expect("it ends");
    };
    stopped();
    write_corpus(folder.path(), 2001);
    stopped();
    write_corpus(folder.path(), 2000);
    assert_exit(&train("changed"), 0);
    let [calm, changed] =
        ["calm", "changed"].map(|results| Fruits::of(&folder.path().join(results).join("own/base-s1")));
    assert!(calm == changed, "the other corpus left something behind");
}

#[test]
fn a_finished_run_is_left_alone() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let arguments = [&ARGUMENTS[..], &["results"]].concat();
    assert_exit(&run(on_smoke(folder.path(), &arguments)), 0);
    let run_folder = folder.path().join("results/smoke/base-s1");
    let log = read(run_folder.join("log.txt"));
    std::fs::remove_dir_all(run_folder.join("checkpoints")).expect("a folder");
    assert_exit(&run(on_smoke(folder.path(), &arguments)), 0);
    assert!(run_folder.join("DONE").is_file());
    assert_eq!(read(run_folder.join("log.txt")), log, "nothing was run");
}
