//! Which rows belong to which hypothesis, when hypotheses branch and end at every step.

/// For every row of the last step, the rows of all steps that led to it: reordering a beam moves these numbers, and
/// leaves the keys and values where they are.
#[derive(Debug, Clone, Default)]
pub struct Lineage {
    /// Steps so far.
    length: usize,
    /// `[rows, length]`: the number of the ancestor within its own step.
    ancestors: Vec<u32>,
    /// Steps before its own that a row attends to; without, all of them.
    window: Option<usize>,
}

impl Lineage {
    /// No step yet; later ones attend to at most so many before their own.
    #[must_use]
    pub fn windowed(window: Option<usize>) -> Self {
        Self {
            window,
            ..Self::default()
        }
    }

    /// One more step, whose row `i` goes on where row `parents[i]` of the step before stopped. The first step has
    /// nothing to go on from.
    pub fn advance(&mut self, parents: &[usize]) {
        let mut ancestors = Vec::with_capacity(parents.len() * (self.length + 1));
        for (row, &parent) in parents.iter().enumerate() {
            ancestors.extend_from_slice(&self.ancestors[parent * self.length..][..self.length]);
            ancestors.push(row as u32);
        }
        self.ancestors = ancestors;
        self.length += 1;
    }

    /// Steps so far.
    #[must_use]
    pub fn length(&self) -> usize {
        self.length
    }

    /// The first step that rows of the last one attend to.
    #[must_use]
    pub fn first_seen(&self) -> usize {
        self.window
            .map_or(0, |window| self.length.saturating_sub(window.saturating_add(1)))
    }

    /// For every row of the last step, its ancestor in each step, itself at the end.
    pub fn rows(&self) -> impl Iterator<Item = &[u32]> {
        self.ancestors.chunks_exact(self.length.max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_knows_all_that_led_to_it() {
        let mut lineage = Lineage::default();
        lineage.advance(&[0, 1]);
        lineage.advance(&[1, 1, 0]);
        lineage.advance(&[2, 0]);
        assert_eq!(lineage.rows().collect::<Vec<_>>(), [[0, 2, 0], [1, 0, 1]]);
        assert_eq!(lineage.length(), 3);
    }
}
