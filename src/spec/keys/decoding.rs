//! `[decoding]` and `[evaluation]`.

use std::ops::Bound::Included;

use super::{Effect, Fallback, Key, Needs};
use crate::spec::experiment::{Signature, Split};
use crate::spec::value::Kind;

pub(super) const KEYS: &[Key] = &[
    Key {
        path: "decoding.beam",
        kind: Kind::Whole(1, 1024),
        fallback: Fallback::Whole(4),
        needs: None,
        effect: Effect::Outcome,
        doc: "hypotheses kept open; 1 is greedy",
        get: |e| Some(e.decoding.beam.into()),
        set: |e, value| e.decoding.beam = value.count(),
    },
    Key {
        path: "decoding.length_penalty",
        kind: Kind::Real(Included(0.0), Included(10.0)),
        fallback: Fallback::Real(0.6),
        needs: Some(Needs {
            key: "decoding.beam",
            condition: "above 1",
        }),
        effect: Effect::Outcome,
        doc: "alpha of GNMT's ((5 + n) / 6)^alpha",
        // A greedy search ranks nothing: its penalty stays at the 0 of an experiment that is not filled in.
        get: |e| (e.decoding.beam > 1).then(|| e.decoding.length_penalty.into()),
        set: |e, value| e.decoding.length_penalty = value.real(),
    },
    Key {
        path: "decoding.max_extra_tokens",
        kind: Kind::Whole(0, 65_536),
        fallback: Fallback::Whole(50),
        needs: None,
        effect: Effect::Outcome,
        doc: "pieces by which a hypothesis may be longer than its source",
        get: |e| Some(e.decoding.max_extra_tokens.into()),
        set: |e, value| e.decoding.max_extra_tokens = value.count(),
    },
    Key {
        path: "evaluation.split",
        kind: Kind::Choice(&["dev", "test"]),
        fallback: Fallback::Text("test"),
        needs: None,
        effect: Effect::Outcome,
        doc: "the split whose perplexity and BLEU enter the table",
        get: |e| match e.evaluation.split {
            Split::Train => Some("train".into()),
            Split::Dev => Some("dev".into()),
            Split::Test => Some("test".into()),
        },
        set: |e, value| {
            e.evaluation.split = match value.text() {
                "dev" => Split::Dev,
                _ => Split::Test,
            }
        },
    },
    Key {
        path: "evaluation.bleu",
        kind: Kind::Choice(&["13a", "13a-lc", "intl", "intl-lc", "compound-split"]),
        fallback: Fallback::Text("13a"),
        needs: None,
        effect: Effect::Outcome,
        doc: "the signature whose BLEU enters the table; all five are in score.toml",
        get: |e| Some(e.evaluation.bleu.name().into()),
        set: |e, value| e.evaluation.bleu = Signature::named(value.text()).unwrap_or_default(),
    },
];
