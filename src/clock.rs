//! The time of day, in the one format that files here have. This room knows nothing of who asks.

use std::time::SystemTime;

use chrono::{DateTime, SecondsFormat, Utc};

/// Returns the present time to the second as RFC 3339 in UTC: `2017-06-12T17:57:34Z`.
#[must_use]
pub fn now() -> String {
    rfc3339(SystemTime::now())
}

fn rfc3339(time: SystemTime) -> String {
    DateTime::<Utc>::from(time).to_rfc3339_opts(SecondsFormat::Secs, true)
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use super::*;

    /// Dates by `date -u -d @SECONDS +%FT%TZ` (GNU coreutils 9.1).
    #[test]
    fn known_moments_have_their_known_dates() {
        for (seconds, date) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_497_290_254, "2017-06-12T17:57:34Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
        ] {
            assert_eq!(rfc3339(UNIX_EPOCH + Duration::from_secs(seconds)), date);
        }
    }
}
