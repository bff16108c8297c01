//! The command's own time, in addition to the measured one.

use std::time::Instant;

/// This moment.
#[expect(
    clippy::disallowed_methods,
    reason = "no figure of a run comes from it"
)]
pub fn now() -> Instant {
    Instant::now()
}
