//! Every operation against the plain one, for odd sizes, lonely tokens and hypotheses that branch.

use rand::RngExt;

use super::*;
use crate::ops::{Mask, PlainInference};
use crate::random::stream;

type Plain = PlainInference<dfdx::prelude::Cpu>;

fn plain() -> Plain {
    PlainInference(dfdx::prelude::Cpu::default())
}

fn random(name: &str, count: usize) -> Vec<f32> {
    let mut rng = stream(&["test", name]);
    (0..count).map(|_| rng.random_range(-1.0..1.0)).collect()
}

/// The same rows on both sides.
fn rows(name: &str, count: usize, width: usize) -> (Rows, <Plain as Inference>::Rows) {
    let values = random(name, count * width);
    let mut ours = Rows::of(count, width);
    ours.numbers.copy_from_slice(&values);
    let ids: Vec<u32> = (0..count as u32).collect();
    let table = plain().prepare_table(values.clone(), width);
    (ours, plain().embed(&table, &ids, 1.0, vec![0.0; values.len()]))
}

fn assert_close(name: &str, ours: &Rows, right: &<Plain as Inference>::Rows) {
    let right = right.as_vec();
    assert_eq!(ours.numbers.len(), right.len(), "{name}");
    for (i, (ours, right)) in ours.numbers.iter().zip(&right).enumerate() {
        assert!(
            (ours - right).abs() <= 2e-5 * (1.0 + right.abs()),
            "{name}[{i}]: {ours}, not {right}"
        );
    }
}

const SIZES: [HeadSizes; 3] = [sizes(1, 1, 1), sizes(2, 6, 10), sizes(3, 32, 17)];

const fn sizes(heads: usize, key: usize, value: usize) -> HeadSizes {
    HeadSizes { heads, key, value }
}

fn sentences(lengths: &[usize]) -> Packed {
    Packed::from_sentences(lengths.iter().map(|&length| vec![0; length]))
}

#[test]
fn rows_of_a_table_scaled_and_placed() {
    let (table, positions) = (random("table", 11 * 6), random("positions", 4 * 6));
    let ours = CpuInference.embed(
        &CpuInference.prepare_table(table.clone(), 6),
        &[3, 3, 0, 10],
        2.5,
        positions.clone(),
    );
    let right = plain().embed(&plain().prepare_table(table, 6), &[3, 3, 0, 10], 2.5, positions);
    assert_close("embed", &ours, &right);
}

#[test]
fn linear_maps_and_norms() {
    for (count, inputs, outputs) in [(1, 1, 1), (13, 7, 5), (30, 64, 33), (9, 300, 40)] {
        let (x, right_x) = rows("x", count, inputs);
        let (y, right_y) = rows("y", count, inputs);
        for activation in [Activation::Identity, Activation::Relu] {
            for bias in [None, Some(random("bias", outputs))] {
                let weight = random("weight", outputs * inputs);
                let linear = CpuInference.prepare_linear(weight.clone(), inputs, bias.clone());
                let right = plain().prepare_linear(weight, inputs, bias);
                let right = plain().linear(&right_x, &right, activation);
                assert_close("linear", &CpuInference.linear(&x, &linear, activation), &right);
            }
        }
        let (gain, bias) = (random("gain", inputs), random("offset", inputs));
        let norm = CpuInference.prepare_norm(gain.clone(), bias.clone());
        let right = plain().prepare_norm(gain, bias);
        assert_close(
            "norm",
            &CpuInference.normalize(&x, &norm),
            &plain().normalize(&right_x, &right),
        );
        let (again, _) = rows("x", count, inputs);
        let ours = CpuInference.add_norm(again, &y, &norm);
        assert_close(
            "add and norm",
            &ours,
            &plain().add_norm(right_x.clone(), &right_y, &right),
        );
        assert_close("add", &CpuInference.add(x, &y), &plain().add(right_x, &right_y));
    }
}

#[test]
fn attention_within_sentences() {
    for sizes in SIZES {
        let packed = sentences(&[3, 1, 20, 7]);
        let spans = Spans::within(&packed, Mask::Full);
        let (x, right) = rows("x", packed.tokens(), 2 * sizes.keys() + sizes.values());
        let right = plain().attend_within(&right, sizes, &spans);
        assert_close("within", &CpuInference.attend_within(&x, sizes, &spans), &right);
    }
}

#[test]
fn attention_to_what_is_translated() {
    for sizes in SIZES {
        let packed = sentences(&[3, 1, 20, 7]);
        let (x, right_x) = rows("x", packed.tokens(), sizes.keys() + sizes.values());
        let memory = CpuInference.memory(&x, sizes, &packed);
        let right_memory = plain().memory(&right_x, sizes, &packed);
        for asking in [&[0, 1, 2, 3][..], &[2, 2, 2, 2, 2], &[0, 0, 0, 3]] {
            let (queries, right) = rows("queries", asking.len(), sizes.keys());
            let right = plain().attend_memory(&right, &right_memory, asking);
            assert_close("memory", &CpuInference.attend_memory(&queries, &memory, asking), &right);
        }
    }
}

#[test]
fn attention_to_the_steps_before() {
    for sizes in SIZES {
        let mut lineage = Lineage::default();
        let (mut history, mut right_history) = (History::default(), <Plain as Inference>::History::default());
        let mut count = 3;
        for step in 0..20 {
            let next = 1 + (step * 5) % 7;
            let parents: Vec<usize> = (0..next).map(|row| (row * 3 + step) % count).collect();
            count = next;
            lineage.advance(&parents);
            let (x, right) = rows(&format!("step {step}"), count, 2 * sizes.keys() + sizes.values());
            let ours = CpuInference.attend_history(x, &mut history, sizes, &lineage);
            let right = plain().attend_history(right, &mut right_history, sizes, &lineage);
            assert_close(&format!("step {step}"), &ours, &right);
        }
    }
}

#[test]
fn ranks() {
    for (count, width, classes, k) in [(1, 1, 3, 5), (5, 8, 37, 4), (9, 19, 1300, 7)] {
        let table = random("table", classes * width);
        let (x, right) = rows("x", count, width);
        let ours = CpuInference.rank(&x, &CpuInference.prepare_table(table.clone(), width), k, 2);
        let right = plain().rank(&right, &plain().prepare_table(table, width), k, 2);
        for (ours, right) in ours.iter().zip(&right) {
            assert!((ours.asked - right.asked).abs() <= 1e-4);
            assert_eq!(ours.best.len(), right.best.len());
            for (ours, right) in ours.best.iter().zip(&right.best) {
                assert_eq!(ours.class, right.class);
                assert!((ours.log_probability - right.log_probability).abs() <= 1e-4);
            }
        }
    }
}
