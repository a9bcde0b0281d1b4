//! `[model]` and `[regularization]`.

use std::ops::Bound::Included;

use super::{Effect, Fallback, Key, Needs};
use crate::spec::experiment::{Norm, Positional};
use crate::spec::value::{Kind, Value};

/// Far enough above any real model, and low enough that a product of sizes fits 64 bits.
const WIDEST: u64 = 65_536;

/// A probability that still leaves something: 32-bit rounding must not reach 1.
const SHARE: Kind = Kind::Real(Included(0.0), Included(0.99));

pub(super) const KEYS: &[Key] = &[
    Key {
        path: "model.layers",
        kind: Kind::Whole(1, 256),
        fallback: Fallback::Required,
        needs: None,
        effect: Effect::Shape,
        doc: "N: encoder layers, and as many decoder layers",
        get: |e| Some(e.model.layers.into()),
        set: |e, value| e.model.layers = value.count(),
    },
    Key {
        path: "model.d_model",
        kind: Kind::Whole(1, WIDEST),
        fallback: Fallback::Required,
        needs: None,
        effect: Effect::Shape,
        doc: "width of embeddings and of every layer's output",
        get: |e| Some(e.model.d_model.into()),
        set: |e, value| e.model.d_model = value.count(),
    },
    Key {
        path: "model.d_ff",
        kind: Kind::Whole(1, 4 * WIDEST),
        fallback: Fallback::Required,
        needs: None,
        effect: Effect::Shape,
        doc: "width inside the feed-forward network",
        get: |e| Some(e.model.d_ff.into()),
        set: |e, value| e.model.d_ff = value.count(),
    },
    Key {
        path: "model.heads",
        kind: Kind::Whole(1, 256),
        fallback: Fallback::Required,
        needs: None,
        effect: Effect::Shape,
        doc: "h: attention heads",
        get: |e| Some(e.model.heads.into()),
        set: |e, value| e.model.heads = value.count(),
    },
    Key {
        path: "model.d_k",
        kind: Kind::Whole(1, WIDEST),
        fallback: Fallback::Derived {
            rule: "model.d_model / model.heads",
            from: &["model.d_model", "model.heads"],
            value: |e| (e.model.d_model / e.model.heads).into(),
        },
        needs: None,
        effect: Effect::Shape,
        doc: "width of one head's queries and keys",
        get: |e| Some(e.model.d_k.into()),
        set: |e, value| e.model.d_k = value.count(),
    },
    Key {
        path: "model.d_v",
        kind: Kind::Whole(1, WIDEST),
        fallback: Fallback::Derived {
            rule: "model.d_model / model.heads",
            from: &["model.d_model", "model.heads"],
            value: |e| (e.model.d_model / e.model.heads).into(),
        },
        needs: None,
        effect: Effect::Shape,
        doc: "width of one head's values",
        get: |e| Some(e.model.d_v.into()),
        set: |e, value| e.model.d_v = value.count(),
    },
    Key {
        path: "model.positional",
        kind: Kind::Choice(&["sinusoidal", "learned"]),
        fallback: Fallback::Text("sinusoidal"),
        needs: None,
        effect: Effect::Shape,
        doc: "how a position enters the embedding",
        get: |e| match e.model.positional {
            Positional::Sinusoidal => Some("sinusoidal".into()),
            Positional::Learned { .. } => Some("learned".into()),
        },
        set: |e, value| {
            e.model.positional = match value.text() {
                "learned" => Positional::Learned { max_positions: 0 },
                _ => Positional::Sinusoidal,
            }
        },
    },
    Key {
        path: "model.max_positions",
        kind: Kind::Whole(1, WIDEST),
        fallback: Fallback::Required,
        needs: Some(Needs {
            key: "model.positional",
            condition: "= \"learned\"",
        }),
        effect: Effect::Shape,
        doc: "rows of the learned position table",
        get: |e| match e.model.positional {
            Positional::Sinusoidal => None,
            Positional::Learned { max_positions } => Some(max_positions.into()),
        },
        set: |e, value| {
            e.model.positional = Positional::Learned {
                max_positions: value.count(),
            }
        },
    },
    Key {
        path: "model.norm",
        kind: Kind::Choice(&["post", "pre"]),
        fallback: Fallback::Text("post"),
        needs: None,
        effect: Effect::Outcome,
        doc: "layer normalisation after the residual sum (the paper) or before the sub-layer",
        get: |e| match e.model.norm {
            Norm::Post => Some("post".into()),
            Norm::Pre => Some("pre".into()),
        },
        set: |e, value| {
            e.model.norm = match value.text() {
                "pre" => Norm::Pre,
                _ => Norm::Post,
            }
        },
    },
    Key {
        path: "regularization.dropout",
        kind: SHARE,
        fallback: Fallback::Required,
        needs: None,
        effect: Effect::Outcome,
        doc: "P_drop, on each sub-layer's output and on embedding + position",
        get: |e| Some(e.regularization.dropout.into()),
        set: |e, value: &Value| e.regularization.dropout = value.real() as f32,
    },
    Key {
        path: "regularization.label_smoothing",
        kind: SHARE,
        fallback: Fallback::Required,
        needs: None,
        effect: Effect::Outcome,
        doc: "epsilon_ls, the mass spread evenly over the whole vocabulary",
        get: |e| Some(e.regularization.label_smoothing.into()),
        set: |e, value| e.regularization.label_smoothing = value.real() as f32,
    },
];
