//! A device against the plain operations on the CPU, on the user's own machine: what a GPU has to prove before its
//! numbers are worth anything.

mod inputs;
mod operations;
mod translation;

pub use operations::operations;
pub use translation::translation;

/// How far the device was off in one check.
#[derive(Debug, Clone, PartialEq)]
pub struct Check {
    pub name: String,
    /// The largest difference, relative to the size of the numbers; infinite where something is no number.
    pub difference: f64,
    /// The largest that is allowed.
    pub allowed: f64,
}

impl Check {
    #[must_use]
    pub fn holds(&self) -> bool {
        self.difference <= self.allowed
    }
}
