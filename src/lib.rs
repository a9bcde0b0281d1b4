//! `ablate`: a declarative experiment and ablation runner for the Transformer.
pub mod model;
pub mod ops;
pub mod spec;
