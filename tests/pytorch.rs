//! The model against `PyTorch`: the same weights give the same probabilities, losses and gradients, and ten updates the
//! same losses. The values come from `tests/golden/transformer/make.py`, whose head names the command and versions.

use ablate::model::{
    AdamStep, Architecture, BOS, Batch, Continuation, EOS, NamedArray, Seq2Seq, Trainable, TrainingPass, Transformer,
};
use ablate::ops::{Of, RankedRow};
use ablate::spec::{Norm, Positional, Precision};
use dfdx::prelude::Cpu;
use safetensors::SafeTensors;

const VOCABULARY: usize = 23;
const SMOOTHING: f32 = 0.1;

/// Two heads of `d_k` 6 and `d_v` 10.
fn model(norm: Norm, positional: Positional, attention_window: Option<usize>) -> Box<dyn Seq2Seq> {
    let architecture = Architecture {
        attention_window,
        norm,
        positional,
        ..Architecture::new(2, 2, VOCABULARY)
    };
    let model = Transformer::<Cpu, Of<16, 24, 12, 20>>::new(&Cpu::default(), architecture, 0);
    Box::new(Trainable::new(model))
}

struct Golden(Vec<u8>);

impl Golden {
    fn read(name: &str) -> Self {
        let path = format!(
            "{}/tests/golden/transformer/{name}.safetensors",
            env!("CARGO_MANIFEST_DIR")
        );
        Self(std::fs::read(&path).unwrap_or_else(|error| panic!("{path}: {error}")))
    }

    fn array(&self, name: &str) -> NamedArray {
        let file = SafeTensors::deserialize(&self.0).expect("a safetensors file");
        let tensor = file.tensor(name).unwrap_or_else(|error| panic!("{name}: {error}"));
        let values = tensor
            .data()
            .as_chunks::<4>()
            .0
            .iter()
            .map(|&bytes| f32::from_le_bytes(bytes))
            .collect();
        NamedArray {
            name: name.to_owned(),
            shape: tensor.shape().to_vec(),
            values,
        }
    }

    /// The model with `PyTorch`'s weights.
    fn restore(&self, mut model: Box<dyn Seq2Seq>) -> Box<dyn Seq2Seq> {
        let golden = |array: &NamedArray| NamedArray {
            name: array.name.clone(),
            ..self.array(&format!("weight/{}", array.name))
        };
        let weights: Vec<_> = model.weights().iter().map(golden).collect();
        model.restore_weights(&weights).expect("the same names and shapes");
        model
    }
}

fn models() -> [(Golden, Box<dyn Seq2Seq>); 3] {
    let post = Golden::read("post-sinusoidal");
    let sinusoidal = post.restore(model(Norm::Post, Positional::Sinusoidal, None));
    let pre = Golden::read("pre-learned");
    let learned = pre.restore(model(Norm::Pre, Positional::Learned { max_positions: 12 }, None));
    let band = Golden::read("post-sinusoidal-window-1");
    let windowed = band.restore(model(Norm::Post, Positional::Sinusoidal, Some(1)));
    [(post, sinusoidal), (pre, learned), (band, windowed)]
}

const SOURCES: [&[u32]; 4] = [&[5, 9, 3, 17, 22], &[4], &[8, 8, 21], &[]];
const TARGETS: [&[u32]; 4] = [&[7, 3, 11], &[19, 20, 21, 6, 5], &[], &[10]];

fn batch() -> Batch {
    Batch::from_pairs(&SOURCES.into_iter().zip(TARGETS).collect::<Vec<_>>())
}

fn pass(batch: &Batch) -> TrainingPass {
    TrainingPass {
        dropout: 0.0,
        dropout_key: 0,
        label_smoothing: SMOOTHING,
        update_tokens: batch.target_tokens(),
        precision: Precision::F32,
    }
}

/// Equal to a share of the largest number in sight; NaN never.
fn assert_close(name: &str, ours: &[f32], right: &[f32], relative: f32) {
    assert_eq!(ours.len(), right.len(), "{name}");
    let size = right.iter().fold(0f32, |size, x| size.max(x.abs())).max(1e-6);
    for (i, (ours, right)) in ours.iter().zip(right).enumerate() {
        assert!(
            (ours - right).abs() <= relative * size,
            "{name}[{i}]: {ours}, PyTorch has {right}"
        );
    }
}

