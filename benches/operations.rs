//! Every operation that a model is made of, on the CPU, at the sizes of two small models: forward alone, and forward
//! with backward. The operations' own tables of cases say what is measured.

use std::hint::black_box;

use ablate::ops::{Recording, benchmarks};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use dfdx::prelude::{Cpu, Gradients};

const ROWS: usize = 1024;
const LENGTH: usize = 16;
const SEED: u64 = 1;

fn model<const D: usize, const F: usize>(criterion: &mut Criterion, heads: usize, classes: usize) {
    let cpu = Cpu::default();
    let mut group = criterion.benchmark_group(format!("d{D}"));
    group.sample_size(20).throughput(Throughput::Elements(ROWS as u64));
    for case in benchmarks::<D, F, Cpu>(ROWS, LENGTH, heads, classes) {
        let call = case.call(&cpu, SEED);
        // The lengths of all sentences would only repeat themselves.
        let name = case.name.split(", [").next().unwrap_or(&case.name);
        let kind = if case.name.ends_with("Causal") { ", causal" } else { "" };
        group.bench_function(format!("{name}{kind}/forward"), |bencher| {
            bencher.iter(|| black_box(call.run(&mut Recording::off())));
        });
        group.bench_function(format!("{name}{kind}/forward+backward"), |bencher| {
            bencher.iter(|| {
                let mut recording = Recording::on(&cpu, Gradients::leaky());
                let output = call.run(&mut recording);
                black_box(output.backward(&cpu, recording, SEED))
            });
        });
    }
    group.finish();
}

fn operations(criterion: &mut Criterion) {
    model::<64, 256>(criterion, 4, 2048);
    model::<128, 512>(criterion, 4, 4096);
}

criterion_group!(benches, operations);
criterion_main!(benches);
