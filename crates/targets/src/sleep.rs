use blocklab_units::Nanos;

/// Sleeps until a moment of the run's clock. Returns false when a signal came first.
pub(super) fn until(now: Nanos, moment: Option<Nanos>) -> bool {
    let Some(moment) = moment.filter(|moment| *moment > now) else {
        return true;
    };
    let time = timespec(moment.since(now));
    // SAFETY: `time` is a valid time; the rest is not asked for.
    unsafe { libc::nanosleep(&raw const time, std::ptr::null_mut()) == 0 }
}

/// A duration in the kernel's form.
pub(super) const fn timespec(duration: Nanos) -> libc::timespec {
    libc::timespec {
        tv_sec: (duration.0 / 1_000_000_000) as libc::time_t,
        tv_nsec: (duration.0 % 1_000_000_000) as libc::c_long,
    }
}
