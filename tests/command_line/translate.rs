//! What `translate` says of a line, and in which form.

use std::fs;
use std::process::Stdio;

use super::*;

const RUN: &str = "results/smoke/base-s1";
const TEXT: &str = "The old woman sees a dog.\n\nThe men sleep, and a child reads.\n";

/// A folder with a finished run, whose beam is 2.
fn trained() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    assert_exit(&run(on_smoke(folder.path(), &["run", "smoke", "base"])), 0);
    folder
}

fn translated(folder: &Path, text: &[u8], options: &[&str]) -> Output {
    let input = folder.join("input");
    fs::write(&input, text).expect("a writable folder");
    let mut command = ablate(folder, &[&["translate", RUN], options].concat());
    command.stdin(fs::File::open(input).expect("written above"));
    run(command)
}

fn lines(folder: &Path, options: &[&str]) -> Vec<String> {
    let output = translated(folder, TEXT.as_bytes(), options);
    assert_exit(&output, 0);
    stdout(&output).lines().map(str::to_owned).collect()
}

#[test]
fn hypotheses_are_printed_best_first_with_their_scores() {
    let folder = trained();
    let best = lines(folder.path(), &[]);
    let table = lines(folder.path(), &["--n-best", "2"]);
    let cells: Vec<Vec<&str>> = table.iter().map(|line| line.splitn(5, '\t').collect()).collect();
    let places: Vec<&[&str]> = cells.iter().map(|cells| &cells[..2]).collect();
    assert_eq!(places, [["1", "1"], ["1", "2"], ["2", "1"], ["3", "1"], ["3", "2"]]);
    assert_eq!([cells[0][4], cells[2][4], cells[3][4]], best[..]);
    assert_eq!(
        cells[2][2..],
        ["0", "0", ""],
        "an empty line has one hypothesis, which is empty"
    );
    let number = |text: &str| text.parse::<f64>().expect("a number");
    for rank in [0, 3] {
        let (first, second) = (&cells[rank], &cells[rank + 1]);
        assert!(number(first[2]) >= number(second[2]));
        assert!(number(first[3]) <= number(first[2]) && number(first[2]) < 0.0);
    }

    let json = lines(folder.path(), &["--n-best", "2", "--json"]);
    for (line, cells) in json.iter().zip(&cells) {
        let json: serde_json::Value = serde_json::from_str(line).expect("JSON");
        assert_eq!(json["line"].to_string(), cells[0]);
        assert_eq!(json["rank"].to_string(), cells[1]);
        // serde_json may read the last digit otherwise.
        for (field, cell) in [("score", cells[2]), ("log_probability", cells[3])] {
            let (json, text) = (json[field].as_f64().expect("a number"), number(cell));
            assert!((json - text).abs() <= 1e-12 * text.abs(), "{field}: {json}, {text}");
        }
        assert_eq!(json["text"].as_str(), Some(cells[4]));
        let tokens = |key: &str| -> String {
            let tokens = json[key].as_array().expect("a list").iter();
            tokens.map(|token| token.as_str().expect("text")).collect()
        };
        assert_eq!(tokens("tokens").replace('▁', " ").trim_start(), cells[4]);
        let source = TEXT.lines().nth(number(cells[0]) as usize - 1);
        assert_eq!(Some(tokens("source_tokens").replace('▁', " ").trim_start()), source);
    }
    assert_eq!(json.len(), cells.len());
}

#[test]
fn the_runs_own_way_of_decoding_can_be_changed() {
    let folder = trained();
    let own = lines(folder.path(), &["--n-best", "2"]);
    let said = [
        "--beam",
        "2",
        "--length-penalty",
        "0.6",
        "--max-extra-tokens",
        "10",
        "--n-best",
        "2",
    ];
    assert_eq!(lines(folder.path(), &said), own);
    let without_penalty = lines(folder.path(), &["--length-penalty", "0", "--n-best", "1"]);
    for line in without_penalty {
        let cells: Vec<&str> = line.split('\t').collect();
        assert_eq!(cells[2], cells[3], "alpha 0 leaves the log-probability as it is");
    }
    assert_eq!(lines(folder.path(), &["--beam", "6", "--n-best", "5"]).len(), 11);
}

