//! Runs that never ran.

use ablate::record::{BleuScores, Ending, Marker, Provenance, RunFolder, RunScore};
use ablate::results::{PlannedRun, ResultsTable, RowTarget, RunRecord, RunStatus};
use ablate::score::Bleu;

pub const SIGNATURE: &str = "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0";

pub fn bleu(score: f64) -> Bleu {
    Bleu {
        score,
        precisions: [60.0, 35.5, 20.25, 12.125],
        counts: [600, 355, 202, 121],
        totals: [1000, 1000, 1000, 1000],
        brevity_penalty: 0.97,
        hypothesis_length: 1000,
        reference_length: 1031,
        signature: SIGNATURE.into(),
    }
}

pub fn score(ppl: f64, score: f64) -> RunScore {
    RunScore {
        split: "test".into(),
        steps: 400,
        tokens: 123_456,
        parameters: 1_000_000,
        training_flops: Some(2.5e12),
        ppl,
        dev_ppl: Some(ppl + 0.25),
        skipped_pairs: Some(3),
        unknown_tokens: None,
        weights: Some("last".into()),
        bleu_in_table: None,
        of_weights: Vec::new(),
        bleu: BleuScores {
            standard: bleu(score),
            lowercase: bleu(score + 0.5),
            international: bleu(score + 0.75),
            international_lowercase: bleu(score + 0.875),
            compound: bleu(score + 1.0),
        },
    }
}

pub fn provenance(spec_hash: &str) -> Provenance {
    Provenance {
        command: "ablate sweep tiny".into(),
        ablate_version: "0.1.0".into(),
        git_commit: Some("0123456789".into()),
        git_diff_hash: None,
        spec_hash: spec_hash.into(),
        data_hash: "da7a".into(),
        device: "cpu".into(),
        gpu: None,
        cpu: "some cpu".into(),
        threads: 2,
        started: "2017-06-12T17:57:34Z".into(),
        finished: None,
        wall_s: Some(12.5),
        training_s: Some(10.0),
        sustained_flops_per_s: Some(1e11),
        tokens_per_s: Some(9876.5),
        peak_memory_bytes: None,
    }
}

pub fn planned(row: &str, seed: u64, spec_hash: &str) -> PlannedRun {
    PlannedRun {
        suite: "tiny".into(),
        row: row.into(),
        seed,
        steps: 400,
        spec_hash: spec_hash.into(),
    }
}

/// Leaves in `folder` what a run leaves, up to and without its marker.
pub fn run_to_the_end(folder: &RunFolder, spec_hash: &str, result: &RunScore) {
    folder.create().unwrap();
    provenance(spec_hash).write(&folder.provenance()).unwrap();
    result.write(&folder.score()).unwrap();
}

pub fn mark(folder: &RunFolder, spec_hash: &str, ending: Ending) {
    Marker {
        spec_hash: spec_hash.into(),
        seed: folder.seed(),
        ending,
    }
    .write(folder)
    .unwrap();
}

pub fn done(row: &str, seed: u64, ppl: f64, bleu: f64) -> RunRecord {
    RunRecord {
        status: RunStatus::Done,
        steps: Some(400),
        tokens: Some(123_456),
        parameters: Some(1_000_000),
        ppl: Some(ppl),
        bleu: Some(bleu),
        signature: Some(SIGNATURE.into()),
        bleu_13a: Some(bleu),
        bleu_13a_lc: Some(bleu + 0.5),
        bleu_intl: Some(bleu + 0.75),
        bleu_compound: Some(bleu + 1.0),
        dev_ppl: Some(ppl + 0.25),
        skipped_pairs: Some(3),
        data_hash: Some("da7a".into()),
        wall_s: Some(12.5),
        tokens_per_s: Some(9876.5),
        ..ended(row, seed, RunStatus::Missing, None)
    }
}

pub fn ended(row: &str, seed: u64, status: RunStatus, note: Option<&str>) -> RunRecord {
    RunRecord {
        suite: "tiny".into(),
        row: row.into(),
        seed,
        status,
        spec_hash: "5eed".into(),
        note: note.map(str::to_owned),
        ..RunRecord::default()
    }
}

pub fn table(records: &[RunRecord]) -> ResultsTable {
    ResultsTable::new(records.to_vec()).unwrap()
}

pub fn target(id: &str, paper_bleu: Option<f64>) -> RowTarget {
    RowTarget {
        id: id.into(),
        paper_bleu,
        ..RowTarget::default()
    }
}
