//! `ablate data batches`: what a run trains on, for other programs that are to train on the same.

use std::io::{self, BufWriter, Write};
use std::path::Path;

use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;

use super::args::DataBatchesArgs;
use super::failure::Failure;
use super::output::check_file;
use super::{run, suites};
use crate::atomic;
use crate::data::{EncodedPairs, UpdateSize, Updates, load};
use crate::model::Batch;
use crate::plan::Run;
use crate::spec::render;

/// Source and target pieces, without those that every sentence has: the decoder's first, and the end.
type Pieces<'a> = (&'a [u32], &'a [u32]);

/// The first line.
#[derive(Serialize)]
struct Header<'a> {
    suite: &'a str,
    row: &'a str,
    seed: u64,
    /// Updates, a line each.
    updates: usize,
    /// The experiment, every value written out, as in the `spec.toml` of a run.
    spec: String,
    dev: Vec<Pieces<'a>>,
}

pub fn batches(args: &DataBatchesArgs) -> Result<(), Failure> {
    let suite = suites::load(&args.experiments.experiments, &args.suite)?;
    let run = suites::run(&suite, &args.row, args.seed)?;
    check_file(&args.file)?;
    let cache = run::cache_dir(Path::new("results"));
    let dataset = load(&run.experiment.data, args.data_dir.data_dir.as_deref(), &cache)?;
    for warning in dataset.report.warnings() {
        eprintln!("warning: {warning}");
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
    let mut file = BufWriter::new(atomic::begin(path)?);
    write_line(&mut file, header)?;
    let bar = ProgressBar::new(header.updates as u64).with_style(style());
    for step in 0..header.updates {
        let micro_batches = updates.update(step);
        write_line(&mut file, &micro_batches.iter().map(pieces).collect::<Vec<_>>())?;
        bar.inc(1);
    }
    bar.finish_and_clear();
    file.into_inner().map_err(io::IntoInnerError::into_error)?.finish()
}

fn write_line(file: &mut dyn Write, value: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer(&mut *file, value)?;
    file.write_all(b"\n")
}

fn style() -> ProgressStyle {
    ProgressStyle::with_template("{bar:16} {pos}/{len} updates, {eta} left")
        .expect("a template of ours")
        .progress_chars("=> ")
}

fn all(pairs: &EncodedPairs) -> Vec<Pieces<'_>> {
    (0..pairs.len()).map(|index| pairs.pair(index)).collect()
}

fn pieces(batch: &Batch) -> Vec<Pieces<'_>> {
    let sentences = 0..batch.source.sentences();
    sentences.map(|index| batch.pair(index)).collect()
}
