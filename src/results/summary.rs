//! The frame, grouped by row.

use std::collections::{BTreeMap, BTreeSet};

use polars::prelude::*;

use super::{Difference, ResultsError, RunStatus};

/// Mean and sample standard deviation over seeds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    pub mean: f64,
    /// `None` for a single seed.
    pub sd: Option<f64>,
}

/// What the finished runs of one row have in common.
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

/// Every row with at least one finished run.
pub(super) fn by_row(frame: &DataFrame) -> Result<BTreeMap<String, RowSummary>, ResultsError> {
    let grouped = finished(frame)
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

/// Every row's BLEU minus that of `baseline`, paired by seed; rows without a common seed are absent.
pub(super) fn differences_to(baseline: &str, frame: &DataFrame) -> Result<BTreeMap<String, Difference>, ResultsError> {
    let of_baseline = finished(frame)
        .filter(col("row").eq(lit(baseline.to_owned())))
        .select([col("seed"), col("bleu").alias("baseline_bleu")]);
    let grouped = finished(frame)
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

/// The distinct values of a text column among the finished runs of each row.
pub(super) fn labels(frame: &DataFrame, column: &str) -> Result<BTreeMap<String, BTreeSet<String>>, ResultsError> {
    let found = finished(frame).select([col("row"), col(column)]).collect()?;
    let mut labels: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (row, label) in found
        .column("row")?
        .str()?
        .iter()
        .zip(found.column(column)?.str()?.iter())
    {
        let of_row = labels.entry(row.unwrap_or_default().to_owned()).or_default();
        of_row.extend(label.map(str::to_owned));
    }
    Ok(labels)
}

fn finished(frame: &DataFrame) -> LazyFrame {
    frame
        .clone()
        .lazy()
        .filter(col("status").eq(lit(RunStatus::Done.name())))
}

fn spreads(grouped: &DataFrame, mean: &str, sd: &str) -> Result<Vec<Option<Spread>>, ResultsError> {
    let (means, sds) = (grouped.column(mean)?.f64()?, grouped.column(sd)?.f64()?);
    Ok(means
        .iter()
        .zip(sds.iter())
        .map(|(mean, sd)| Some(Spread { mean: mean?, sd }))
        .collect())
}
