//! What a run folder says after everything that can happen to it.

use std::fs;

use ablate::record::{Ending, Marker, RunFolder, RunState};
use ablate::results::{RunRecord, RunStatus, mean_dev_curve};
use tempfile::TempDir;

use crate::fixtures::{mark, planned, provenance, run_to_the_end, score};

const SPEC: &str = "0123456789abcdef";
const EDITED_SPEC: &str = "fedcba9876543210";

fn folder() -> (TempDir, RunFolder) {
    let results = tempfile::tempdir().unwrap();
    let folder = RunFolder::new(results.path(), "tiny", "A1", 7);
    (results, folder)
}

fn damage(state: &RunState) -> &str {
    match state {
        RunState::Damaged { reason } => reason,
        other => panic!("expected a damaged run, found {other:?}"),
    }
}

#[test]
fn a_run_is_absent_then_unfinished_then_done() {
    let (_results, folder) = folder();
    assert_eq!(RunState::read(&folder, SPEC), RunState::Absent);
    folder.create().unwrap();
    assert_eq!(RunState::read(&folder, SPEC), RunState::Unfinished);
    run_to_the_end(&folder, SPEC, &score(4.9, 25.8));
    assert_eq!(
        RunState::read(&folder, SPEC),
        RunState::Unfinished,
        "without a marker there is no result"
    );
    mark(&folder, SPEC, Ending::Done(()));
    let RunState::Ended(Ending::Done(finished)) = RunState::read(&folder, SPEC) else {
        panic!("not done")
    };
    assert_eq!(finished.score, score(4.9, 25.8));
    assert_eq!(finished.provenance, provenance(SPEC));
}

#[test]
fn a_result_of_an_edited_spec_is_stale_and_is_kept_beside_the_new_one() {
    let (results, folder) = folder();
    run_to_the_end(&folder, SPEC, &score(4.9, 25.8));
    mark(&folder, SPEC, Ending::Done(()));
    assert_eq!(
        RunState::read(&folder, EDITED_SPEC),
        RunState::Stale { spec_hash: SPEC.into() }
    );
    let stale = RunRecord::read(&folder, &planned("A1", 7, EDITED_SPEC));
    assert_eq!((stale.status, stale.bleu, stale.ppl), (RunStatus::Stale, None, None));

    let kept = folder.set_aside(SPEC).unwrap();
    assert_eq!(kept, results.path().join("tiny").join("A1-s7.01234567"));
    run_to_the_end(&folder, EDITED_SPEC, &score(5.1, 24.0));
    mark(&folder, EDITED_SPEC, Ending::Done(()));
    assert_eq!(
        RunRecord::read(&folder, &planned("A1", 7, EDITED_SPEC)).bleu,
        Some(24.0)
    );
    assert!(fs::read_to_string(kept.join("score.toml")).unwrap().contains("25.8"));
}

#[test]
fn checkpoints_of_another_spec_are_stale_before_the_run_ends() {
    let (_results, folder) = folder();
    folder.create().unwrap();
    provenance(SPEC).write(&folder.provenance()).unwrap();
    assert_eq!(
        RunState::read(&folder, EDITED_SPEC),
        RunState::Stale { spec_hash: SPEC.into() }
    );
}

#[test]
fn a_file_cut_anywhere_is_damage_and_never_another_result() {
    let (_results, folder) = folder();
    run_to_the_end(&folder, SPEC, &score(4.9, 25.8));
    mark(&folder, SPEC, Ending::Done(()));
    let whole = RunState::read(&folder, SPEC);
    for path in [folder.done(), folder.score(), folder.provenance()] {
        let bytes = fs::read(&path).unwrap();
        for length in 0..bytes.len() - 1 {
            fs::write(&path, &bytes[..length]).unwrap();
            match RunState::read(&folder, SPEC) {
                RunState::Damaged { reason } => assert!(reason.contains(path.file_name().unwrap().to_str().unwrap())),
                // The last lines of the provenance are optional: a run may do without its times.
                RunState::Ended(Ending::Done(finished)) => {
                    assert_eq!(finished.score, score(4.9, 25.8), "{path:?} cut at {length}");
                }
                other => panic!("{path:?} cut at {length}: {other:?}"),
            }
        }
        fs::write(&path, [0xff, 0xfe, 0x00]).unwrap();
        damage(&RunState::read(&folder, SPEC));
        fs::write(&path, &bytes).unwrap();
        assert_eq!(RunState::read(&folder, SPEC), whole);
    }
}

