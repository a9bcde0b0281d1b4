//! Beam-4 translation of random sentences.

mod common;

use std::hint::black_box;

use common::{D64, D128, Shape, sentences, translate};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

const SHAPES: [Shape; 2] = [D64, D128];
const SENTENCES: usize = 64;
const PIECES: usize = 15;

fn decoding(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("beam 4");
    group.sample_size(10).throughput(Throughput::Elements(SENTENCES as u64));
    for shape in SHAPES {
        let model = shape.model();
        let sources = sentences("decoding", shape.vocabulary, SENTENCES, PIECES);
        group.bench_function(shape.name, |bencher| {
            bencher.iter(|| black_box(translate(&*model, &sources)));
        });
    }
    group.finish();
}

criterion_group!(benches, decoding);
criterion_main!(benches);
