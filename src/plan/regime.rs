//! The figures of a training that people check first, and warnings about them.

use crate::spec::{AverageOf, Case, Experiment, Norm, Schedule, Signature};

/// Size of a training split.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CorpusSize {
    /// Pairs that are trained on.
    pub pairs: usize,
    pub source_tokens: usize,
    /// Target tokens, with the end token of each sentence.
    pub target_tokens: usize,
}

/// How a training proceeds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Regime {
    pub steps: usize,
    /// Target tokens per update.
    pub batch_tokens: usize,
    pub peak_learning_rate: f64,
    /// Updates of the warm-up; the learning rate peaks at the last.
    pub warmup_steps: usize,
    /// Passes over the corpus, where its size is known.
    pub corpus: Option<Passes>,
}

/// Passes of a training over its corpus.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Passes {
    /// Updates that read every pair once, if every update is full.
    pub steps_per_epoch: f64,
    pub epochs: f64,
}

impl Regime {
    #[must_use]
    pub fn of(experiment: &Experiment, corpus: Option<CorpusSize>) -> Self {
        let training = &experiment.training;
        let passes = |corpus: CorpusSize| {
            let steps_per_epoch = corpus.target_tokens as f64 / training.batch_tokens as f64;
            Passes {
                steps_per_epoch,
                epochs: training.steps as f64 / steps_per_epoch,
            }
        };
        Self {
            steps: training.steps,
            batch_tokens: training.batch_tokens,
            peak_learning_rate: Schedule::of(experiment).peak(),
            warmup_steps: training.warmup_steps,
            corpus: corpus.map(passes),
        }
    }

    /// Returns the share of the warm-up in all updates.
    #[must_use]
    pub fn warmup_share(&self) -> f64 {
        self.warmup_steps as f64 / self.steps as f64
    }
}

/// Above this rate Adam with the paper's schedule is rarely stable, whatever the width.
const HIGH_PEAK: f64 = 8e-3;
/// Below this rate the weights stay close to their start.
const LOW_PEAK: f64 = 1e-5;
const LONG_WARMUP_SHARE: f64 = 0.5;
const SHORT_WARMUP: usize = 100;
const DEEP: usize = 12;
const HIGH_DROPOUT: f32 = 0.5;
const HIGH_SMOOTHING: f32 = 0.3;
/// The gradient of fewer sentences is mostly noise.
const FEW_SENTENCES: f64 = 8.0;
/// With more passes than this and no dropout, a model memorises the corpus.
const MANY_EPOCHS: f64 = 10.0;
/// The paper's dropout; below it many passes overfit.
const SOME_DROPOUT: f32 = 0.1;
/// Tokens of text for each token of the vocabulary.
const RARE_TOKENS: f64 = 30.0;

/// Returns a warning for everything in a training that is allowed but rarely meant, with its reason.
#[must_use]
pub fn oddities(experiment: &Experiment, corpus: Option<CorpusSize>) -> Vec<String> {
    let regime = Regime::of(experiment, corpus);
    let of_corpus = corpus.into_iter().flat_map(|corpus| {
        [
            unread(&regime),
            memorised(&regime, experiment),
            few_sentences(&regime, corpus),
            rare_tokens(experiment, corpus),
        ]
    });
    let of_spec = [
        peak(&regime),
        warmup(&regime, experiment),
        depth(experiment),
        regularization(experiment),
        early_average(experiment),
        case(experiment),
    ];
    of_spec.into_iter().chain(of_corpus).flatten().collect()
}

fn peak(regime: &Regime) -> Option<String> {
    let peak = regime.peak_learning_rate;
    if peak > HIGH_PEAK {
        Some(format!(
            "the learning rate peaks at {peak:.1e}; above {HIGH_PEAK:.0e} Adam often diverges (paper: 7.0e-4): lower \
             training.learning_rate_factor or lengthen training.warmup_steps"
        ))
    } else {
        (peak < LOW_PEAK).then(|| {
            format!(
                "the learning rate peaks at {peak:.1e}; below {LOW_PEAK:.0e} the weights barely change (paper: 7.0e-4): \
                 raise training.learning_rate_factor"
            )
        })
    }
}

