//! `ablate data`: a look at a corpus, a download of one, or the batches that a run makes of it.

use std::path::Path;

use super::args::{DataArgs, DataCommand, DataShowArgs};
use super::batches::batches;
use super::failure::Failure;
use super::fetch::fetch;
use super::output::{put_line, warn};
use super::suites;
use crate::data::{load, sample, sources};
use crate::spec::Suite;

pub fn data(command: &DataCommand) -> Result<(), Failure> {
    match command {
        DataCommand::Show(args) => show(args),
        DataCommand::Check(args) => check(args),
        DataCommand::Batches(args) => batches(args),
        DataCommand::Fetch(args) => fetch(args),
    }
}

fn show(args: &DataShowArgs) -> Result<(), Failure> {
    let suite = suite(&args.data)?;
    let corpus = &suite.baseline_row().experiment.data.corpus;
    let sources = sources(corpus, args.data.data_dir.data_dir.as_deref())?;
    for (source, target) in sample(sources.get(args.split), args.count, args.seed)? {
        put_line(format_args!("{source}\n  {target}"));
    }
    Ok(())
}

fn check(args: &DataArgs) -> Result<(), Failure> {
    let suite = suite(args)?;
    let cache = super::run::cache_dir(Path::new("results"));
    let dataset = load(
        &suite.baseline_row().experiment.data,
        args.data_dir.data_dir.as_deref(),
        &cache,
    )?;
    put_line(&dataset.report);
    for warning in dataset.report.warnings() {
        warn(warning);
    }
    Ok(())
}

fn suite(args: &DataArgs) -> Result<Suite, Failure> {
    suites::load(&args.experiments.experiments, &args.suite)
}
