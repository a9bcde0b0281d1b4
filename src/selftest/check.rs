//! One check and its verdict.

/// Difference that one check found.
#[derive(Debug, Clone, PartialEq)]
pub struct Check {
    pub name: String,
    /// Largest difference, relative to the size of the numbers; infinite where a value is NaN.
    pub difference: f64,
    /// Largest difference that is allowed.
    pub allowed: f64,
}

impl Check {
    #[must_use]
    pub fn holds(&self) -> bool {
        self.difference <= self.allowed
    }
}
