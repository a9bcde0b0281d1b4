//! `[training]`.

use std::ops::Bound::{Excluded, Included};

use super::{Effect, Fallback, Key};
use crate::spec::experiment::Precision;
use crate::spec::value::Kind;

/// Rows of one forward and backward pass that a small machine holds.
const MICRO_BATCH_TOKENS: usize = 2048;

const UPDATES: Kind = Kind::Whole(1, 1_000_000_000);
const TOKENS: Kind = Kind::Whole(1, 100_000_000);
const DECAY: Kind = Kind::Real(Included(0.0), Excluded(1.0));

pub(super) const KEYS: &[Key] = &[
    Key {
        path: "training.steps",
        kind: UPDATES,
        fallback: Fallback::Required,
        needs: None,
        effect: Effect::Outcome,
        doc: "updates of the parameters",
        get: |e| Some(e.training.steps.into()),
        set: |e, value| e.training.steps = value.count(),
    },
    Key {
        path: "training.batch_tokens",
        kind: TOKENS,
        fallback: Fallback::Required,
        needs: None,
        effect: Effect::Outcome,
        doc: "target pieces per update, whatever the device or the number of workers",
        get: |e| Some(e.training.batch_tokens.into()),
        set: |e, value| e.training.batch_tokens = value.count(),
    },
    Key {
        path: "training.micro_batch_tokens",
        kind: TOKENS,
        fallback: Fallback::Derived {
            rule: "training.batch_tokens, at most 2048",
            from: &["training.batch_tokens"],
            value: |e| e.training.batch_tokens.min(MICRO_BATCH_TOKENS).into(),
        },
        needs: None,
        effect: Effect::Bookkeeping,
        doc: "target pieces per forward and backward pass; an update sums as many as it needs",
        get: |e| Some(e.training.micro_batch_tokens.into()),
        set: |e, value| e.training.micro_batch_tokens = value.count(),
    },
    Key {
        path: "training.warmup_steps",
        kind: UPDATES,
        fallback: Fallback::Required,
        needs: None,
        effect: Effect::Outcome,
        doc: "updates over which the learning rate rises",
        get: |e| Some(e.training.warmup_steps.into()),
        set: |e, value| e.training.warmup_steps = value.count(),
    },
    Key {
        path: "training.learning_rate_factor",
        kind: Kind::Real(Excluded(0.0), Included(1000.0)),
        fallback: Fallback::Real(1.0),
        needs: None,
        effect: Effect::Outcome,
        doc: "factor on the paper's schedule (equation 3)",
        get: |e| Some(e.training.learning_rate_factor.into()),
        set: |e, value| e.training.learning_rate_factor = value.real(),
    },
    Key {
        path: "training.adam_beta1",
        kind: DECAY,
        fallback: Fallback::Real(0.9),
        needs: None,
        effect: Effect::Outcome,
        doc: "decay of Adam's mean of gradients",
        get: |e| Some(e.training.adam_beta1.into()),
        set: |e, value| e.training.adam_beta1 = value.real(),
    },
    Key {
        path: "training.adam_beta2",
        kind: DECAY,
        fallback: Fallback::Real(0.98),
        needs: None,
        effect: Effect::Outcome,
        doc: "decay of Adam's mean of squared gradients",
        get: |e| Some(e.training.adam_beta2.into()),
        set: |e, value| e.training.adam_beta2 = value.real(),
    },
    Key {
        path: "training.adam_epsilon",
        kind: Kind::Real(Excluded(0.0), Included(1.0)),
        fallback: Fallback::Real(1e-9),
        needs: None,
        effect: Effect::Outcome,
        doc: "what Adam adds to the root it divides by",
        get: |e| Some(e.training.adam_epsilon.into()),
        set: |e, value| e.training.adam_epsilon = value.real(),
    },
    Key {
        path: "training.validate_every",
        kind: UPDATES,
        fallback: Fallback::Derived {
            rule: "training.steps / 20, at least 1",
            from: &["training.steps"],
            value: |e| (e.training.steps / 20).max(1).into(),
        },
        needs: None,
        effect: Effect::Bookkeeping,
        doc: "updates between two measurements of the dev loss",
        get: |e| Some(e.training.validate_every.into()),
        set: |e, value| e.training.validate_every = value.count(),
    },
    Key {
        path: "training.checkpoint_every",
        kind: UPDATES,
        fallback: Fallback::Derived {
            rule: "training.validate_every",
            from: &["training.validate_every"],
            value: |e| e.training.validate_every.into(),
        },
        needs: None,
        effect: Effect::Bookkeeping,
        doc: "updates between two checkpoints",
        get: |e| Some(e.training.checkpoint_every.into()),
        set: |e, value| e.training.checkpoint_every = value.count(),
    },
    Key {
        path: "training.precision",
        kind: Kind::Choice(&["f32", "tf32", "bf16"]),
        fallback: Fallback::Text("f32"),
        needs: None,
        effect: Effect::Outcome,
        doc: "operands of products in training; tf32 needs CUDA, bf16 needs CUDA or AVX512-BF16",
        get: |e| Some(e.training.precision.name().into()),
        set: |e, value| {
            e.training.precision = match value.text() {
                "bf16" => Precision::Bf16,
                "tf32" => Precision::Tf32,
                _ => Precision::F32,
            }
        },
    },
];
