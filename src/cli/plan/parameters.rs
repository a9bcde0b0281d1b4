//! `ablate plan --parameters`: parameter counts by part of the model.

use super::table::{column, millions};
use crate::report::{Align, Column};
use crate::spec::{Parameters, Row, Suite};

/// Returns a column for each part of the model, with the counts of every row, computed from the sizes.
pub fn columns(suite: &Suite) -> Vec<Column> {
    type Place = (&'static str, fn(&Parameters) -> u64);
    let places: [Place; 9] = [
        ("embedding", |found| found.embedding),
        ("positions", |found| found.positions),
        ("encoder self-attention", |found| found.encoder.self_attention),
        ("feed-forward", |found| found.encoder.feed_forward),
        ("norms", |found| found.encoder.norms),
        ("decoder self-attention", |found| found.decoder.self_attention),
        ("cross-attention", |found| found.decoder.cross_attention),
        ("feed-forward", |found| found.decoder.feed_forward),
        ("norms", |found| found.decoder.norms),
    ];
    let parameters = |row: &Row| Parameters::of(&row.experiment);
    let mut columns = vec![column("row", Align::Left, suite, |row| row.id.clone())];
    columns.extend(
        places.map(|(title, count)| column(title, Align::Right, suite, |row| count(&parameters(row)).to_string())),
    );
    columns.extend([
        column("total", Align::Right, suite, |row| parameters(row).total().to_string()),
        column("M", Align::Right, suite, |row| millions(parameters(row).total() as f64)),
        column("paper M", Align::Right, suite, |row| {
            row.paper.params_millions.map(|m| m.to_string()).unwrap_or_default()
        }),
    ]);
    columns
}
