//! Every operation that a model is made of, on the CPU, at the sizes of two small models: forward alone, and forward
//! with backward.

mod common;

use std::hint::black_box;

use ablate::ops::{
    AttentionWeights, Dropout, FeedForwardWeights, LossTarget, Mask, Matrix, Ops, Packed, Rows, Spans, Vector,
};
use ablate::random::stream;
use common::sentences;
use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main};
use dfdx::prelude::*;
use rand::RngExt;

const ROWS: usize = 1024;
const LENGTH: usize = 16;

type Recording = OwnedTape<f32, Cpu>;

fn random<S: Shape>(shape: S) -> Tensor<S, f32, Cpu> {
    let mut rng = stream(&["bench", "operations"]);
    let values = (0..shape.num_elements()).map(|_| rng.random_range(-1.0..1.0)).collect();
    Cpu::default().tensor_from_vec(values, shape)
}

fn rows<const D: usize>() -> Rows<D, Cpu> {
    random((ROWS, Const))
}

fn matrix<const O: usize, const I: usize>() -> Matrix<O, I, Cpu> {
    random((Const, Const))
}

fn vector<const O: usize>() -> Vector<O, Cpu> {
    random((Const,))
}

/// 1024 rows in sentences.
fn packed(vocabulary: usize) -> Packed {
    Packed::from_sentences(sentences("operations", vocabulary, ROWS / LENGTH, LENGTH))
}

/// Backward from a gradient of ones, which costs one pass over it.
fn backward<S: dfdx::prelude::Shape>(y: Tensor<S, f32, Cpu, Recording>) -> Gradients<f32, Cpu> {
    let (y, mut tape) = y.split_tape();
    let device = y.device().clone();
    tape.add_backward_op(move |gradients| {
        gradients.get_or_alloc_mut(&y)?.fill(1.0);
        Ok(())
    });
    let start: Tensor<Rank0, f32, Cpu> = device.zeros();
    start.put_tape(tape).backward()
}

/// Measures an operation without and with a tape. A macro, because a closure cannot be generic over the tape.
macro_rules! measure {
    ($group:expr, $name:expr, |$tape:ident| $run:expr) => {{
        let name = $name;
        $group.bench_function(format!("{name}/forward"), |bencher| {
            type $tape = NoneTape;
            bencher.iter(|| black_box($run));
        });
        $group.bench_function(format!("{name}/forward+backward"), |bencher| {
            type $tape = Recording;
            bencher.iter(|| black_box(backward($run)));
        });
    }};
}

fn model<const D: usize, const F: usize, const H: usize, const K: usize, const V: usize>(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group(format!("d{D}"));
    group.sample_size(20).throughput(Throughput::Elements(ROWS as u64));
    lookup::<D, V>(&mut group);
    sublayers::<D, F, H, K>(&mut group);
    element_wise::<D>(&mut group);
    projection::<D, V>(&mut group);
    group.finish();
}

fn lookup<const D: usize, const V: usize>(group: &mut BenchmarkGroup<WallTime>) {
    let (table, sentences) = (matrix::<V, D>(), packed(V));
    measure!(group, "gather", |T| Cpu::gather::<V, D, T>(
        &table,
        sentences.ids(),
        8.0
    ));
}

/// The sub-layers of an encoder and of a decoder.
fn sublayers<const D: usize, const F: usize, const H: usize, const K: usize>(group: &mut BenchmarkGroup<WallTime>) {
    let x = rows::<D>();
    let [query, key, value, output] = [(); 4].map(|()| matrix::<D, D>());
    let weights = AttentionWeights {
        query: &query,
        key: &key,
        value: &value,
        output: &output,
    };
    for (name, mask) in [("full", Mask::Full), ("causal", Mask::Causal)] {
        let spans = Spans::within(&packed(1000), mask);
        measure!(group, format!("multi_head_attention, {name}"), |T| {
            Cpu::multi_head_attention::<D, H, K, K, D, D, T>(x.retaped(), None, &weights, &spans)
        });
    }
    let weights = FeedForwardWeights {
        inner: &matrix::<F, D>(),
        inner_bias: &vector::<F>(),
        outer: &matrix::<D, F>(),
        outer_bias: &vector::<D>(),
    };
    measure!(group, "feed_forward", |T| Cpu::feed_forward(x.retaped::<T>(), &weights));
}

fn element_wise<const D: usize>(group: &mut BenchmarkGroup<WallTime>) {
    let (x, sublayer) = (rows::<D>(), rows::<D>());
    let (gain, bias) = (vector::<D>(), vector::<D>());
    let site = Dropout::new(0.1, 1);
    measure!(group, "dropout", |T| Cpu::dropout(x.retaped::<T>(), site));
    measure!(group, "add", |T| Cpu::add(x.retaped::<T>(), sublayer.retaped::<T>()));
    measure!(group, "layer_norm", |T| Cpu::layer_norm(x.retaped::<T>(), &gain, &bias));
    measure!(group, "add_norm", |T| {
        Cpu::add_norm(x.retaped::<T>(), sublayer.retaped::<T>(), site, &gain, &bias)
    });
}

/// What turns the last rows into a loss.
fn projection<const D: usize, const V: usize>(group: &mut BenchmarkGroup<WallTime>) {
    let (x, table, sentences) = (rows::<D>(), matrix::<V, D>(), packed(V));
    let target = LossTarget {
        labels: sentences.ids(),
        smoothing: 0.1,
        scale: 1.0 / ROWS as f32,
    };
    measure!(group, "smoothed_loss", |T| {
        Cpu::smoothed_loss(x.retaped::<T>(), &table, target).loss
    });
}

fn operations(criterion: &mut Criterion) {
    model::<64, 256, 4, 16, 2048>(criterion);
    model::<128, 512, 4, 32, 4096>(criterion);
}

criterion_group!(benches, operations);
criterion_main!(benches);
