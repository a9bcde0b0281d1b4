//! Sentences one after another, without padding.

/// Token ids of several sentences and where each begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Packed {
    ids: Vec<u32>,
    /// `sentences + 1` positions in `ids`; the last is the number of tokens.
    offsets: Vec<usize>,
}

impl Packed {
    /// Packs sentences in the order given; an empty sentence keeps its place.
    pub fn from_sentences<S: AsRef<[u32]>>(sentences: impl IntoIterator<Item = S>) -> Self {
        let mut ids = Vec::new();
        let mut offsets = vec![0];
        for sentence in sentences {
            ids.extend_from_slice(sentence.as_ref());
            offsets.push(ids.len());
        }
        Self { ids, offsets }
    }

    /// Takes over tokens and where each sentence begins.
    ///
    /// # Panics
    /// If the offsets do not rise from 0 to the number of tokens.
    #[must_use]
    pub fn from_parts(ids: Vec<u32>, offsets: Vec<usize>) -> Self {
        assert!(offsets.first() == Some(&0) && offsets.last() == Some(&ids.len()) && offsets.is_sorted());
        Self { ids, offsets }
    }

    /// N: tokens of all sentences together.
    #[must_use]
    pub fn tokens(&self) -> usize {
        self.ids.len()
    }

    /// B.
    #[must_use]
    pub fn sentences(&self) -> usize {
        self.offsets.len() - 1
    }

    #[must_use]
    pub fn ids(&self) -> &[u32] {
        &self.ids
    }

    #[must_use]
    pub fn offsets(&self) -> &[usize] {
        &self.offsets
    }

    /// The rows of sentence `index`.
    #[must_use]
    pub fn rows(&self, index: usize) -> std::ops::Range<usize> {
        self.offsets[index]..self.offsets[index + 1]
    }

    #[must_use]
    pub fn sentence(&self, index: usize) -> &[u32] {
        &self.ids[self.rows(index)]
    }
}
