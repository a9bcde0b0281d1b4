//! `ablate`: a declarative experiment and ablation runner for the Transformer.
pub mod ops;
