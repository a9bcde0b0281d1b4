//! One value for each of the three splits.

use crate::spec::Split;

/// One value for each of training, dev and test.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Splits<T> {
    pub train: T,
    pub dev: T,
    pub test: T,
}

impl<T> Splits<T> {
    #[must_use]
    pub fn get(&self, split: Split) -> &T {
        match split {
            Split::Train => &self.train,
            Split::Dev => &self.dev,
            Split::Test => &self.test,
        }
    }

    /// Applies a function to every split, train first.
    pub fn map<U>(&self, mut value: impl FnMut(&T) -> U) -> Splits<U> {
        Splits {
            train: value(&self.train),
            dev: value(&self.dev),
            test: value(&self.test),
        }
    }
}
