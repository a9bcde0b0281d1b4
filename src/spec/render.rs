//! The resolved `spec.toml`: every value of an experiment written out, in the order of the schema.

use std::fmt::Write as _;

use super::experiment::Experiment;
use super::keys::keys;

/// Writes an experiment as a base that `load_experiment` reads back unchanged. Equal experiments give equal
/// text, so this is also what a spec's hash is taken of.
#[must_use]
pub fn render(experiment: &Experiment) -> String {
    let mut text = String::new();
    let mut table = "";
    for key in keys() {
        let Some(value) = key.value_in(experiment) else {
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
