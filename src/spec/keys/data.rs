//! `[data]`.

use super::entry::{Condition, Fallback, Key, key, variant_key};
use crate::spec::experiment::{Case, Corpus, CorpusKind, Language};
use crate::spec::field::Field;
use crate::spec::value::{Kind, Value};

const CORPUS: Key = key!(
    data.corpus,
    Kind::Choice(CorpusKind::NAMES),
    "source of the sentence pairs; `text` reads six files of yours"
);

/// A language of a corpus that comes in several.
macro_rules! language {
    ($path:literal, $side:ident, $default:expr, $doc:literal) => {
        variant_key!(
            $path,
            data.corpus,
            Corpus::Multi30k { $side, .. } | Corpus::Wmt14 { $side, .. } => *$side,
            Kind::Choice(Language::NAMES),
            $doc
        )
        .or(Fallback::Text($default.name()))
        .needs(&CORPUS, Condition::OneOf(&[CorpusKind::Multi30k.name(), CorpusKind::Wmt14.name()]))
    };
}

/// One of the six files of a `text` corpus.
macro_rules! file {
    ($path:literal, $split:ident . $side:ident, $doc:literal) => {
        variant_key!($path, data.corpus, Corpus::Text { $split, .. } => $split.$side, Kind::File, $doc)
            .needs(&CORPUS, Condition::OneOf(&[CorpusKind::Text.name()]))
    };
}

pub(super) const KEYS: &[Key] = &[
    CORPUS,
    variant_key!(
        "data.train_pairs",
        data.corpus,
        Corpus::Grammar { train_pairs } => *train_pairs,
        Kind::Whole(1, 100_000_000),
        "sentence pairs that the grammar writes for training"
    )
    .needs(&CORPUS, Condition::OneOf(&[CorpusKind::Grammar.name()])),
    language!(
        "data.source_language",
        source,
        Language::English,
        "language to translate from"
    ),
    language!(
        "data.target_language",
        target,
        Language::German,
        "language to translate into"
    ),
    file!("data.train_source", train.source, "training sentences, one per line"),
    file!(
        "data.train_target",
        train.target,
        "translations of train_source, line by line"
    ),
    file!("data.dev_source", dev.source, "sentences for the dev loss"),
    file!(
        "data.dev_target",
        dev.target,
        "translations of dev_source, line by line"
    ),
    file!(
        "data.test_source",
        test.source,
        "sentences that are translated once, after training"
    ),
    file!(
        "data.test_target",
        test.target,
        "translations of test_source, line by line"
    ),
    key!(
        data.vocab_size,
        Kind::Whole(8, 1_000_000),
        "tokens of the vocabulary that both languages share, special tokens included"
    ),
    key!(
        data.vocab_pairs,
        Kind::Whole(0, 100_000_000),
        "training pairs, evenly spread, that the vocabulary is learned from; 0 takes all"
    )
    .or(Fallback::Whole(0))
    .added_later(),
    key!(
        data.case,
        Kind::Choice(Case::NAMES),
        "keeps or lowers capital letters; score a lower-cased model by evaluation.bleu = \"13a-lc\""
    )
    .or(Fallback::Text(Case::Keep.name()))
    .added_later(),
    key!(
        data.max_length,
        Kind::Whole(1, 65_536),
        "training pairs with more tokens on either side are skipped and counted"
    )
    .or(Fallback::Whole(256)),
];

impl Field for Corpus {
    fn to_value(&self) -> Option<Value> {
        self.kind().to_value()
    }

    /// Leaves the corpus's own keys open; they come later.
    fn from_value(value: &Value) -> Self {
        Self::blank(CorpusKind::from_value(value))
    }
}
