//! Every operation of training, forward and backward: odd sizes, empty sentences, single tokens, long ones.

use dfdx::prelude::*;

use super::Check;
use super::inputs::{Inputs, Results, compared, gradient, largest_difference, mean_difference};
use crate::ops::{
    AttentionWeights, Dropout, FeedForwardWeights, LossTarget, Mask, Matrix, Ops, Packed, Rows, Spans, TokenLoss,
    Vector, plain,
};
use crate::spec::Precision;

type OnTape<Dev> = OwnedTape<f32, Dev>;

/// The whole list. `seed` decides what numbers are drawn.
#[must_use]
pub fn operations<Dev: Ops>(device: &Dev, precision: Precision, seed: u64) -> Vec<Check> {
    let suite = Suite {
        device,
        precision,
        inputs: Inputs { seed },
    };
    let mut checks = Vec::new();
    if precision == Precision::F32 {
        checks.extend([suite.dropout_bits(), suite.gather(), suite.dropout(), suite.add()]);
        checks.extend([suite.norms::<5>(1), suite.norms::<16>(9), suite.norms::<67>(300)]);
        // Alone, a gradient may all but cancel, and rounding is all that is left of it.
        checks.push(suite.loss::<3, 1>(1, 0.0));
    }
    checks.extend([
        suite.feed_forward::<1, 1>(1),
        suite.feed_forward::<7, 5>(13),
        suite.feed_forward::<64, 96>(300),
    ]);
    checks.extend([
        suite.attention::<16, 2, 8, 8, 16, 16>(&[3, 1, 0, 20], None),
        suite.attention::<7, 3, 5, 2, 15, 6>(&[3, 1, 0, 20], Some(&[1, 2, 4, 33])),
        suite.attention::<8, 1, 40, 70, 40, 70>(&[9, 1, 130], Some(&[1, 40, 65])),
        suite.attention::<64, 4, 16, 16, 64, 64>(&[40, 7, 33, 32], None),
        suite.attention::<4, 4, 1, 1, 4, 4>(&[1], None),
    ]);
    checks.extend([suite.loss::<37, 8>(5, 0.1), suite.loss::<1000, 24>(130, 0.2)]);
    checks
}

struct Suite<'a, Dev> {
    device: &'a Dev,
    precision: Precision,
    inputs: Inputs,
}

