//! `data batches`: what a run trains on.

use super::*;

type Pair = (Vec<u32>, Vec<u32>);
type Update = Vec<Vec<Pair>>;

fn batches(folder: &Path, arguments: &[&str]) -> Output {
    run(on_smoke(folder, &[&["data", "batches", "smoke"], arguments].concat()))
}

/// The head of a file, and its updates.
fn parse(text: &str) -> (serde_json::Value, Vec<Update>) {
    let mut lines = text.lines();
    let head = serde_json::from_str(lines.next().expect("a head")).expect("JSON");
    let updates = lines.map(|line| serde_json::from_str(line).expect("an update"));
    (head, updates.collect())
}

/// The pairs of as many updates as hold `count` of them, sorted.
fn epoch(updates: &mut impl Iterator<Item = Update>, count: usize) -> Vec<Pair> {
    let mut pairs = Vec::new();
    while pairs.len() < count {
        pairs.extend(updates.next().expect("more updates").into_iter().flatten());
    }
    assert_eq!(pairs.len(), count, "an epoch ends with an update");
    pairs.sort();
    pairs
}

#[test]
fn every_epoch_of_updates_holds_all_pairs_once() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let output = batches(folder.path(), &["base", "all.jsonl", "--steps", "200"]);
    assert_exit(&output, 0);
    let (head, updates) = parse(&read(folder.path().join("all.jsonl")));
    assert_eq!(updates.len(), 200);
    assert_eq!((&head["row"], &head["seed"]), (&"base".into(), &1.into()));
    assert!(head["spec"].as_str().expect("text").contains("vocab_size = 2400\n"));
    assert!(head["dev"].as_array().is_some_and(|dev| !dev.is_empty()));

    let most = |update: &Update| {
        update
            .iter()
            .flatten()
            .map(|(_, target)| target.len() + 1)
            .sum::<usize>()
    };
    assert!(updates.iter().all(|update| most(update) <= 384));
    let mut updates = updates.into_iter();
    let [first, second] = [(); 2].map(|()| epoch(&mut updates, 2000));
    assert_eq!(first, second);
    let is_special = |piece: &u32| (1..=2).contains(piece);
    assert!(
        !first
            .iter()
            .any(|(source, target)| source.iter().chain(target).any(is_special))
    );
}

#[test]
fn a_seed_always_gives_the_same_bytes_and_the_run_decides_how_many() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for file in ["first.jsonl", "again.jsonl"] {
        assert_exit(&batches(folder.path(), &["base", file, "--seed", "1"]), 0);
    }
    let first = read(folder.path().join("first.jsonl"));
    assert!(first == read(folder.path().join("again.jsonl")), "the same seed");
    assert_eq!(first.lines().count(), 1 + 30);
}

#[test]
fn rows_seeds_and_folders_that_are_not_there_are_told_and_nothing_is_written() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (arguments, code, told) in [
        (&["bse", "x.jsonl"][..], 2, "did you mean `base`?"),
        (&["base", "x.jsonl", "--seed", "9"], 2, "no seed 9"),
        (&["base", "x.jsonl", "--steps", "0"], 2, "--steps"),
        (&["base", "gone/x.jsonl"], 6, "there is no folder gone"),
    ] {
        let output = batches(folder.path(), arguments);
        assert_exit(&output, code);
        assert!(stderr(&output).contains(told), "{}", stderr(&output));
    }
    assert_eq!(std::fs::read_dir(folder.path()).expect("readable").count(), 0);
}
