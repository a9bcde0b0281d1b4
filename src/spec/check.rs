//! Rules over several keys: what is checked before anything runs.

use super::conflict::{Conflict, HIGHEST_PEAK, MOST_PARAMETERS};
use super::experiment::{Corpus, CorpusKind, Language, Positional, Weights};
use super::parameters::Parameters;
use super::resolve::Draft;
use super::schedule::Schedule;

/// The token that begins a decoder's input or ends a sentence.
const MARK: usize = 1;

/// One rule over several keys.
pub(super) struct Check {
    /// The keys it reads; a fault points at the one set last.
    pub keys: &'static [&'static str],
    pub test: fn(&Draft) -> Option<Conflict>,
}

const SHAPE_KEYS: &[&str] = &[
    "model.d_model",
    "model.d_ff",
    "model.layers",
    "data.vocab_size",
    "model.heads",
    "model.d_k",
    "model.d_v",
    "model.max_positions",
];

pub(super) const CHECKS: &[Check] = &[
    Check {
        keys: &["model.heads", "model.d_model"],
        test: heads,
    },
    Check {
        keys: &["model.d_model", "model.positional"],
        test: odd_width,
    },
    Check {
        keys: SHAPE_KEYS,
        test: too_many_parameters,
    },
    Check {
        keys: &["model.max_positions", "data.max_length", "decoding.max_extra_tokens"],
        test: short_positions,
    },
    Check {
        keys: &["training.batch_tokens", "data.max_length"],
        test: small_batch,
    },
    Check {
        keys: &["training.micro_batch_tokens", "data.max_length"],
        test: small_micro_batch,
    },
    Check {
        keys: &["training.micro_batch_tokens", "training.batch_tokens"],
        test: large_micro_batch,
    },
    Check {
        keys: &["training.warmup_steps", "training.steps"],
        test: long_warmup,
    },
    Check {
        keys: &["training.validate_every", "training.steps"],
        test: no_validation,
    },
    Check {
        keys: &["training.checkpoint_every", "training.steps"],
        test: no_checkpoint,
    },
    Check {
        keys: &["selection.average", "training.validate_every", "training.steps"],
        test: few_to_average,
    },
    Check {
        keys: &["selection.patience", "training.validate_every", "training.steps"],
        test: long_patience,
    },
    Check {
        keys: &["selection.weights", "selection.average"],
        test: no_average,
    },
    Check {
        keys: &[
            "training.learning_rate_factor",
            "training.warmup_steps",
            "model.d_model",
        ],
        test: high_peak,
    },
    Check {
        keys: &["data.source_language", "data.target_language"],
        test: same_language,
    },
    Check {
        keys: &["data.source_language", "data.corpus"],
        test: no_such_source,
    },
    Check {
        keys: &["data.target_language", "data.corpus"],
        test: no_such_target,
    },
];

fn heads(draft: &Draft) -> Option<Conflict> {
    let model = &draft.experiment.model;
    let follows = !(draft.is_set("model.d_k") && draft.is_set("model.d_v"));
    let (d_model, heads) = (model.d_model, model.heads);
    (follows && !d_model.is_multiple_of(heads)).then_some(Conflict::Heads { d_model, heads })
}

/// Sinusoids come in pairs of sine and cosine.
fn odd_width(draft: &Draft) -> Option<Conflict> {
    let model = &draft.experiment.model;
    let odd = model.positional == Positional::Sinusoidal && model.d_model % 2 == 1;
    odd.then_some(Conflict::OddWidth { d_model: model.d_model })
}

fn too_many_parameters(draft: &Draft) -> Option<Conflict> {
    let parameters = Parameters::of(&draft.experiment).total();
    (parameters > MOST_PARAMETERS).then_some(Conflict::TooManyParameters { parameters })
}

fn short_positions(draft: &Draft) -> Option<Conflict> {
    let Positional::Learned { max_positions } = draft.experiment.model.positional else {
        return None;
    };
    let longest = draft.experiment.data.max_length + draft.experiment.decoding.max_extra_tokens + MARK;
    (max_positions < longest).then_some(Conflict::ShortPositions { max_positions, longest })
}

fn small_batch(draft: &Draft) -> Option<Conflict> {
    too_small_for_a_sentence(draft, "training.batch_tokens", draft.experiment.training.batch_tokens)
}

