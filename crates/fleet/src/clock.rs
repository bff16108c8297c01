//! The two clocks of a machine, read together: one counts from a start of its own, the other is the time
//! of day.

use rustix::time::{ClockId, clock_gettime};

/// A moment by both clocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Now {
    /// Nanoseconds of the monotonic clock.
    pub monotonic_ns: i64,
    /// Nanoseconds since 1970.
    pub unix_ns: i64,
}

/// The time now.
pub(crate) fn clocks() -> Now {
    let [monotonic_ns, unix_ns] = [ClockId::Monotonic, ClockId::Realtime].map(|id| {
        let time = clock_gettime(id);
        time.tv_sec * 1_000_000_000 + time.tv_nsec
    });
    Now {
        monotonic_ns,
        unix_ns,
    }
}
