//! How late the machine ends a sleep: a thread that does nothing else, beside a load.

use std::time::{Duration, Instant};

/// Nanoseconds, one for each moment, sorted.
pub struct Lateness(Vec<u64>);

impl Lateness {
    /// Of moments that are one period apart, in a part of the load: it is there as the first one comes.
    pub fn measure(period: Duration, from: Duration, lasts: Duration) -> Self {
        std::thread::sleep(from);
        let moments = lasts.as_nanos() / period.as_nanos();
        let mut late = sleeps(period, moments as usize);
        late.sort_unstable();
        Self(late)
    }

    /// Nanoseconds.
    pub fn percentile(&self, percent: f64) -> f64 {
        let last = self.0.len().saturating_sub(1);
        let place = (self.0.len() as f64 * percent / 100.0) as usize;
        self.0.get(place.min(last)).copied().unwrap_or(0) as f64
    }
}

/// A stall makes all moments late that fall into it, as it does with replies.
fn sleeps(period: Duration, moments: usize) -> Vec<u64> {
    // SAFETY: only numbers are passed. The usual slack is 50 microseconds.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1) };
    let mut due = Instant::now();
    let next = |_| {
        due += period;
        std::thread::sleep(due.saturating_duration_since(Instant::now()));
        due.elapsed().as_nanos() as u64
    };
    (0..moments).map(next).collect()
}