fn warmup(regime: &Regime, experiment: &Experiment) -> Option<String> {
    let share = regime.warmup_share();
    if share > LONG_WARMUP_SHARE {
        let percent = 100.0 * share;
        Some(format!(
            "{percent:.0} % of the updates are warm-up: the learning rate barely decays, so the model may not \
             converge"
        ))
    } else {
        let is_short = regime.warmup_steps < SHORT_WARMUP && experiment.model.norm == Norm::Post;
        is_short.then(|| {
            format!(
                "{} warm-up updates are few for post-norm layers, whose first gradients are large: training may \
                 stall or diverge; use {SHORT_WARMUP} or more, or model.norm = \"pre\"",
                regime.warmup_steps
            )
        })
    }
}

fn depth(experiment: &Experiment) -> Option<String> {
    let layers = experiment.model.layers;
    (layers >= DEEP && experiment.model.norm == Norm::Post).then(|| {
        format!("{layers} post-norm layers often fail to train; from {DEEP} layers on, use model.norm = \"pre\"")
    })
}

fn regularization(experiment: &Experiment) -> Option<String> {
    let regularization = &experiment.regularization;
    let (dropout, smoothing) = (regularization.dropout, regularization.label_smoothing);
    if dropout > HIGH_DROPOUT {
        Some(format!(
            "dropout {dropout} drops more of every layer than it keeps: the model may underfit"
        ))
    } else {
        (smoothing > HIGH_SMOOTHING).then(|| {
            format!("label smoothing {smoothing} gives wrong tokens so much probability that perplexity says little")
        })
    }
}

fn early_average(experiment: &Experiment) -> Option<String> {
    let (training, selection) = (&experiment.training, &experiment.selection);
    let average = selection.average;
    // The last measurement is at the end, those before it are at multiples.
    let last_multiple = (training.steps - 1) / training.validate_every;
    let first = match average {
        0 | 1 => training.steps,
        several => (last_multiple + 2).saturating_sub(several) * training.validate_every,
    };
    let is_early = selection.average_of == AverageOf::Last && first < training.warmup_steps;
    is_early.then(|| {
        format!(
            "an average of {average} weights reaches back to step {first}, into the warm-up: lower selection.average \
             or training.validate_every"
        )
    })
}

fn case(experiment: &Experiment) -> Option<String> {
    let signature = experiment.evaluation.bleu;
    let ignores_case = matches!(signature, Signature::Mteval13aLower | Signature::InternationalLower);
    (experiment.data.case == Case::Lower && !ignores_case).then(|| {
        format!(
            "data.case = \"lower\", but signature `{}` counts every capital letter of the references as an error: set \
             evaluation.bleu = \"13a-lc\" in the base",
            signature.name()
        )
    })
}

fn unread(regime: &Regime) -> Option<String> {
    let passes = regime.corpus?;
    (passes.epochs < 1.0).then(|| {
        format!(
            "training ends after {:.0} % of the pairs and never reads the rest; an epoch takes {:.0} updates",
            100.0 * passes.epochs,
            passes.steps_per_epoch
        )
    })
}

fn memorised(regime: &Regime, experiment: &Experiment) -> Option<String> {
    let (passes, dropout) = (regime.corpus?, experiment.regularization.dropout);
    (passes.epochs > MANY_EPOCHS && dropout < SOME_DROPOUT).then(|| {
        format!(
            "every pair is read {:.0} times with dropout {dropout}: the model may memorise them; watch the dev loss",
            passes.epochs
        )
    })
}

fn few_sentences(regime: &Regime, corpus: CorpusSize) -> Option<String> {
    let mean_length = corpus.target_tokens as f64 / corpus.pairs as f64;
    let sentences = regime.batch_tokens as f64 / mean_length;
    (sentences < FEW_SENTENCES).then(|| {
        let tokens = regime.batch_tokens;
        format!("an update of {tokens} target tokens has {sentences:.1} sentences: its gradient is mostly noise")
    })
}

