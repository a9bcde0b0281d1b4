//! The context of a report, from its suite.

use crate::spec::{Corpus, Suite, keys};

/// Title and base of a suite, for its report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportContext {
    pub title: String,
    /// (key, value) of the base experiment, as in `("model.heads", "8")`.
    pub base: Vec<(String, String)>,
    pub budget: Budget,
}

/// Amount of training, compared with the paper's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Budget {
    /// The paper's data, sizes and steps: its figures are targets.
    Paper,
    /// Less than the paper's: its figures only say which rows should be better, and in which order.
    Scaled,
}

impl ReportContext {
    #[must_use]
    pub fn of(suite: &Suite) -> Self {
        let base = &suite.baseline_row().experiment;
        let is_paper = matches!(base.data.corpus, Corpus::Wmt14 { .. })
            && (base.model.layers, base.model.d_model, base.training.steps) == (6, 512, 100_000);
        Self {
            title: suite.title.clone(),
            base: keys()
                .filter_map(|key| Some((key.path.to_owned(), key.value_in(base)?.bare())))
                .collect(),
            budget: if is_paper { Budget::Paper } else { Budget::Scaled },
        }
    }
}
