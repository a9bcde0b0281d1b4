//! Records grouped by row and compared with the baseline and the paper.

use ablate::results::{Agreement, Comparison, ResultsError, RowComparison, RowTarget, RunRecord, RunStatus};
use proptest::prelude::*;

use crate::fixtures::{done, ended, table, target};

fn compare(records: &[RunRecord], targets: &[RowTarget]) -> Comparison {
    Comparison::new(&table(records), "base", targets).unwrap()
}

/// `bleu[i]` is the score of seed i + 1.
fn runs(row: &str, bleu: &[f64]) -> Vec<RunRecord> {
    (1..)
        .zip(bleu)
        .map(|(seed, &bleu)| done(row, seed, 5.0, bleu))
        .collect()
}

fn row<'a>(comparison: &'a Comparison, id: &str) -> &'a RowComparison {
    comparison.rows.iter().find(|row| row.id == id).unwrap()
}

fn agreement(ours: &[f64], base: &[f64], paper: f64) -> Option<Agreement> {
    let records = [runs("base", base), runs("A1", ours)].concat();
    let compared = compare(&records, &[target("base", Some(25.8)), target("A1", Some(paper))]);
    row(&compared, "A1").agreement
}

#[test]
fn the_verdict_follows_the_interval_and_the_papers_direction() {
    let base = [30.0, 31.0, 32.0];
    let clearly_worse = [28.0, 29.1, 29.9];
    assert_eq!(agreement(&clearly_worse, &base, 24.9), Some(Agreement::Agrees));
    assert_eq!(agreement(&clearly_worse, &base, 26.4), Some(Agreement::Disagrees));
    assert_eq!(agreement(&clearly_worse, &base, 25.8), Some(Agreement::PaperSeesNone));
    assert_eq!(agreement(&[29.0, 32.0, 31.0], &base, 24.9), Some(Agreement::NoEvidence));
    assert_eq!(agreement(&[10.0], &[30.0], 24.9), Some(Agreement::OneSeed));
}

#[test]
fn pairing_by_seed_sees_what_the_spread_between_seeds_would_hide() {
    // Seeds differ by 20 BLEU, yet each loses about 1.
    assert_eq!(
        agreement(&[9.0, 19.1, 28.9], &[10.0, 20.0, 30.0], 24.9),
        Some(Agreement::Agrees)
    );
}

#[test]
fn only_seeds_that_both_rows_finished_are_compared() {
    let records = [
        done("base", 1, 5.0, 30.0),
        ended("base", 2, RunStatus::Failed, Some("killed")),
        done("base", 3, 5.0, 32.0),
        done("A1", 3, 5.0, 31.5),
        done("A1", 2, 5.0, 10.0),
        ended("A1", 1, RunStatus::Diverged, Some("at step 3")),
    ];
    let compared = compare(&records, &[target("base", None), target("A1", None)]);
    let difference = row(&compared, "A1").difference.unwrap();
    assert_eq!(
        (difference.seeds, difference.mean, difference.evidence),
        (1, -0.5, None)
    );
    assert_eq!(row(&compared, "base").difference, None);
    assert_eq!(row(&compared, "A1").runs.done, 2);
    assert_eq!(row(&compared, "A1").runs.planned, 3);
    assert_eq!(row(&compared, "A1").unfinished[0].status, RunStatus::Diverged);
}

#[test]
fn a_row_without_any_result_has_a_reason_and_no_numbers() {
    let records = [
        done("base", 1, 5.0, 30.0),
        ended("A1", 1, RunStatus::Failed, Some("killed")),
    ];
    let compared = compare(
        &records,
        &[
            target("base", Some(25.8)),
            target("A1", Some(24.9)),
            target("A2", Some(25.5)),
        ],
    );
    for id in ["A1", "A2"] {
        let row = row(&compared, id);
        assert_eq!(
            (row.bleu, row.ppl, row.parameters, row.difference, row.agreement),
            (None, None, None, None, None)
        );
    }
    assert_eq!(row(&compared, "A1").unfinished[0].note.as_deref(), Some("killed"));
    assert!((row(&compared, "A1").paper.difference.unwrap() + 0.9).abs() <= 1e-9);
}

