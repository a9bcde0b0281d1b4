//! The key reference, rendered from the schema.

use std::fmt;

use super::keys::{Effect, Fallback, Key, keys};

/// The fields around an experiment's keys. Examples show their kinds.
const SUITE: &str = "\
A suite is a file in the experiments folder:
  title      title of the reports
  base       path of one complete experiment, relative to the suite
  seeds      distinct whole numbers; default [1, 2, 3]
  device     cpu, cuda, cuda:N or auto; --device overrides it; default \"cpu\"
  baseline   id of the row that the others are compared with; default \"base\",
             or the first row where no row has this id
  [[row]]    id; set = { model.heads = 1 }; paper = { ppl, bleu, params_millions };
             label; note
  [[grid]]   id = \"h{model.heads}\"; set = { model.heads = [1, 2] };
             one row for each combination; the first key varies slowest

A base is a file of the tables below. With base = \"other.toml\" it changes
another base.

The sizes of weight matrices are compiled in: d_model, d_ff, heads * d_k and
heads * d_v. Only a new size needs a build.
";

/// Lists every key with its doc, allowed values and default, as text for a terminal.
#[must_use]
pub fn key_reference() -> String {
    let mut table = "";
    let entries = keys().map(|key| {
        let heading = if key.table() == table {
            String::new()
        } else {
            format!("\n[{}]\n", key.table())
        };
        table = key.table();
        heading + &entry(key)
    });
    let entries: String = entries.collect();
    SUITE.to_owned() + &entries
}

fn entry(key: &Key) -> String {
    let needs = key.needs.map_or_else(String::new, |needs| {
        format!("; only with {} {}", needs.key.path, needs.condition)
    });
    let build = match key.effect {
        Effect::Shape => "; a new matrix size needs a build",
        Effect::Outcome | Effect::Bookkeeping => "",
    };
    let (name, doc, kind, fallback) = (key.name(), key.doc, key.kind, &key.fallback);
    format!("  {name}: {doc}\n      {kind}; {fallback}{needs}{build}\n")
}

impl fmt::Display for Fallback {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Required => f.write_str("required"),
            Self::Absent => f.write_str("optional"),
            Self::Whole(number) => write!(f, "default {number}"),
            Self::Real(number) => write!(f, "default {number:?}"),
            Self::Text(text) => write!(f, "default \"{text}\""),
            Self::Derived { rule, .. } => write!(f, "default {rule}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::row_entry::{GRID_FIELDS, PAPER_FIELDS, ROW_FIELDS};
    use crate::spec::suite_file::FIELDS;

    #[test]
    fn the_reference_names_every_field_and_key() {
        let text = key_reference();
        let fields = [&FIELDS[..], &ROW_FIELDS, &GRID_FIELDS, &PAPER_FIELDS].concat();
        for name in fields.into_iter().chain(keys().map(Key::name)) {
            assert!(text.contains(name), "{name} is missing");
        }
    }

    #[test]
    fn an_entry_tells_kind_default_and_condition() {
        let text = key_reference();
        assert!(text.contains("  d_k: width of one head's queries and keys\n      a whole number from 1 to 65536; default model.d_model / model.heads; a new matrix size needs a build\n"));
        assert!(text.contains("only with model.positional = \"learned\""));
    }
}
