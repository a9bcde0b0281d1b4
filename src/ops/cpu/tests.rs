//! Every fused operation against the plain dfdx one: the same outputs and the same gradients, for odd sizes, empty
//! sentences, single tokens and long ones.

mod slopes;

use dfdx::prelude::*;
use rand::RngExt;

use super::attention::{Heads, Kernel, Operands, Part};
use super::lanes::add_to;
use super::*;
use crate::ops::{Dropout, Mask, Packed, plain};
use crate::random::stream;

type Tape_ = OwnedTape<f32, Cpu>;
/// Values, and gradients of the inputs.
type Outcome<const N: usize> = (Vec<f32>, [Vec<f32>; N]);

/// Two numbers of the same size, NaN never.
fn close(a: f32, b: f32, tolerance: f32) -> bool {
    (a - b).abs() <= tolerance * (1.0 + a.abs().max(b.abs()))
}

fn assert_close(name: &str, ours: &[f32], right: &[f32]) {
    assert_eq!(ours.len(), right.len(), "{name}");
    for (i, (ours, right)) in ours.iter().zip(right).enumerate() {
        assert!(close(*ours, *right, 2e-5), "{name}[{i}]: {ours}, not {right}");
    }
}

fn random<S: Shape>(name: &str, shape: S) -> Tensor<S, f32, Cpu> {
    let mut rng = stream(&["test", name]);
    let values = (0..shape.num_elements()).map(|_| rng.random_range(-1.0..1.0)).collect();
    Cpu::default().tensor_from_vec(values, shape)
}

/// A scalar that weighs every element of `y` differently, so that every gradient counts.
fn probe<S: Shape>(y: Tensor<S, f32, Cpu, Tape_>) -> Gradients<f32, Cpu> {
    let weights = random("probe", *y.shape());
    (y * weights).sum::<Rank0, _>().backward()
}

fn values_and_gradients<S: Shape, const N: usize>(
    y: Tensor<S, f32, Cpu, Tape_>,
    read: impl Fn(&Gradients<f32, Cpu>) -> [Vec<f32>; N],
) -> Outcome<N> {
    (y.as_vec(), read(&probe(y)))
}

fn compare<const N: usize>(name: &str, ours: &Outcome<N>, right: &Outcome<N>) {
    assert_close(name, &ours.0, &right.0);
    for (i, (ours, right)) in ours.1.iter().zip(&right.1).enumerate() {
        assert_close(&format!("{name}, gradient {i}"), ours, right);
    }
}

#[test]
fn gather_agrees_with_dfdx() {
    let table = random("table", Rank2::<11, 6>::default());
    let ids = [3, 3, 0, 10, 7, 3];
    let read = |g: &Gradients<f32, Cpu>| [g.get(&table).as_vec()];
    let ours = values_and_gradients(Cpu::gather::<11, 6, Tape_>(&table, &ids, 2.5), read);
    let right = values_and_gradients(plain::gather::<11, 6, Cpu, Tape_>(&table, &ids, 2.5), read);
    compare("gather", &ours, &right);
}

#[test]
fn dropout_and_addition_agree_with_dfdx() {
    let x = random("x", (37, Const::<10>));
    let site = Dropout::new(0.3, 9);
    let read = |g: &Gradients<f32, Cpu>| [g.get(&x).as_vec()];
    let traced = || x.trace(Gradients::leaky());
    let ours = values_and_gradients(Cpu::dropout(traced(), site), read);
    let right = values_and_gradients(plain::dropout(traced(), site), read);
    assert!(right.0.iter().filter(|y| y.to_bits() << 1 == 0).count() > 50);
    compare("dropout", &ours, &right);
}

#[test]
fn norms_agree_with_dfdx() {
    fn check<const D: usize>(n: usize) {
        let (x, s) = (random("x", (n, Const::<D>)), random("s", (n, Const::<D>)));
        let (gain, bias) = (
            random("gain", Rank1::<D>::default()),
            random("bias", Rank1::<D>::default()),
        );
        let traced = || x.trace(Gradients::leaky());
        let read = |g: &Gradients<f32, Cpu>| [g.get(&x).as_vec(), g.get(&gain).as_vec(), g.get(&bias).as_vec()];
        let ours = values_and_gradients(Cpu::layer_norm(traced(), &gain, &bias), read);
        let right = values_and_gradients(plain::layer_norm(traced(), &gain, &bias), read);
        compare(&format!("layer norm {n} x {D}"), &ours, &right);
        for site in [Dropout::OFF, Dropout::new(0.2, 4)] {
            let read = |g: &Gradients<f32, Cpu>| {
                [
                    g.get(&x).as_vec(),
                    g.get(&s).as_vec(),
                    g.get(&gain).as_vec(),
                    g.get(&bias).as_vec(),
                ]
            };
            let ours = values_and_gradients(Cpu::add_norm(traced(), s.retaped(), site, &gain, &bias), read);
            let sums = plain::add(traced(), plain::dropout(s.retaped(), site));
            let right = values_and_gradients(plain::layer_norm(sums, &gain, &bias), read);
            compare(&format!("add + norm {n} x {D}, {site:?}"), &ours, &right);
        }
    }
    check::<5>(1);
    check::<16>(9);
    check::<67>(300);
}

