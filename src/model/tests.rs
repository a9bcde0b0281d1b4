//! What must hold for any weights.

use dfdx::prelude::Cpu;

use super::*;
use crate::ops::{Of, Packed};
use crate::spec::{Norm, Positional, Precision};

/// Two heads of `d_k` 6 and `d_v` 10.
fn small(norm: Norm, positional: Positional, seed: u64) -> Box<dyn Seq2Seq> {
    windowed(norm, positional, None, seed)
}

fn windowed(norm: Norm, positional: Positional, attention_window: Option<usize>, seed: u64) -> Box<dyn Seq2Seq> {
    let architecture = Architecture {
        attention_window,
        norm,
        positional,
        ..Architecture::new(2, 2, 31)
    };
    let model = Transformer::<Cpu, Of<16, 24, 12, 20>>::new(&Cpu::default(), architecture, seed);
    Box::new(Trainable::new(model))
}

fn models() -> [Box<dyn Seq2Seq>; 4] {
    [
        windowed(Norm::Pre, Positional::Sinusoidal, Some(1), 4),
        small(Norm::Post, Positional::Sinusoidal, 1),
        small(Norm::Pre, Positional::Sinusoidal, 2),
        small(Norm::Post, Positional::Learned { max_positions: 9 }, 3),
    ]
}

type Pair = (&'static [u32], &'static [u32]);

fn batch(pairs: &[(&[u32], &[u32])]) -> Batch {
    Batch::from_pairs(pairs)
}

fn pass(tokens: usize) -> TrainingPass {
    TrainingPass {
        dropout: 0.0,
        dropout_key: 0,
        label_smoothing: 0.1,
        update_tokens: tokens,
        precision: Precision::F32,
    }
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-4 * (1.0 + a.abs())
}

fn nll(model: &dyn Seq2Seq, pairs: &[(&[u32], &[u32])]) -> f64 {
    model.loss(&batch(pairs), 0.0).nll_sum
}

#[test]
fn a_future_token_cannot_change_the_past() {
    for model in models() {
        let source: &[u32] = &[5, 6, 7];
        // The losses of a prefix are those of the whole less those of what follows: any leak breaks the sum.
        let target: &[u32] = &[8, 9, 10, 11, 12];
        let at = |target: &[u32], label_from: usize| {
            let batch = batch(&[(source, target)]);
            let mut total = 0.0;
            for (row, &label) in batch.labels.iter().enumerate().take(label_from) {
                let mut one = batch.clone();
                // Only the row's own label counts: make every other row predict a fixed token, then subtract it.
                one.labels.fill(4);
                let fixed = model.loss(&one, 0.0).nll_sum;
                one.labels[row] = label;
                total += model.loss(&one, 0.0).nll_sum - fixed;
            }
            total
        };
        for changed in 1..5 {
            let mut other = target.to_vec();
            other[changed..].iter_mut().for_each(|token| *token += 7);
            // Labels before `changed` are the same tokens, and the rows that predict them have read the same tokens.
            assert!(close(at(target, changed), at(&other, changed)), "token {changed}");
        }
    }
}

#[test]
fn another_sentence_in_the_batch_cannot_change_this_one() {
    for model in models() {
        let (one, other): (Pair, Pair) = ((&[5, 6, 7, 8], &[9, 10]), (&[11], &[12, 13, 14, 15]));
        let apart = nll(&*model, &[one]) + nll(&*model, &[other]);
        assert!(close(nll(&*model, &[one, other]), apart));
        assert!(close(nll(&*model, &[other, one]), apart));
    }
}

#[test]
fn several_micro_batches_are_one_batch() {
    let pairs: [(&[u32], &[u32]); 4] = [
        (&[5, 6], &[7, 8, 9]),
        (&[10], &[11]),
        (&[12, 13, 14], &[15, 16]),
        (&[3], &[]),
    ];
    for (mut whole, mut parts) in models().into_iter().zip(models()) {
        let all = batch(&pairs);
        let together = whole.accumulate(&all, &pass(all.target_tokens()));
        let mut apart = BatchLoss::default();
        for pair in pairs {
            apart += parts.accumulate(&batch(&[pair]), &pass(all.target_tokens()));
        }
        assert!(close(together.smoothed(), apart.smoothed()) && together.tokens == apart.tokens);
        for (one, other) in whole.gradients().iter().zip(parts.gradients()) {
            for (a, b) in one.values.iter().zip(&other.values) {
                assert!((a - b).abs() <= 1e-5, "{}: {a} {b}", one.name);
            }
        }
    }
}

