//! Timeouts and numbers of tries of a download.

use std::time::Duration;

/// Longest pause, in timeouts.
const LONGEST_PAUSE: u32 = 2;

/// First pause, as a divisor of the timeout.
const FIRST_PAUSE: u32 = 30;

#[derive(Debug, Clone, Copy)]
pub struct Patience {
    /// Time without a byte, after which a connection is given up.
    pub timeout: Duration,
    /// Tries in a row without a new byte, after which the download is given up.
    pub tries: u32,
}

impl Patience {
    /// Pause after a failed try; it doubles with every failure.
    pub(super) fn pause(self, failures: u32) -> Duration {
        let first = self.timeout / FIRST_PAUSE;
        let doubled = first.saturating_mul(1 << failures.saturating_sub(1).min(10));
        doubled.min(self.timeout * LONGEST_PAUSE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_a_minute() {
        let patience = Patience {
            timeout: Duration::from_secs(30),
            tries: 8,
        };
        let pauses = [1, 2, 3, 4, 6, 7, 100].map(|failures| patience.pause(failures).as_secs());
        assert_eq!(pauses, [1, 2, 4, 8, 32, 60, 60]);
    }
}
