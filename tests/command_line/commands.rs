//! Commands that train nothing.

use super::*;

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

#[test]
fn the_plan_of_table_3_lists_the_papers_rows_beside_its_parameter_counts() {
    let shipped = concat!(env!("CARGO_MANIFEST_DIR"), "/experiments");
    let output = run(ablate(folder().path(), &["plan", "table3", "--experiments", shipped]));
    assert_exit(&output, 0);
    let text = stdout(&output);
    let row = |id: &str| {
        let line = text.lines().find(|line| line.split_whitespace().next() == Some(id));
        line.unwrap_or_else(|| panic!("no row {id} in\n{text}"))
            .split_whitespace()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let ids = "base A1 A2 A3 A4 B1 B2 C1 C2 C3 C4 C5 C6 C7 D1 D2 D3 D4 E big";
    assert!(ids.split(' ').all(|id| row(id).len() > 12));
    assert_eq!(
        row("base")[..11],
        [
            "base",
            "6",
            "512",
            "2048",
            "8",
            "64",
            "64",
            "0.1",
            "0.1",
            "sinusoidal",
            "100000"
        ]
    );
    assert!(row("base").contains(&"63.05".to_owned()) && row("base").contains(&"65".to_owned()));
    assert_eq!(row("A1")[4..7], ["*1", "*512", "*512"]);
    assert_eq!(row("big")[10], "*300000");
    assert!(text.contains(", 8 distinct shapes"), "{text}");
}

#[test]
fn a_value_can_be_traced_to_where_it_was_set() {
    let output = run(on_smoke(folder().path(), &["plan", "smoke", "--explain", "deeper"]));
    assert_exit(&output, 0);
    let text = stdout(&output);
    let layers = text
        .lines()
        .find(|line| line.starts_with("model.layers"))
        .expect("every key is explained");
    assert!(
        layers.contains("smoke.toml:13:") && layers.contains("tiny.toml:2:"),
        "{layers}"
    );
    assert!(
        text.lines()
            .any(|line| line.starts_with("decoding.length_penalty") && line.contains("default"))
    );
}

#[test]
fn mistakes_in_a_suite_are_all_told_with_their_places() {
    let folder = folder();
    let suite = "title = \"t\"\nbase = \"base.toml\"\n[[row]]\nid = \"a\"\nset = { model.hheads = 3 }\n\
                 [[row]]\nid = \"b\"\nset = { model.heads = 3 }\n";
    write(folder.path().join("bad.toml"), suite);
    write(
        folder.path().join("base.toml"),
        &read(Path::new(EXPERIMENTS).join("bases/tiny.toml")),
    );
    for command in ["plan", "sweep"] {
        let output = run(ablate(folder.path(), &[command, "bad", "--experiments", "."]));
        assert_exit(&output, 3);
        let text = stderr(&output);
        assert!(text.contains("bad.toml:5:") && text.contains("model.heads"), "{text}");
        assert!(text.contains("bad.toml:8:"), "{text}");
    }
}

#[test]
fn names_that_do_not_exist_are_usage_errors_that_name_what_does() {
    let folder = folder();
    for (arguments, hint) in [
        (&["plan", "smok"][..], "did you mean `smoke`?"),
        (&["sweep", "smoke", "--rows", "bas"], "did you mean `base`?"),
        (&["sweep", "smoke", "--seeds", "9"], "it has 1"),
        (&["run", "smoke", "nothing-like-it"], "there are: base, deeper"),
        (
            &["run", "smoke", "base", "--device", "gpu"],
            "allowed are \"cpu\", \"cuda\"",
        ),
        (
            &["selftest", "--suite", "smoke", "--only", "speed"],
            "there is no suite `table3`",
        ),
    ] {
        let output = run(on_smoke(folder.path(), arguments));
        assert_exit(&output, 2);
        assert!(stderr(&output).contains(hint), "{arguments:?}: {}", stderr(&output));
    }
}

#[test]
fn a_score_is_printed_as_sacrebleu_prints_it() {
    let folder = folder();
    write(folder.path().join("hyp"), "A man rides a red bicycle.\n");
    write(folder.path().join("ref"), "A man is riding a red bicycle.\n");
    // sacrebleu 2.6.0: `sacrebleu ref -i hyp` prints BLEU = 39.0 85.7/66.7/40.0/25.0 (BP = 0.867 ..
    let output = run(ablate(folder.path(), &["score", "hyp", "ref"]));
    assert_exit(&output, 0);
    assert!(stdout(&output).contains("85.7/66.7/40.0/25.0"), "{}", stdout(&output));
    assert!(stdout(&output).contains("nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:ablate-"));
    let json = stdout(&run(ablate(folder.path(), &["score", "hyp", "ref", "--json"])));
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    for field in [
        "name",
        "score",
        "signature",
        "verbose_score",
        "nrefs",
        "case",
        "eff",
        "tok",
        "smooth",
        "version",
    ] {
        assert!(json.get(field).is_some(), "{field} is missing in {json}");
    }
}

#[test]
fn files_that_cannot_be_scored_are_data_errors() {
    let folder = folder();
    write(folder.path().join("two"), "a\nb\n");
    write(folder.path().join("one"), "a\n");
    std::fs::write(folder.path().join("latin1"), b"ok\nM\xfcller\n").expect("a writable folder");
    for (arguments, complaint) in [
        (["score", "two", "one"], "1"),
        (["score", "two", "missing"], "missing"),
        (["score", "two", "latin1"], "latin1:2: not UTF-8"),
    ] {
        let output = run(ablate(folder.path(), &arguments));
        assert_exit(&output, 4);
        assert!(stderr(&output).contains(complaint), "{}", stderr(&output));
    }
}

#[test]
fn a_missing_corpus_names_the_folders_tried() {
    let folder = folder();
    let shipped = concat!(env!("CARGO_MANIFEST_DIR"), "/experiments");
    let output = run(ablate(
        folder.path(),
        &["data", "check", "table3-multi30k", "--experiments", shipped],
    ));
    assert_exit(&output, 4);
    assert!(stderr(&output).contains("--data-dir"), "{}", stderr(&output));
}

#[test]
fn pairs_can_be_shown_and_the_same_seed_shows_the_same() {
    let folder = folder();
    let show = || {
        stdout(&run(on_smoke(
            folder.path(),
            &["data", "show", "smoke", "--count", "3"],
        )))
    };
    assert_eq!(show().lines().count(), 6);
    assert_eq!(show(), show());
}

#[test]
fn the_plan_says_where_the_parameters_sit() {
    let shipped = concat!(env!("CARGO_MANIFEST_DIR"), "/experiments");
    let arguments = ["plan", "table3", "--parameters", "--experiments", shipped];
    let output = run(ablate(folder().path(), &arguments));
    assert_exit(&output, 0);
    let text = stdout(&output);
    let cells = |id: &str| -> Vec<u64> {
        let line = text.lines().find(|line| line.split_whitespace().next() == Some(id));
        let line = line.unwrap_or_else(|| panic!("no row {id} in\n{text}"));
        line.split_whitespace()
            .skip(1)
            .filter_map(|cell| cell.parse().ok())
            .collect()
    };
    // By hand: 37,000 x 512; six layers of 4 x 512 x 512; of 2 x 512 x 2048 + 2048 + 512; of two or three norms of 1024.
    let attention = 6 * 4 * 512 * 512;
    let feed_forward = 6 * (2 * 512 * 2048 + 2048 + 512);
    let right = [
        37_000 * 512,
        0,
        attention,
        feed_forward,
        12_288,
        attention,
        attention,
        feed_forward,
        18_432,
    ];
    assert_eq!(cells("base")[..9], right);
    assert_eq!(cells("base")[9], right.iter().sum::<u64>());
    assert_eq!(cells("A1")[9], cells("base")[9], "rows (A) cost the same");
    assert!(cells("E")[1] > 0, "learned positions");
}

#[test]
fn the_lint_tells_epochs_and_what_is_odd() {
    let folder = folder();
    let output = run(on_smoke(folder.path(), &["plan", "smoke", "--lint"]));
    assert_exit(&output, 0);
    let text = stdout(&output);
    let base = text.lines().find(|line| line.starts_with("base ")).expect("the row");
    let cells: Vec<&str> = base.split_whitespace().collect();
    // 0.5 x 64^-0.5 x 20^-0.5; 20 of 30 updates.
    assert_eq!(cells[1..7], ["1.40e-2", "20", "67", "%", "30", "384"], "{text}");
    let odd = stderr(&output);
    for right in [
        "peaks at 1.4e-2",
        "67 % of the updates are warm-up",
        "never reads the rest",
    ] {
        let told = |line: &str| line.starts_with("warning: every row: ") && line.contains(right);
        assert!(odd.lines().any(told), "{right}:\n{odd}");
    }
}
