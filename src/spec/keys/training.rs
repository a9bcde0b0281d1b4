//! `[training]`.

use std::ops::Bound::{Excluded, Included};

use super::entry::{Effect, Fallback, Key, key};
use crate::spec::experiment::Precision;
use crate::spec::value::Kind;

/// Target tokens of one forward and backward pass that a small machine holds.
const MICRO_BATCH_TOKENS: usize = 2048;

const UPDATES: Kind = Kind::Whole(1, 1_000_000_000);
const TOKENS: Kind = Kind::Whole(1, 100_000_000);
const DECAY: Kind = Kind::Real(Included(0.0), Excluded(1.0));

pub(super) const KEYS: &[Key] = &[
    key!(training.steps, UPDATES, "updates of the weights").column(10, "steps"),
    key!(
        training.batch_tokens,
        TOKENS,
        "target tokens per update, whatever the device or the number of threads"
    ),
    key!(
        training.micro_batch_tokens,
        TOKENS,
        "target tokens per forward and backward pass; an update sums the gradients of its passes"
    )
    .or(Fallback::Derived {
        rule: "training.batch_tokens, at most 2048",
        from: &["training.batch_tokens"],
        value: |e| e.training.batch_tokens.min(MICRO_BATCH_TOKENS).into(),
    })
    .effect(Effect::Bookkeeping),
    key!(
        training.warmup_steps,
        UPDATES,
        "updates over which the learning rate rises"
    ),
    key!(
        training.learning_rate_factor,
        Kind::Real(Excluded(0.0), Included(1000.0)),
        "factor on the paper's schedule (equation 3)"
    )
    .or(Fallback::Real(1.0)),
    key!(training.adam_beta1, DECAY, "decay of Adam's mean of gradients").or(Fallback::Real(0.9)),
    key!(training.adam_beta2, DECAY, "decay of Adam's mean of squared gradients").or(Fallback::Real(0.98)),
    key!(
        training.adam_epsilon,
        Kind::Real(Excluded(0.0), Included(1.0)),
        "constant that Adam adds to the root it divides by"
    )
    .or(Fallback::Real(1e-9)),
    key!(
        training.validate_every,
        UPDATES,
        "updates between two measurements of the dev loss"
    )
    .or(Fallback::Derived {
        rule: "training.steps / 20, at least 1",
        from: &["training.steps"],
        value: |e| (e.training.steps / 20).max(1).into(),
    })
    .effect(Effect::Bookkeeping),
    key!(training.checkpoint_every, UPDATES, "updates between two checkpoints")
        .or(Fallback::Derived {
            rule: "training.validate_every",
            from: &["training.validate_every"],
            value: |e| e.training.validate_every.into(),
        })
        .effect(Effect::Bookkeeping),
    key!(
        training.precision,
        Kind::Choice(Precision::NAMES),
        "operands of products in training; tf32 needs CUDA, bf16 needs CUDA or AVX512-BF16"
    )
    .or(Fallback::Text(Precision::F32.name()))
    .added_later(),
];