#[test]
fn a_done_run_whose_score_was_deleted_is_damaged() {
    let (_results, folder) = folder();
    run_to_the_end(&folder, SPEC, &score(4.9, 25.8));
    mark(&folder, SPEC, Ending::Done(()));
    fs::remove_file(folder.score()).unwrap();
    damage(&RunState::read(&folder, SPEC));
    let record = RunRecord::read(&folder, &planned("A1", 7, SPEC));
    assert_eq!((record.status, record.bleu), (RunStatus::Unfinished, None));
    assert!(record.note.unwrap().contains("score.toml"));
}

#[test]
fn numbers_that_cannot_be_scores_are_damage() {
    let (_results, folder) = folder();
    for (ppl, bleu, named) in [
        (f64::NAN, 25.8, "ppl"),
        (f64::INFINITY, 25.8, "ppl"),
        (0.5, 25.8, "ppl"),
        (4.9, f64::NAN, "13a"),
        (4.9, -1.0, "13a"),
        (4.9, 101.0, "13a"),
    ] {
        run_to_the_end(&folder, SPEC, &score(ppl, bleu));
        mark(&folder, SPEC, Ending::Done(()));
        let state = RunState::read(&folder, SPEC);
        assert!(damage(&state).contains(named), "ppl {ppl}, bleu {bleu}: {state:?}");
    }
}

#[test]
fn a_folder_copied_to_another_seed_is_not_that_seeds_result() {
    let (_results, folder) = folder();
    run_to_the_end(&folder, SPEC, &score(4.9, 25.8));
    Marker {
        spec_hash: SPEC.into(),
        seed: 8,
        ending: Ending::Done(()),
    }
    .write(&folder)
    .unwrap();
    assert_eq!(damage(&RunState::read(&folder, SPEC)), "the marker is of seed 8");
}

#[test]
fn a_run_that_diverged_has_a_step_and_no_numbers_even_beside_a_score() {
    let (_results, folder) = folder();
    run_to_the_end(&folder, SPEC, &score(4.9, 25.8));
    mark(&folder, SPEC, Ending::Diverged { step: 321 });
    let record = RunRecord::read(&folder, &planned("A1", 7, SPEC));
    assert_eq!((record.status, record.steps), (RunStatus::Diverged, Some(321)));
    assert_eq!(
        (record.ppl, record.bleu, record.dev_ppl, record.bleu_intl),
        (None, None, None, None)
    );
    assert_eq!(record.note.as_deref(), Some("at step 321"));
}

#[test]
fn a_failed_run_carries_the_end_of_its_log_in_one_line() {
    let (_results, folder) = folder();
    folder.create().unwrap();
    let reason = "reading data\n\n  thread 'main' panicked at \"x\":\nout of memory\n";
    mark(&folder, SPEC, Ending::Failed { reason: reason.into() });
    assert_eq!(
        RunState::read(&folder, SPEC),
        RunState::Ended(Ending::Failed { reason: reason.into() })
    );
    let record = RunRecord::read(&folder, &planned("A1", 7, SPEC));
    assert_eq!(
        record.note.as_deref(),
        Some("reading data | thread 'main' panicked at \"x\": | out of memory")
    );
    assert_eq!((record.status, record.bleu), (RunStatus::Failed, None));
}

#[test]
fn another_attempt_replaces_the_failure_by_its_result() {
    let (_results, folder) = folder();
    folder.create().unwrap();
    mark(
        &folder,
        SPEC,
        Ending::Failed {
            reason: "killed".into(),
        },
    );
    Marker::remove(&folder).unwrap();
    assert_eq!(RunState::read(&folder, SPEC), RunState::Unfinished);
    run_to_the_end(&folder, SPEC, &score(4.9, 25.8));
    mark(&folder, SPEC, Ending::Done(()));
    assert!(RunState::read(&folder, SPEC).is_done());
    assert!(!folder.failed().exists());
}

#[test]
fn a_row_without_runs_has_an_empty_curve() {
    assert_eq!(mean_dev_curve("base", &[]).points, []);
}
