//! Takes in valid suites. Gives out the Rust text that turns each distinct shape in them into a statically sized
//! model. Refuses to know everything else, files included.

mod text;

pub use text::{SourceFile, generate};