impl<Dev: Ops> Suite<'_, Dev> {
    /// In `f32` every number is to be right up to the rounding of sums in another order; with rounded operands the size
    /// of all differences together.
    fn compared(&self, name: &str, found: &Results, right: &Results) -> Check {
        let name = format!("{name}, {}", self.precision.name());
        match self.precision {
            Precision::F32 => compared(name, found, right, largest_difference, 2e-5),
            Precision::Tf32 => compared(name, found, right, mean_difference, 8e-3),
            Precision::Bf16 => compared(name, found, right, mean_difference, 4e-2),
        }
    }

    /// The mask itself, bit for bit.
    fn dropout_bits(&self) -> Check {
        const COUNT: usize = 100_003;
        let ones: Rows<1, Dev> = self.device.tensor_from_vec(vec![1.0; COUNT], (COUNT, Const));
        let site = Dropout::new(0.3, self.inputs.seed);
        let found = Dev::dropout::<1, NoneTape>(ones, site).as_vec();
        let mut right = vec![0.0; COUNT];
        site.factors(0, &mut right);
        Check {
            name: format!("dropout mask of {COUNT}, bit for bit"),
            difference: largest_difference(&found, &right),
            allowed: 0.0,
        }
    }

    fn gather(&self) -> Check {
        fn on<Dev: Ops>(device: &Dev, inputs: Inputs, gather: fn(&Matrix<11, 6, Dev>) -> Traced<6, Dev>) -> Results {
            let table = inputs.tensor(device, "table", Rank2::<11, 6>::default());
            let rows = gather(&table);
            let values = rows.as_vec();
            vec![values, gradient(&mut inputs.backward(rows), &table)]
        }
        const IDS: [u32; 7] = [3, 3, 0, 10, 7, 3, 0];
        let found = on(self.device, self.inputs, |table| Dev::gather(table, &IDS, 2.5));
        let right = on(&Cpu::default(), self.inputs, |table| plain::gather(table, &IDS, 2.5));
        self.compared("table rows", &found, &right)
    }

    /// An operation on two activations of width `D`.
    fn of_two<const D: usize>(&self, name: &str, rows: usize, ours: OfTwo<D, Dev>, right: OfTwo<D, Cpu>) -> Check {
        fn on<const D: usize, Dev: Ops>(
            device: &Dev,
            inputs: Inputs,
            rows: usize,
            operation: OfTwo<D, Dev>,
        ) -> Results {
            let [x, y] = ["x", "y"].map(|name| inputs.tensor(device, name, (rows, Const::<D>)));
            let parameters = ["gain", "bias"].map(|name| inputs.tensor(device, name, Rank1::<D>::default()));
            let out = operation(x.leaky_trace(), y.retaped(), &parameters);
            let values = out.as_vec();
            let mut gradients = inputs.backward(out);
            let [gain, bias] = &parameters;
            vec![
                values,
                gradient(&mut gradients, &x),
                gradient(&mut gradients, &y),
                gradient(&mut gradients, gain),
                gradient(&mut gradients, bias),
            ]
        }
        let found = on(self.device, self.inputs, rows, ours);
        let right = on(&Cpu::default(), self.inputs, rows, right);
        self.compared(name, &found, &right)
    }

    fn dropout(&self) -> Check {
        self.of_two::<10>(
            "dropout",
            37,
            |x, _, _| Dev::dropout(x, Dropout::new(0.3, 9)),
            |x, _, _| plain::dropout(x, Dropout::new(0.3, 9)),
        )
    }

    fn add(&self) -> Check {
        self.of_two::<10>("sum", 37, |x, y, _| Dev::add(x, y), |x, y, _| plain::add(x, y))
    }

    /// With and without the residual connection; the worse of the two.
    fn norms<const D: usize>(&self, rows: usize) -> Check {
        let norm = self.of_two::<D>(
            &format!("norm {rows} x {D}"),
            rows,
            |x, _, [gain, bias]| Dev::layer_norm(x, gain, bias),
            |x, _, [gain, bias]| plain::layer_norm(x, gain, bias),
        );
        let residual = self.of_two::<D>(
            &format!("residual, dropout and norm {rows} x {D}"),
            rows,
            |x, y, [gain, bias]| Dev::add_norm(x, y, Dropout::new(0.2, 4), gain, bias),
            |x, y, [gain, bias]| plain::layer_norm(plain::add(x, plain::dropout(y, Dropout::new(0.2, 4))), gain, bias),
        );
        if norm.difference > residual.difference {
            norm
        } else {
            residual
        }
    }

    fn feed_forward<const D: usize, const F: usize>(&self, rows: usize) -> Check {
        fn on<const D: usize, const F: usize, Dev: Ops>(
            device: &Dev,
            inputs: Inputs,
            (rows, exact): (usize, bool),
            operation: fn(Traced<D, Dev>, &FeedForwardWeights<D, F, Dev>) -> Traced<D, Dev>,
        ) -> Results {
            let x = inputs.tensor(device, "x", (rows, Const::<D>));
            let inner = inputs.tensor(device, "inner", Rank2::<F, D>::default());
            let inner_bias = inputs.numbers("inner bias", F).into_iter().map(|number| {
                // So far from zero that rounding an operand does not switch a hidden number on or off, and no further:
                // 4.5 standard deviations of what is added to it.
                let far = 1.5 * (D as f32).sqrt();
                if exact { number } else { far * number.signum() }
            });
            let inner_bias = device.tensor_from_vec(inner_bias.collect(), Rank1::<F>::default());
            let outer = inputs.tensor(device, "outer", Rank2::<D, F>::default());
            let outer_bias = inputs.tensor(device, "outer bias", Rank1::<D>::default());
            let weights = FeedForwardWeights {
                inner: &inner,
                inner_bias: &inner_bias,
                outer: &outer,
                outer_bias: &outer_bias,
            };
            let y = operation(x.leaky_trace(), &weights);
            let values = y.as_vec();
            let mut gradients = inputs.backward(y);
            vec![
                values,
                gradient(&mut gradients, &x),
                gradient(&mut gradients, &inner),
                gradient(&mut gradients, &inner_bias),
                gradient(&mut gradients, &outer),
                gradient(&mut gradients, &outer_bias),
            ]
        }
        let case = (rows, self.precision == Precision::F32);
        let found = Dev::in_precision(self.precision, || {
            on::<D, F, Dev>(self.device, self.inputs, case, |x, weights| {
                Dev::feed_forward(x, weights)
            })
        });
        let right = on::<D, F, Cpu>(&Cpu::default(), self.inputs, case, |x, weights| {
            plain::feed_forward(x, weights)
        });
        self.compared(&format!("feed-forward {rows} x {D} -> {F}"), &found, &right)
    }

    fn attention<const D: usize, const H: usize, const K: usize, const VD: usize, const HK: usize, const HV: usize>(
        &self,
        target: &[usize],
        source: Option<&[usize]>,
    ) -> Check {
        let pack = |lengths: &[usize]| Packed::from_sentences(lengths.iter().map(|&length| vec![0; length]));
        let packed = pack(target);
        let spans = source.map_or_else(
            || Spans::within(&packed, Mask::Causal),
            |source| Spans::across(&packed, &pack(source)),
        );
        let memory_rows = source.map(|lengths| lengths.iter().sum());
        let case = AttentionCase {
            inputs: self.inputs,
            rows: packed.tokens(),
            memory_rows,
        };
        let found = Dev::in_precision(self.precision, || {
            case.on::<D, HK, HV, Dev>(self.device, &|x, memory, weights| {
                Dev::multi_head_attention::<D, H, K, VD, HK, HV, _>(x, memory, weights, &spans)
            })
        });
        let right = case.on::<D, HK, HV, Cpu>(&Cpu::default(), &|x, memory, weights| {
            plain::multi_head_attention::<D, H, K, VD, HK, HV, Cpu, _>(x, memory, weights, &spans)
        });
        let to = source.map_or_else(|| "itself".to_owned(), |source| format!("{source:?}"));
        self.compared(
            &format!("attention {H} x {K}/{VD} of {D}, {target:?} to {to}"),
            &found,
            &right,
        )
    }

    fn loss<const V: usize, const D: usize>(&self, rows: usize, smoothing: f32) -> Check {
        fn on<const V: usize, const D: usize, Dev: Ops>(
            device: &Dev,
            inputs: Inputs,
            target: LossTarget,
            operation: impl Fn(Traced<D, Dev>, &Matrix<V, D, Dev>, LossTarget) -> TokenLoss<Dev, OnTape<Dev>>,
        ) -> Results {
            let x = inputs.tensor(device, "x", (target.labels.len(), Const::<D>));
            let table = inputs.tensor(device, "table", Rank2::<V, D>::default());
            let loss = operation(x.leaky_trace(), &table, target);
            let tokens = target.labels.len() as f64;
            let sums = vec![(loss.nll_sum / tokens) as f32, (loss.smoothed_sum / tokens) as f32];
            let values = loss.loss.as_vec();
            let mut gradients = loss.loss.backward();
            vec![
                values,
                sums,
                gradient(&mut gradients, &x),
                gradient(&mut gradients, &table),
            ]
        }
        let labels: Vec<u32> = (0..rows).map(|i| (i * 7 % V) as u32).collect();
        let target = LossTarget {
            labels: &labels,
            smoothing,
            scale: 0.37,
        };
        let found = Dev::in_precision(self.precision, || {
            on(self.device, self.inputs, target, |x, table, target| {
                Dev::smoothed_loss::<V, D, _>(x, table, target)
            })
        });
        let right = on(&Cpu::default(), self.inputs, target, |x, table, target| {
            plain::smoothed_loss::<V, D, Cpu, _>(x, table, target)
        });
        self.compared(
            &format!("loss {rows} x {D} -> {V}, smoothing {smoothing}"),
            &found,
            &right,
        )
    }
}

