//! One training step (forward, backward, Adam) for the shapes that a `PyTorch` baseline was measured on.

use ablate::model::{AdamStep, Batch, Seq2Seq, Sinusoidal, Trainable, TrainingPass, Transformer};
use ablate::ops::stream;
use ablate::spec::Norm;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use dfdx::prelude::Cpu;
use rand::RngExt;

/// Random sentence pairs, `length` target tokens each with the end counted.
fn batch(vocabulary: u32, sentences: usize, length: usize) -> Batch {
    let mut rng = stream(&["bench"]);
    let mut sentence = || -> Vec<u32> { (1..length).map(|_| rng.random_range(3..vocabulary)).collect() };
    let pairs: Vec<_> = (0..sentences).map(|_| (sentence(), sentence())).collect();
    Batch::from_pairs(
        &pairs
            .iter()
            .map(|(source, target)| (&source[..], &target[..]))
            .collect::<Vec<_>>(),
    )
}

fn step(model: &mut dyn Seq2Seq, batch: &Batch, step: usize) {
    let update_tokens = batch.target_tokens();
    let pass = TrainingPass {
        dropout: 0.1,
        dropout_key: step as u64,
        label_smoothing: 0.1,
        update_tokens,
    };
    model.accumulate(batch, &pass);
    model.update(&AdamStep {
        step,
        learning_rate: 1e-4,
        beta1: 0.9,
        beta2: 0.98,
        epsilon: 1e-9,
    });
}

fn bench(criterion: &mut Criterion, name: &str, mut model: Box<dyn Seq2Seq>, batch: &Batch) {
    let mut group = criterion.benchmark_group("training step");
    group
        .sample_size(10)
        .throughput(Throughput::Elements(batch.target_tokens() as u64));
    let mut steps = 0;
    group.bench_function(name, |bencher| {
        bencher.iter(|| {
            steps += 1;
            step(&mut *model, batch, steps);
        });
    });
}

fn shapes(criterion: &mut Criterion) {
    let cpu = Cpu::default();
    let d64 = Transformer::<Cpu, 2, 64, 256, 4, 16, 16, 64, 64, 2048, Sinusoidal>::new(&cpu, Norm::Post, 1);
    bench(criterion, "d64", Box::new(Trainable::new(d64)), &batch(2048, 64, 16));
    let d128 = Transformer::<Cpu, 2, 128, 512, 4, 32, 32, 128, 128, 4096, Sinusoidal>::new(&cpu, Norm::Post, 1);
    bench(criterion, "d128", Box::new(Trainable::new(d128)), &batch(4096, 128, 16));
}

criterion_group!(benches, shapes);
criterion_main!(benches);
