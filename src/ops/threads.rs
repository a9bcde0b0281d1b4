//! How many threads the operations of this process share.

use std::num::NonZero;

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
