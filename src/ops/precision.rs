//! The precision of the products of a thread.

use std::cell::Cell;

use crate::spec::Precision;

thread_local! {
    /// Of the operands of products on this thread.
    static PRECISION: Cell<Precision> = const { Cell::new(Precision::F32) };
}

/// What the products of this thread are computed in.
pub fn current() -> Precision {
    PRECISION.get()
}

/// Runs `work` with products of this precision. Only this thread is told: work that hands products to other threads
/// has to tell them.
pub fn within<R>(precision: Precision, work: impl FnOnce() -> R) -> R {
    /// Also when `work` panics: the thread may be one that goes on.
    struct Restore(Precision);

    impl Drop for Restore {
        fn drop(&mut self) {
            PRECISION.set(self.0);
        }
    }

    let _restore = Restore(PRECISION.replace(precision));
    work()
}
