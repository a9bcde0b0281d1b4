//! `results/<suite>.csv`.

use std::fs;

use ablate::record::{Outcome, RunFolder};
use ablate::results::{ResultsError, RunRecord, RunStatus, frame};
use proptest::prelude::*;

use crate::fixtures::{done, ended, mark, planned, run_to_the_end, score};

const HEADER: &str = "suite,row,seed,status,steps,tokens,parameters,training_flops,weights,ppl,bleu,signature,\
    bleu_13a,bleu_13a_lc,bleu_intl,bleu_compound,dev_ppl,bleu_last,bleu_best,bleu_average,best_step,averaged_steps,skipped_pairs,\
    unknown_pieces,spec_hash,data_hash,note,wall_s,tokens_per_s,device_flops";

fn written(records: &[RunRecord]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tiny.csv");
    frame::write_csv(&frame::from_records(records).unwrap(), &path).unwrap();
    fs::read_to_string(path).unwrap()
}

fn read(text: &str) -> Result<polars::prelude::DataFrame, ResultsError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tiny.csv");
    fs::write(&path, text).unwrap();
    frame::read_csv(&path)
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
    mark(&folder(&plan[2]), "b1", Outcome::Done);
    run_to_the_end(&folder(&plan[0]), "a1", &score(4.9, 25.8));
    mark(&folder(&plan[0]), "a1", Outcome::Done);
    mark(
        &{
            folder(&plan[1]).create().unwrap();
            folder(&plan[1])
        },
        "a2",
        Outcome::Diverged { step: 9 },
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
    let frame = frame::from_records(&records).unwrap();
    assert!(read(&written(&records)).unwrap().equals_missing(&frame));
}

#[test]
fn an_empty_table_is_a_header() {
    assert_eq!(written(&[]), format!("{HEADER}\n"));
    assert_eq!(read(&written(&[])).unwrap().height(), 0);
}

#[test]
fn a_number_that_is_not_finite_never_becomes_a_result() {
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert!(matches!(
            frame::from_records(&[done("base", 1, bad, 25.8)]),
            Err(ResultsError::NotAResult { column: "ppl", .. })
        ));
        assert!(matches!(
            frame::from_records(&[done("base", 1, 4.92, bad)]),
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
        let error = read(&text.replace(",done,", &format!(",{status},"))).unwrap_err();
        assert!(matches!(error, ResultsError::NotAResult { .. }), "{status}: {error}");
    }
    let error = read(&text.replace(",done,", ",finished,")).unwrap_err();
    assert_eq!(error.to_string(), "row base, seed 1: `finished` is no status");
}

#[test]
fn a_run_that_appears_twice_is_an_error_not_a_bigger_sample() {
    let error = frame::from_records(&[done("base", 1, 4.9, 25.0), done("base", 1, 4.9, 25.0)]).unwrap_err();
    assert_eq!(error.to_string(), "row base, seed 1 appears twice");
}

#[test]
fn other_columns_are_an_error_that_shows_both() {
    let error = read(&written(&[]).replace(",ppl,bleu,", ",bleu,ppl,"))
        .unwrap_err()
        .to_string();
    assert!(error.contains(",bleu,ppl,") && error.contains(",ppl,bleu,"), "{error}");
    assert!(read("").is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_possible_result_survives_the_file(ppl in 1.0_f64..1e9, bleu in 0.0_f64..100.0, note in "[ -~äß]{1,30}") {
        let mut records = [done("base", 1, ppl, bleu), ended("A1", 1, RunStatus::Failed, Some(&note))];
        records[0].tokens_per_s = Some(ppl / 7.0);
        let frame = frame::from_records(&records).unwrap();
        prop_assert!(read(&written(&records)).unwrap().equals_missing(&frame));
    }

    #[test]
    fn no_text_makes_the_reader_panic(text in "\\PC{0,200}") {
        let _ = read(&format!("{HEADER}\n{text}"));
    }
}
