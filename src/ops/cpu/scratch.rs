//! Working memory that is used again: fresh memory would have to be zeroed, and the system asked for it page by page.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::{Deref, DerefMut};

thread_local! {
    /// Vectors at rest, by their length.
    static POOL: RefCell<BTreeMap<usize, Vec<Vec<f32>>>> = const { RefCell::new(BTreeMap::new()) };
}

/// Numbers of no particular value to be written over. Returns to the pool of the thread that drops it.
pub struct Scratch {
    /// At least as long as asked for.
    memory: Vec<f32>,
    length: usize,
}

impl Scratch {
    pub fn of(length: usize) -> Self {
        let memory = POOL.with_borrow_mut(|pool| {
            let (&found, resting) = pool.range_mut(length..=size_class(length).max(2 * length)).next()?;
            let memory = resting.pop();
            if resting.is_empty() {
                pool.remove(&found);
            }
            memory
        });
        Self {
            memory: memory.unwrap_or_else(|| vec![0.0; size_class(length)]),
            length,
        }
    }

    pub fn zeros(length: usize) -> Self {
        let mut zeros = Self::of(length);
        zeros.fill(0.0);
        zeros
    }
}

/// Rounded up by at most an eighth, so that batches of about the same size share their memory.
fn size_class(length: usize) -> usize {
    length.next_multiple_of((length.next_power_of_two() / 16).max(64))
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let memory = std::mem::take(&mut self.memory);
        // When the thread ends its pool may be gone already, and the memory goes with it.
        let _ = POOL.try_with(|pool| {
            pool.borrow_mut().entry(memory.len()).or_default().push(memory);
        });
    }
}

impl Deref for Scratch {
    type Target = [f32];

    fn deref(&self) -> &[f32] {
        &self.memory[..self.length]
    }
}

impl DerefMut for Scratch {
    fn deref_mut(&mut self) -> &mut [f32] {
        &mut self.memory[..self.length]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_used_again_by_requests_of_about_its_size() {
        let mut first = Scratch::of(1000);
        first.fill(7.0);
        drop(first);
        assert!(Scratch::of(990).iter().all(|&x| (x - 7.0).abs() <= 0.0));
        assert!(Scratch::zeros(990).iter().all(|&x| x.abs() <= 0.0));
        assert!(Scratch::of(100).iter().all(|&x| x.abs() <= 0.0), "too small a request");
        assert_eq!(Scratch::of(0).len(), 0);
    }

    #[test]
    fn what_was_returned_is_found_again_whatever_its_length() {
        for length in (0..200).chain([1000, 4097]) {
            POOL.with_borrow_mut(BTreeMap::clear);
            for _ in 0..5 {
                drop(Scratch::of(length));
            }
            let resting: usize = POOL.with_borrow(|pool| pool.values().map(Vec::len).sum());
            assert_eq!(resting, 1, "{length} numbers");
        }
    }

    #[test]
    fn two_of_a_size_do_not_share_memory() {
        let (mut a, mut b) = (Scratch::of(300), Scratch::of(300));
        a.fill(1.0);
        b.fill(2.0);
        assert!(a.iter().sum::<f32>() < b.iter().sum::<f32>());
    }
}