fn check_attention<const H: usize, const K: usize, const VD: usize, const HK: usize, const HV: usize>(
    target: &[usize],
    source: &[usize],
    mask: Mask,
) {
    let pack = |lengths: &[usize]| Packed::from_sentences(lengths.iter().map(|&length| vec![0; length]));
    let (target, source) = (pack(target), pack(source));
    let spans = match mask {
        Mask::Causal => Spans::within(&target, mask),
        Mask::Full => Spans::across(&target, &source),
    };
    let key_rows = if mask == Mask::Causal {
        target.tokens()
    } else {
        source.tokens()
    };
    let q = random("q", (target.tokens(), Const::<HK>));
    let (k, v) = (
        random("k", (key_rows, Const::<HK>)),
        random("v", (key_rows, Const::<HV>)),
    );
    let read = |g: &Gradients<f32, Cpu>| [g.get(&q).as_vec(), g.get(&k).as_vec(), g.get(&v).as_vec()];
    let traced = q.trace(Gradients::leaky());
    let right = values_and_gradients(
        plain::attention::<H, K, VD, HK, HV, Cpu, Tape_>(traced, k.retaped(), v.retaped(), &spans),
        read,
    );
    let [q, k, v] = [q.as_vec(), k.as_vec(), v.as_vec()];
    let operands = Operands {
        q: Heads::dense(&q, HK),
        k: Heads::dense(&k, HK),
        v: Heads::dense(&v, HV),
    };
    let kernel = Kernel::new(&spans, H, HK, HV);
    let mut y = vec![f32::NAN; right.0.len()];
    let weights = kernel.forward(&operands, true, &mut y);
    let d_y = random("probe", (target.tokens(), Const::<HV>)).as_vec();
    let mut d = [&q, &k, &v].map(|of| vec![0.0; of.len()]);
    kernel.backward(&operands, &weights, &d_y, |part, row, column, numbers, length| {
        let (d, width) = match part {
            Part::Query => (&mut d[0], HK),
            Part::Key => (&mut d[1], HK),
            Part::Value => (&mut d[2], HV),
        };
        add_to(&mut d[row * width + column..], numbers, length);
    });
    let ours = (y, d);
    compare(
        &format!("attention {H} x {K}/{VD}, {target:?} to {source:?}"),
        &ours,
        &right,
    );
}

#[test]
fn attention_agrees_with_dfdx() {
    let (target, source) = (vec![1, 0, 4, 17, 2, 33], vec![3, 1, 16, 1, 7, 40]);
    for mask in [Mask::Full, Mask::Causal] {
        check_attention::<1, 1, 1, 1, 1>(&target, &source, mask);
        check_attention::<4, 16, 16, 64, 64>(&target, &source, mask);
        check_attention::<3, 5, 7, 15, 21>(&target, &source, mask);
        check_attention::<2, 24, 8, 48, 16>(&[300], &[1], mask);
    }
    for length in (1..64).chain((64..=300).step_by(59)) {
        check_attention::<2, 4, 3, 8, 6>(&[length], &[301 - length], Mask::Full);
        check_attention::<2, 4, 3, 8, 6>(&[length], &[length], Mask::Causal);
    }
}

