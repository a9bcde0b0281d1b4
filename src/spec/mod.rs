mod experiment;
pub use experiment::*;
