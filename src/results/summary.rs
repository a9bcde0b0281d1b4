//! The finished runs, grouped by row.

use std::collections::{BTreeMap, BTreeSet};

use polars::prelude::*;

use super::{Difference, ResultsError, RunRecord, RunStatus};

/// Mean and sample standard deviation over seeds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    pub mean: f64,
    /// `None` for a single seed.
    pub sd: Option<f64>,
}

/// Figures of the finished runs of one row.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct RowSummary {
    pub done: usize,
    pub parameters: Option<u64>,
    pub training_flops: Option<f64>,
    pub ppl: Spread,
    pub bleu: Spread,
    pub of_weights: BleuOfWeights,
}

/// Mean BLEU of each set of weights; `None` where the runs did not choose among several.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct BleuOfWeights {
    pub last: Option<f64>,
    pub best: Option<f64>,
    pub average: Option<f64>,
}

/// Summarises every row that has a finished run; `frame` is [`super::frame::of_finished`].
pub(super) fn by_row(frame: &DataFrame) -> Result<BTreeMap<String, RowSummary>, ResultsError> {
    let grouped = frame
        .clone()
        .lazy()
        .group_by_stable([col("row")])
        .agg([
            len().cast(DataType::UInt64).alias("done"),
            col("parameters").first(),
            col("training_flops").mean(),
            col("bleu_last").mean(),
            col("bleu_best").mean(),
            col("bleu_average").mean(),
            col("ppl").mean().alias("ppl_mean"),
            col("ppl").std(1).alias("ppl_sd"),
            col("bleu").mean().alias("bleu_mean"),
            col("bleu").std(1).alias("bleu_sd"),
        ])
        .collect()?;
    let (rows, done) = (grouped.column("row")?.str()?, grouped.column("done")?.u64()?);
    let parameters = grouped.column("parameters")?.u64()?;
    let training_flops = grouped.column("training_flops")?.f64()?;
    let (last, best) = (grouped.column("bleu_last")?.f64()?, grouped.column("bleu_best")?.f64()?);
    let average = grouped.column("bleu_average")?.f64()?;
    let (ppl, bleu) = (
        spreads(&grouped, "ppl_mean", "ppl_sd")?,
        spreads(&grouped, "bleu_mean", "bleu_sd")?,
    );
    let summaries = (0..grouped.height()).filter_map(|i| {
        let summary = RowSummary {
            done: done.get(i)? as usize,
            parameters: parameters.get(i),
            training_flops: training_flops.get(i),
            ppl: ppl[i]?,
            bleu: bleu[i]?,
            of_weights: BleuOfWeights {
                last: last.get(i),
                best: best.get(i),
                average: average.get(i),
            },
        };
        Some((rows.get(i)?.to_owned(), summary))
    });
    Ok(summaries.collect())
}

/// Returns every row's BLEU minus that of `baseline`, paired by seed. Rows without a common seed are absent.
pub(super) fn differences_to(baseline: &str, frame: &DataFrame) -> Result<BTreeMap<String, Difference>, ResultsError> {
    let finished = frame.clone().lazy();
    let of_baseline = finished
        .clone()
        .filter(col("row").eq(lit(baseline.to_owned())))
        .select([col("seed"), col("bleu").alias("baseline_bleu")]);
    let grouped = finished
        .filter(col("row").neq(lit(baseline.to_owned())))
        .join(
            of_baseline,
            [col("seed")],
            [col("seed")],
            JoinArgs::new(JoinType::Inner),
        )
        // A join promises no order, and the last bits of a sum depend on it.
        .sort(["row", "seed"], SortMultipleOptions::default())
        .with_column((col("bleu") - col("baseline_bleu")).alias("difference"))
        .group_by_stable([col("row")])
        .agg([
            len().cast(DataType::UInt64).alias("seeds"),
            col("difference").mean().alias("mean"),
            col("difference").std(1).alias("sd"),
        ])
        .collect()?;
    let (rows, seeds) = (grouped.column("row")?.str()?, grouped.column("seeds")?.u64()?);
    let spreads = spreads(&grouped, "mean", "sd")?;
    let differences = (0..grouped.height()).filter_map(|i| {
        let Spread { mean, sd } = spreads[i]?;
        Some((
            rows.get(i)?.to_owned(),
            Difference::new(mean, sd, seeds.get(i)? as usize),
        ))
    });
    Ok(differences.collect())
}

/// Returns the distinct values of a text column among the finished runs of each row.
pub(super) fn labels(records: &[RunRecord], of: fn(&RunRecord) -> Option<&String>) -> BTreeMap<&str, BTreeSet<String>> {
    let mut labels: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for run in records.iter().filter(|run| run.status == RunStatus::Done) {
        labels.entry(&run.row).or_default().extend(of(run).cloned());
    }
    labels
}

fn spreads(grouped: &DataFrame, mean: &str, sd: &str) -> Result<Vec<Option<Spread>>, ResultsError> {
    let (means, sds) = (grouped.column(mean)?.f64()?, grouped.column(sd)?.f64()?);
    Ok(means
        .iter()
        .zip(sds.iter())
        .map(|(mean, sd)| Some(Spread { mean: mean?, sd }))
        .collect())
}
