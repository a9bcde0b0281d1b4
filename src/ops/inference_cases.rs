//! Every operation of translation: lonely tokens, long sentences, hypotheses that branch and end.

use dfdx::prelude::Cpu;

use super::cases::{Results, drawn};
use super::{Activation, HeadSizes, Inference, Lineage, Mask, Packed, PlainInference, RankedRow, Spans};

/// What a device computes, and what is right.
pub struct InferenceCase {
    pub name: String,
    pub found: Results,
    pub right: Results,
}

/// All cases, on a device and as dfdx computes them. `seed` decides what numbers are drawn.
#[must_use]
pub fn inference_cases(device: &impl Inference, seed: u64) -> Vec<InferenceCase> {
    let plain = PlainInference(Cpu::default());
    let case = |name: &str, found, right| InferenceCase {
        name: format!("translation: {name}"),
        found,
        right,
    };
    let mut cases = vec![
        case("rows", rows(device, seed), rows(&plain, seed)),
        case("ranks", ranks(device, seed), ranks(&plain, seed)),
    ];
    for [heads, key, value] in [[1, 1, 1], [2, 6, 10], [3, 32, 17], [4, 40, 64]] {
        let sizes = HeadSizes { heads, key, value };
        cases.push(case(
            &format!("attention {heads} x {key}/{value}"),
            attention(device, seed, sizes),
            attention(&plain, seed, sizes),
        ));
    }
    cases
}

/// `count` random rows.
fn random<I: Inference>(device: &I, seed: u64, name: &str, count: usize, width: usize) -> I::Rows {
    let table = device.prepare_table(drawn(seed, name, count * width), width);
    let ids: Vec<u32> = (0..count as u32).collect();
    device.embed(&table, &ids, 1.0, vec![0.0; count * width])
}

/// Embeddings, linear maps, norms and sums.
fn rows<I: Inference>(device: &I, seed: u64) -> Results {
    let table = device.prepare_table(drawn(seed, "table", 11 * 6), 6);
    let mut results = vec![device.read(&device.embed(&table, &[3, 3, 0, 10], 2.5, drawn(seed, "positions", 4 * 6)))];
    for (count, width, outputs) in [(1, 1, 1), (13, 7, 5), (30, 64, 33), (9, 300, 40)] {
        let [x, y] = ["x", "y"].map(|name| random(device, seed, name, count, width));
        for activation in [Activation::Identity, Activation::Relu] {
            for bias in [None, Some(drawn(seed, "bias", outputs))] {
                let linear = device.prepare_linear(drawn(seed, "weight", outputs * width), width, bias);
                results.push(device.read(&device.linear(&x, &linear, activation)));
            }
        }
        let norm = device.prepare_norm(drawn(seed, "norm weight", width), drawn(seed, "offset", width));
        results.push(device.read(&device.normalize(&x, &norm)));
        results.push(device.read(&device.add_norm(random(device, seed, "x", count, width), &y, &norm)));
        results.push(device.read(&device.add(x, &y)));
    }
    results
}

/// Within sentences, to the source, and to the steps before.
fn attention<I: Inference>(device: &I, seed: u64, sizes: HeadSizes) -> Results {
    let packed = Packed::from_sentences([3, 1, 70, 7].map(|length| vec![0; length]));
    let (keys, values) = (sizes.keys(), sizes.values());
    let x = random(device, seed, "within", packed.tokens(), 2 * keys + values);
    let within = device.attend_within(&x, sizes, &Spans::within(&packed, Mask::Full));
    let mut results = vec![device.read(&within)];

    let projected = random(device, seed, "memory", packed.tokens(), keys + values);
    let memory = device.memory(&projected, sizes, &packed);
    for asking in [&[0, 1, 2, 3][..], &[2, 2, 2, 2, 2], &[0, 0, 0, 3]] {
        let queries = random(device, seed, "queries", asking.len(), keys);
        results.push(device.read(&device.attend_memory(&queries, &memory, asking)));
    }

    for window in [None, Some(5)] {
        let (mut lineage, mut history) = (Lineage::windowed(window), I::History::default());
        let mut count = 3;
        for step in 0..40 {
            let next = 1 + (step * 5) % 7;
            let parents: Vec<usize> = (0..next).map(|row| (row * 3 + step) % count).collect();
            count = next;
            lineage.advance(&parents);
            let x = random(device, seed, &format!("step {step}"), count, 2 * keys + values);
            results.push(device.read(&device.attend_history(x, &mut history, sizes, &lineage)));
        }
    }
    results
}

/// Log-probabilities of the best classes and of the one that is asked for, and which classes they are. Random logits
/// lie far enough apart for the order to be the same.
fn ranks<I: Inference>(device: &I, seed: u64) -> Results {
    let mut results = Vec::new();
    for (count, width, classes, k) in [(1, 1, 3, 5), (5, 8, 37, 4), (9, 19, 1300, 7)] {
        let table = device.prepare_table(drawn(seed, "classes", classes * width), width);
        let ranked = device.rank(&random(device, seed, "ranked", count, width), &table, k, 2);
        let numbers = |of: fn(&RankedRow) -> Vec<f32>| ranked.iter().flat_map(of).collect::<Vec<f32>>();
        results.push(numbers(|row| row.best.iter().map(|best| best.class as f32).collect()));
        results.push(numbers(|row| {
            row.best.iter().map(|best| best.log_probability as f32).collect()
        }));
        results.push(numbers(|row| vec![row.asked as f32]));
    }
    results
}
