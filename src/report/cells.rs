//! The columns of results: our figures, with the paper's in parentheses.

use super::table::{Align, Column, Shown};
use super::verdict::{status, verdict};
use crate::results::{BleuOfWeights, Comparison, Difference, RowComparison, Spread};

pub(super) fn row_labels(comparison: &Comparison) -> Column {
    column("row", Align::Left, comparison, |row| row.label.clone())
}

pub(super) fn runs(comparison: &Comparison) -> Column {
    column("runs", Align::Right, comparison, |row| {
        format!("{}/{}", row.runs.done, row.runs.planned)
    })
}

pub(super) fn parameters(comparison: &Comparison) -> Column {
    column("params M", Align::Right, comparison, |row| {
        let ours = row.parameters.map_or_else(|| "-".to_owned(), millions);
        beside(ours, row.paper.params_millions.map(|paper| format!("{paper}")))
    })
}

pub(super) fn perplexity(comparison: &Comparison) -> Column {
    column("PPL", Align::Right, comparison, |row| {
        let ours = row.ppl.map_or_else(|| status(row), mean_and_sd);
        beside(ours, row.paper.ppl.map(|paper| format!("{paper:.2}")))
    })
}

pub(super) fn bleu(comparison: &Comparison) -> Column {
    column("BLEU", Align::Right, comparison, |row| {
        let ours = row.bleu.map_or_else(|| status(row), mean_and_sd);
        beside(ours, row.paper.bleu.map(|paper| format!("{paper:.1}")))
    })
}

/// Returns BLEU of the weights to choose from, or `None` if no row has a choice.
pub(super) fn bleu_of_weights(comparison: &Comparison) -> Option<Column> {
    let column = column("last / best / average", Align::Right, comparison, |row| {
        let BleuOfWeights { last, best, average } = row.of_weights;
        let known = [last, best, average].map(|bleu| bleu.map_or_else(|| "-".to_owned(), |bleu| format!("{bleu:.2}")));
        if last.is_some() {
            known.join(" / ")
        } else {
            String::new()
        }
    });
    column.shown(Shown::Pages).unless_empty()
}

pub(super) fn training_flops(comparison: &Comparison) -> Option<Column> {
    let column = column("FLOPs", Align::Right, comparison, |row| {
        row.training_flops
            .map_or_else(String::new, |flops| format!("{flops:.1e}"))
    });
    column.shown(Shown::Pages).unless_empty()
}

pub(super) fn difference(comparison: &Comparison) -> Column {
    column("Δ BLEU", Align::Right, comparison, |row| {
        if row.id == comparison.baseline {
            return String::new();
        }
        let ours = row
            .difference
            .as_ref()
            .map_or_else(|| "-".to_owned(), mean_and_interval);
        beside(ours, row.paper.difference.map(|paper| signed(paper, 1)))
    })
}

pub(super) fn verdicts(comparison: &Comparison) -> Column {
    column("verdict", Align::Left, comparison, |row| verdict(comparison, row))
}

fn column(title: &str, align: Align, of: &Comparison, cell: impl Fn(&RowComparison) -> String) -> Column {
    Column::new(title, align, of.rows.iter().map(cell).collect())
}

fn beside(ours: String, paper: Option<String>) -> String {
    match paper {
        Some(paper) => format!("{ours} ({paper})"),
        None => ours,
    }
}

fn millions(parameters: u64) -> String {
    let millions = parameters as f64 / 1e6;
    if millions < 10.0 {
        format!("{millions:.2}")
    } else {
        format!("{millions:.1}")
    }
}

fn mean_and_sd(spread: Spread) -> String {
    match spread.sd {
        Some(sd) => format!("{:.2} ± {sd:.2}", spread.mean),
        None => format!("{:.2}", spread.mean),
    }
}

fn mean_and_interval(difference: &Difference) -> String {
    let mean = signed(difference.mean, 2);
    match difference.evidence {
        Some(evidence) => format!("{mean} ± {:.2}", evidence.half_width_95),
        None => mean,
    }
}

/// Formats with the sign, but a zero without one.
fn signed(value: f64, decimals: usize) -> String {
    let text = format!("{value:+.decimals$}");
    let is_zero = text.chars().all(|c| !c.is_ascii_digit() || c == '0');
    if is_zero { text.replace(['-', '+'], "") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_that_rounds_to_zero_has_no_sign() {
        assert_eq!(signed(-0.04, 1), "0.0");
        assert_eq!(signed(0.0, 2), "0.00");
        assert_eq!(signed(24.9 - 25.8, 1), "-0.9");
        assert_eq!(signed(0.05, 2), "+0.05");
    }

    #[test]
    fn small_models_keep_two_decimals() {
        assert_eq!(millions(257_400), "0.26");
        assert_eq!(millions(63_045_632), "63.0");
    }
}
