//! `results/<suite>.csv`.

use std::fs;

use ablate::record::{Ending, RunFolder};
use ablate::results::{ResultsError, ResultsTable, RunRecord, RunStatus};
use proptest::prelude::*;

use crate::fixtures::{done, ended, mark, planned, run_to_the_end, score, table};

const HEADER: &str = "suite,row,seed,status,steps,tokens,parameters,training_flops,weights,ppl,bleu,signature,\
    bleu_13a,bleu_13a_lc,bleu_intl,bleu_compound,dev_ppl,bleu_last,bleu_best,bleu_average,best_step,averaged_steps,skipped_pairs,\
    unknown_tokens,spec_hash,data_hash,note,wall_s,tokens_per_s,device_flops";

fn written(records: &[RunRecord]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tiny.csv");
    table(records).write(&path).unwrap();
    fs::read_to_string(path).unwrap()
}

fn read(text: &str) -> Result<ResultsTable, ResultsError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tiny.csv");
    fs::write(&path, text).unwrap();
    ResultsTable::read(&path)
}

/// The error without the folder of the file.
fn fault(text: &str) -> String {
    let error = read(text).unwrap_err().to_string();
    error[error.find("tiny.csv").unwrap()..].to_owned()
}

#[test]
fn a_missing_value_is_an_empty_cell_and_times_come_last() {
    let records = [
        done("base", 1, 4.92, 25.8),
        RunRecord {
            training_flops: Some(2.5e12),
            weights: Some("average".into()),
            bleu_last: Some(25.5),
            bleu_best: Some(25.75),
            bleu_average: Some(26.0),
            best_step: Some(300),
            averaged_steps: Some("200 300 400".into()),
            device_flops: Some(1e13),
            ..done("D1", 1, 5.0, 26.0)
        },
        ended("A1", 1, RunStatus::Failed, Some("no \"memory\", sorry")),
    ];
    let expected = format!(
        "{HEADER}\n\
         tiny,base,1,done,400,123456,1000000,,,4.92,25.8,nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0,\
         25.8,26.3,26.55,26.8,5.17,,,,,,3,,5eed,da7a,,12.5,9876.5,\n\
         tiny,D1,1,done,400,123456,1000000,2500000000000.0,average,5.0,26.0,\
         nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0,\
         26.0,26.5,26.75,27.0,5.25,25.5,25.75,26.0,300,200 300 400,3,,5eed,da7a,,12.5,9876.5,10000000000000.0\n\
         tiny,A1,1,failed,,,,,,,,,,,,,,,,,,,,,5eed,,\"no \"\"memory\"\", sorry\",,,\n"
    );
    assert_eq!(written(&records), expected);
}

#[test]
fn the_table_rebuilt_from_the_folders_is_the_same_bytes() {
    let results = tempfile::tempdir().unwrap();
    let plan = [
        planned("base", 1, "a1"),
        planned("base", 2, "a2"),
        planned("größer", 1, "b1"),
        planned("gone", 1, "c1"),
    ];
    let folder = |run: &ablate::results::PlannedRun| RunFolder::new(results.path(), &run.suite, &run.row, run.seed);
    run_to_the_end(&folder(&plan[2]), "b1", &score(5.0, 24.1));
    mark(&folder(&plan[2]), "b1", Ending::Done(()));
    run_to_the_end(&folder(&plan[0]), "a1", &score(4.9, 25.8));
    mark(&folder(&plan[0]), "a1", Ending::Done(()));
    mark(
        &{
            folder(&plan[1]).create().unwrap();
            folder(&plan[1])
        },
        "a2",
        Ending::Diverged { step: 9 },
    );
    let rebuild = || written(&plan.each_ref().map(|run| RunRecord::read(&folder(run), run)));
    let first = rebuild();
    assert_eq!(rebuild(), first);
    let statuses: Vec<_> = first
        .lines()
        .skip(1)
        .map(|line| line.split(',').take(4).collect::<Vec<_>>().join(","))
        .collect();
    assert_eq!(
        statuses,
        [
            "tiny,base,1,done",
            "tiny,base,2,diverged",
            "tiny,größer,1,done",
            "tiny,gone,1,missing"
        ]
    );
}

#[test]
fn what_is_written_is_what_is_read() {
    let records = [
        done("base", u64::MAX, 1.0 + f64::EPSILON, 100.0 / 3.0),
        done("A1", 2, 1e300, 0.0),
        ended("A1", 1, RunStatus::Stale, Some("a, \"b\", ü")),
        ended("0123", 1, RunStatus::Missing, None),
    ];
    assert_eq!(read(&written(&records)).unwrap(), table(&records));
}

#[test]
fn an_empty_table_is_a_header() {
    assert_eq!(written(&[]), format!("{HEADER}\n"));
    assert_eq!(read(&written(&[])).unwrap(), table(&[]));
}

#[test]
fn a_number_that_is_not_finite_never_becomes_a_result() {
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert!(matches!(
            ResultsTable::new(vec![done("base", 1, bad, 25.8)]),
            Err(ResultsError::NotAResult { column: "ppl", .. })
        ));
        assert!(matches!(
            ResultsTable::new(vec![done("base", 1, 4.92, bad)]),
            Err(ResultsError::NotAResult { column: "bleu", .. })
        ));
    }
    let text = written(&[done("base", 1, 4.92, 25.8)]);
    for bad in ["NaN", "nan", "inf", "-inf", "-3.0", "101.5", ""] {
        assert!(
            read(&text.replace(",25.8,", &format!(",{bad},"))).is_err(),
            "{bad:?} was read as a score"
        );
    }
}

