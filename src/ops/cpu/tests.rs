//! Every fused operation against the plain dfdx one, and its gradients against finite differences.

use dfdx::prelude::*;

use super::CpuInference;
use super::attention::{Heads, Kernel, Operands, Part};
use super::lanes::add_to;
use super::tape::values;
use crate::ops::cases::{drawn, largest_difference};
use crate::ops::{HeadSizes, Mask, OnDevice, Packed, Recording, Spans, all_cases, inference_cases, plain};
use crate::spec::Precision;

const SEED: u64 = 1;

/// Equal up to the rounding of sums in another order.
fn assert_close(name: &str, ours: &[f32], right: &[f32]) {
    let difference = largest_difference(ours, right);
    assert!(difference <= 2e-5, "{name}: {difference} apart");
}

#[test]
fn every_operation_agrees_with_the_plain_one() {
    for case in all_cases::<Cpu>() {
        let found = case.found(&Cpu::default(), SEED, Precision::F32);
        let right = case.right(SEED, Precision::F32);
        assert_eq!(found.len(), right.len(), "{}", case.name);
        for (i, (found, right)) in found.iter().zip(&right).enumerate() {
            assert_close(&format!("{}, result {i}", case.name), found, right);
        }
    }
}

#[test]
fn gradients_are_the_slopes_that_finite_differences_show() {
    let mut checked = 0;
    for case in all_cases::<Cpu>() {
        let Some([by_gradient, measured]) = case.slopes(&Cpu::default(), SEED, 2e-3) else {
            continue;
        };
        assert!(
            (measured - by_gradient).abs() <= 1e-2 * (1.0 + by_gradient.abs()),
            "{}: {by_gradient}, not {measured}",
            case.name
        );
        checked += 1;
    }
    assert!(checked > 20, "{checked} cases");
}

#[test]
fn translation_agrees_with_the_plain_one() {
    for case in inference_cases(&CpuInference, SEED) {
        assert_eq!(case.found.len(), case.right.len(), "{}", case.name);
        for (found, right) in case.found.iter().zip(&case.right) {
            assert_close(&case.name, found, right);
        }
    }
}

#[test]
fn dropout_drops_about_its_share() {
    let cases = all_cases::<Cpu>();
    let dropout = cases
        .iter()
        .find(|case| case.name.starts_with("dropout"))
        .expect("a case");
    let found = dropout.found(&Cpu::default(), SEED, Precision::F32);
    assert!(found[0].iter().filter(|y| y.to_bits() << 1 == 0).count() > 50);
}

/// The kernel alone: values and the gradients of queries, keys and values.
fn check_kernel(sizes: HeadSizes, target: &[usize], source: &[usize], mask: Mask) {
    let pack = |lengths: &[usize]| Packed::from_sentences(lengths.iter().map(|&length| vec![0; length]));
    let (target, source) = (pack(target), pack(source));
    let (spans, key_rows) = match mask {
        Mask::Full => (Spans::across(&target, &source), source.tokens()),
        Mask::Causal => (Spans::within(&target, mask), target.tokens()),
    };
    let name = format!("{sizes:?}, {spans:?}");
    let (keys, values_width) = (sizes.keys(), sizes.values());
    let operands = [
        ("q", target.tokens(), keys),
        ("k", key_rows, keys),
        ("v", key_rows, values_width),
    ];
    let operands = operands.map(|(name, rows, width)| (drawn(SEED, name, rows * width), (rows, width)));
    let d_y = drawn(SEED, "gradient", target.tokens() * values_width);
    let right = oracle(&operands, sizes, &spans, &d_y);

    let [(q, _), (k, _), (v, _)] = &operands;
    let inputs = Operands {
        q: Heads::dense(q, keys),
        k: Heads::dense(k, keys),
        v: Heads::dense(v, values_width),
    };
    let kernel = Kernel::new(&spans, sizes);
    let mut y = vec![f32::NAN; d_y.len()];
    let weights = kernel.forward(&inputs, true, &mut y);
    let mut d = [q, k, v].map(|of| vec![0.0; of.len()]);
    kernel.backward(&inputs, &weights, &d_y, |part, row, column, numbers, length| {
        let (d, width) = match part {
            Part::Query => (&mut d[0], keys),
            Part::Key => (&mut d[1], keys),
            Part::Value => (&mut d[2], values_width),
        };
        add_to(&mut d[row * width + column..], numbers, length);
    });
    for (ours, right) in [&y, &d[0], &d[1], &d[2]].into_iter().zip(&right) {
        assert_close(&name, ours, right);
    }
}

/// The same in plain dfdx.
fn oracle(operands: &[(Vec<f32>, (usize, usize)); 3], sizes: HeadSizes, spans: &Spans, d_y: &[f32]) -> [Vec<f32>; 4] {
    let cpu = Cpu::default();
    let leaves = operands
        .each_ref()
        .map(|(values, shape)| cpu.tensor_from_vec(values.clone(), *shape));
    let mut recording = Recording::on(&cpu, Gradients::leaky());
    let y = recording.carried(|tape| {
        let [q, k, v] = leaves.clone();
        plain::attention([q.put_tape(tape), k.retaped(), v.retaped()], sizes, spans)
    });
    let (root, start) = (y.ghost(), d_y.to_vec());
    recording.add(move |gradients| {
        Cpu::default().write(gradients.get_or_alloc_mut(&root)?, &start);
        Ok(())
    });
    let mut gradients = recording.backward(cpu.zeros());
    let [q, k, v] = leaves.map(|leaf| gradients.get_or_alloc_mut(&leaf).expect("memory").to_vec());
    [values(&y), q, k, v]
}

#[test]
fn attention_agrees_with_dfdx_at_every_length() {
    let sizes = |heads, key, value| HeadSizes { heads, key, value };
    let (target, source) = (vec![1, 0, 4, 17, 2, 33], vec![3, 1, 16, 1, 7, 40]);
    for mask in [Mask::Full, Mask::Causal] {
        check_kernel(sizes(1, 1, 1), &target, &source, mask);
        check_kernel(sizes(4, 16, 16), &target, &source, mask);
        check_kernel(sizes(3, 5, 7), &target, &source, mask);
        check_kernel(sizes(2, 24, 8), &[300], &[1], mask);
    }
    for length in (1..64).chain((64..=300).step_by(59)) {
        check_kernel(sizes(2, 4, 3), &[length], &[301 - length], Mask::Full);
        check_kernel(sizes(2, 4, 3), &[length], &[length], Mask::Causal);
    }
}