/// A default that follows a batch too small is the batch's fault.
fn small_micro_batch(draft: &Draft) -> Option<Conflict> {
    let tokens = draft.experiment.training.micro_batch_tokens;
    if small_batch(draft).is_some() {
        return None;
    }
    too_small_for_a_sentence(draft, "training.micro_batch_tokens", tokens)
}

fn too_small_for_a_sentence(draft: &Draft, key: &'static str, tokens: usize) -> Option<Conflict> {
    let longest = draft.experiment.data.max_length + MARK;
    (tokens < longest).then_some(Conflict::SmallBatch { key, tokens, longest })
}

fn large_micro_batch(draft: &Draft) -> Option<Conflict> {
    let (micro_batch_tokens, batch_tokens) = (
        draft.experiment.training.micro_batch_tokens,
        draft.experiment.training.batch_tokens,
    );
    (micro_batch_tokens > batch_tokens).then_some(Conflict::LargeMicroBatch {
        micro_batch_tokens,
        batch_tokens,
    })
}

fn long_warmup(draft: &Draft) -> Option<Conflict> {
    let (warmup_steps, steps) = (draft.experiment.training.warmup_steps, draft.experiment.training.steps);
    (warmup_steps > steps).then_some(Conflict::LongWarmup { warmup_steps, steps })
}

fn no_validation(draft: &Draft) -> Option<Conflict> {
    never(
        draft,
        "training.validate_every",
        draft.experiment.training.validate_every,
    )
}

fn no_checkpoint(draft: &Draft) -> Option<Conflict> {
    // A default that follows `validate_every` is reported there.
    draft.is_set("training.checkpoint_every").then_some(())?;
    never(
        draft,
        "training.checkpoint_every",
        draft.experiment.training.checkpoint_every,
    )
}

fn never(draft: &Draft, key: &'static str, every: usize) -> Option<Conflict> {
    let steps = draft.experiment.training.steps;
    (every > steps).then_some(Conflict::Never { key, every, steps })
}

fn few_to_average(draft: &Draft) -> Option<Conflict> {
    let (average, measurements) = (
        draft.experiment.selection.average,
        draft.experiment.training.measurements(),
    );
    (average > measurements).then_some(Conflict::FewMeasurements {
        key: "selection.average",
        wanted: average,
        measurements,
    })
}

/// The first measurement is always the best so far.
fn long_patience(draft: &Draft) -> Option<Conflict> {
    let (patience, measurements) = (
        draft.experiment.selection.patience,
        draft.experiment.training.measurements(),
    );
    (patience >= measurements).then_some(Conflict::FewMeasurements {
        key: "selection.patience",
        wanted: patience,
        measurements,
    })
}

fn no_average(draft: &Draft) -> Option<Conflict> {
    let selection = &draft.experiment.selection;
    (selection.weights == Weights::Average && selection.average == 0).then_some(Conflict::NoAverage)
}

fn high_peak(draft: &Draft) -> Option<Conflict> {
    let peak = Schedule::of(&draft.experiment).peak();
    (peak > HIGHEST_PEAK).then_some(Conflict::HighPeak { peak })
}

fn languages(draft: &Draft) -> Option<(Language, Language)> {
    match draft.experiment.data.corpus {
        Corpus::Multi30k { source, target } | Corpus::Wmt14 { source, target } => Some((source, target)),
        Corpus::Grammar { .. } | Corpus::Text { .. } => None,
    }
}

fn same_language(draft: &Draft) -> Option<Conflict> {
    let (source, target) = languages(draft)?;
    (source == target).then(|| Conflict::SameLanguage {
        language: source.name(),
    })
}

fn no_such_source(draft: &Draft) -> Option<Conflict> {
    languages(draft).and_then(|(source, _)| no_such_language(draft, source))
}

fn no_such_target(draft: &Draft) -> Option<Conflict> {
    languages(draft).and_then(|(_, target)| no_such_language(draft, target))
}

fn no_such_language(draft: &Draft, language: Language) -> Option<Conflict> {
    let corpus = draft.experiment.data.corpus.kind();
    (corpus == CorpusKind::Wmt14 && language == Language::French).then(|| Conflict::NoSuchLanguage {
        corpus: corpus.name(),
        language: language.name(),
    })
}
