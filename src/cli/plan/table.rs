//! The table of `ablate plan`: every row with its values, parameter counts, shape and costs.

use crate::cli::progress::duration;
use crate::plan::{Cost, Plan, ShapeKey};
use crate::report::{Align, Column};
use crate::spec::{self, Key, Row, Schedule, Suite, Value};

/// Tokens per sentence, for the share of attention in the operations. Newstest has about 25.
const MEAN_LENGTH: f64 = 25.0;

/// Returns the columns of a suite's rows: values, parameter counts, shapes and costs.
pub fn columns(suite: &Suite, gflops: f64) -> Vec<Column> {
    let mut columns = vec![column("row", Align::Left, suite, |row| row.id.clone())];
    let own = spec::columns().into_iter();
    columns.extend(own.map(|(key, title)| column(title, Align::Right, suite, |row| marked(row, key))));
    columns.extend(column("other changes", Align::Left, suite, other_changes).unless_empty());
    let cost = |row: &Row| Cost::of(&row.experiment, MEAN_LENGTH);
    columns.extend([
        column("params M", Align::Right, suite, |row| {
            millions(cost(row).parameters.total() as f64)
        }),
        column("paper M", Align::Right, suite, |row| {
            row.paper.params_millions.map(|m| m.to_string()).unwrap_or_default()
        }),
        column("shape", Align::Right, suite, |row| shape_number(suite, row)),
        column("FLOPs", Align::Right, suite, |row| {
            format!("{:.1e}", cost(row).training_flops)
        }),
        column("memory", Align::Right, suite, |row| bytes(cost(row).memory_bytes)),
        column("time", Align::Right, suite, |row| {
            duration(cost(row).training_s(gflops * 1e9))
        }),
    ]);
    columns
}

/// Returns a column with a cell for each row of the suite.
pub fn column(title: &str, align: Align, suite: &Suite, cell: impl Fn(&Row) -> String) -> Column {
    Column::new(title, align, suite.rows.iter().map(cell).collect())
}

/// Writes the row's value, with a star where it differs from the baseline's.
fn marked(row: &Row, key: &Key) -> String {
    let value = bare(key.value_in(&row.experiment).as_ref());
    let is_changed = row.changes.iter().any(|change| change.key == key.path);
    if is_changed { format!("*{value}") } else { value }
}

/// Lists the changes of keys that have no column of their own.
fn other_changes(row: &Row) -> String {
    let changes = row.changes.iter().filter_map(|change| {
        let key = spec::key(change.key).filter(|key| key.column.is_none())?;
        Some(format!("{}={}", key.name(), bare(change.row.as_ref())))
    });
    changes.collect::<Vec<_>>().join(" ")
}

fn bare(value: Option<&Value>) -> String {
    value.map_or_else(|| "-".to_owned(), Value::bare)
}

/// Counts the distinct shapes from 1, in the order of first use.
fn shape_number(suite: &Suite, row: &Row) -> String {
    let shape = ShapeKey::of(&row.experiment);
    let number = Plan::of(suite).shapes.iter().position(|known| *known == shape);
    number.map_or_else(String::new, |number| (number + 1).to_string())
}

/// Describes all runs of a suite together.
pub fn summary(suite: &Suite, gflops: f64) -> String {
    let plan = Plan::of(suite);
    let costs: Vec<Cost> = plan
        .runs
        .iter()
        .map(|run| Cost::of(&run.experiment, MEAN_LENGTH))
        .collect();
    let flops: f64 = costs.iter().map(|cost| cost.training_flops).sum();
    let base = &suite.baseline_row().experiment;
    let seeds: Vec<String> = suite.seeds.iter().map(u64::to_string).collect();
    format!(
        "* differs from row {}. {} rows, seeds {}: {} runs, {} distinct shapes.\n\
         The learning rate of row {} peaks at {:.2e}, at step {}.\n\
         All runs together, one after another and without decoding: {flops:.1e} operations, {} at {gflops} GFLOP/s.\n\
         Operations are counted (matrix products, forward and backward, {MEAN_LENGTH} tokens per sentence). Memory and \
         time are estimates.\n",
        suite.baseline,
        suite.rows.len(),
        seeds.join(", "),
        plan.runs.len(),
        plan.shapes.len(),
        suite.baseline,
        Schedule::of(base).peak(),
        base.training.warmup_steps,
        duration(flops / (gflops * 1e9)),
    )
}

pub fn millions(count: f64) -> String {
    let digits = if count < 1e6 { 3 } else { 2 };
    format!("{:.digits$}", count / 1e6)
}

fn bytes(count: u64) -> String {
    let mebibytes = count as f64 / f64::from(1 << 20);
    if mebibytes < 1024.0 {
        format!("{mebibytes:.0} MiB")
    } else {
        format!("{:.1} GiB", mebibytes / 1024.0)
    }
}
