//! The known name that a misspelt one most resembles.

use strsim::osa_distance;

/// Returns the candidate closest to `name`, or `None` when nothing is close enough to be a typing error.
#[must_use]
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    candidates
        .into_iter()
        .map(|candidate| (cost(name, candidate), candidate))
        .filter(|(cost, candidate)| *cost <= tolerance(name, candidate))
        .min_by_key(|(cost, _)| *cost)
        .map(|(_, candidate)| candidate)
}

/// A third of the word may be wrong, and never a whole short word.
fn tolerance(name: &str, candidate: &str) -> usize {
    let length = leaf(name).chars().count().min(leaf(candidate).chars().count());
    // Costs are doubled, to leave room between them for the wrong table.
    2 * length.div_ceil(3).min(length.saturating_sub(1)) + 1
}

/// Twice the typing errors between two dotted paths; the right leaf in the wrong table costs half an error. An error is
/// an insertion, a deletion, a substitution or a swap of neighbours.
fn cost(name: &str, candidate: &str) -> usize {
    let whole = 2 * osa_distance(name, candidate);
    whole.min(2 * osa_distance(leaf(name), leaf(candidate)) + 1)
}

fn leaf(path: &str) -> &str {
    path.rsplit('.').next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: [&str; 4] = [
        "model.heads",
        "model.layers",
        "regularization.dropout",
        "training.steps",
    ];

    #[test]
    fn a_typing_error_finds_the_name_that_was_meant() {
        assert_eq!(nearest("model.head", NAMES), Some("model.heads"));
        assert_eq!(nearest("model.haeds", NAMES), Some("model.heads"));
        assert_eq!(nearest("heads", NAMES), Some("model.heads"));
        assert_eq!(nearest("model.dropuot", NAMES), Some("regularization.dropout"));
    }

    #[test]
    fn an_unrelated_name_finds_nothing() {
        assert_eq!(nearest("model.colour", NAMES), None);
        assert_eq!(nearest("x", NAMES), None);
        assert_eq!(nearest("", NAMES), None);
    }
}