#[test]
fn a_restored_model_goes_on_with_the_same_bits() {
    let step = |step| AdamStep {
        step,
        learning_rate: 1e-2,
        beta1: 0.9,
        beta2: 0.98,
        epsilon: 1e-9,
    };
    let train = |model: &mut dyn Seq2Seq, steps: std::ops::Range<usize>| {
        for i in steps {
            let batch = batch(&[(&[5, 6], &[7, 8, 9]), (&[10], &[11])]);
            let pass = TrainingPass {
                dropout: 0.3,
                dropout_key: i as u64,
                ..pass(batch.target_tokens())
            };
            model.accumulate(&batch, &pass);
            model.update(&step(i + 1));
        }
    };
    for (mut model, mut fresh) in models().into_iter().zip(models()) {
        train(&mut *model, 0..3);
        let (weights, [first, second]) = (model.weights(), model.moments());
        fresh.restore_weights(&weights).expect("the same model");
        fresh.restore_moments([&first, &second]).expect("the same model");
        train(&mut *model, 3..6);
        train(&mut *fresh, 3..6);
        assert_eq!(model.weights(), fresh.weights());
        assert_eq!(model.moments(), fresh.moments());
    }
}

#[test]
fn arrays_of_another_model_are_refused_and_change_nothing() {
    let [_, mut sinusoidal, mut pre_norm, mut learned] = models();
    let before = sinusoidal.weights();
    assert!(matches!(
        sinusoidal.restore_weights(&pre_norm.weights()),
        Err(RestoreError::Unknown { .. })
    ));
    assert!(matches!(
        sinusoidal.restore_weights(&learned.weights()),
        Err(RestoreError::Unknown { .. })
    ));
    assert!(matches!(
        sinusoidal.restore_weights(&before[..3]),
        Err(RestoreError::Missing { .. })
    ));
    let mut bent = before.clone();
    bent[0].shape.swap(0, 1);
    assert!(matches!(
        sinusoidal.restore_weights(&bent),
        Err(RestoreError::Shape { .. })
    ));
    assert_eq!(sinusoidal.weights(), before);
}

#[test]
fn dropout_changes_the_loss_of_training_only() {
    for mut model in models() {
        let batch = batch(&[(&[5, 6, 9, 9, 4], &[7, 8, 9, 20, 21])]);
        let quiet = model.loss(&batch, 0.1);
        let pass = TrainingPass {
            dropout: 0.4,
            dropout_key: 1,
            ..pass(batch.target_tokens())
        };
        let noisy = model.accumulate(&batch, &pass);
        assert!(!close(quiet.nll_sum, noisy.nll_sum));
        assert_eq!(
            noisy,
            model.accumulate(&batch, &pass),
            "the same key makes the same mask"
        );
        assert_ne!(
            noisy,
            model.accumulate(&batch, &TrainingPass { dropout_key: 2, ..pass })
        );
    }
}

#[test]
fn a_step_in_bf16_is_close_to_that_in_f32_and_another() {
    if crate::ops::cpu::skip_without_bf16() {
        return;
    }
    let batch = batch(&[(&[5, 6, 9, 9, 4], &[7, 8, 9, 20, 21]), (&[11, 12], &[13])]);
    let pass = pass(batch.target_tokens());
    let rounded_pass = TrainingPass {
        precision: Precision::Bf16,
        ..pass
    };
    for (mut exact, mut rounded) in models().into_iter().zip(models()) {
        let quiet = exact.loss(&batch, 0.1);
        let losses = [
            exact.accumulate(&batch, &pass).nll(),
            rounded.accumulate(&batch, &rounded_pass).nll(),
        ];
        assert!((losses[0] - losses[1]).abs() <= 0.02, "{losses:?}");
        assert_ne!(losses[0].to_bits(), losses[1].to_bits());
        assert_eq!(rounded.loss(&batch, 0.1), quiet, "validation is f32");
        let (exact, rounded) = (exact.gradients(), rounded.gradients());
        assert_ne!(exact, rounded);
        let all = |of: &[NamedArray]| -> Vec<f64> {
            let values = of.iter().flat_map(|array| &array.values);
            values.map(|&x| f64::from(x)).collect()
        };
        let (exact, rounded) = (all(&exact), all(&rounded));
        let norm = |of: &mut dyn Iterator<Item = f64>| of.map(|x| x * x).sum::<f64>().sqrt();
        let apart = norm(&mut exact.iter().zip(&rounded).map(|(a, b)| a - b)) / norm(&mut exact.into_iter());
        assert!(apart <= 0.1, "the gradients are {apart} of their length apart");
    }
}

#[test]
fn every_seed_has_its_own_weights_and_equal_seeds_the_same() {
    let weights = |seed| small(Norm::Post, Positional::Sinusoidal, seed).weights();
    assert_eq!(weights(1), weights(1));
    assert_ne!(weights(1), weights(2));
}

#[test]
fn sinusoids_are_interleaved() {
    // Position 1 at width 4: angles 1 and 1 / 10000^(2/4) = 0.01 (section 3.5).
    let right = [1f32.sin(), 1f32.cos(), 0.01f32.sin(), 0.01f32.cos()];
    for (i, right) in right.into_iter().enumerate() {
        assert!((positions::sinusoid(1, i, 4) - right).abs() <= 1e-7);
    }
}

