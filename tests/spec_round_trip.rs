//! What is written is what is read: the resolved `spec.toml` of any experiment, and no text that breaks the reader.

use std::path::Path;

use ablate::spec::{
    AverageOf, BestBy, Case, Corpus, Data, Decoding, Evaluation, Experiment, FilePair, Model, Norm, Positional,
    Precision, Regularization, Selection, Signature, Split, Training, Weights, load_experiment, load_suite, render,
};
use proptest::prelude::*;
use proptest::sample::select;

fn models() -> impl Strategy<Value = Model> {
    let sizes = (
        1..=12_usize,
        1..=64_usize,
        1..=2048_usize,
        1..=16_usize,
        1..=128_usize,
        1..=128_usize,
    );
    let positional = prop_oneof![
        Just(Positional::Sinusoidal),
        (700..=4096_usize).prop_map(|max_positions| Positional::Learned { max_positions }),
    ];
    let norm = select(vec![Norm::Post, Norm::Pre]);
    (sizes, positional, norm).prop_map(
        |((layers, half_width, d_ff, heads, d_k, d_v), positional, norm)| Model {
            layers,
            d_model: 2 * half_width,
            d_ff,
            heads,
            d_k,
            d_v,
            positional,
            norm,
        },
    )
}

fn files() -> impl Strategy<Value = FilePair> {
    // Quotes, line ends, backslashes and letters of any script must survive.
    let path = || r#"[a-zäжß ."'\\#\n\t=-][^/]{0,12}"#.prop_map(Into::into);
    (path(), path()).prop_map(|(source, target)| FilePair { source, target })
}

fn corpora() -> impl Strategy<Value = Corpus> {
    let pair = |languages: [&str; 2]| languages.map(str::to_owned);
    let multi30k = select(vec![["en", "de"], ["de", "en"], ["en", "fr"], ["fr", "de"]]);
    let wmt14 = select(vec![["en", "de"], ["de", "en"]]);
    prop_oneof![
        (1..=100_000_000_usize).prop_map(|train_pairs| Corpus::Grammar { train_pairs }),
        multi30k
            .prop_map(pair)
            .prop_map(|[source, target]| Corpus::Multi30k { source, target }),
        wmt14
            .prop_map(pair)
            .prop_map(|[source, target]| Corpus::Wmt14 { source, target }),
        (files(), files(), files()).prop_map(|(train, dev, test)| Corpus::Text { train, dev, test }),
    ]
}

fn trainings() -> impl Strategy<Value = Training> {
    let sizes = (
        1000..=1_000_000_usize,
        300..=100_000_usize,
        0.0..=1.0_f64,
        0.0..=1.0_f64,
    );
    let adam = (1e-6..=1.0_f64, 0.0..1.0_f64, 0.0..1.0_f64, 1e-12..=1e-3_f64);
    let every = (1..=1000_usize, 1..=1000_usize);
    let precision = select(vec![Precision::F32, Precision::Bf16]);
    (sizes, adam, every, precision).prop_map(
        |((steps, batch_tokens, micro, warmup), adam, (validate_every, checkpoint_every), precision)| {
            let (factor, adam_beta1, adam_beta2, adam_epsilon) = adam;
            let share = |whole: usize, part: f64| (whole as f64 * part) as usize;
            Training {
                steps,
                batch_tokens,
                micro_batch_tokens: share(batch_tokens, micro).max(300),
                warmup_steps: share(steps, warmup).max(1000),
                learning_rate_factor: factor,
                adam_beta1,
                adam_beta2,
                adam_epsilon,
                validate_every,
                checkpoint_every,
                precision,
            }
        },
    )
}

/// A training of [`trainings`] measures on dev at least once, so an average of one can be had.
fn selections() -> impl Strategy<Value = Selection> {
    let best_by = select(vec![BestBy::Loss, BestBy::Bleu]);
    let average_of = select(vec![AverageOf::Last, AverageOf::Best]);
    let weights = select(vec![Weights::Last, Weights::Best, Weights::Average]);
    (best_by, 0..=1_usize, average_of, weights).prop_map(|(best_by, average, average_of, weights)| Selection {
        best_by,
        patience: 0,
        average,
        // Without an average it is nothing to tell of, and cannot be the one in the table.
        average_of: if average > 0 { average_of } else { AverageOf::Last },
        weights: if average > 0 {
            weights
        } else {
            weights.min(Weights::Best)
        },
    })
}

