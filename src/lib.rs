//! `ablate`: a declarative experiment and ablation runner for the Transformer of "Attention Is All You Need".
//!
//! Each module is a room of the house, in the order in which data walks through them. `tests/architecture/` lists for
//! each room which others it may import.

pub mod durable;

pub mod clock;

pub mod random;

pub mod threads;

pub mod lock;

pub mod spec;

pub mod plan;

pub mod codegen;

pub mod ops;

pub mod model;

pub mod generated;

pub mod grammar;

pub mod fetch;

pub mod data;

pub mod train;

pub mod decode;

pub mod score;

pub mod record;

pub mod results;

pub mod run;

pub mod selftest;

pub mod sweep;

pub mod report;

pub mod cli;
