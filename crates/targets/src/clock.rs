//! The clock of a run: the processor's time stamp counter where the kernel trusts it.

use std::fs;
use std::num::NonZeroU64;
use std::time::Duration;

use blocklab_units::Nanos;
use rustix::thread::set_current_timer_slack;

/// Nanoseconds since an epoch, cheap enough to be read around every operation.
///
/// On x86-64 with a stable counter one reading is `rdtsc`, a multiplication and a shift; otherwise
/// it is `clock_gettime(CLOCK_MONOTONIC)` through the vDSO. The counter's frequency is measured
/// against CLOCK_MONOTONIC over [`CALIBRATION`]; [`Clock::error_ppm`] is the drift between the
/// two since then.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    scale: Option<Scale>,
    epoch_ticks: u64,
    epoch_monotonic: u64,
}

/// ns = (ticks * factor) >> 32: exact to 2^-32 of a nanosecond a tick.
#[derive(Debug, Clone, Copy)]
struct Scale {
    factor: u64,
}

/// Two readings are bracketed to some 20 ns each, so 4 ms give about 10 parts per million.
const CALIBRATION: Duration = Duration::from_millis(4);

impl Clock {
    /// A clock that begins now.
    pub fn start() -> Self {
        let scale = counter_is_stable().then(calibrate).flatten();
        Self::with(scale)
    }

    /// A clock that counts from now, with the calibration of this one.
    #[must_use]
    pub fn restarted(self) -> Self {
        Self::with(self.scale)
    }

    fn with(scale: Option<Scale>) -> Self {
        let (epoch_ticks, epoch_monotonic) = bracketed();
        Self {
            scale,
            epoch_ticks,
            epoch_monotonic,
        }
    }

    /// Time since the epoch.
    #[inline]
    pub fn now(&self) -> Nanos {
        match self.scale {
            Some(scale) => Nanos(scale.nanos(ticks().wrapping_sub(self.epoch_ticks))),
            None => Nanos(monotonic().saturating_sub(self.epoch_monotonic)),
        }
    }

    /// `tsc` or `clock_gettime`.
    pub const fn source(&self) -> &'static str {
        match self.scale {
            Some(_) => "tsc",
            None => "clock_gettime",
        }
    }

    /// Difference from CLOCK_MONOTONIC since the epoch, in parts per million. Means little in the
    /// first milliseconds.
    pub fn error_ppm(&self) -> f64 {
        let Some(scale) = self.scale else { return 0.0 };
        let (ticks, monotonic) = bracketed();
        let ours = scale.nanos(ticks.wrapping_sub(self.epoch_ticks)) as f64;
        let theirs = (monotonic - self.epoch_monotonic) as f64;
        (ours - theirs).abs() / theirs.max(1.0) * 1e6
    }

    /// Cost of one reading in nanoseconds, from 10,000 of them.
    pub fn read_cost_ns(&self) -> f64 {
        const READINGS: u32 = 10_000;
        let begin = self.now();
        for _ in 0..READINGS {
            std::hint::black_box(self.now());
        }
        self.now().since(begin).0 as f64 / f64::from(READINGS)
    }
}

impl Scale {
    #[inline]
    const fn nanos(self, ticks: u64) -> u64 {
        ((ticks as u128 * self.factor as u128) >> 32) as u64
    }
}

/// Whether the time stamp counter can be trusted. The kernel tests it at boot and watches it afterwards,
/// so its own choice of a clock is the evidence.
fn counter_is_stable() -> bool {
    let path = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    cfg!(target_arch = "x86_64")
        && fs::read_to_string(path).is_ok_and(|source| source.trim() == "tsc")
}

/// Compares the counter with the kernel's clock for a moment; `None`: the counter stood still.
fn calibrate() -> Option<Scale> {
    let (ticks_before, before) = bracketed();
    std::thread::sleep(CALIBRATION);
    let (ticks_after, after) = bracketed();
    let ticks = ticks_after
        .checked_sub(ticks_before)
        .filter(|ticks| *ticks > 0)?;
    let factor = (u128::from(after - before) << 32) / u128::from(ticks);
    u64::try_from(factor).ok().map(|factor| Scale { factor })
}

/// Ticks and monotonic nanoseconds at the same moment: the tightest of several brackets.
fn bracketed() -> (u64, u64) {
    let tightest = (0..16)
        .map(|_| {
            let before = ticks();
            let monotonic = monotonic();
            let after = ticks();
            (
                after.wrapping_sub(before),
                before.wrapping_add(after.wrapping_sub(before) / 2),
                monotonic,
            )
        })
        .min_by_key(|(width, ..)| *width);
    let (_, ticks, monotonic) = tightest.expect("sixteen brackets");
    (ticks, monotonic)
}

#[inline]
#[cfg(target_arch = "x86_64")]
fn ticks() -> u64 {
    // SAFETY: reads a counter; every x86-64 processor has the instruction.
    unsafe { core::arch::x86_64::_rdtsc() }
}

#[inline]
#[cfg(not(target_arch = "x86_64"))]
fn ticks() -> u64 {
    monotonic()
}

fn monotonic() -> u64 {
    read_clock(libc::CLOCK_MONOTONIC)
}

/// Processor time of the calling thread, in nanoseconds.
pub fn thread_cpu_ns() -> u64 {
    read_clock(libc::CLOCK_THREAD_CPUTIME_ID)
}

fn read_clock(id: libc::clockid_t) -> u64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `time` is a valid place for the answer; these clocks exist on every Linux.
    unsafe { libc::clock_gettime(id, &raw mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Timers of this thread end as soon as the kernel can: the usual slack of 50 microseconds would
/// be half the latency of a local disk.
pub fn precise_timers() {
    // A kernel that refuses leaves the usual slack.
    let _ = set_current_timer_slack(NonZeroU64::new(1));
}

/// Sleeps until a moment of the run's clock. Returns false when a signal came first.
pub(crate) fn sleep_until(now: Nanos, moment: Option<Nanos>) -> bool {
    let Some(moment) = moment.filter(|moment| *moment > now) else {
        return true;
    };
    let time = timespec(moment.since(now));
    // SAFETY: `time` is a valid time; the remaining time is not requested.
    unsafe { libc::nanosleep(&raw const time, std::ptr::null_mut()) == 0 }
}

/// A duration in the kernel's form.
pub(crate) const fn timespec(duration: Nanos) -> libc::timespec {
    libc::timespec {
        tv_sec: (duration.0 / 1_000_000_000) as libc::time_t,
        tv_nsec: (duration.0 % 1_000_000_000) as libc::c_long,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_two_clocks_agree() {
        let clock = Clock::start();
        let begin = monotonic();
        let mut last = Nanos::ZERO;
        // Work, not sleep: 200,000 readings take some milliseconds.
        for _ in 0..200_000 {
            let now = clock.now();
            assert!(now >= last, "time went backwards");
            last = now;
        }
        let theirs = monotonic() - begin;
        let ours = clock.now().0;
        assert!(
            ours.abs_diff(theirs) < theirs / 50 + 5_000_000,
            "{ours} against {theirs}"
        );
    }
}
