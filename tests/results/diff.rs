//! Two results files side by side.

use ablate::results::{Refusal, ResultsDiff, RunRecord, RunStatus, compare};

use crate::fixtures::{done, ended, table};

fn diff(before: &[RunRecord], after: &[RunRecord]) -> ResultsDiff {
    compare(&table(before), &table(after)).unwrap()
}

#[test]
fn means_are_compared_row_by_row_and_single_rows_are_named() {
    let before = [
        done("base", 1, 5.0, 30.0),
        done("base", 2, 6.0, 32.0),
        done("old", 1, 5.0, 20.0),
    ];
    let after = [done("new", 1, 5.0, 20.0), done("base", 1, 4.0, 33.0)];
    let diff = diff(&before, &after);
    assert_eq!(diff.rows.len(), 1);
    let bleu = diff.rows[0].bleu.as_ref().unwrap();
    assert_eq!((bleu.before.mean, bleu.after.mean, bleu.after.sd), (31.0, 33.0, None));
    let ppl = diff.rows[0].ppl.as_ref().unwrap();
    assert_eq!((ppl.before.mean, ppl.after.mean), (5.5, 4.0));
    assert_eq!(
        (diff.only_before, diff.only_after),
        (vec!["old".to_owned()], vec!["new".to_owned()])
    );
}

#[test]
fn bleu_is_not_compared_across_signatures_but_perplexity_is() {
    let before = [done("base", 1, 5.0, 30.0)];
    let mut after = before.clone();
    after[0].signature = Some("tok:intl".into());
    let diff = diff(&before, &after);
    assert!(matches!(diff.rows[0].bleu, Err(Refusal::OtherSignature { .. })));
    assert!(diff.rows[0].ppl.is_ok());
}

#[test]
fn nothing_is_compared_across_data() {
    let before = [done("base", 1, 5.0, 30.0)];
    let mut after = before.clone();
    after[0].data_hash = Some("07e5".into());
    let diff = diff(&before, &after);
    assert!(matches!(diff.rows[0].bleu, Err(Refusal::OtherData { .. })));
    assert!(matches!(diff.rows[0].ppl, Err(Refusal::OtherData { .. })));
}

#[test]
fn a_row_without_a_result_on_one_side_has_no_difference() {
    let (finished, failed) = (
        [done("base", 1, 5.0, 30.0)],
        [ended("base", 1, RunStatus::Failed, None)],
    );
    assert_eq!(diff(&failed, &finished).rows[0].bleu, Err(Refusal::NoResultBefore));
    assert_eq!(diff(&finished, &failed).rows[0].bleu, Err(Refusal::NoResultAfter));
}
