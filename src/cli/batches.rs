//! `ablate data batches`: what a run trains on, for other programs that are to train on the same.

use std::io;
use std::path::Path;

use indicatif::ProgressBar;
use serde::Serialize;

use super::args::DataBatchesArgs;
use super::failure::Failure;
use super::output::{check_file, warn, write_json_line};
use super::progress::style;
use super::{run, suites};
use crate::data::{EncodedPairs, UpdateSize, Updates, load};
use crate::durable;
use crate::model::Batch;
use crate::plan::Run;
use crate::spec::render;

/// Source and target tokens of a pair, without the decoder's first token and without ends.
type Tokens<'a> = (&'a [u32], &'a [u32]);

/// First line of the file.
#[derive(Serialize)]
struct Header<'a> {
    suite: &'a str,
    row: &'a str,
    seed: u64,
    /// Number of updates; each has a line.
    updates: usize,
    /// The experiment, every value written out, as in the `spec.toml` of a run.
    spec: String,
    dev: Vec<Tokens<'a>>,
}

pub fn batches(args: &DataBatchesArgs) -> Result<(), Failure> {
    let (suite, run) = suites::run(&args.experiments, &args.run)?;
    check_file(&args.file)?;
    let cache = run::cache_dir(Path::new("results"));
    let dataset = load(&run.experiment.data, args.data_dir.data_dir.as_deref(), &cache)?;
    for warning in dataset.report.warnings() {
        warn(warning);
    }
    let header = Header {
        suite: &suite.name,
        row: &run.row,
        seed: run.seed,
        updates: args.steps.map_or(run.experiment.training.steps, |steps| steps as usize),
        spec: render(&run.experiment),
        dev: all(&dataset.ids.dev),
    };
    write(&args.file, &header, &mut updates(&dataset.ids.train, &run)).map_err(Failure::io(&args.file))
}

fn updates<'a>(pairs: &'a EncodedPairs, run: &Run) -> Updates<'a> {
    Updates::new(pairs, UpdateSize::of(&run.experiment.training), run.seed)
}

fn write(path: &Path, header: &Header, updates: &mut Updates) -> io::Result<()> {
    let mut file = durable::begin(path)?;
    write_json_line(&mut file, header)?;
    let bar = ProgressBar::new(header.updates as u64).with_style(style("{bar:16} {pos}/{len} updates, {eta} left"));
    for step in 0..header.updates {
        let micro_batches = updates.update(step);
        write_json_line(&mut file, &micro_batches.iter().map(tokens).collect::<Vec<_>>())?;
        bar.inc(1);
    }
    bar.finish_and_clear();
    file.finish()
}

fn all(pairs: &EncodedPairs) -> Vec<Tokens<'_>> {
    (0..pairs.len()).map(|index| pairs.pair(index)).collect()
}

fn tokens(batch: &Batch) -> Vec<Tokens<'_>> {
    let sentences = 0..batch.source.sentences();
    sentences.map(|index| batch.pair(index)).collect()
}
