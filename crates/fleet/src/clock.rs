//! The monotonic clock and the time of day of a machine, read together.

use rustix::time::{ClockId, clock_gettime};

/// A moment by both clocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Now {
    /// The monotonic clock, which counts from an arbitrary moment of each machine.
    pub monotonic_ns: i64,
    /// The time of day, since 1970.
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