type Traced<const D: usize, Dev> = Rows<D, Dev, OnTape<Dev>>;
/// An operation on two activations, and a gain and a bias if it wants them.
type OfTwo<const D: usize, Dev> = fn(Traced<D, Dev>, Traced<D, Dev>, &[Vector<D, Dev>; 2]) -> Traced<D, Dev>;

/// What attention is asked for.
struct AttentionCase {
    inputs: Inputs,
    rows: usize,
    memory_rows: Option<usize>,
}

/// Multi-head attention on a device.
type AttentionOn<'a, const D: usize, const HK: usize, const HV: usize, Dev> =
    dyn Fn(Traced<D, Dev>, Option<&Rows<D, Dev>>, &AttentionWeights<D, HK, HV, Dev>) -> Traced<D, Dev> + 'a;

impl AttentionCase {
    fn on<const D: usize, const HK: usize, const HV: usize, Dev: Ops>(
        &self,
        device: &Dev,
        operation: &AttentionOn<D, HK, HV, Dev>,
    ) -> Results {
        let rows = |name, count| self.inputs.tensor(device, name, (count, Const::<D>));
        let (x, memory) = (
            rows("x", self.rows),
            self.memory_rows.map(|count| rows("memory", count)),
        );
        let query = self.inputs.tensor(device, "query", Rank2::<HK, D>::default());
        let key = self.inputs.tensor(device, "key", Rank2::<HK, D>::default());
        let value = self.inputs.tensor(device, "value", Rank2::<HV, D>::default());
        let output = self.inputs.tensor(device, "output", Rank2::<D, HV>::default());
        let weights = AttentionWeights {
            query: &query,
            key: &key,
            value: &value,
            output: &output,
        };
        let y = operation(x.leaky_trace(), memory.as_ref(), &weights);
        let values = y.as_vec();
        let mut gradients = self.inputs.backward(y);
        vec![
            values,
            gradient(&mut gradients, &x),
            memory.map_or_else(Vec::new, |memory| gradient(&mut gradients, &memory)),
            gradient(&mut gradients, &query),
            gradient(&mut gradients, &key),
            gradient(&mut gradients, &value),
            gradient(&mut gradients, &output),
        ]
    }
}
