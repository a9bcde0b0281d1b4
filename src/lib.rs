//! `ablate`: a declarative experiment and ablation runner for the Transformer.
pub mod decode;
pub mod model;
pub mod ops;
pub mod plan;
pub mod spec;
pub mod train;
