//! `ablate plan --lint`: the figures of a suite's trainings that people check first, and warnings.

use std::path::Path;

use super::table::column;
use crate::cli::failure::Failure;
use crate::cli::run::cache_dir;
use crate::data::load;
use crate::plan::{CorpusSize, Regime, oddities};
use crate::report::{Align, Column};
use crate::spec::{Data, Row, Suite};

/// Returns the size of every row's corpus, in the order of the rows. A corpus of several rows is read once.
pub fn corpora(suite: &Suite, data_dir: Option<&Path>) -> Result<Vec<CorpusSize>, Failure> {
    let cache = cache_dir(Path::new("results"));
    let mut known: Vec<(&Data, CorpusSize)> = Vec::new();
    let mut sizes = Vec::new();
    for row in &suite.rows {
        let data = &row.experiment.data;
        let size = if let Some((_, size)) = known.iter().find(|(found, _)| *found == data) {
            *size
        } else {
            let size = load(data, data_dir, &cache)?.training_size();
            known.push((data, size));
            size
        };
        sizes.push(size);
    }
    Ok(sizes)
}

/// Returns the figures that people check first.
pub fn columns(suite: &Suite, corpora: &[CorpusSize]) -> Vec<Column> {
    let regimes: Vec<Regime> = suite
        .rows
        .iter()
        .zip(corpora)
        .map(|(row, corpus)| Regime::of(&row.experiment, Some(*corpus)))
        .collect();
    let figure =
        |title: &str, cell: fn(&Regime) -> String| Column::new(title, Align::Right, regimes.iter().map(cell).collect());
    vec![
        column("row", Align::Left, suite, |row| row.id.clone()),
        figure("peak rate", |regime| format!("{:.2e}", regime.peak_learning_rate)),
        figure("at step", |regime| regime.warmup_steps.to_string()),
        figure("warm-up", |regime| format!("{:.0} %", 100.0 * regime.warmup_share())),
        figure("updates", |regime| regime.steps.to_string()),
        figure("tokens per update", |regime| regime.batch_tokens.to_string()),
        figure("updates per epoch", |regime| {
            regime
                .corpus
                .map_or_else(String::new, |passes| format!("{:.0}", passes.steps_per_epoch))
        }),
        figure("epochs", |regime| {
            regime
                .corpus
                .map_or_else(String::new, |passes| format!("{:.1}", passes.epochs))
        }),
    ]
}

/// Returns every warning with the rows it applies to; without `corpora`, only warnings about the spec.
pub fn warnings(suite: &Suite, corpora: Option<&[CorpusSize]>) -> Vec<String> {
    let mut found: Vec<(String, Vec<&Row>)> = Vec::new();
    for (number, row) in suite.rows.iter().enumerate() {
        for warning in oddities(&row.experiment, corpora.map(|sizes| sizes[number])) {
            match found.iter_mut().find(|(known, _)| *known == warning) {
                Some((_, rows)) => rows.push(row),
                None => found.push((warning, vec![row])),
            }
        }
    }
    let with_rows = |(warning, rows): (String, Vec<&Row>)| {
        let ids: Vec<&str> = rows.iter().map(|row| row.id.as_str()).collect();
        let which = if rows.len() == suite.rows.len() {
            "every row".to_owned()
        } else {
            ids.join(", ")
        };
        format!("{which}: {warning}")
    };
    found.into_iter().map(with_rows).collect()
}
