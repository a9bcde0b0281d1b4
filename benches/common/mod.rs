//! Models, sentences and steps that several benches share.

#![allow(dead_code, reason = "no bench uses all of it")]

use std::ops::ControlFlow;

use ablate::decode::{self, Hypothesis};
use ablate::model::{AdamStep, Architecture, Batch, BatchLoss, Seq2Seq, Trainable, TrainingPass, Transformer};
use ablate::ops::Of;
use ablate::ops::cpu::keep_freed_memory;
use ablate::random::stream;
use ablate::spec::{Decoding, Precision};
use dfdx::prelude::Cpu;
use rand::RngExt;

/// A size of model, under the name that results call it by.
#[derive(Clone, Copy)]
pub struct Shape {
    pub name: &'static str,
    pub vocabulary: usize,
    pub d_model: usize,
    pub heads: usize,
    pub layers: usize,
    pub d_ff: usize,
    build: fn(Architecture) -> Box<dyn Seq2Seq>,
}

/// A row of `table3-quick`.
pub const QUICK: Shape = Shape::of::<64, 256>("quick", [3, 4, 2400]);
pub const D64: Shape = Shape::of::<64, 256>("d64", [2, 4, 2048]);
pub const D128: Shape = Shape::of::<128, 512>("d128", [2, 4, 4096]);
/// Narrow layers, many of them, and a large vocabulary: what small translation models look like.
pub const D128_DEEP: Shape = Shape::of::<128, 256>("d128-deep", [4, 4, 8192]);
pub const D256: Shape = Shape::of::<256, 1024>("d256", [3, 4, 8192]);
pub const D512: Shape = Shape::of::<512, 2048>("d512", [6, 8, 8192]);

impl Shape {
    const fn of<const D: usize, const F: usize>(name: &'static str, [layers, heads, vocabulary]: [usize; 3]) -> Self {
        Self {
            name,
            vocabulary,
            d_model: D,
            heads,
            layers,
            d_ff: F,
            build: build::<D, F>,
        }
    }

    /// A fresh model: post-norm, sinusoidal positions, the library's first weights.
    pub fn model(&self) -> Box<dyn Seq2Seq> {
        keep_freed_memory();
        (self.build)(Architecture::new(self.layers, self.heads, self.vocabulary))
    }
}

fn build<const D: usize, const F: usize>(architecture: Architecture) -> Box<dyn Seq2Seq> {
    let model = Transformer::<Cpu, Of<D, F, D, D>>::new(&Cpu::default(), architecture, 1);
    Box::new(Trainable::new(model))
}

/// Random tokens, none of them special.
pub fn sentences(purpose: &str, vocabulary: usize, count: usize, tokens: usize) -> Vec<Vec<u32>> {
    let mut rng = stream(&["bench", purpose]);
    let last = vocabulary as u32;
    (0..count)
        .map(|_| (0..tokens).map(|_| rng.random_range(3..last)).collect())
        .collect()
}

/// Random sentence pairs, `length` tokens on each side with the end counted.
pub fn batch(vocabulary: usize, count: usize, length: usize) -> Batch {
    let sources = sentences("sources", vocabulary, count, length - 1);
    let targets = sentences("targets", vocabulary, count, length - 1);
    let pairs: Vec<(&[u32], &[u32])> = sources
        .iter()
        .zip(&targets)
        .map(|(source, target)| (&source[..], &target[..]))
        .collect();
    Batch::from_pairs(&pairs)
}

/// Forward, backward and Adam on one batch; `step` counts from 1.
pub fn train_step(model: &mut dyn Seq2Seq, batch: &Batch, step: usize, precision: Precision) -> BatchLoss {
    let pass = TrainingPass {
        dropout: 0.1,
        dropout_key: step as u64,
        label_smoothing: 0.1,
        update_tokens: batch.target_tokens(),
        precision,
    };
    let loss = model.accumulate(batch, &pass);
    model.update(&AdamStep {
        step,
        learning_rate: 1e-4,
        beta1: 0.9,
        beta2: 0.98,
        epsilon: 1e-9,
    });
    loss
}

/// Beam 4. No translation is longer than its source, so that an untrained model comes to an end.
pub const BEAM_4: Decoding = Decoding {
    beam: 4,
    length_penalty: 0.6,
    max_extra_tokens: 0,
};

pub fn translate(model: &dyn Seq2Seq, sources: &[Vec<u32>]) -> Vec<Vec<Hypothesis>> {
    decode::translate(model, sources, &BEAM_4, |_| ControlFlow::Continue(())).expect("nobody breaks")
}
