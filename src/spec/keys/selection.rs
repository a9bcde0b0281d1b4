//! `[selection]`.

use super::{Effect, Fallback, Key, Needs};
use crate::spec::experiment::{AverageOf, BestBy, Weights};
use crate::spec::value::Kind;

pub(super) const KEYS: &[Key] = &[
    Key {
        path: "selection.best_by",
        kind: Kind::Choice(&["loss", "bleu"]),
        fallback: Fallback::Text("loss"),
        needs: None,
        effect: Effect::Outcome,
        doc: "what makes weights the best: dev loss, or dev BLEU (evaluation.bleu) of greedy translations",
        get: |e| Some(e.selection.best_by.name().into()),
        set: |e, value| {
            e.selection.best_by = match value.text() {
                "bleu" => BestBy::Bleu,
                _ => BestBy::Loss,
            }
        },
    },
    Key {
        path: "selection.patience",
        kind: Kind::Whole(0, 1_000_000),
        fallback: Fallback::Whole(0),
        needs: None,
        effect: Effect::Outcome,
        doc: "training ends after so many dev measurements in a row without a better one; 0 never ends it",
        get: |e| Some(e.selection.patience.into()),
        set: |e, value| e.selection.patience = value.count(),
    },
    Key {
        path: "selection.average",
        kind: Kind::Whole(0, 1000),
        fallback: Fallback::Whole(0),
        needs: None,
        effect: Effect::Outcome,
        doc: "weights to average, one set at each dev measurement; 0 averages none",
        get: |e| Some(e.selection.average.into()),
        set: |e, value| e.selection.average = value.count(),
    },
    Key {
        path: "selection.average_of",
        kind: Kind::Choice(&["last", "best"]),
        fallback: Fallback::Text("last"),
        needs: Some(Needs {
            key: "selection.average",
            condition: "above 0",
        }),
        effect: Effect::Outcome,
        doc: "whether the last or the best are averaged",
        get: |e| (e.selection.average > 0).then(|| e.selection.average_of.name().into()),
        set: |e, value| {
            e.selection.average_of = match value.text() {
                "best" => AverageOf::Best,
                _ => AverageOf::Last,
            }
        },
    },
    Key {
        path: "selection.weights",
        kind: Kind::Choice(&["last", "best", "average"]),
        fallback: Fallback::Text("last"),
        needs: None,
        effect: Effect::Outcome,
        doc: "the weights whose perplexity and BLEU enter the table",
        get: |e| Some(e.selection.weights.name().into()),
        set: |e, value| {
            e.selection.weights = match value.text() {
                "best" => Weights::Best,
                "average" => Weights::Average,
                _ => Weights::Last,
            }
        },
    },
];
