//! The time of the command itself, as opposed to the measured time.

use std::time::Instant;

/// The current time, for waits, progress and the elapsed time that fio prints.
#[expect(
    clippy::disallowed_methods,
    reason = "no figure of a run comes from it"
)]
pub fn now() -> Instant {
    Instant::now()
}