#[test]
fn a_run_that_did_not_finish_never_has_a_score() {
    let text = written(&[done("base", 1, 4.92, 25.8)]);
    for status in ["failed", "diverged", "stale", "unfinished", "missing"] {
        assert_eq!(
            fault(&text.replace(",done,", &format!(",{status},"))),
            "tiny.csv: row base, seed 1: 4.92 is not the ppl of a finished run"
        );
    }
}

#[test]
fn a_run_that_appears_twice_is_an_error_not_a_bigger_sample() {
    let error = ResultsTable::new(vec![done("base", 1, 4.9, 25.0); 2]).unwrap_err();
    assert_eq!(error.to_string(), "row base, seed 1 appears twice");
}

#[test]
fn columns_are_read_by_name() {
    let expected = table(&[done("base", 1, 4.92, 25.8)]);
    let text = written(expected.records());
    let line = text.lines().nth(1).unwrap();
    let (first, rest) = line.split_once(',').unwrap();
    let header = HEADER.strip_prefix("suite,").unwrap();
    let same = [
        ("reordered", format!("{header},suite\n{rest},{first}\n")),
        ("with columns of others", format!("mine,,{HEADER},,\nx,y,{line},z,\n")),
        ("former name", text.replace("unknown_tokens", "unknown_pieces")),
        ("byte order mark", format!("\u{feff}{text}")),
        ("CRLF", text.replace('\n', "\r\n")),
        (
            "quoted",
            text.replace("suite,row", "\"suite\",\"row\"")
                .replace("tiny,base", "\"tiny\",\"base\""),
        ),
        ("no last newline", text.trim_end().to_owned()),
    ];
    for (what, text) in same {
        assert_eq!(read(&text).unwrap(), expected, "{what}: {text}");
    }
}

#[test]
fn the_committed_tables_are_written_as_they_are_read() {
    for suite in ["table3-quick", "table3-multi30k", "multi30k"] {
        let text = fs::read_to_string(format!("results/example/{suite}.csv")).unwrap();
        let rewritten = written(read(&text).unwrap().records());
        assert!(rewritten == text.replace("unknown_pieces", "unknown_tokens"), "{suite}");
    }
}

#[test]
fn optional_columns_may_be_missing() {
    let read = read("seed,status,row\n3,failed,A1\n").unwrap();
    let expected = RunRecord {
        row: "A1".into(),
        seed: 3,
        status: RunStatus::Failed,
        ..RunRecord::default()
    };
    assert_eq!(read.records(), [expected]);
}

#[test]
fn what_cannot_be_read_is_named_with_its_place() {
    let text = written(&[done("base", 1, 4.92, 25.8), done("A1", 1, 4.92, 25.8)]);
    for (bad, expected) in [
        (
            text.replacen("suite,row,seed", "suite,line,seed", 1)
                .replace("device_flops", "x"),
            "tiny.csv:1: the column `row` is missing; the columns, separated by commas, are `suite,line,seed,status,",
        ),
        (
            String::new(),
            "tiny.csv:1: the column `row` is missing; the columns, separated by commas, are ``",
        ),
        (
            text.replacen("bleu_13a,", "ppl,", 1),
            "tiny.csv:1: two columns have the name `ppl`",
        ),
        (
            text.replacen("skipped_pairs", "unknown_pieces", 1),
            "tiny.csv:1: two columns have the name `unknown_tokens`",
        ),
        (
            text.replace("tiny,A1,1", "tiny,A1,-1"),
            "tiny.csv:3: column `seed`: `-1` is not a whole number",
        ),
        (
            text.replace("A1,1,done,400", "A1,1,done,4e2"),
            "tiny.csv:3: column `steps`: `4e2` is not a whole number",
        ),
        (
            text.replacen(",4.92,", ",\"4,92\",", 1),
            "tiny.csv:2: column `ppl`: `4,92` is not a number",
        ),
        (
            text.replacen(",done,", ",finished,", 1),
            "tiny.csv:2: column `status`: `finished` is not a status; allowed: done, diverged, failed, stale, ",
        ),
        (
            text.replacen(",12.5,", ",", 1),
            "tiny.csv: CSV error: record 1 (line: 2, byte: ",
        ),
    ] {
        let fault = fault(&bad);
        assert!(fault.starts_with(expected), "{fault}\nexpected {expected}");
    }
}

#[test]
fn numbers_above_1e16_keep_the_sign_of_their_exponent() {
    let large = RunRecord {
        training_flops: Some(3.3e18),
        device_flops: Some(1e16),
        ..done("big", 1, 1e300, 25.8)
    };
    let text = written(std::slice::from_ref(&large));
    assert!(
        text.contains(",3.3e+18,") && text.contains(",1e+300,") && text.ends_with(",1e+16\n"),
        "{text}"
    );
    assert_eq!(read(&text).unwrap().records(), [large]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_possible_result_survives_the_file(ppl in 1.0_f64..1e9, bleu in 0.0_f64..100.0, note in "[ -~äß]{1,30}") {
        let mut records = [done("base", 1, ppl, bleu), ended("A1", 1, RunStatus::Failed, Some(&note))];
        records[0].tokens_per_s = Some(ppl / 7.0);
        prop_assert_eq!(read(&written(&records)).unwrap(), table(&records));
    }

    #[test]
    fn no_text_makes_the_reader_panic(text in "\\PC{0,200}") {
        let _ = read(&format!("{HEADER}\n{text}"));
    }
}
