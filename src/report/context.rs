//! What a report says besides the numbers.

/// The suite, as far as its report needs it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportContext {
    pub title: String,
    /// (key, value) of the base experiment, as in `("model.heads", "8")`.
    pub base: Vec<(String, String)>,
    pub budget: Budget,
}

/// How much training the rows had.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Budget {
    /// The paper's data, sizes and steps: its figures are targets.
    Paper,
    /// Less: its figures only say which rows should be better, and in which order.
    Scaled,
}