#[test]
fn multi_head_attention_agrees_with_dfdx() {
    fn check<const D: usize, const H: usize, const K: usize, const VD: usize, const HK: usize, const HV: usize>(
        target: &[usize],
        source: Option<&[usize]>,
    ) {
        let pack = |lengths: &[usize]| Packed::from_sentences(lengths.iter().map(|&length| vec![0; length]));
        let packed = pack(target);
        let spans = source.map_or_else(
            || Spans::within(&packed, Mask::Causal),
            |source| Spans::across(&packed, &pack(source)),
        );
        let x = random("x", (packed.tokens(), Const::<D>));
        let memory = source.map(|source| random("memory", (pack(source).tokens(), Const::<D>)));
        let (query, key) = (
            random("query", Rank2::<HK, D>::default()),
            random("key", Rank2::<HK, D>::default()),
        );
        let (value, output) = (
            random("value", Rank2::<HV, D>::default()),
            random("output", Rank2::<D, HV>::default()),
        );
        let weights = AttentionWeights {
            query: &query,
            key: &key,
            value: &value,
            output: &output,
        };
        let traced = || x.trace(Gradients::leaky());
        let read = |g: &Gradients<f32, Cpu>| {
            [
                g.get(&x).as_vec(),
                memory.as_ref().map_or_else(Vec::new, |memory| g.get(memory).as_vec()),
                g.get(&query).as_vec(),
                g.get(&key).as_vec(),
                g.get(&value).as_vec(),
                g.get(&output).as_vec(),
            ]
        };
        let ours = Cpu::multi_head_attention::<D, H, K, VD, HK, HV, Tape_>(traced(), memory.as_ref(), &weights, &spans);
        let right =
            plain::multi_head_attention::<D, H, K, VD, HK, HV, Cpu, Tape_>(traced(), memory.as_ref(), &weights, &spans);
        let name = format!("{H} x {K}/{VD} of {D}, {target:?} to {source:?}");
        compare(
            &name,
            &values_and_gradients(ours, read),
            &values_and_gradients(right, read),
        );
    }
    check::<16, 2, 8, 8, 16, 16>(&[3, 1, 0, 20], None);
    check::<7, 3, 5, 2, 15, 6>(&[3, 1, 0, 20], Some(&[1, 2, 4, 33]));
    check::<8, 1, 17, 33, 17, 33>(&[9, 1], Some(&[1, 40]));
    check::<4, 4, 1, 1, 4, 4>(&[1], None);
}

#[test]
fn feed_forward_agrees_with_dfdx() {
    fn check<const D: usize, const F: usize>(n: usize) {
        let x = random("x", (n, Const::<D>));
        let (inner, inner_bias) = (
            random("inner", Rank2::<F, D>::default()),
            random("inner bias", Rank1::<F>::default()),
        );
        let (outer, outer_bias) = (
            random("outer", Rank2::<D, F>::default()),
            random("outer bias", Rank1::<D>::default()),
        );
        let weights = FeedForwardWeights {
            inner: &inner,
            inner_bias: &inner_bias,
            outer: &outer,
            outer_bias: &outer_bias,
        };
        let read = |g: &Gradients<f32, Cpu>| {
            [
                g.get(&x).as_vec(),
                g.get(&inner).as_vec(),
                g.get(&inner_bias).as_vec(),
                g.get(&outer).as_vec(),
                g.get(&outer_bias).as_vec(),
            ]
        };
        let traced = || x.trace(Gradients::leaky());
        let right = plain::feed_forward(traced(), &weights);
        compare(
            &format!("feed-forward {n} x {D} -> {F}"),
            &values_and_gradients(Cpu::feed_forward(traced(), &weights), read),
            &values_and_gradients(right, read),
        );
    }
    check::<1, 1>(1);
    check::<6, 11>(13);
    check::<7, 5>(13);
    check::<33, 70>(300);
    check::<64, 33>(300);
}

#[test]
fn loss_agrees_with_dfdx() {
    fn check<const V: usize, const D: usize>(n: usize, smoothing: f32) {
        let x = random("x", (n, Const::<D>));
        let table = random("table", Rank2::<V, D>::default());
        let labels: Vec<u32> = (0..n).map(|i| (i * 7 % V) as u32).collect();
        let target = LossTarget {
            labels: &labels,
            smoothing,
            scale: 0.37,
        };
        let traced = || x.trace(Gradients::leaky());
        let read = |g: &Gradients<f32, Cpu>| [g.get(&x).as_vec(), g.get(&table).as_vec()];
        let ours = Cpu::smoothed_loss(traced(), &table, target);
        let right = plain::smoothed_loss(traced(), &table, target);
        let name = format!("loss {n} x {D} -> {V}, smoothing {smoothing}");
        assert_close(&name, &[ours.nll_sum as f32], &[right.nll_sum as f32]);
        assert_close(&name, &[ours.smoothed_sum as f32], &[right.smoothed_sum as f32]);
        compare(
            &name,
            &values_and_gradients(ours.loss, read),
            &values_and_gradients(right.loss, read),
        );
    }
    check::<3, 1>(1, 0.0);
    check::<37, 8>(5, 0.1);
    check::<100, 19>(130, 0.2);
}