#[test]
fn sentences_longer_than_a_learned_table_can_still_be_read() {
    let [.., learned] = models();
    let long: Vec<u32> = (3..23).collect();
    assert!(nll(&*learned, &[(&long, &long)]).is_finite());
    let decoder = learned.decoder();
    let ranked = decoder
        .session(&Packed::from_sentences([&long]))
        .step(&[Continuation { parent: 0, token: BOS }], 31);
    assert_eq!(ranked[0].best.len(), 31);
}

#[test]
fn every_head_shares_itself_out_and_looks_at_nothing_that_comes_later() {
    let (source, target) = ([5, 6, 7, 8, EOS], [BOS, 9, 10, 11]);
    for model in models() {
        let decoder = model.decoder();
        let maps = decoder.attention(&source, &target);
        for (layers, [queries, keys]) in [(&maps.encoder, [5, 5]), (&maps.decoder, [4, 4]), (&maps.cross, [4, 5])] {
            assert_eq!([layers.len(), layers[0].len()], [2, 2], "layers and heads");
            for map in layers.iter().flatten() {
                assert_eq!(map.len(), queries);
                for row in map {
                    assert_eq!(row.len(), keys);
                    assert!((row.iter().sum::<f32>() - 1.0).abs() <= 1e-6, "{row:?}");
                }
            }
        }
        for map in maps.decoder.iter().flatten() {
            let later = map.iter().enumerate().flat_map(|(row, shares)| &shares[row + 1..]);
            assert!(later.into_iter().all(|&share| share.to_bits() == 0));
        }
        let begun = decoder.attention(&source, &target[..2]);
        assert_eq!(begun.encoder, maps.encoder);
        for (begun, map) in begun.cross.iter().flatten().zip(maps.cross.iter().flatten()) {
            for (ours, right) in begun.iter().flatten().zip(map.iter().flatten()) {
                assert!(
                    (ours - right).abs() <= 1e-6,
                    "what is said later changes {right} to {ours}"
                );
            }
        }
    }
}

/// Weights after three updates on sentences of many lengths, the work shared out among so many threads.
fn trained_on(threads: usize, precision: Precision) -> Vec<NamedArray> {
    let sentences: Vec<Vec<u32>> = (0..400)
        .map(|i| (0..i * 7 % 23).map(|j| 3 + (i * 5 + j) % 28).collect())
        .collect();
    let pairs: Vec<(&[u32], &[u32])> = sentences.iter().map(|s| (&s[s.len() / 3..], &s[..])).collect();
    let batch = batch(&pairs);
    let pass = TrainingPass {
        dropout: 0.1,
        precision,
        ..pass(2 * batch.target_tokens())
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(|| {
        let mut model = small(Norm::Post, Positional::Sinusoidal, 1);
        for step in 1..=3 {
            model.accumulate(&batch, &pass);
            model.accumulate(&batch, &pass);
            assert!(model.gradient_norm() > 0.0);
            model.update(&AdamStep {
                step,
                learning_rate: 1e-2,
                beta1: 0.9,
                beta2: 0.98,
                epsilon: 1e-9,
            });
        }
        model.weights()
    })
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    let bits = |weights: Vec<NamedArray>| -> Vec<u32> {
        weights
            .iter()
            .flat_map(|array| array.values.iter().map(|x| x.to_bits()))
            .collect()
    };
    let one = bits(trained_on(1, Precision::F32));
    for threads in [2, 3, 7] {
        assert!(one == bits(trained_on(threads, Precision::F32)), "{threads} threads");
    }
    if crate::ops::cpu::skip_without_bf16() {
        return;
    }
    let rounded = bits(trained_on(1, Precision::Bf16));
    assert!(rounded != one, "the precision must reach the products");
    assert!(rounded == bits(trained_on(3, Precision::Bf16)), "3 threads in bf16");
}

#[test]
fn a_token_outside_the_window_is_not_seen() {
    // With one layer: two would see twice as far.
    let architecture = Architecture {
        attention_window: Some(2),
        ..Architecture::new(1, 2, 31)
    };
    let model = Trainable::new(Transformer::<Cpu, Of<16, 24, 12, 20>>::new(
        &Cpu::default(),
        architecture,
        1,
    ));
    let decoder = model.decoder();
    let source: Vec<u32> = (3..12).collect();
    let target: Vec<u32> = std::iter::once(BOS).chain(12..20).collect();
    let maps = decoder.attention(&source, &target);
    for (map, is_causal) in [(&maps.encoder[0][0], false), (&maps.decoder[0][1], true)] {
        for (query, shares) in map.iter().enumerate() {
            for (key, &share) in shares.iter().enumerate() {
                let is_seen = key.abs_diff(query) <= 2 && !(is_causal && key > query);
                assert_eq!(share > 0.0, is_seen, "query {query}, key {key}");
            }
        }
    }
}