fn rare_tokens(experiment: &Experiment, corpus: CorpusSize) -> Option<String> {
    let vocab = experiment.data.vocab_size;
    let times = (corpus.source_tokens + corpus.target_tokens) as f64 / vocab as f64;
    (times < RARE_TOKENS).then(|| {
        format!(
            "a vocabulary of {vocab} tokens is large for this corpus: a token occurs {times:.0} times on average, and \
             many embeddings stay near their random start"
        )
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::spec::load_experiment;

    /// Returns the paper's base, with changes.
    fn experiment(changes: &[(&str, &str)]) -> Experiment {
        let text = changes.iter().fold(
            "model = { layers = 6, d_model = 512, d_ff = 2048, heads = 8 }
            regularization = { dropout = 0.1, label_smoothing = 0.1 }
            data = { corpus = 'wmt14-en-de', vocab_size = 37000 }
            training = { steps = 100000, batch_tokens = 25000, warmup_steps = 4000 }
            selection = { average = 5 }"
                .to_owned(),
            |text, (from, to)| {
                assert!(text.contains(from), "{from}");
                text.replace(from, to)
            },
        );
        load_experiment(Path::new("x.toml"), &|_| Ok(text.clone())).expect("a valid spec")
    }

    /// Pairs of a text and its replacement.
    type Changes = &'static [(&'static str, &'static str)];

    /// Roughly the paper's corpus: 4.5 million pairs.
    const WMT: CorpusSize = CorpusSize {
        pairs: 4_500_000,
        source_tokens: 120_000_000,
        target_tokens: 125_000_000,
    };

    #[test]
    fn the_figures_of_the_papers_training_are_the_papers_and_raise_no_warning() {
        let paper = experiment(&[]);
        let regime = Regime::of(&paper, Some(WMT));
        assert!((regime.peak_learning_rate - 6.99e-4).abs() < 1e-6);
        assert!((regime.warmup_share() - 0.04).abs() < 1e-12);
        let passes = regime.corpus.expect("a corpus");
        assert_eq!((passes.steps_per_epoch, passes.epochs), (5000.0, 20.0));
        assert_eq!(oddities(&paper, Some(WMT)), Vec::<String>::new());
    }

    #[test]
    fn each_cause_raises_one_warning_with_its_reason() {
        let tiny = CorpusSize {
            pairs: 1000,
            source_tokens: 20_000,
            target_tokens: 25_000,
        };
        let cases: [(Changes, CorpusSize, &str); 12] = [
            (
                &[("4000 }", "4000, learning_rate_factor = 20 }")],
                WMT,
                "peaks at 1.4e-2",
            ),
            (
                &[("4000 }", "4000, learning_rate_factor = 0.01 }")],
                WMT,
                "barely change",
            ),
            (
                &[("= 4000", "= 60000"), ("average = 5", "average = 0")],
                WMT,
                "60 % of the updates are warm-up",
            ),
            (
                &[("warmup_steps = 4000", "warmup_steps = 90, learning_rate_factor = 0.2")],
                WMT,
                "90 warm-up updates",
            ),
            (&[("layers = 6", "layers = 12")], WMT, "12 post-norm layers"),
            (&[("dropout = 0.1", "dropout = 0.6")], WMT, "dropout 0.6"),
            (&[("smoothing = 0.1", "smoothing = 0.4")], WMT, "label smoothing 0.4"),
            (
                &[("average = 5", "average = 20"), ("= 4000", "= 6000")],
                WMT,
                "reaches back to step 5000",
            ),
            (
                &[("= 25000", "= 300"), ("100000", "10000")],
                WMT,
                "training ends after 2 % of the pairs",
            ),
            (&[("dropout = 0.1", "dropout = 0")], WMT, "read 20 times with dropout 0"),
            (
                &[("vocab_size = 37000", "vocab_size = 37000, case = 'lower'")],
                WMT,
                "every capital letter",
            ),
            (&[("100000", "20000"), ("= 37000", "= 5000")], tiny, "occurs 9 times"),
        ];
        for (changes, corpus, right) in cases {
            let found = oddities(&experiment(changes), Some(corpus));
            assert!(found.len() == 1 && found[0].contains(right), "{right}: {found:?}");
        }
        let small = experiment(&[("= 25000", "= 257"), ("100000", "20000"), ("= 37000", "= 1000")]);
        let long = CorpusSize { pairs: 700, ..tiny };
        let found = oddities(&small, Some(long));
        assert!(found.len() == 1 && found[0].contains("has 7.2 sentences"), "{found:?}");
        assert!(
            oddities(&small, None).is_empty(),
            "without a corpus there is no warning about it"
        );
    }
}
