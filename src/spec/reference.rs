//! The key reference, rendered from the schema.

use std::fmt::Write as _;

use super::keys::{Effect, Fallback, keys};

/// Every key with its doc, allowed values and default, as text of at most 100 columns.
#[must_use]
pub fn key_reference() -> String {
    let mut text = String::new();
    let mut table = "";
    for key in keys() {
        if key.table() != table {
            table = key.table();
            writeln!(text, "[{table}]").expect("a string takes all");
        }
        let default = match key.fallback {
            Fallback::Required => "required".to_owned(),
            Fallback::Whole(number) => format!("default {number}"),
            Fallback::Real(number) => format!("default {number:?}"),
            Fallback::Text(text) => format!("default \"{text}\""),
            Fallback::Derived { rule, .. } => format!("default {rule}"),
        };
        let build = if key.effect == Effect::Shape {
            "; a new value needs a build"
        } else {
            ""
        };
        writeln!(text, "  {}  {}", key.name(), key.doc).expect("a string takes all");
        writeln!(text, "      {}; {default}{build}", key.kind).expect("a string takes all");
        if let Some(needs) = key.needs {
            writeln!(text, "      only with {} {}", needs.key, needs.condition).expect("a string takes all");
        }
    }
    text
}