#[test]
fn options_that_cannot_be_met_are_usage_errors_that_say_what_can() {
    let folder = trained();
    for (options, hint) in [
        (&["--n-best", "3"][..], "more than a beam of 2 holds; add --beam 3"),
        (&["--beam", "1", "--length-penalty", "1"], "no effect with a beam of 1"),
        (&["--length-penalty", "11"], "expected a number from 0 to 10"),
        (
            &["--max-extra-tokens", "65537"],
            "expected a whole number from 0 to 65536",
        ),
        (&["--beam", "0"], "expected a whole number from 1 to 1024"),
        (&["--beam", "-1"], "`-1` is not a whole number from 0"),
        (&["--length-penalty", "-1"], "expected a number from 0 to 10"),
        (&["--n-best", "0"], "0 is not in 1.."),
    ] {
        let refused = translated(folder.path(), TEXT.as_bytes(), options);
        assert_exit(&refused, 2);
        assert!(stderr(&refused).contains(hint), "{options:?}: {}", stderr(&refused));
        assert!(refused.stdout.is_empty());
    }
}

#[test]
fn attention_is_written_for_every_line_and_changes_no_translation() {
    let folder = trained();
    assert_eq!(
        lines(folder.path(), &["--attention", "heads.jsonl"]),
        lines(folder.path(), &[])
    );
    let heads = read(folder.path().join("heads.jsonl"));
    let heads: Vec<serde_json::Value> = heads
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    let hypotheses = lines(folder.path(), &["--json"]);
    assert_eq!(heads.len(), hypotheses.len());
    let length = |list: &serde_json::Value| list.as_array().expect("a list").len();
    for (heads, hypothesis) in heads.iter().zip(&hypotheses) {
        let hypothesis: serde_json::Value = serde_json::from_str(hypothesis).expect("JSON");
        assert_eq!(heads["line"], hypothesis["line"]);
        if length(&hypothesis["source_tokens"]) == 0 {
            assert_eq!(
                [length(&heads["target_tokens"]), length(&heads["cross_attention"])],
                [0, 0]
            );
            continue;
        }
        let (source, target) = (length(&heads["source_tokens"]), length(&heads["target_tokens"]));
        assert_eq!(source, length(&hypothesis["source_tokens"]) + 1);
        assert_eq!(target, length(&hypothesis["tokens"]) + 1);
        assert_eq!(heads["target_input_tokens"][0], "<s>");
        for (kind, rows, columns) in [
            ("encoder_self_attention", source, source),
            ("decoder_self_attention", target, target),
            ("cross_attention", target, source),
        ] {
            assert_eq!(
                [length(&heads[kind]), length(&heads[kind][0])],
                [1, 4],
                "layers and heads"
            );
            let head = &heads[kind][0][3];
            assert_eq!([length(head), length(&head[0])], [rows, columns], "{kind}");
        }
    }

    for (file, complaint) in [
        ("nowhere/heads.jsonl", "there is no folder nowhere"),
        ("results", "results is there and is no file"),
    ] {
        let refused = translated(folder.path(), TEXT.as_bytes(), &["--attention", file]);
        assert_exit(&refused, 6);
        assert!(refused.stdout.is_empty() && stderr(&refused).contains(complaint));
    }
}

#[test]
fn what_is_not_utf8_is_a_data_error() {
    let folder = trained();
    let refused = translated(folder.path(), b"ok\nM\xfcller\n", &["--json"]);
    assert_exit(&refused, 4);
    assert!(
        stderr(&refused).contains("standard input:2: not UTF-8 at byte 2"),
        "{}",
        stderr(&refused)
    );
}

#[test]
fn a_line_too_long_for_any_machine_is_named_before_anything_is_translated() {
    let folder = trained();
    let text = format!("The dog sleeps.\n{}\n", "dog ".repeat(100_000));
    let refused = translated(folder.path(), text.as_bytes(), &[]);
    assert_exit(&refused, 4);
    let told = stderr(&refused);
    assert!(
        told.contains("standard input:2: found 1") && told.contains("4096 at most"),
        "{told}"
    );
    assert!(refused.stdout.is_empty());
}

#[test]
fn attention_is_written_even_if_nobody_reads_the_translations() {
    let folder = trained();
    let input = write(folder.path().join("input"), TEXT);
    let mut command = ablate(folder.path(), &["translate", RUN, "--attention", "heads.jsonl"]);
    command.stdin(fs::File::open(input).expect("written above"));
    let mut child = command.stdout(Stdio::piped()).spawn().expect("the program starts");
    drop(child.stdout.take());
    assert!(child.wait().expect("it ends").success());
    assert_eq!(read(folder.path().join("heads.jsonl")).lines().count(), 3);
}

#[cfg(unix)]
#[test]
fn a_link_to_a_run_is_as_good_as_the_run() {
    let folder = trained();
    std::os::unix::fs::symlink(folder.path().join(RUN), folder.path().join("best")).expect("a writable folder");
    let mut command = ablate(folder.path(), &["translate", "best"]);
    command.stdin(Stdio::null());
    assert_exit(&run(command), 0);
}
