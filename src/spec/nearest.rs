//! The known name that a misspelt one most resembles.

/// The candidate closest to `name`, or `None` when nothing is close enough to be a slip of the hand.
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

/// Twice the slips between two dotted paths; the right leaf in the wrong table costs half a slip.
fn cost(name: &str, candidate: &str) -> usize {
    let whole = 2 * slips(name, candidate);
    whole.min(2 * slips(leaf(name), leaf(candidate)) + 1)
}

fn leaf(path: &str) -> &str {
    path.rsplit('.').next().unwrap_or(path)
}

/// Insertions, deletions, substitutions and swaps of neighbours that turn `a` into `b` (optimal string alignment).
fn slips(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let substituted = above[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = substituted.min(above[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(before[j - 2] + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut above, row);
    }
    above[b.len()]
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
    fn a_slip_finds_the_name_that_was_meant() {
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

    #[test]
    fn slips_are_counted_as_defined() {
        assert_eq!(slips("kitten", "sitting"), 3);
        assert_eq!(slips("ab", "ba"), 1);
        assert_eq!(slips("", "abc"), 3);
    }
}
