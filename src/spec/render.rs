//! The resolved `spec.toml`: every value of an experiment written out, in the order of the schema.

use std::fmt::Write as _;

use super::experiment::Experiment;
use super::keys::{Key, keys};
use super::value::Value;

/// Keys that are younger than the first results that were kept. Those were made with what is now the key's default, so
/// a default is no part of what such a spec is known by.
const YOUNGER_THAN_RESULTS: [&str; 9] = [
    "training.precision",
    "data.vocab_pairs",
    "data.case",
    "selection.best_by",
    "selection.patience",
    "selection.average",
    "selection.average_of",
    "selection.weights",
    "evaluation.bleu",
];

/// Writes an experiment as a base that `load_experiment` reads back unchanged.
#[must_use]
pub fn render(experiment: &Experiment) -> String {
    render_if(experiment, |_, _| true)
}

/// What a spec's hash is taken of: [`render`] without the defaults of keys that came later. Equal experiments give
/// equal text, others another.
#[must_use]
pub fn identity(experiment: &Experiment) -> String {
    render_if(experiment, |key, value| {
        !(YOUNGER_THAN_RESULTS.contains(&key.path) && key.fallback.is(value))
    })
}

fn render_if(experiment: &Experiment, is_wanted: impl Fn(&Key, &Value) -> bool) -> String {
    let mut text = String::new();
    let mut table = "";
    for key in keys() {
        let Some(value) = key.value_in(experiment).filter(|value| is_wanted(key, value)) else {
            continue;
        };
        if key.table() != table {
            let gap = if table.is_empty() { "" } else { "\n" };
            table = key.table();
            writeln!(text, "{gap}[{table}]").expect("a string takes all");
        }
        writeln!(text, "{} = {value}", key.name()).expect("a string takes all");
    }
    text
}
