//! `[decoding]` and `[evaluation]`.

use std::ops::Bound::Included;

use super::entry::{Condition, Fallback, Key, key};
use crate::spec::experiment::{Signature, Split};
use crate::spec::value::Kind;

const BEAM: Key = key!(
    decoding.beam,
    Kind::Whole(1, 1024),
    "hypotheses kept open; 1 is greedy search"
)
.or(Fallback::Whole(4));

pub(super) const KEYS: &[Key] = &[
    BEAM,
    // A greedy search ranks nothing: its penalty stays at the 0 of a blank experiment.
    key!(
        decoding.length_penalty,
        Kind::Real(Included(0.0), Included(10.0)),
        "alpha of GNMT's ((5 + n) / 6)^alpha"
    )
    .or(Fallback::Real(0.6))
    .needs(&BEAM, Condition::Above(1)),
    key!(
        decoding.max_extra_tokens,
        Kind::Whole(0, 65_536),
        "tokens by which a hypothesis may be longer than its source"
    )
    .or(Fallback::Whole(50)),
    key!(
        evaluation.split,
        Kind::Choice(&[Split::Dev.name(), Split::Test.name()]),
        "split whose perplexity and BLEU enter the table"
    )
    .or(Fallback::Text(Split::Test.name())),
    key!(
        evaluation.bleu,
        Kind::Choice(Signature::NAMES),
        "signature whose BLEU enters the table; all five are in score.toml"
    )
    .or(Fallback::Text(Signature::Mteval13a.name()))
    .added_later(),
];
