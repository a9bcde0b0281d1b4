//! `ablate report`: a suite's CSV and report from the folders of its runs.

use std::fs;
use std::io::IsTerminal;
use std::path::Path;

use super::args::{ReportArgs, ResultsDir};
use super::failure::Failure;
use super::output::put_line;
use super::suites;
use crate::durable;
use crate::plan::Plan;
use crate::record::{History, RunFolder};
use crate::report::{Budget, ReportContext, html, markdown, terminal};
use crate::results::{Comparison, LossCurve, PlannedRun, ResultsTable, RowTarget, RunRecord, mean_dev_curve};
use crate::spec::{Change, Row, Suite, keys};

pub fn report(args: &ReportArgs) -> Result<(), Failure> {
    let suite = suites::load(&args.experiments.experiments, &args.suite)?;
    print(&write(&suite, &args.results)?);
    Ok(())
}

/// Writes the suite's CSV and its report.
pub fn write(suite: &Suite, folders: &ResultsDir) -> Result<Comparison, Failure> {
    let results = folders.results.as_path();
    let table = ResultsTable::new(records(suite, results))?;
    let csv = results.join(format!("{}.csv", suite.name));
    fs::create_dir_all(results).map_err(Failure::io(results))?;
    table.write(&csv)?;
    let comparison = Comparison::new(&table, &suite.baseline, &targets(suite))?;
    let context = context(suite);
    let reports = folders.reports();
    save(
        &reports,
        &format!("{}.md", suite.name),
        &markdown(&comparison, &context),
    )?;
    save(
        &reports,
        &format!("{}.html", suite.name),
        &html(&comparison, &context, &curves(suite, results)),
    )?;
    Ok(comparison)
}

/// The table, as wide as the terminal.
pub fn print(comparison: &Comparison) {
    let width = if std::io::stdout().is_terminal() {
        usize::from(console::Term::stdout().size().1)
    } else {
        // A file has room for every column.
        usize::MAX
    };
    put_line(terminal(comparison, width).trim_end());
}

fn records(suite: &Suite, results: &Path) -> Vec<RunRecord> {
    let record = |run: crate::plan::Run| {
        let folder = RunFolder::new(results, &suite.name, &run.row, run.seed);
        let planned = PlannedRun {
            suite: suite.name.clone(),
            row: run.row,
            seed: run.seed,
            steps: run.experiment.training.steps as u64,
            spec_hash: run.spec_hash,
        };
        RunRecord::read(&folder, &planned)
    };
    Plan::of(suite).runs.into_iter().map(record).collect()
}

fn targets(suite: &Suite) -> Vec<RowTarget> {
    let change = |change: &Change| {
        let value = change
            .row
            .as_ref()
            .map_or_else(|| "unused".to_owned(), crate::spec::Value::bare);
        (change.key.to_owned(), value)
    };
    let target = |row: &Row| RowTarget {
        id: row.id.clone(),
        label: row.label.clone(),
        note: row.note.clone(),
        changes: row.changes.iter().map(change).collect(),
        paper_ppl: row.paper.ppl,
        paper_bleu: row.paper.bleu,
        paper_params_millions: row.paper.params_millions,
    };
    suite.rows.iter().map(target).collect()
}

fn context(suite: &Suite) -> ReportContext {
    let base = &suite.baseline_row().experiment;
    ReportContext {
        title: suite.title.clone(),
        base: keys()
            .filter_map(|key| Some((key.path.to_owned(), key.value_in(base)?.bare())))
            .collect(),
        budget: budget(suite),
    }
}

/// The paper's figures are targets where its corpus and sizes are used, and directions elsewhere.
fn budget(suite: &Suite) -> Budget {
    let base = &suite.baseline_row().experiment;
    let is_paper = matches!(base.data.corpus, crate::spec::Corpus::Wmt14 { .. })
        && (base.model.layers, base.model.d_model, base.training.steps) == (6, 512, 100_000);
    if is_paper { Budget::Paper } else { Budget::Scaled }
}

/// The mean dev loss of every row over its seeds, as far as there is a history.
fn curves(suite: &Suite, results: &Path) -> Vec<LossCurve> {
    let history = |row: &Row, seed: &u64| {
        let path = RunFolder::new(results, &suite.name, &row.id, *seed).history();
        History::read(&path).ok()
    };
    suite
        .rows
        .iter()
        .map(|row| {
            mean_dev_curve(
                &row.id,
                &suite
                    .seeds
                    .iter()
                    .filter_map(|seed| history(row, seed))
                    .collect::<Vec<_>>(),
            )
        })
        .collect()
}

fn save(folder: &Path, name: &str, text: &str) -> Result<(), Failure> {
    let path = folder.join(name);
    fs::create_dir_all(folder)
        .and_then(|()| durable::write(&path, text.as_bytes()))
        .map_err(Failure::io(&path))
}
