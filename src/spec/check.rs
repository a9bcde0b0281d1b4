//! Rules over several keys, checked before anything runs.

use super::conflict::{Conflict, HIGHEST_PEAK, MOST_PARAMETERS};
use super::experiment::{Corpus, CorpusKind, Experiment, Language, Positional, Weights};
use super::parameters::Parameters;
use super::resolve::Draft;
use super::schedule::Schedule;

/// The token that begins a decoder's input or ends a sentence.
const MARK: usize = 1;

/// One rule over several keys.
pub(super) struct Check {
    /// Keys that the rule reads; a fault points at the one set last.
    pub keys: &'static [&'static str],
    test: fn(&Experiment, &Draft) -> Option<Conflict>,
}

impl Check {
    /// Returns the conflict if the draft breaks the rule.
    pub fn conflict_in(&self, draft: &Draft) -> Option<Conflict> {
        (self.test)(&draft.experiment, draft)
    }
}

pub(super) const CHECKS: &[Check] = &[
    Check {
        keys: &["model.heads", "model.d_model"],
        test: heads,
    },
    Check {
        keys: &["model.d_model", "model.positional"],
        // Sinusoids come in pairs of sine and cosine.
        test: |e, _| {
            let d_model = e.model.d_model;
            let is_odd = e.model.positional == Positional::Sinusoidal && d_model % 2 == 1;
            is_odd.then_some(Conflict::OddWidth { d_model })
        },
    },
    Check {
        keys: &[
            "model.d_model",
            "model.d_ff",
            "model.layers",
            "data.vocab_size",
            "model.heads",
            "model.d_k",
            "model.d_v",
            "model.max_positions",
        ],
        test: |e, _| {
            let parameters = Parameters::of(e).total();
            (parameters > MOST_PARAMETERS).then_some(Conflict::TooManyParameters { parameters })
        },
    },
    Check {
        keys: &["model.max_positions", "data.max_length", "decoding.max_extra_tokens"],
        test: short_positions,
    },
    Check {
        keys: &["training.batch_tokens", "data.max_length"],
        test: |e, _| small_batch(e, "training.batch_tokens", e.training.batch_tokens),
    },
    Check {
        keys: &["training.micro_batch_tokens", "data.max_length"],
        // Where the batch is too small, so is the default that follows it: the batch's own rule reports that.
        test: |e, _| {
            let batch = small_batch(e, "training.batch_tokens", e.training.batch_tokens);
            let micro_batch = small_batch(e, "training.micro_batch_tokens", e.training.micro_batch_tokens);
            micro_batch.filter(|_| batch.is_none())
        },
    },
    Check {
        keys: &["training.micro_batch_tokens", "training.batch_tokens"],
        test: |e, _| {
            let (micro_batch_tokens, batch_tokens) = (e.training.micro_batch_tokens, e.training.batch_tokens);
            (micro_batch_tokens > batch_tokens).then_some(Conflict::LargeMicroBatch {
                micro_batch_tokens,
                batch_tokens,
            })
        },
    },
    Check {
        keys: &["training.warmup_steps", "training.steps"],
        test: |e, _| {
            let (warmup_steps, steps) = (e.training.warmup_steps, e.training.steps);
            (warmup_steps > steps).then_some(Conflict::LongWarmup { warmup_steps, steps })
        },
    },
    Check {
        keys: &["training.validate_every", "training.steps"],
        test: |e, _| never(e, "training.validate_every", e.training.validate_every),
    },
    Check {
        keys: &["training.checkpoint_every", "training.steps"],
        // Its default follows `validate_every`, whose own rule reports that.
        test: |e, draft| {
            let is_default = !draft.is_set("training.checkpoint_every");
            never(e, "training.checkpoint_every", e.training.checkpoint_every).filter(|_| !is_default)
        },
    },
    Check {
        keys: &["selection.average", "training.validate_every", "training.steps"],
        test: |e, _| {
            let (wanted, measurements) = (e.selection.average, e.training.measurements());
            (wanted > measurements).then_some(Conflict::FewMeasurements {
                key: "selection.average",
                wanted,
                measurements,
            })
        },
    },
    Check {
        keys: &["selection.patience", "training.validate_every", "training.steps"],
        // The first measurement is always the best so far.
        test: |e, _| {
            let (wanted, measurements) = (e.selection.patience, e.training.measurements());
            (wanted >= measurements).then_some(Conflict::FewMeasurements {
                key: "selection.patience",
                wanted,
                measurements,
            })
        },
    },
    Check {
        keys: &["selection.weights", "selection.average"],
        test: |e, _| {
            let is_none = e.selection.weights == Weights::Average && e.selection.average == 0;
            is_none.then_some(Conflict::NoAverage)
        },
    },
    Check {
        keys: &[
            "training.learning_rate_factor",
            "training.warmup_steps",
            "model.d_model",
        ],
        test: |e, _| {
            let peak = Schedule::of(e).peak();
            (peak > HIGHEST_PEAK).then_some(Conflict::HighPeak { peak })
        },
    },
    Check {
        keys: &["data.source_language", "data.target_language"],
        test: |e, _| {
            let (source, target) = languages(e)?;
            let language = source.name();
            (source == target).then_some(Conflict::SameLanguage { language })
        },
    },
    Check {
        keys: &["data.source_language", "data.corpus"],
        test: |e, _| no_such_language(e, languages(e)?.0),
    },
    Check {
        keys: &["data.target_language", "data.corpus"],
        test: |e, _| no_such_language(e, languages(e)?.1),
    },
];

fn heads(experiment: &Experiment, draft: &Draft) -> Option<Conflict> {
    let follows = !(draft.is_set("model.d_k") && draft.is_set("model.d_v"));
    let (d_model, heads) = (experiment.model.d_model, experiment.model.heads);
    (follows && !d_model.is_multiple_of(heads)).then_some(Conflict::Heads { d_model, heads })
}

fn short_positions(experiment: &Experiment, _: &Draft) -> Option<Conflict> {
    let Positional::Learned { max_positions } = experiment.model.positional else {
        return None;
    };
    let longest = experiment.data.max_length + experiment.decoding.max_extra_tokens + MARK;
    (max_positions < longest).then_some(Conflict::ShortPositions { max_positions, longest })
}

fn small_batch(experiment: &Experiment, key: &'static str, tokens: usize) -> Option<Conflict> {
    let longest = experiment.data.max_length + MARK;
    (tokens < longest).then_some(Conflict::SmallBatch { key, tokens, longest })
}

fn never(experiment: &Experiment, key: &'static str, every: usize) -> Option<Conflict> {
    let steps = experiment.training.steps;
    (every > steps).then_some(Conflict::Never { key, every, steps })
}

fn languages(experiment: &Experiment) -> Option<(Language, Language)> {
    match experiment.data.corpus {
        Corpus::Multi30k { source, target } | Corpus::Wmt14 { source, target } => Some((source, target)),
        Corpus::Grammar { .. } | Corpus::Text { .. } => None,
    }
}

fn no_such_language(experiment: &Experiment, language: Language) -> Option<Conflict> {
    let corpus = experiment.data.corpus.kind();
    (corpus == CorpusKind::Wmt14 && language == Language::French).then(|| Conflict::NoSuchLanguage {
        corpus: corpus.name(),
        language: language.name(),
    })
}