#[test]
fn rows_come_in_the_suites_order_whatever_the_records_order() {
    let mut records = [
        runs("Z", &[1.0, 2.0]),
        runs("base", &[3.0, 4.0]),
        runs("A", &[5.0, 6.0]),
    ]
    .concat();
    let targets = [target("base", None), target("Z", None), target("A", None)];
    let compared = compare(&records, &targets);
    assert_eq!(
        compared.rows.iter().map(|row| row.id.as_str()).collect::<Vec<_>>(),
        ["base", "Z", "A"]
    );
    records.reverse();
    assert_eq!(
        compare(&records, &targets).rows[1].difference,
        compared.rows[1].difference
    );
}

#[test]
fn scores_under_two_signatures_are_never_put_in_one_column() {
    let mut records = [done("base", 1, 5.0, 30.0), done("A1", 1, 5.0, 31.0)];
    records[1].signature = Some("tok:intl".into());
    let table = table(&records);
    let error = Comparison::new(&table, "base", &[target("base", None), target("A1", None)]).unwrap_err();
    assert!(matches!(error, ResultsError::MixedSignatures { row, .. } if row == "A1"));
}

#[test]
fn a_baseline_that_is_no_row_is_an_error() {
    let table = table(&[]);
    let error = Comparison::new(&table, "bsae", &[target("base", None)]).unwrap_err();
    assert_eq!(error.to_string(), "the baseline bsae is not a row of the suite");
}

#[test]
fn the_rank_covers_the_rows_that_have_both_scores() {
    let records = [
        runs("base", &[30.0]),
        runs("A1", &[28.0]),
        runs("A2", &[29.0]),
        runs("own", &[99.0]),
    ]
    .concat();
    let targets = [
        target("base", Some(25.8)),
        target("A1", Some(24.9)),
        target("A2", Some(25.5)),
        target("own", None),
    ];
    let rank = compare(&records, &targets).rank.unwrap();
    assert_eq!((rank.rows, rank.tau), (3, 1.0));
}

fn plain_mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn plain_sd(values: &[f64]) -> Option<f64> {
    let mean = plain_mean(values);
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (values.len() > 1).then(|| (squares / (values.len() - 1) as f64).sqrt())
}

fn close(ours: Option<f64>, plain: Option<f64>) -> bool {
    match (ours, plain) {
        (None, None) => true,
        (Some(ours), Some(plain)) => (ours - plain).abs() <= 1e-9,
        _ => false,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_frame_agrees_with_a_plain_computation(
        base in prop::collection::vec(0.0_f64..100.0, 1..6),
        other in prop::collection::vec(0.0_f64..100.0, 1..6),
    ) {
        let records = [runs("base", &base), runs("A1", &other)].concat();
        let compared = compare(&records, &[target("base", Some(25.8)), target("A1", Some(24.9))]);
        for (id, values) in [("base", &base), ("A1", &other)] {
            let bleu = row(&compared, id).bleu.unwrap();
            prop_assert!(close(Some(bleu.mean), Some(plain_mean(values))));
            prop_assert!(close(bleu.sd, plain_sd(values)));
        }
        let paired: Vec<f64> = other.iter().zip(&base).map(|(other, base)| other - base).collect();
        let difference = row(&compared, "A1").difference.unwrap();
        prop_assert_eq!(difference.seeds, paired.len());
        prop_assert!(close(Some(difference.mean), Some(plain_mean(&paired))));
        let standard_error = plain_sd(&paired).map(|sd| sd / (paired.len() as f64).sqrt());
        prop_assert!(close(difference.evidence.map(|evidence| evidence.standard_error), standard_error));
    }
}
