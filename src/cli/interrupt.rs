//! Ctrl-C: the first asks to stop after a checkpoint, the second stops at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::output::tell;

/// Counts wishes to stop.
#[derive(Debug, Clone, Default)]
pub struct Interrupt {
    wishes: Arc<AtomicUsize>,
}

impl Interrupt {
    /// Listens to the keyboard from now on; `first` and `second` are done, in another thread, at the first wish and at
    /// every later one.
    pub fn listen(first: impl Fn() + Send + 'static, second: impl Fn() + Send + 'static) -> Self {
        let interrupt = Self::default();
        let wishes = Arc::clone(&interrupt.wishes);
        // Without a handler the first Ctrl-C ends the process: less gentle, and no reason not to run.
        let _ = ctrlc::set_handler(move || match wishes.fetch_add(1, Ordering::SeqCst) {
            0 => first(),
            _ => second(),
        });
        interrupt
    }

    /// Tells a person what the first Ctrl-C does.
    pub fn announce() {
        tell("\nstopping after a checkpoint; Ctrl-C again ends at once");
    }

    /// What Ctrl-C does, from the program itself.
    pub fn wish(&self) {
        self.wishes.fetch_add(1, Ordering::SeqCst);
    }

    pub fn wishes(&self) -> usize {
        self.wishes.load(Ordering::SeqCst)
    }
}
