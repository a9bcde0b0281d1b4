//! One check and its verdict.

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
