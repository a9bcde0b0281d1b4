//! Multi-head attention with its four projections, none of which has a bias (section 3.2.2).

use dfdx::prelude::*;

use super::init::Init;
use super::parameter::Visit;
use crate::ops::{Activation, AttentionWeights, Matrix, Ops, Rows, Spans};

/// `H` heads of `K`-wide queries and keys and `VD`-wide values; `HK = H * K` and `HV = H * VD`.
pub struct Attention<
    Dev: Ops,
    const D: usize,
    const H: usize,
    const K: usize,
    const VD: usize,
    const HK: usize,
    const HV: usize,
> {
    query: Matrix<HK, D, Dev>,
    key: Matrix<HK, D, Dev>,
    value: Matrix<HV, D, Dev>,
    output: Matrix<D, HV, Dev>,
}

impl<Dev: Ops, const D: usize, const H: usize, const K: usize, const VD: usize, const HK: usize, const HV: usize>
    Attention<Dev, D, H, K, VD, HK, HV>
{
    pub fn new(init: &Init<Dev>, name: &str) -> Self {
        const { assert!(H * K == HK && H * VD == HV, "HK must be H * K, and HV must be H * VD") };
        // As one matrix, like PyTorch's `in_proj_weight`: smaller first scores make training start sooner.
        let outputs = 2 * HK + HV;
        Self {
            query: init.xavier_part(&format!("{name}.query"), outputs),
            key: init.xavier_part(&format!("{name}.key"), outputs),
            value: init.xavier_part(&format!("{name}.value"), outputs),
            output: init.xavier(&format!("{name}.output")),
        }
    }

    /// Every row attends to the rows of `memory`, or of `x` itself, that `spans` shows it.
    pub fn forward<T: Tape<f32, Dev>>(
        &self,
        x: Rows<D, Dev, T>,
        memory: Option<&Rows<D, Dev>>,
        spans: &Spans,
    ) -> Rows<D, Dev, T> {
        let weights = AttentionWeights {
            query: &self.query,
            key: &self.key,
            value: &self.value,
            output: &self.output,
        };
        Dev::multi_head_attention::<D, H, K, VD, HK, HV, T>(x, memory, &weights, spans)
    }

    /// What decoding keeps of the rows that are attended to: `[M, H*K]` and `[M, H*VD]`.
    pub fn keys_values(&self, memory: &Rows<D, Dev>) -> (Rows<HK, Dev>, Rows<HV, Dev>) {
        (
            Dev::linear(memory.clone(), &self.key, None, Activation::Identity),
            Dev::linear(memory.clone(), &self.value, None, Activation::Identity),
        )
    }

    /// Attention to keys and values that were kept.
    pub fn attend(&self, x: Rows<D, Dev>, keys: Rows<HK, Dev>, values: Rows<HV, Dev>, spans: &Spans) -> Rows<D, Dev> {
        let queries = Dev::linear(x, &self.query, None, Activation::Identity); // [N, D] -> [N, H*K]
        let mixed = Dev::attention::<H, K, VD, HK, HV, NoneTape>(queries, keys, values, spans); // [N, H*VD]
        Dev::linear(mixed, &self.output, None, Activation::Identity) // [N, D]
    }

    pub fn visit<'m>(&'m mut self, name: &str, visit: &mut Visit<'_, 'm, Dev>) {
        visit(format!("{name}.query.weight"), &mut self.query);
        visit(format!("{name}.key.weight"), &mut self.key);
        visit(format!("{name}.value.weight"), &mut self.value);
        visit(format!("{name}.output.weight"), &mut self.output);
    }
}
