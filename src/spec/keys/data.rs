//! `[data]`.

use super::{Effect, Fallback, Key, Needs};
use crate::spec::experiment::{Case, Corpus, FilePair};
use crate::spec::value::Kind;

const NEEDS_LANGUAGES: Option<Needs> = Some(Needs {
    key: "data.corpus",
    condition: "= \"multi30k\" or \"wmt14-en-de\"",
});
const LANGUAGES: Kind = Kind::Choice(&["en", "de", "fr"]);

/// One of the six files of a `text` corpus.
macro_rules! file {
    ($path:literal, $split:ident . $side:ident, $doc:literal) => {
        Key {
            path: $path,
            kind: Kind::File,
            fallback: Fallback::Required,
            needs: Some(Needs {
                key: "data.corpus",
                condition: "= \"text\"",
            }),
            effect: Effect::Outcome,
            doc: $doc,
            get: |e| match &e.data.corpus {
                Corpus::Text { $split, .. } => Some($split.$side.to_string_lossy().as_ref().into()),
                _ => None,
            },
            set: |e, value| {
                if let Corpus::Text { $split, .. } = &mut e.data.corpus {
                    $split.$side = value.text().into();
                }
            },
        }
    };
}

pub(super) const KEYS: &[Key] = &[
    Key {
        path: "data.corpus",
        kind: Kind::Choice(&["grammar-en-de", "multi30k", "wmt14-en-de", "text"]),
        fallback: Fallback::Required,
        needs: None,
        effect: Effect::Outcome,
        doc: "where sentence pairs come from; `text` names six files of its own",
        get: |e| Some(corpus_name(&e.data.corpus).into()),
        set: |e, value| e.data.corpus = corpus_named(value.text()),
    },
    Key {
        path: "data.train_pairs",
        kind: Kind::Whole(1, 100_000_000),
        fallback: Fallback::Required,
        needs: Some(Needs {
            key: "data.corpus",
            condition: "= \"grammar-en-de\"",
        }),
        effect: Effect::Outcome,
        doc: "sentence pairs the grammar writes for training",
        get: |e| match e.data.corpus {
            Corpus::Grammar { train_pairs } => Some(train_pairs.into()),
            _ => None,
        },
        set: |e, value| {
            e.data.corpus = Corpus::Grammar {
                train_pairs: value.count(),
            }
        },
    },
    Key {
        path: "data.source_language",
        kind: LANGUAGES,
        fallback: Fallback::Text("en"),
        needs: NEEDS_LANGUAGES,
        effect: Effect::Outcome,
        doc: "language to translate from",
        get: |e| languages(&e.data.corpus).map(|(source, _)| source.into()),
        set: |e, value| {
            if let Corpus::Multi30k { source, .. } | Corpus::Wmt14 { source, .. } = &mut e.data.corpus {
                value.text().clone_into(source);
            }
        },
    },
    Key {
        path: "data.target_language",
        kind: LANGUAGES,
        fallback: Fallback::Text("de"),
        needs: NEEDS_LANGUAGES,
        effect: Effect::Outcome,
        doc: "language to translate into",
        get: |e| languages(&e.data.corpus).map(|(_, target)| target.into()),
        set: |e, value| {
            if let Corpus::Multi30k { target, .. } | Corpus::Wmt14 { target, .. } = &mut e.data.corpus {
                value.text().clone_into(target);
            }
        },
    },
    file!("data.train_source", train.source, "training sentences, one a line"),
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
        "sentences that are only translated at the end"
    ),
    file!(
        "data.test_target",
        test.target,
        "translations of test_source, line by line"
    ),
    Key {
        path: "data.vocab_size",
        kind: Kind::Whole(8, 1_000_000),
        fallback: Fallback::Required,
        needs: None,
        effect: Effect::Shape,
        doc: "pieces of the vocabulary both languages share, special pieces included",
        get: |e| Some(e.data.vocab_size.into()),
        set: |e, value| e.data.vocab_size = value.count(),
    },
    Key {
        path: "data.vocab_pairs",
        kind: Kind::Whole(0, 100_000_000),
        fallback: Fallback::Whole(0),
        needs: None,
        effect: Effect::Outcome,
        doc: "training pairs, evenly spread, that the vocabulary is learned from; 0 takes all",
        get: |e| Some(e.data.vocab_pairs.into()),
        set: |e, value| e.data.vocab_pairs = value.count(),
    },
    Key {
        path: "data.case",
        kind: Kind::Choice(&["keep", "lower"]),
        fallback: Fallback::Text("keep"),
        needs: None,
        effect: Effect::Outcome,
        doc: "what becomes of capital letters; a lower-cased model is to be scored by \"13a-lc\"",
        get: |e| Some(e.data.case.name().into()),
        set: |e, value| {
            e.data.case = match value.text() {
                "lower" => Case::Lower,
                _ => Case::Keep,
            }
        },
    },
    Key {
        path: "data.max_length",
        kind: Kind::Whole(1, 65_536),
        fallback: Fallback::Whole(256),
        needs: None,
        effect: Effect::Outcome,
        doc: "a training pair with more pieces on either side is skipped and counted",
        get: |e| Some(e.data.max_length.into()),
        set: |e, value| e.data.max_length = value.count(),
    },
];

fn corpus_name(corpus: &Corpus) -> &'static str {
    match corpus {
        Corpus::Grammar { .. } => "grammar-en-de",
        Corpus::Multi30k { .. } => "multi30k",
        Corpus::Wmt14 { .. } => "wmt14-en-de",
        Corpus::Text { .. } => "text",
    }
}

/// A corpus whose own keys, which follow in the table, are still to be filled in.
fn corpus_named(name: &str) -> Corpus {
    let language = String::new;
    let files = || FilePair {
        source: "".into(),
        target: "".into(),
    };
    match name {
        "multi30k" => Corpus::Multi30k {
            source: language(),
            target: language(),
        },
        "wmt14-en-de" => Corpus::Wmt14 {
            source: language(),
            target: language(),
        },
        "text" => Corpus::Text {
            train: files(),
            dev: files(),
            test: files(),
        },
        _ => Corpus::Grammar { train_pairs: 0 },
    }
}

fn languages(corpus: &Corpus) -> Option<(&str, &str)> {
    match corpus {
        Corpus::Multi30k { source, target } | Corpus::Wmt14 { source, target } => Some((source, target)),
        Corpus::Grammar { .. } | Corpus::Text { .. } => None,
    }
}
