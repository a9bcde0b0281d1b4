//! `[model]` and `[regularization]`.

use std::ops::Bound::Included;

use super::entry::{Condition, Effect, Fallback, Key, key, variant_key};
use crate::spec::experiment::{Norm, Positional, PositionalKind};
use crate::spec::field::Field;
use crate::spec::value::{Kind, Value};

/// Far enough above any real model, and low enough that a product of sizes fits 64 bits.
const WIDEST: u64 = 65_536;

/// A probability that still leaves something: 32-bit rounding must not reach 1.
const SHARE: Kind = Kind::Real(Included(0.0), Included(0.99));

const WIDTH_OF_A_HEAD: Fallback = Fallback::Derived {
    rule: "model.d_model / model.heads",
    from: &["model.d_model", "model.heads"],
    value: |e| (e.model.d_model / e.model.heads).into(),
};

const POSITIONAL: Key = key!(
    model.positional,
    Kind::Choice(PositionalKind::NAMES),
    "encoding of positions: sine waves (the paper) or a learned table"
)
.or(Fallback::Text(PositionalKind::Sinusoidal.name()))
.column(9, "PE");

pub(super) const KEYS: &[Key] = &[
    key!(
        model.layers,
        Kind::Whole(1, 256),
        "N: encoder layers, and as many decoder layers"
    )
    .column(1, "N"),
    key!(
        model.d_model,
        Kind::Whole(1, WIDEST),
        "width of embeddings and of every layer's output"
    )
    .effect(Effect::Shape)
    .column(2, "d_model"),
    key!(
        model.d_ff,
        Kind::Whole(1, 4 * WIDEST),
        "width inside the feed-forward network"
    )
    .effect(Effect::Shape)
    .column(3, "d_ff"),
    key!(model.heads, Kind::Whole(1, 256), "h: attention heads")
        .effect(Effect::Shape)
        .column(4, "h"),
    key!(
        model.d_k,
        Kind::Whole(1, WIDEST),
        "width of one head's queries and keys"
    )
    .or(WIDTH_OF_A_HEAD)
    .effect(Effect::Shape)
    .column(5, "d_k"),
    key!(model.d_v, Kind::Whole(1, WIDEST), "width of one head's values")
        .or(WIDTH_OF_A_HEAD)
        .effect(Effect::Shape)
        .column(6, "d_v"),
    key!(
        model.attention_window,
        Kind::Whole(0, WIDEST),
        "r: self-attention sees at most r tokens on each side (section 4, restricted)"
    )
    .or(Fallback::Absent)
    .added_later()
    .column(11, "r"),
    POSITIONAL,
    variant_key!(
        "model.max_positions",
        model.positional,
        Positional::Learned { max_positions } => *max_positions,
        Kind::Whole(1, WIDEST),
        "rows of the learned position table"
    )
    .needs(&POSITIONAL, Condition::OneOf(&[PositionalKind::Learned.name()])),
    key!(
        model.norm,
        Kind::Choice(Norm::NAMES),
        "layer normalisation after the residual sum (the paper) or before the sub-layer"
    )
    .or(Fallback::Text(Norm::Post.name())),
    key!(
        regularization.dropout,
        SHARE,
        "P_drop, on each sub-layer's output and on embedding + position"
    )
    .column(7, "P_drop"),
    key!(
        regularization.label_smoothing,
        SHARE,
        "epsilon_ls, the mass spread evenly over the whole vocabulary"
    )
    .column(8, "ε_ls"),
];

impl Field for Positional {
    fn to_value(&self) -> Option<Value> {
        self.kind().to_value()
    }

    /// Leaves the length of a learned table open; its key comes later.
    fn from_value(value: &Value) -> Self {
        match PositionalKind::from_value(value) {
            PositionalKind::Sinusoidal => Self::Sinusoidal,
            PositionalKind::Learned => Self::Learned { max_positions: 0 },
        }
    }
}
