//! What is done with text: tokens, BLEU, and a suite into a plan.

use std::fs;
use std::hint::black_box;
use std::path::Path;

use ablate::data::{Vocabulary, WordCounts};
use ablate::grammar::GrammarPairs;
use ablate::plan::{Cost, Plan};
use ablate::score::{BleuConfig, corpus_bleu};
use ablate::spec::{Case, Split, load_suite};
use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};

fn encode(criterion: &mut Criterion) {
    let training: Vec<_> = GrammarPairs::new(Split::Train).take(5000).collect();
    let vocabulary =
        Vocabulary::train(&WordCounts::of(&training), 2000, Case::Keep).expect("the grammar has few characters");
    let lines: Vec<String> = GrammarPairs::new(Split::Test)
        .take(1000)
        .map(|(source, _)| source)
        .collect();
    let mut group = criterion.benchmark_group("encode");
    group.throughput(Throughput::Elements(lines.len() as u64));
    // A new encoder each time: one that has seen the lines already only looks words up.
    group.bench_function("1000 lines", |bencher| {
        bencher.iter_batched_ref(
            || vocabulary.encoder(),
            |encoder| {
                black_box(
                    encoder
                        .encode_all(lines.iter().map(String::as_str))
                        .expect("it encodes"),
                )
            },
            BatchSize::PerIteration,
        );
    });
    group.finish();
}

fn bleu(criterion: &mut Criterion) {
    let references: Vec<String> = GrammarPairs::new(Split::Test)
        .take(3000)
        .map(|(_, target)| target)
        .collect();
    let hypotheses: Vec<String> = references.iter().map(|line| without_every_fourth_word(line)).collect();
    let mut group = criterion.benchmark_group("BLEU");
    group.throughput(Throughput::Elements(references.len() as u64));
    group.bench_function("3000 lines", |bencher| {
        bencher.iter(|| corpus_bleu(black_box(&hypotheses), &[&references], &BleuConfig::default()));
    });
    group.finish();
}

fn without_every_fourth_word(line: &str) -> String {
    let kept = line.split(' ').enumerate().filter(|(at, _)| at % 4 != 3);
    kept.map(|(_, word)| word).collect::<Vec<_>>().join(" ")
}

/// Reads the files too, as the command does.
fn plan(criterion: &mut Criterion) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("experiments/table3.toml");
    criterion.bench_function("plan of Table 3", |bencher| {
        bencher.iter(|| {
            let suite = load_suite(&path, &|path| fs::read_to_string(path)).expect("the suite is valid");
            let plan = Plan::of(&suite);
            let flops: f64 = plan
                .runs
                .iter()
                .map(|run| Cost::of(&run.experiment, 25.0).training_flops)
                .sum();
            black_box((plan, flops))
        });
    });
}

criterion_group!(benches, encode, bleu, plan);
criterion_main!(benches);
