//! The suites that come with the tool: valid, complete, and true to the paper.

use std::fs;
use std::path::Path;

use ablate::plan::{Cost, Plan};
use ablate::spec::{Change, Parameters, Row, Schedule, Suite, Value, load_suite};

/// Table 3 in the paper's order.
const ROWS: [&str; 20] = [
    "base", "A1", "A2", "A3", "A4", "B1", "B2", "C1", "C2", "C3", "C4", "C5", "C6", "C7", "D1", "D2", "D3", "D4", "E",
    "big",
];

fn suite(name: &str) -> Suite {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("experiments").join(name);
    load_suite(&path, &|path| fs::read_to_string(path)).unwrap_or_else(|faults| panic!("{faults}"))
}

fn row<'a>(suite: &'a Suite, id: &str) -> &'a Row {
    suite.row(id).unwrap_or_else(|| panic!("no row {id}"))
}

#[test]
fn every_scale_of_table_3_has_its_20_rows_and_8_shapes() {
    for name in ["table3.toml", "table3-multi30k.toml", "table3-quick.toml"] {
        let suite = suite(name);
        let ids: Vec<_> = suite.rows.iter().map(|row| row.id.as_str()).collect();
        assert_eq!(ids, ROWS, "{name}");
        assert_eq!(suite.baseline, "base", "{name}");
        assert_eq!(Plan::of(&suite).shapes.len(), 8, "{name}");
    }
}

/// A change as a ratio to the baseline, where it is one of sizes; a position table has none, its length is the data's.
fn relative(change: &Change) -> String {
    match (&change.baseline, &change.row) {
        (Some(Value::Whole(baseline)), Some(Value::Whole(row))) => {
            format!("{} x {:.3}", change.key, *row as f64 / *baseline as f64)
        }
        (None, _) => format!("{} appears", change.key),
        (baseline, row) => format!("{} {baseline:?} -> {row:?}", change.key),
    }
}

#[test]
fn every_scale_changes_the_same_keys_by_the_same_ratios_and_keeps_the_targets() {
    let full = suite("table3.toml");
    for name in ["table3-multi30k.toml", "table3-quick.toml"] {
        let scaled = suite(name);
        for (full_row, scaled_row) in full.rows.iter().zip(&scaled.rows) {
            let changes = |row: &Row| row.changes.iter().map(relative).collect::<Vec<_>>();
            assert_eq!(full_row.paper, scaled_row.paper, "{name} {}", full_row.id);
            if full_row.id == "A1" {
                // One head is one head at every scale.
                assert_eq!(scaled_row.experiment.model.heads, 1, "{name}");
                continue;
            }
            assert_eq!(changes(full_row), changes(scaled_row), "{name} {}", full_row.id);
        }
    }
}

#[test]
fn parameter_counts_are_those_of_the_paper_s_shapes() {
    let suite = suite("table3.toml");
    let total = |id| Parameters::of(&row(&suite, id).experiment).total();
    // For V = 37 000 shared and no attention bias:
    // python3 -c 'f = lambda N,D,F,H,K,VD: 37000*D + N*(3*2*D*H*(K+VD) + 2*(2*D*F+F+D) + 5*2*D); print(
    //   f(6,512,2048,8,64,64), f(6,1024,4096,16,64,64), f(6,512,2048,8,16,64), f(2,512,2048,8,64,64),
    //   f(6,256,2048,8,32,32), f(6,1024,2048,8,128,128))'
    assert_eq!(total("base"), 63_045_632);
    assert_eq!(total("big"), 214_171_648);
    assert_eq!(total("B1"), 55_967_744);
    assert_eq!(total("C1"), 33_644_544);
    assert_eq!(total("C4"), 26_816_512);
    assert_eq!(total("C5"), 163_815_424);
    for id in ["A1", "A2", "A3", "A4", "D1", "D4"] {
        assert_eq!(total(id), total("base"), "{id}");
    }
}

#[test]
fn a_learned_position_table_and_closing_norms_are_counted() {
    let suite = suite("table3.toml");
    let base = Parameters::of(&suite.baseline_row().experiment);
    let learned = Parameters::of(&row(&suite, "E").experiment);
    assert_eq!(learned.positions, 512 * 512);
    assert_eq!(learned.total() - base.total(), 512 * 512);

    let mut pre = suite.baseline_row().experiment.clone();
    pre.model.norm = ablate::spec::Norm::Pre;
    assert_eq!(Parameters::of(&pre).total() - base.total(), 2 * 2 * 512);
}

