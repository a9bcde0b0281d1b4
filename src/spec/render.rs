//! The resolved `spec.toml`: every value of an experiment, in the order of the schema.

use std::fmt::Write as _;

use super::experiment::Experiment;
use super::keys::{Identity, Key, keys};
use super::value::Value;

/// Writes an experiment as a base that `load_experiment` reads back unchanged.
#[must_use]
pub fn render(experiment: &Experiment) -> String {
    render_if(experiment, |_, _| true)
}

/// Returns the text that a spec's hash is taken of: [`render`] without the defaults of keys that came later. Two
/// experiments have the same text only if they are equal.
#[must_use]
pub fn identity(experiment: &Experiment) -> String {
    render_if(experiment, |key, value| {
        key.identity == Identity::Always || key.fallback.constant().as_ref() != Some(value)
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
