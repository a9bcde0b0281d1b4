//! `[selection]`.

use super::entry::{Condition, Fallback, Key, key};
use crate::spec::experiment::{AverageOf, BestBy, Weights};
use crate::spec::value::Kind;

const AVERAGE: Key = key!(
    selection.average,
    Kind::Whole(0, 1000),
    "weights to average, one set for each dev measurement; 0 averages none"
)
.or(Fallback::Whole(0))
.added_later();

pub(super) const KEYS: &[Key] = &[
    key!(
        selection.best_by,
        Kind::Choice(BestBy::NAMES),
        "measure of the best weights: dev loss, or dev BLEU (evaluation.bleu) of greedy translations"
    )
    .or(Fallback::Text(BestBy::Loss.name()))
    .added_later(),
    key!(
        selection.patience,
        Kind::Whole(0, 1_000_000),
        "dev measurements in a row without a better one that end training; 0 never ends it"
    )
    .or(Fallback::Whole(0))
    .added_later(),
    AVERAGE,
    key!(
        selection.average_of,
        Kind::Choice(AverageOf::NAMES),
        "averages the last weights or the best"
    )
    .or(Fallback::Text(AverageOf::Last.name()))
    .needs(&AVERAGE, Condition::Above(0))
    .added_later(),
    key!(
        selection.weights,
        Kind::Choice(Weights::NAMES),
        "weights whose perplexity and BLEU enter the table"
    )
    .or(Fallback::Text(Weights::Last.name()))
    .added_later(),
];
