//! Multi-head attention with its four projections, none of which has a bias (section 3.2.2).

use dfdx::prelude::*;

use super::init::Init;
use super::parameter::{Visit, host};
use super::prepared::{PreparedCrossAttention, PreparedSelfAttention};
use crate::ops::{AttentionWeights, Inference, Matrix, Ops, Rows, Spans};

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

    pub fn prepared_to_self<I: Inference>(&self, device: &I) -> PreparedSelfAttention<I> {
        let projections = [host(&self.query), host(&self.key), host(&self.value)].concat();
        PreparedSelfAttention {
            projections: device.prepare_linear(projections, D, None),
            output: device.prepare_linear(host(&self.output), HV, None),
        }
    }

    pub fn prepared_to_source<I: Inference>(&self, device: &I) -> PreparedCrossAttention<I> {
        let memory = [host(&self.key), host(&self.value)].concat();
        PreparedCrossAttention {
            query: device.prepare_linear(host(&self.query), D, None),
            memory: device.prepare_linear(memory, D, None),
            output: device.prepare_linear(host(&self.output), HV, None),
        }
    }

    pub fn visit<'m>(&'m mut self, name: &str, visit: &mut Visit<'_, 'm, Dev>) {
        visit(format!("{name}.query.weight"), &mut self.query);
        visit(format!("{name}.key.weight"), &mut self.key);
        visit(format!("{name}.value.weight"), &mut self.value);
        visit(format!("{name}.output.weight"), &mut self.output);
    }
}
