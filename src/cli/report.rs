//! `ablate report`: a suite's CSV and report from the folders of its runs.

use std::fs;
use std::io::IsTerminal;
use std::path::Path;

use super::args::{ReportArgs, ResultsDir};
use super::failure::Failure;
use super::output::put_line;
use super::suites;
use crate::durable;
use crate::report::{ReportContext, Section, html, markdown, sections, terminal};
use crate::results::{Comparison, ResultsTable, loss_curves};
use crate::spec::Suite;

pub fn report(args: &ReportArgs) -> Result<(), Failure> {
    let suite = suites::load(&args.experiments.experiments, &args.suite)?;
    print(&write(&suite, &args.results)?);
    Ok(())
}

/// Writes the suite's CSV and its report, and returns the sections of the report.
pub fn write(suite: &Suite, folders: &ResultsDir) -> Result<Vec<Section>, Failure> {
    let results = folders.results.as_path();
    let table = ResultsTable::of_suite(suite, results)?;
    fs::create_dir_all(results).map_err(Failure::io(results))?;
    table.write(&results.join(format!("{}.csv", suite.name)))?;
    let comparison = Comparison::of_suite(suite, &table)?;
    let sections = sections(&comparison, &ReportContext::of(suite), &loss_curves(suite, results));
    let reports = folders.reports();
    save(
        &reports,
        &format!("{}.md", suite.name),
        &markdown(&suite.title, &sections),
    )?;
    save(
        &reports,
        &format!("{}.html", suite.name),
        &html(&suite.title, &sections),
    )?;
    Ok(sections)
}

/// Prints the sections, as wide as the terminal.
pub fn print(sections: &[Section]) {
    let width = if std::io::stdout().is_terminal() {
        usize::from(console::Term::stdout().size().1)
    } else {
        // A file has room for every column.
        usize::MAX
    };
    put_line(terminal(sections, width).trim_end());
}

fn save(folder: &Path, name: &str, text: &str) -> Result<(), Failure> {
    let path = folder.join(name);
    fs::create_dir_all(folder)
        .and_then(|()| durable::write(&path, text.as_bytes()))
        .map_err(Failure::io(&path))
}
