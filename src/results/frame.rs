//! The finished runs as a polars frame, with the columns that are averaged or subtracted.

use polars::prelude::*;

use super::{RunRecord, RunStatus};

pub(super) fn of_finished(records: &[RunRecord]) -> PolarsResult<DataFrame> {
    let runs: Vec<_> = records.iter().filter(|run| run.status == RunStatus::Done).collect();
    let column = |of: fn(&RunRecord) -> Option<f64>| runs.iter().map(|run| of(run)).collect::<Vec<_>>();
    df!(
        "row" => runs.iter().map(|run| run.row.as_str()).collect::<Vec<_>>(),
        "seed" => runs.iter().map(|run| run.seed).collect::<Vec<_>>(),
        "parameters" => runs.iter().map(|run| run.parameters).collect::<Vec<_>>(),
        "training_flops" => column(|run| run.training_flops),
        "ppl" => column(|run| run.ppl),
        "bleu" => column(|run| run.bleu),
        "bleu_last" => column(|run| run.bleu_last),
        "bleu_best" => column(|run| run.bleu_best),
        "bleu_average" => column(|run| run.bleu_average),
    )
}
