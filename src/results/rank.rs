//! Agreement of two rankings.

use std::cmp::Ordering;

/// Agreement of our order of the rows by BLEU with the paper's.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RankAgreement {
    /// Kendall's tau-b: 1 is the same order, 0 is no relation, -1 is the opposite order.
    pub tau: f64,
    /// Number of rows that have both scores.
    pub rows: usize,
}

impl RankAgreement {
    /// Takes (our score, the paper's) of each row. Returns `None` below three rows or if one list is all ties.
    ///
    /// Tau-b, because the paper's scores have one decimal and many ties. Source: M. Kendall, "The treatment of ties in
    /// ranking problems", 1945.
    pub(super) fn of(pairs: &[(f64, f64)]) -> Option<Self> {
        let (mut score, mut untied_ours, mut untied_paper) = (0_i64, 0_i64, 0_i64);
        for (i, &(ours, paper)) in pairs.iter().enumerate() {
            for &(other_ours, other_paper) in &pairs[..i] {
                let (by_us, by_paper) = (sign(ours, other_ours), sign(paper, other_paper));
                score += by_us * by_paper;
                untied_ours += by_us.abs();
                untied_paper += by_paper.abs();
            }
        }
        let scale = ((untied_ours * untied_paper) as f64).sqrt();
        (pairs.len() >= 3 && scale > 0.0).then(|| Self {
            tau: score as f64 / scale,
            rows: pairs.len(),
        })
    }
}

fn sign(a: f64, b: f64) -> i64 {
    match a.total_cmp(&b) {
        Ordering::Less => -1,
        Ordering::Equal => 0,
        Ordering::Greater => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `kendalltau([25.8,24.9,25.5,25.8,25.4,25.1],[31.2,29.0,31.0,31.0,30.1,30.4]).statistic` of scipy 1.17.1.
    #[test]
    fn ties_count_as_in_scipy() {
        let paper = [25.8, 24.9, 25.5, 25.8, 25.4, 25.1];
        let ours = [31.2, 29.0, 31.0, 31.0, 30.1, 30.4];
        let pairs: Vec<_> = ours.into_iter().zip(paper).collect();
        let agreement = RankAgreement::of(&pairs).unwrap();
        assert!(
            (agreement.tau - 0.785_714_285_714_285_8).abs() <= 1e-12,
            "{agreement:?}"
        );
    }

    #[test]
    fn two_rows_or_only_ties_have_no_order_to_agree_on() {
        assert_eq!(RankAgreement::of(&[(1.0, 1.0), (2.0, 2.0)]), None);
        assert_eq!(RankAgreement::of(&[(1.0, 1.0), (1.0, 2.0), (1.0, 3.0)]), None);
    }
}
