//! Valid suites: rows, grids, baselines, and the place of each value.

use std::io;
use std::path::Path;

use ablate::spec::{Change, Positional, Suite, Value, key, load_suite, render};

const BASE: &str = include_str!("spec_faults/good/base.toml");

/// Loads a suite of these rows over the good base.
fn suite(rest: &str) -> Suite {
    let read = |path: &Path| match path.to_str() {
        Some("suites/x.toml") => Ok(format!("title = 't'\nbase = '../bases/over.toml'\n{rest}")),
        Some("bases/over.toml") => Ok("base = 'base.toml'\n[training]\nsteps = 2000\n".to_owned()),
        Some("bases/base.toml") => Ok(BASE.to_owned()),
        _ => Err(io::ErrorKind::NotFound.into()),
    };
    load_suite(Path::new("suites/x.toml"), &read).unwrap_or_else(|faults| panic!("{faults}"))
}

fn ids(suite: &Suite) -> Vec<&str> {
    suite.rows.iter().map(|row| row.id.as_str()).collect()
}

#[test]
fn a_suite_is_named_after_its_file_and_has_three_seeds() {
    let suite = suite("[[row]]\nid = 'base'\n");
    assert_eq!(
        (suite.name.as_str(), suite.title.as_str(), &suite.seeds[..]),
        ("x", "t", &[1, 2, 3][..])
    );
}

#[test]
fn rows_and_grids_keep_the_order_of_the_file_and_the_first_key_varies_slowest() {
    let suite = suite(
        "[[row]]\nid = 'base'\n
        [[grid]]\nid = 'f{training.learning_rate_factor}-h{model.heads}'
        set = { training.learning_rate_factor = [0.5, 2.0], model.heads = [8, 2] }\n
        [[row]]\nid = 'last'\nset = { model.layers = 3 }\n",
    );
    assert_eq!(
        ids(&suite),
        ["base", "f0.5-h8", "f0.5-h2", "f2.0-h8", "f2.0-h2", "last"]
    );
    let second = &suite.rows[2].experiment;
    assert_eq!(
        (second.training.learning_rate_factor.to_bits(), second.model.heads),
        (0.5_f64.to_bits(), 2)
    );
}

#[test]
fn a_grid_may_pass_through_the_base_and_hold_a_key_still() {
    let suite = suite("[[grid]]\nid = 'h{model.heads}'\nset = { model.heads = [2, 4, 8], decoding.beam = 2 }\n");
    assert_eq!(ids(&suite), ["h2", "h4", "h8"]);
    assert!(suite.rows.iter().all(|row| row.experiment.decoding.beam == 2));
}

#[test]
fn key_widths_follow_the_heads_unless_they_are_set() {
    let suite = suite(
        "[[row]]\nid = 'base'\n[[row]]\nid = 'follows'\nset = { model.heads = 1 }\n
        [[row]]\nid = 'held'\nset = { model.heads = 1, model.d_v = 16 }\n",
    );
    let widths = |index: usize| {
        (
            suite.rows[index].experiment.model.d_k,
            suite.rows[index].experiment.model.d_v,
        )
    };
    assert_eq!([widths(0), widths(1), widths(2)], [(16, 16), (64, 64), (64, 16)]);
}

#[test]
fn a_row_may_switch_off_what_gives_an_inherited_value_its_meaning() {
    let suite = suite("[[row]]\nid = 'greedy'\nset = { decoding.beam = 1 }\n");
    let greedy = &suite.rows[0].experiment;
    assert_eq!(key("decoding.length_penalty").unwrap().value_in(greedy), None);
    assert!(!render(greedy).contains("length_penalty"));
}

#[test]
fn a_learned_table_takes_its_length_from_the_row() {
    let suite = suite("[[row]]\nid = 'E'\nset = { model.positional = 'learned', model.max_positions = 115 }\n");
    assert_eq!(
        suite.rows[0].experiment.model.positional,
        Positional::Learned { max_positions: 115 }
    );
}

#[test]
fn changes_are_listed_against_the_baseline_in_the_order_of_the_schema() {
    let suite = suite("[[row]]\nid = 'D1'\nset = { regularization.dropout = 0.0 }\n[[row]]\nid = 'base'\n");
    assert_eq!(suite.baseline, "base");
    assert_eq!(suite.baseline_row().changes, []);
    let change = Change {
        key: "regularization.dropout",
        baseline: Some(Value::Real(0.1)),
        row: Some(Value::Real(0.0)),
    };
    assert_eq!(suite.row("D1").unwrap().changes, [change]);
}

#[test]
fn bookkeeping_that_follows_a_longer_training_is_no_change() {
    let suite = suite("[[row]]\nid = 'base'\n[[row]]\nid = 'long'\nset = { training.steps = 9000 }\n");
    let long = suite.row("long").unwrap();
    assert_eq!(long.experiment.training.validate_every, 450);
    assert_eq!(
        long.changes.iter().map(|change| change.key).collect::<Vec<_>>(),
        ["training.steps"]
    );
}

#[test]
fn the_baseline_can_be_named_and_is_the_first_row_otherwise() {
    let rows = "[[row]]\nid = 'a'\n[[row]]\nid = 'b'\nset = { model.layers = 3 }\n";
    assert_eq!(suite(rows).baseline, "a");
    assert_eq!(suite(&format!("baseline = 'b'\n{rows}")).baseline, "b");
}

#[test]
fn every_value_has_its_place_and_the_value_it_replaced() {
    let suite = suite("[[row]]\nid = 'long'\nset = { training.steps = 9000 }\n");
    let places = &suite.rows[0].places;
    let mut chain = Vec::new();
    let mut setting = places.get("training.steps");
    while let Some(set) = setting {
        chain.push(format!("{} at {}", set.value, set.place));
        setting = set.overrides.as_deref();
    }
    let expected = [
        "9000 at suites/x.toml:5:26",
        "2000 at bases/over.toml:3:9",
        "1200 at bases/base.toml:19:9",
    ];
    assert_eq!(chain, expected);
    assert!(!places.contains_key("decoding.beam"), "a default is set nowhere");
}