#[test]
fn the_paper_s_learning_rate_peaks_where_the_paper_says() {
    let suite = suite("table3.toml");
    let peak = Schedule::of(&suite.baseline_row().experiment).peak();
    assert!((peak - 6.99e-4).abs() <= 0.005e-4, "{peak}");
}

#[test]
fn counted_operations_are_near_six_for_each_parameter_and_token() {
    // The usual rule of thumb, 6 x parameters x tokens, where each token passes one stack and the projection once:
    // a pair of tokens passes all of the model, attention's own products come on top.
    let suite = suite("table3.toml");
    let base = &suite.baseline_row().experiment;
    let rule = 6.0 * Parameters::of(base).total() as f64 * 25_000.0;
    let counted = Cost::of(base, 30.0).step_flops;
    assert!((counted / rule - 1.0).abs() <= 0.03, "{}", counted / rule);
}

#[test]
fn the_full_size_base_fits_one_card_and_the_paper_s_time() {
    let suite = suite("table3.toml");
    let cost = Cost::of(&suite.baseline_row().experiment, 30.0);
    // 8 P100 trained it in 12 hours; the paper assumes 9.5e12 operations a second each, which is a ceiling.
    assert!(cost.training_s(8.0 * 9.5e12) < 12.0 * 3600.0);
    assert!(cost.memory_bytes > 16 * cost.parameters.total() && cost.memory_bytes < 16_000_000_000);
}

/// Table 3 of the reference's Markdown: cells by row, emphasis removed.
fn paper_table(text: &str) -> Vec<Vec<String>> {
    let table = text.lines().skip_while(|line| !line.starts_with("| row |")).skip(2);
    let cells = |line: &str| {
        line.trim_matches('|')
            .split('|')
            .map(|cell| cell.replace('*', "").trim().to_owned())
            .collect()
    };
    table.take_while(|line| line.starts_with('|')).map(cells).collect()
}

/// A row of the suite as the reference prints it.
fn printed(row: &Row) -> Vec<String> {
    let (model, experiment) = (&row.experiment.model, &row.experiment);
    let sizes = [
        model.layers,
        model.d_model,
        model.d_ff,
        model.heads,
        model.d_k,
        model.d_v,
    ]
    .map(|size| size.to_string());
    let regularization = &experiment.regularization;
    let shares = [regularization.dropout, regularization.label_smoothing].map(|share| format!("{share:.1}"));
    let number = |number: Option<f64>, digits| number.map_or_else(String::new, |number| format!("{number:.digits$}"));
    let paper =
        [(row.paper.ppl, 2), (row.paper.bleu, 1), (row.paper.params_millions, 0)].map(|(n, digits)| number(n, digits));
    let steps = [format!("{}K", experiment.training.steps / 1000)];
    [std::slice::from_ref(&row.id), &sizes[..], &shares, &steps, &paper].concat()
}

#[test]
fn the_full_size_suite_is_the_paper_s_table_cell_by_cell() {
    let Some(shared) = std::env::var_os("ABLATE_SHARED") else {
        eprintln!("skipped: ABLATE_SHARED is not set");
        return;
    };
    let text = fs::read_to_string(Path::new(&shared).join("reference/paper.md")).unwrap();
    let table = paper_table(&text);
    assert_eq!(table.len(), 20);
    let suite = suite("table3.toml");
    assert_eq!(suite.rows.iter().map(printed).collect::<Vec<_>>(), table);
}

#[test]
fn the_suite_in_the_readme_is_valid() {
    let readme = include_str!("../README.md");
    let suites = readme
        .split("```toml\n")
        .skip(1)
        .filter_map(|rest| rest.split("```").next());
    let text = suites
        .into_iter()
        .find(|text| text.starts_with("title"))
        .expect("a suite");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("experiments/heads.toml");
    let read = |asked: &Path| {
        if asked == path {
            Ok(text.to_owned())
        } else {
            std::fs::read_to_string(asked)
        }
    };
    let suite = load_suite(&path, &read).unwrap_or_else(|faults| panic!("{faults}"));
    assert_eq!(suite.rows.len(), 6);
}