fn decodings() -> impl Strategy<Value = Decoding> {
    (1..=64_usize, 0.0..=10.0_f64, 0..=200_usize).prop_map(|(beam, length_penalty, max_extra_tokens)| Decoding {
        beam,
        // A greedy search has no penalty to tell of.
        length_penalty: if beam > 1 { length_penalty } else { 0.0 },
        max_extra_tokens,
    })
}

/// Experiments that keep every rule of the spec.
fn experiments() -> impl Strategy<Value = Experiment> {
    let regularization = (0.0..=0.98_f32, 0.0..=0.98_f32).prop_map(|(dropout, label_smoothing)| Regularization {
        dropout,
        label_smoothing,
    });
    let sizes = (8..=100_000_usize, 0..=5_000_000_usize, 1..=299_usize);
    let case = select(vec![Case::Keep, Case::Lower]);
    let data = (corpora(), sizes, case).prop_map(|(corpus, (vocab_size, vocab_pairs, max_length), case)| Data {
        corpus,
        vocab_size,
        vocab_pairs,
        case,
        max_length,
    });
    let evaluation = (select(vec![Split::Dev, Split::Test]), select(Signature::ALL.to_vec()))
        .prop_map(|(split, bleu)| Evaluation { split, bleu });
    let ends = (selections(), decodings(), evaluation);
    (models(), regularization, data, trainings(), ends).prop_map(
        |(model, regularization, data, training, (selection, decoding, evaluation))| Experiment {
            model,
            regularization,
            data,
            training,
            selection,
            decoding,
            evaluation,
        },
    )
}

/// Pieces of specs, to be put together wrongly.
fn fragments() -> impl Strategy<Value = String> {
    let known = select(vec![
        "[model]",
        "[[row]]",
        "[[grid]]",
        "[training]",
        "title",
        "base",
        "seeds",
        "id",
        "set",
        "paper",
        "model",
        "heads",
        "d_k",
        "steps",
        "max_positions",
        "positional",
        "corpus",
        "\"x.toml\"",
        "\"learned\"",
        "\"h{model.heads}\"",
        "\"{\"",
        "'text'",
        "=",
        "= {",
        "}",
        "[",
        "]",
        ".",
        ",",
        "\n",
        "\n",
        "\n",
        "0",
        "1",
        "-3",
        "2.5",
        "nan",
        "1e99",
        "true",
        "2017-06-12",
        "#",
        "\"",
        "\u{feff}",
        "ä",
    ]);
    prop::collection::vec(known, 0..40).prop_map(|pieces| pieces.join(" "))
}

/// Reads a text as a suite and as an experiment; a refusal names at least one fault.
fn read_both_ways(text: &str) {
    let read = |path: &Path| {
        let is_here = path == Path::new("x.toml");
        if is_here {
            Ok(text.to_owned())
        } else {
            Err(std::io::ErrorKind::NotFound.into())
        }
    };
    let suite = load_suite(Path::new("x.toml"), &read);
    let experiment = load_experiment(Path::new("x.toml"), &read);
    for faults in [suite.err(), experiment.err()].into_iter().flatten() {
        assert!(!faults.faults.is_empty(), "refused without a reason");
        assert!(!faults.to_string().is_empty());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn an_experiment_written_and_read_again_is_the_same(experiment in experiments()) {
        let text = render(&experiment);
        let again = load_experiment(Path::new("spec.toml"), &|_| Ok(text.clone()));
        prop_assert_eq!(again.map_err(|faults| faults.to_string()), Ok(experiment), "{}", text);
    }

    #[test]
    fn no_text_breaks_the_reader(text in any::<String>()) {
        read_both_ways(&text);
    }

    #[test]
    fn no_mixture_of_fragments_breaks_the_reader(text in fragments()) {
        read_both_ways(&text);
    }

    #[test]
    fn no_damage_to_a_good_file_breaks_the_reader(at in 0..10_000_usize, length in 0..40_usize, with in fragments()) {
        let good = include_str!("spec_faults/good/base.toml");
        let start = at % good.len();
        let end = (start + length).min(good.len());
        let damaged = [&good.as_bytes()[..start], with.as_bytes(), &good.as_bytes()[end..]].concat();
        read_both_ways(&String::from_utf8_lossy(&damaged));
    }
}
