//! Two result tables side by side.

use std::collections::{BTreeMap, BTreeSet};

use super::summary::{self, Spread};
use super::{ResultsError, ResultsTable, frame};

/// Changes from one result table to another.
#[derive(Debug, Clone, PartialEq)]
pub struct ResultsDiff {
    /// Rows that both tables have, in the order of the first.
    pub rows: Vec<RowDiff>,
    pub only_before: Vec<String>,
    pub only_after: Vec<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct RowDiff {
    pub id: String,
    pub ppl: Result<Change, Refusal>,
    pub bleu: Result<Change, Refusal>,
}

/// Two means over seeds that can be compared.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Change {
    pub before: Spread,
    pub after: Spread,
}

/// Reason why two numbers cannot be compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    NoResultBefore,
    NoResultAfter,
    /// The data differs; several hashes on one side mean that its seeds already differ.
    OtherData {
        before: BTreeSet<String>,
        after: BTreeSet<String>,
    },
    /// The signatures differ.
    OtherSignature {
        before: BTreeSet<String>,
        after: BTreeSet<String>,
    },
}

/// Compares the means of each row: never across data, and BLEU never across signatures.
///
/// # Errors
/// When the means cannot be computed.
pub fn compare(before: &ResultsTable, after: &ResultsTable) -> Result<ResultsDiff, ResultsError> {
    let (ids_before, ids_after) = (row_ids(before), row_ids(after));
    let (results_before, results_after) = (results_by_row(before)?, results_by_row(after)?);
    let only_after = ids_after
        .iter()
        .filter(|id| !ids_before.contains(id))
        .cloned()
        .collect();
    let (both, only_before): (Vec<_>, Vec<_>) = ids_before.into_iter().partition(|id| ids_after.contains(id));
    let diff = |id: String| RowDiff::of(results_before.get(&id), results_after.get(&id), id);
    Ok(ResultsDiff {
        rows: both.into_iter().map(diff).collect(),
        only_before,
        only_after,
    })
}

/// Results of a row in one table.
struct RowResults {
    ppl: Spread,
    bleu: Spread,
    data_hashes: BTreeSet<String>,
    signatures: BTreeSet<String>,
}

fn results_by_row(table: &ResultsTable) -> Result<BTreeMap<String, RowResults>, ResultsError> {
    let mut data_hashes = summary::labels(table.records(), |run| run.data_hash.as_ref());
    let mut signatures = summary::labels(table.records(), |run| run.signature.as_ref());
    let frame = frame::of_finished(table.records())?;
    let rows = summary::by_row(&frame)?.into_iter().map(|(id, summary)| {
        let results = RowResults {
            ppl: summary.ppl,
            bleu: summary.bleu,
            data_hashes: data_hashes.remove(id.as_str()).unwrap_or_default(),
            signatures: signatures.remove(id.as_str()).unwrap_or_default(),
        };
        (id, results)
    });
    Ok(rows.collect())
}

impl RowDiff {
    fn of(before: Option<&RowResults>, after: Option<&RowResults>, id: String) -> Self {
        let like_for_like = same_data(before, after);
        let ppl = like_for_like.clone().map(|(before, after)| Change {
            before: before.ppl,
            after: after.ppl,
        });
        let bleu = like_for_like.and_then(|(before, after)| {
            refuse_unless_one(&before.signatures, &after.signatures, |before, after| {
                Refusal::OtherSignature { before, after }
            })?;
            Ok(Change {
                before: before.bleu,
                after: after.bleu,
            })
        });
        Self { id, ppl, bleu }
    }
}

fn same_data<'a>(
    before: Option<&'a RowResults>,
    after: Option<&'a RowResults>,
) -> Result<(&'a RowResults, &'a RowResults), Refusal> {
    let before = before.ok_or(Refusal::NoResultBefore)?;
    let after = after.ok_or(Refusal::NoResultAfter)?;
    let other_data = |before, after| Refusal::OtherData { before, after };
    refuse_unless_one(&before.data_hashes, &after.data_hashes, other_data)?;
    Ok((before, after))
}

/// Refuses unless both sides have the same single label.
fn refuse_unless_one(
    before: &BTreeSet<String>,
    after: &BTreeSet<String>,
    refusal: impl FnOnce(BTreeSet<String>, BTreeSet<String>) -> Refusal,
) -> Result<(), Refusal> {
    if before == after && before.len() == 1 {
        Ok(())
    } else {
        Err(refusal(before.clone(), after.clone()))
    }
}

fn row_ids(table: &ResultsTable) -> Vec<String> {
    let mut ids: Vec<String> = Vec::new();
    for run in table.records() {
        if !ids.contains(&run.row) {
            ids.push(run.row.clone());
        }
    }
    ids
}
