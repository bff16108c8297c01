//! How late the machine ends a sleep: a thread that does nothing else, beside a load.

use std::time::Duration;

/// Nanoseconds, one for each moment, sorted.
pub struct Lateness(Vec<u64>);

impl Lateness {
    /// Of moments that are one period apart, in a part of the load: it is there as the first one comes.
    pub fn measure(period: Duration, from: Duration, lasts: Duration) -> Self {
        std::thread::sleep(from);
        let moments = lasts.as_nanos() / period.as_nanos();
        let mut late = sleeps(period.as_nanos() as u64, moments as usize);
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
fn sleeps(period_ns: u64, moments: usize) -> Vec<u64> {
    // SAFETY: only numbers are passed. The usual slack is 50 microseconds.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1) };
    let mut late = Vec::with_capacity(moments);
    let mut due = now_ns();
    for _ in 0..moments {
        due += period_ns;
        let at = libc::timespec {
            tv_sec: (due / 1_000_000_000) as libc::time_t,
            tv_nsec: (due % 1_000_000_000) as libc::c_long,
        };
        let no_rest = std::ptr::null_mut();
        // SAFETY: the moment lives through the call.
        unsafe {
            libc::clock_nanosleep(
                libc::CLOCK_MONOTONIC,
                libc::TIMER_ABSTIME,
                &raw const at,
                no_rest,
            )
        };
        late.push(now_ns().saturating_sub(due));
    }
    late
}

fn now_ns() -> u64 {
    let mut now = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the place lives through the call.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut now) };
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}
