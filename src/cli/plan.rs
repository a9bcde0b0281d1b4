//! `ablate plan`: the runs of a suite and their costs.

mod lint;
mod parameters;
mod table;

use std::fmt::Write;

use super::args::PlanArgs;
use super::failure::Failure;
use super::output::{self, put};
use super::suites;
use crate::plan::CorpusSize;
use crate::report::to_plain;
use crate::spec::{Row, Setting, Suite, key_reference, keys};

pub fn plan(args: &PlanArgs) -> Result<(), Failure> {
    if args.keys {
        put(key_reference());
        return Ok(());
    }
    let suite = suites::load(&args.experiments.experiments, &args.suite)?;
    if let Some(row) = &args.explain {
        put(explain(suites::row(&suite, row)?));
        return Ok(());
    }
    put(format_args!("{}\n\n", suite.title));
    if args.parameters {
        put(to_plain(&parameters::columns(&suite)));
        return Ok(());
    }
    let corpora = if args.lint {
        let sizes = lint::corpora(&suite, args.data_dir.data_dir.as_deref())?;
        put(to_plain(&lint::columns(&suite, &sizes)));
        Some(sizes)
    } else {
        put(to_plain(&table::columns(&suite, args.gflops)));
        put(format_args!("\n{}", table::summary(&suite, args.gflops)));
        None
    };
    warn(&suite, corpora.as_deref());
    Ok(())
}

/// Prints the warnings about the trainings of a suite; without `corpora`, only those about its spec.
pub fn warn(suite: &Suite, corpora: Option<&[CorpusSize]>) {
    for warning in lint::warnings(suite, corpora) {
        output::warn(warning);
    }
}

/// Lists every value of a row with its place, and with the value it replaced.
fn explain(row: &Row) -> String {
    let mut text = String::new();
    for key in keys() {
        let Some(value) = key.value_in(&row.experiment) else {
            continue;
        };
        let origin = row.places.get(key.path).map_or_else(|| "default".to_owned(), origin);
        writeln!(text, "{} = {value}  # {origin}", key.path).expect("a string takes all");
    }
    text
}

fn origin(setting: &Setting) -> String {
    let here = setting.place.to_string();
    match &setting.overrides {
        Some(parent) => format!("{here}, instead of {} ({})", parent.value, origin(parent)),
        None => here,
    }
}
