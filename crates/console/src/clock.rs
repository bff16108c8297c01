//! In: what the system's clock shows. Out: whether a moment can be written down.
//!
//! A file of its own: dates and ids of runs have years of four digits, and every command that reads the
//! clock would fail in the middle of its work.

use std::time::SystemTime;

use anyhow::{Result, bail};
use jiff::Timestamp;

/// Refuses a clock whose moment is before 1970 or cannot be written as a date.
///
/// # Errors
/// The clock is set to such a moment.
pub fn check(now: SystemTime) -> Result<()> {
    if now < SystemTime::UNIX_EPOCH || Timestamp::try_from(now).is_err() {
        let off = match now.duration_since(SystemTime::UNIX_EPOCH) {
            Ok(since) => format!("{} s after 1970", since.as_secs()),
            Err(before) => format!("{} s before 1970", before.duration().as_secs()),
        };
        bail!(
            "the system's clock shows a moment that cannot be written as a date ({off}; the last year is \
             9999): set it, for example with `timedatectl set-ntp true`"
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// The story: with a clock beyond the year 9999, `list` and `run` ended in a panic.
    #[test]
    fn a_clock_that_cannot_be_written_down_is_refused() {
        let after = |seconds| SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
        for seconds in [0, 1_795_201_302, 253_000_000_000] {
            assert!(check(after(seconds)).is_ok(), "{seconds}");
        }
        let why = check(after(269_000_000_000)).expect_err("the year 10494");
        assert!(why.to_string().contains("the last year is 9999"), "{why}");
        let before = SystemTime::UNIX_EPOCH - Duration::from_secs(400_000_000_000);
        assert!(check(before).is_err());
        // `price` counts days since 1970, and panicked.
        let why = check(SystemTime::UNIX_EPOCH - Duration::from_secs(5)).expect_err("1969");
        assert!(why.to_string().contains("(5 s before 1970"), "{why}");
    }
}
