//! How many threads the operations of this process share, and what they may share.
//!
//! dfdx's `Cuda` holds a raw pointer and may not leave its thread, and code that is generic over devices cannot treat it
//! apart. A build with CUDA therefore does one thing after another; since the number of threads changes no result, it
//! computes the same.

use std::num::NonZero;

/// What several threads may use.
#[cfg(not(feature = "cuda"))]
pub trait Shareable: Send + Sync {}
#[cfg(not(feature = "cuda"))]
impl<T: Send + Sync + ?Sized> Shareable for T {}

/// What several threads may use, if there were several.
#[cfg(feature = "cuda")]
pub trait Shareable {}
#[cfg(feature = "cuda")]
impl<T: ?Sized> Shareable for T {}

/// Runs `work` on every item, in any order and on all threads; returns the results in the order of the items.
#[cfg(not(feature = "cuda"))]
pub fn map<I: Send, R: Send>(items: Vec<I>, work: impl Fn(I) -> R + Sync + Send) -> Vec<R> {
    use std::sync::Mutex;
    const POISONED: &str = "each item is taken once";
    if items.len() == 1 {
        // No need to wake a thread.
        return items.into_iter().map(work).collect();
    }
    let slots: Vec<_> = items.into_iter().map(|item| Mutex::new((Some(item), None))).collect();
    for_each(slots.len(), &|index| {
        let mut slot = slots[index].lock().expect(POISONED);
        let item = slot.0.take().expect(POISONED);
        slot.1 = Some(work(item));
    });
    let results = slots.into_iter().map(|slot| slot.into_inner().expect(POISONED).1);
    results.map(|result| result.expect(POISONED)).collect()
}

/// Runs `work` on every number below `count`. It takes a trait object, so that the machinery of threads is compiled once
/// and not for every kind of item.
#[cfg(not(feature = "cuda"))]
fn for_each(count: usize, work: &(dyn Fn(usize) + Sync)) {
    use rayon::prelude::*;
    (0..count).into_par_iter().for_each(work);
}

/// `work` on every item.
#[cfg(feature = "cuda")]
pub fn map<I, R>(items: Vec<I>, work: impl Fn(I) -> R) -> Vec<R> {
    items.into_iter().map(work).collect()
}

/// Threads that [`map`] uses.
#[must_use]
pub fn threads() -> usize {
    if cfg!(feature = "cuda") {
        1
    } else {
        rayon::current_num_threads()
    }
}

/// Has everything from now on run on so many threads. The first call of a process decides, and only if nothing has run
/// in parallel before; what is computed does not depend on it.
pub fn use_threads(count: NonZero<usize>) {
    // An error says that the threads run already.
    let _ = rayon::ThreadPoolBuilder::new().num_threads(count.get()).build_global();
}

/// The cores that this process may use.
#[must_use]
pub fn cores() -> NonZero<usize> {
    std::thread::available_parallelism().unwrap_or(NonZero::<usize>::MIN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_stand_in_the_order_of_their_items() {
        for count in [0, 1, 2, 100] {
            let squares = map((0..count).collect(), |i: usize| i * i);
            assert!(squares.iter().enumerate().all(|(i, &square)| square == i * i));
            assert_eq!(squares.len(), count);
        }
    }
}
