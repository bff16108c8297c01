//! How long to sleep for a reply that is due: sleeps end late, so they are planned shorter.

use blocklab_units::Nanos;

/// Whether a thread spins for the last microseconds before a reply is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Spin {
    /// With more than two processors.
    #[default]
    Auto,
    /// Always.
    On,
    /// Never: the client needs the processor.
    Off,
}

impl Spin {
    /// The choice on this machine.
    pub fn is_on(self) -> bool {
        match self {
            Self::Auto => {
                std::thread::available_parallelism().is_ok_and(|processors| processors.get() > 2)
            }
            Self::On => true,
            Self::Off => false,
        }
    }
}

/// The sleeps of one thread, which measures how late they end.
///
/// On a virtual machine a halted processor takes some 20 microseconds to wake. The usual lateness
/// is taken off each sleep; what remains is the scatter, which the lateness histogram shows.
#[derive(Debug, Clone)]
pub(crate) struct SleepPlan {
    /// How late sleeps usually end.
    late_ns: u64,
    spins: bool,
}

/// By how much one sleep changes the estimate.
const STEP_NS: u64 = 500;
/// Greater lateness comes from a busy machine, not from its timers.
const MOST_LATE_NS: u64 = 60_000;
/// A halted processor of a virtual machine takes no longer to wake.
const MOST_HALTED_NS: u64 = 25_000;
/// A reply that is due so soon is sent now: no sleep is so short.
const BATCH: Nanos = Nanos(4_000);
/// A call that finds a request takes less, one that sleeps for it takes more.
const AT_ONCE: Nanos = Nanos(8_000);
/// How long before the moment a thread that spins is to be awake, beyond the usual lateness.
const SPIN_NS: u64 = 15_000;

impl SleepPlan {
    /// Begins with the lateness of an idle virtual machine.
    pub(crate) const fn new(spins: bool) -> Self {
        Self {
            late_ns: 20_000,
            spins,
        }
    }

    /// How long threads take to wake for a lone request that came after `waited`: this one, if it
    /// slept, and the client's, which sleeps until the reply. How long a busy processor keeps them
    /// waiting beyond that is not known.
    pub(crate) fn wake_ups(&self, waited: Nanos) -> Nanos {
        if waited > AT_ONCE {
            Nanos(2 * self.late_ns.min(MOST_HALTED_NS))
        } else {
            Nanos::ZERO
        }
    }

    /// Replies that are due until then are sent at `now`.
    pub(crate) const fn horizon(&self, now: Nanos) -> Nanos {
        if self.spins {
            now
        } else {
            now.saturating_add(BATCH)
        }
    }

    /// How long to sleep at `now` for something that is due at `due`; zero: spin.
    pub(crate) fn sleep(&self, now: Nanos, due: Nanos) -> Nanos {
        let early = self.late_ns + if self.spins { SPIN_NS } else { 0 };
        let left = due.since(now).0.saturating_sub(early);
        match (left, self.spins) {
            // A thread that does not spin sleeps as shortly as it can; 0 would disarm the timer.
            (0, false) => Nanos(1),
            _ => Nanos(left),
        }
    }

    /// A sleep that was to end at `wanted` ended at `now` by itself.
    pub(crate) fn woke(&mut self, wanted: Nanos, now: Nanos) {
        // In steps of one size the estimate settles at the median, which stalls of the machine do not
        // move.
        self.late_ns = if now.since(wanted).0 > self.late_ns {
            (self.late_ns + STEP_NS).min(MOST_LATE_NS)
        } else {
            self.late_ns.saturating_sub(STEP_NS)
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_lateness_is_taken_off() {
        let mut plan = SleepPlan::new(false);
        for _ in 0..200 {
            let wanted = plan.sleep(Nanos(0), Nanos(1_000_000));
            plan.woke(wanted, Nanos(wanted.0 + 35_000));
        }
        let planned = plan.sleep(Nanos(0), Nanos(1_000_000)).0;
        assert!((964_000..967_000).contains(&planned), "{planned}");
        // A pause of the machine for a second does not count.
        plan.woke(Nanos(0), Nanos::from_secs(1));
        let next = plan.sleep(Nanos(0), Nanos(1_000_000)).0;
        assert!(next > 964_000, "{next}");
    }

    /// A client took as long as a late wake-up to send its next request: the server, which had slept
    /// for it, counted half of these requests as read at once, and replied to them late.
    #[test]
    fn a_request_that_a_short_sleep_waited_for_was_sent_a_wake_up_ago() {
        let plan = SleepPlan::new(false);
        assert_eq!(plan.wake_ups(Nanos(2_000)), Nanos::ZERO);
        assert_eq!(plan.wake_ups(Nanos(15_000)), Nanos(40_000));
    }

    #[test]
    fn one_that_spins_wakes_before_the_moment_and_does_nothing_early() {
        let plan = SleepPlan::new(true);
        let (now, due) = (Nanos(0), Nanos(100_000));
        assert_eq!(plan.sleep(now, due), Nanos(65_000));
        assert_eq!(plan.sleep(now, Nanos(30_000)), Nanos::ZERO);
        assert_eq!(plan.horizon(now), now);
    }
}
