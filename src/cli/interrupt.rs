//! Ctrl-C: the first asks to stop after a checkpoint, the second stops at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Counts wishes to stop.
#[derive(Debug, Clone, Default)]
pub struct Interrupt {
    wishes: Arc<AtomicUsize>,
}

impl Interrupt {
    /// Listens to the keyboard from now on; `second` is done, in another thread, for every wish after the first.
    pub fn listen(second: impl Fn() + Send + 'static) -> Self {
        let interrupt = Self::default();
        let wishes = Arc::clone(&interrupt.wishes);
        // Without a handler the first Ctrl-C ends the process: less gentle, and no reason not to run.
        let _ = ctrlc::set_handler(move || {
            if wishes.fetch_add(1, Ordering::SeqCst) > 0 {
                second();
            }
        });
        interrupt
    }

    /// What Ctrl-C does, from the program itself.
    pub fn wish(&self) {
        self.wishes.fetch_add(1, Ordering::SeqCst);
    }

    pub fn wishes(&self) -> usize {
        self.wishes.load(Ordering::SeqCst)
    }
}
