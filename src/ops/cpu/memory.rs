//! The allocator of everything. A training step takes and frees hundreds of tensors, the same sizes again and again.

use libmimalloc_sys::{mi_option_set, mi_option_t};
use mimalloc::MiMalloc;

#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

/// `mi_option_purge_delay` of `mimalloc.h`, which the bindings leave out.
const PURGE_DELAY: mi_option_t = 15;

/// What is freed from now on is kept for the next who asks, not given back to the system, which would have to zero it
/// page by page and tell all cores. `MIMALLOC_PURGE_DELAY` in the environment has no effect after this.
#[allow(unsafe_code, reason = "an option of the allocator has no safe setter")]
pub fn keep_freed_memory() {
    // SAFETY: an option may be set at any time; -1 is the documented value for never.
    unsafe { mi_option_set(PURGE_DELAY, -1) };
}
