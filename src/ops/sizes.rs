//! The sizes that are types: those of the layers' weight matrices.

use dfdx::prelude::{Const, ConstDim};

use crate::threads::Shareable;

/// A size that the compiler knows: `Const<64>`.
pub trait Size: ConstDim + Shareable {}

impl<C: ConstDim + Shareable> Size for C {}

/// The sizes of a model's weight matrices. Everything else about a model is a value: heads, layers, positions and
/// vocabulary change without a build.
pub trait Sizes: Shareable + 'static {
    /// `D`: `d_model`.
    type Model: Size;
    /// `F`: `d_ff`.
    type Inner: Size;
    /// `H*K`: queries or keys of all heads.
    type Keys: Size;
    /// `H*VD`: values of all heads.
    type Values: Size;
}

/// [`Sizes`] by their numbers.
///
/// Matrices that do not fit do not compile. The second matrix of a feed-forward network leads back to the width of the
/// first:
///
/// ```
/// use ablate::ops::{FeedForward, FeedForwardWeights, Recording};
/// use dfdx::prelude::*;
///
/// let cpu = Cpu::default();
/// let (x, inner, inner_bias): (Tensor<(usize, Const<4>), f32, _>, Tensor<Rank2<6, 4>, f32, _>, Tensor<Rank1<6>, f32, _>) =
///     (cpu.zeros_like(&(3, Const)), cpu.zeros(), cpu.zeros());
/// let (outer, outer_bias): (Tensor<Rank2<4, 6>, f32, _>, Tensor<Rank1<4>, f32, _>) = (cpu.zeros(), cpu.zeros());
/// let weights = FeedForwardWeights { inner: &inner, inner_bias: &inner_bias, outer: &outer, outer_bias: &outer_bias };
/// Cpu::feed_forward(&mut Recording::off(), &x, &weights);
/// ```
///
/// With another width in one place, here an `outer` of 5 columns where `inner` has 6 rows, there is no program:
///
/// ```compile_fail,E0308
/// use ablate::ops::{FeedForward, FeedForwardWeights, Recording};
/// use dfdx::prelude::*;
///
/// let cpu = Cpu::default();
/// let (x, inner, inner_bias): (Tensor<(usize, Const<4>), f32, _>, Tensor<Rank2<6, 4>, f32, _>, Tensor<Rank1<6>, f32, _>) =
///     (cpu.zeros_like(&(3, Const)), cpu.zeros(), cpu.zeros());
/// let (outer, outer_bias): (Tensor<Rank2<4, 5>, f32, _>, Tensor<Rank1<4>, f32, _>) = (cpu.zeros(), cpu.zeros());
/// let weights = FeedForwardWeights { inner: &inner, inner_bias: &inner_bias, outer: &outer, outer_bias: &outer_bias };
/// Cpu::feed_forward(&mut Recording::off(), &x, &weights);
/// ```
///
/// Nor is there one with activations of another width than the layer's:
///
/// ```compile_fail,E0308
/// use ablate::ops::{LayerNorm, NormWeights, Recording};
/// use dfdx::prelude::*;
///
/// let cpu = Cpu::default();
/// let x: Tensor<(usize, Const<4>), f32, _> = cpu.zeros_like(&(3, Const));
/// let (weight, bias): (Tensor<Rank1<5>, f32, _>, Tensor<Rank1<5>, f32, _>) = (cpu.ones(), cpu.zeros());
/// Cpu::layer_norm(&mut Recording::off(), &x, &NormWeights { weight: &weight, bias: &bias });
/// ```
pub struct Of<const D: usize, const F: usize, const HK: usize, const HV: usize>;

impl<const D: usize, const F: usize, const HK: usize, const HV: usize> Sizes for Of<D, F, HK, HV> {
    type Model = Const<D>;
    type Inner = Const<F>;
    type Keys = Const<HK>;
    type Values = Const<HV>;
}