#[test]
fn losses_and_every_gradient_are_pytorchs() {
    for (golden, mut model) in models() {
        let batch = batch();
        let losses = model.accumulate(&batch, &pass(&batch));
        assert_close(
            "smoothed loss",
            &[losses.smoothed() as f32],
            &golden.array("smoothed").values,
            1e-5,
        );
        assert_close("nll", &[losses.nll() as f32], &golden.array("nll").values, 1e-5);
        assert_eq!(
            losses,
            model.loss(&batch, SMOOTHING),
            "without dropout, training and evaluation agree"
        );
        for gradient in model.gradients() {
            let right = golden.array(&format!("gradient/{}", gradient.name));
            assert_eq!(gradient.shape, right.shape, "{}", gradient.name);
            assert_close(&gradient.name, &gradient.values, &right.values, 1e-4);
        }
    }
}

/// The log-probabilities of all classes, by their numbers.
fn by_class(row: &RankedRow) -> Vec<f32> {
    let mut all = vec![f32::NAN; VOCABULARY];
    for ranked in &row.best {
        all[ranked.class as usize] = ranked.log_probability as f32;
    }
    assert!((all[EOS as usize] - row.asked as f32).abs() <= 0.0);
    all
}

#[test]
fn decoding_with_a_cache_gives_pytorchs_probabilities() {
    for (golden, model) in models() {
        let right = golden.array("log_probabilities").values;
        let mut row = 0;
        for (sentence, target) in TARGETS.iter().enumerate() {
            let decoder = model.decoder();
            let mut session = decoder.session(&batch().source);
            let mut parent = sentence;
            for &token in &[&[BOS], *target].concat() {
                let ours = by_class(&session.step(&[Continuation { parent, token }], VOCABULARY)[0]);
                parent = 0;
                assert_close(
                    "log-probabilities",
                    &ours,
                    &right[row * VOCABULARY..][..VOCABULARY],
                    1e-5,
                );
                row += 1;
            }
        }
        assert_eq!(row * VOCABULARY, right.len());
    }
}

#[test]
fn hypotheses_decoded_together_do_not_disturb_one_another() {
    for (golden, model) in models() {
        let right = golden.array("log_probabilities").values;
        let decoder = model.decoder();
        let mut session = decoder.session(&batch().source);
        let first = session.step(&[3, 1, 0].map(|parent| Continuation { parent, token: BOS }), VOCABULARY);
        assert_close(
            "sentence 1",
            &by_class(&first[1]),
            &right[4 * VOCABULARY..][..VOCABULARY],
            1e-5,
        );
        let rows = [(2, 7), (1, 19), (1, EOS), (0, 10)].map(|(parent, token)| Continuation { parent, token });
        let second = session.step(&rows, VOCABULARY);
        let row = |index: usize| &right[index * VOCABULARY..][..VOCABULARY];
        assert_close("sentence 0", &by_class(&second[0]), row(1), 1e-5);
        assert_close("sentence 1", &by_class(&second[1]), row(5), 1e-5);
        assert_close("sentence 3", &by_class(&second[3]), row(12), 1e-5);
    }
}

#[test]
fn ten_updates_lose_what_pytorch_loses() {
    for (golden, mut model) in models() {
        let batch = batch();
        for (i, right) in golden.array("training").values.into_iter().enumerate() {
            let step = i + 1;
            let losses = model.accumulate(&batch, &pass(&batch));
            assert_close(
                &format!("loss of step {step}"),
                &[losses.smoothed() as f32],
                &[right],
                1e-4,
            );
            let warmup = (step as f64) * 4f64.powf(-1.5);
            let learning_rate = 0.3 * 16f64.powf(-0.5) * (step as f64).powf(-0.5).min(warmup);
            model.update(&AdamStep {
                step,
                learning_rate,
                beta1: 0.9,
                beta2: 0.98,
                epsilon: 1e-9,
            });
        }
    }
}
