//! One training step (forward, backward, Adam) for the shapes that a `PyTorch` baseline was measured on, and for the
//! small updates of `table3-quick`.

mod common;

use std::hint::black_box;

use ablate::spec::Precision;
use common::{D64, D128, D256, D512, QUICK, Shape, batch, train_step};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

/// Shape, sentences, and tokens of each with the end counted.
const CASES: [(Shape, usize, usize); 5] = [
    (QUICK, 24, 16),
    (D64, 64, 16),
    (D128, 128, 16),
    (D256, 64, 32),
    (D512, 32, 32),
];

fn training_step(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("training step");
    // Criterion takes no fewer, and a step of the largest shape lasts seconds.
    group.sample_size(10);
    for (shape, sentences, length) in CASES {
        let batch = batch(shape.vocabulary, sentences, length);
        let mut model = shape.model();
        let mut step = 0;
        group.throughput(Throughput::Elements(batch.target_tokens() as u64));
        group.bench_function(shape.name, |bencher| {
            bencher.iter(|| {
                step += 1;
                black_box(train_step(&mut *model, &batch, step, Precision::F32))
            });
        });
    }
    group.finish();
}

criterion_group!(benches, training_step);
criterion_main!(benches);
