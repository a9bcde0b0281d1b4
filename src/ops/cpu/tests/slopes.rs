//! The gradients of fused operations with respect to their rows against finite differences: a check that shares no
//! formula with the oracle. Those of the weights are compared with the oracle's alone.

use super::*;

type Traced = Rows<6, Cpu, Tape_>;

/// Moves every number a little in a random direction: the change of `probe`'s scalar is the gradient's share of it.
fn check_slope(name: &str, x: &Rows<6, Cpu>, operation: &dyn Fn(Traced) -> Traced) {
    const STEP: f32 = 0.01;
    let weights = random("probe", *x.shape()).as_vec();
    let scalar = |x: Vec<f32>, shape| {
        let y = operation(Cpu::default().tensor_from_vec(x, shape).trace(Gradients::leaky())).as_vec();
        y.iter()
            .zip(&weights)
            .map(|(&y, &w)| f64::from(y) * f64::from(w))
            .sum::<f64>()
    };
    let gradient = probe(operation(x.trace(Gradients::leaky()))).get(x).as_vec();
    let direction = random(name, *x.shape()).as_vec();
    let moved = |by: f32| x.as_vec().iter().zip(&direction).map(|(x, d)| x + by * d).collect();
    let shape = *x.shape();
    let measured = (scalar(moved(STEP), shape) - scalar(moved(-STEP), shape)) / f64::from(2.0 * STEP);
    let expected: f64 = gradient
        .iter()
        .zip(&direction)
        .map(|(&g, &d)| f64::from(g) * f64::from(d))
        .sum();
    assert!(
        (measured - expected).abs() <= 5e-3 * (1.0 + expected.abs()),
        "{name}: {measured}, not {expected}"
    );
}

#[test]
fn operations_have_the_slopes_that_finite_differences_show() {
    let packed = Packed::from_sentences([3, 0, 1, 17].map(|length| vec![0; length]));
    let x = random("x", (packed.tokens(), Const::<6>));
    let wide = random("wide", Rank2::<8, 6>::default());
    let narrow = random("narrow", Rank2::<6, 8>::default());
    let (gain, bias) = (
        random("gain", Rank1::<6>::default()),
        random("bias", Rank1::<6>::default()),
    );
    let inner_bias = random("inner bias", Rank1::<8>::default());
    let spans = Spans::within(&packed, Mask::Causal);
    let attention = AttentionWeights {
        query: &wide,
        key: &wide,
        value: &wide,
        output: &narrow,
    };
    let feed_forward = FeedForwardWeights {
        inner: &wide,
        inner_bias: &inner_bias,
        outer: &narrow,
        outer_bias: &bias,
    };
    check_slope("attention", &x, &|x| {
        Cpu::multi_head_attention::<6, 2, 4, 4, 8, 8, Tape_>(x, None, &attention, &spans)
    });
    let memory = random("memory", (packed.tokens(), Const::<6>));
    check_slope("cross-attention", &x, &|x| {
        Cpu::multi_head_attention::<6, 2, 4, 4, 8, 8, Tape_>(x, Some(&memory), &attention, &spans)
    });
    check_slope("feed-forward", &x, &|x| Cpu::feed_forward(x, &feed_forward));
    check_slope("layer norm", &x, &|x| Cpu::layer_norm(x, &gain, &bias));
    check_slope("add and norm", &x, &|x| {
        let skip = x.retaped();
        Cpu::add_norm(x, skip, Dropout::new(0.3, 1), &gain, &bias)
    });
    check_slope("dropout", &x, &|x| Cpu::dropout(x, Dropout::new(0.3, 2)));
}

#[test]
fn the_loss_has_the_slope_that_finite_differences_show() {
    let (x, table) = (random("x", (4, Const::<6>)), random("table", Rank2::<9, 6>::default()));
    let target = LossTarget {
        labels: &[0, 8, 3, 3],
        smoothing: 0.1,
        scale: 1.0,
    };
    let slope = Cpu::smoothed_loss(x.trace(Gradients::leaky()), &table, target)
        .loss
        .backward()
        .get(&x)
        .as_vec();
    let loss_at = |moved: Vec<f32>| {
        let moved = Cpu::default().tensor_from_vec(moved, (4, Const::<6>));
        Cpu::smoothed_loss(moved, &table, target).smoothed_sum
    };
    for i in 0..24 {
        let shifted = |by: f32| {
            let mut moved = x.as_vec();
            moved[i] += by;
            loss_at(moved)
        };
        let difference = (shifted(0.01) - shifted(-0.01)) / 0.02;
        assert!(
            (difference - f64::from(slope[i])).abs() <= 1e-3,
            "x[{i}]: {difference} against {}",
            slope[i]
        );
    }
}
