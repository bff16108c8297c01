//! When to wake for something that is due: a sleep ends late, so it is begun shorter.

use blocklab_units::Nanos;

/// Whether the clock is watched for the last microseconds before something is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Spin {
    /// Where more than two processors are there.
    #[default]
    Auto,
    /// Always.
    On,
    /// Never: the processor is the client's.
    Off,
}

impl Spin {
    /// With so many processors.
    #[must_use]
    pub const fn is_on(self, processors: usize) -> bool {
        match self {
            Self::Auto => processors > 2,
            Self::On => true,
            Self::Off => false,
        }
    }
}

/// The alarm of one thread, which learns by how much its sleeps end late.
///
/// On a virtual machine a halted processor takes some 20 microseconds to wake. The usual lateness
/// is taken off each sleep; what remains is the scatter, which the lateness histogram shows.
#[derive(Debug, Clone)]
pub struct Alarm {
    late_ns: u64,
    spins: bool,
}

/// More than that is the machine being busy, and no property of its timers.
const MOST_LATE: u64 = 60_000;
/// What is due so soon is done now: no sleep is so short.
const BATCH: Nanos = Nanos(4_000);
/// How long before the moment a spinning thread wants to be awake, beyond the usual lateness.
const WATCH: u64 = 15_000;

impl Alarm {
    /// Begins with the lateness of an idle virtual machine.
    #[must_use]
    pub const fn new(spins: bool) -> Self {
        Self {
            late_ns: 20_000,
            spins,
        }
    }

    /// By how much a thread that slept usually wakes late.
    #[must_use]
    pub const fn usual_lateness(&self) -> Nanos {
        Nanos(self.late_ns)
    }

    /// What is due until then is to be done at `now`.
    #[must_use]
    pub const fn horizon(&self, now: Nanos) -> Nanos {
        match self.spins {
            true => now,
            false => now.saturating_add(BATCH),
        }
    }

    /// How long to sleep at `now` for something that is due at `due`; zero: watch the clock.
    #[must_use]
    pub fn sleep(&self, now: Nanos, due: Nanos) -> Nanos {
        let early = self.late_ns + if self.spins { WATCH } else { 0 };
        let left = due.since(now).0.saturating_sub(early);
        match (left, self.spins) {
            (0, false) => Nanos(1),
            _ => Nanos(left),
        }
    }

    /// A sleep that was to end at `wanted` ended at `now` by itself.
    pub const fn woke(&mut self, wanted: Nanos, now: Nanos) {
        let late = now.since(wanted).0;
        let late = if late < MOST_LATE { late } else { MOST_LATE };
        // A moving average of some sixteen sleeps.
        self.late_ns = (self.late_ns * 15 + late) / 16;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_lateness_is_taken_off() {
        let mut alarm = Alarm::new(false);
        for _ in 0..200 {
            let wanted = alarm.sleep(Nanos(0), Nanos(1_000_000));
            alarm.woke(wanted, Nanos(wanted.0 + 35_000));
        }
        let asked = alarm.sleep(Nanos(0), Nanos(1_000_000)).0;
        assert!((964_000..967_000).contains(&asked), "{asked}");
        // A machine that stood still for a second teaches nothing.
        alarm.woke(Nanos(0), Nanos::from_secs(1));
        let next = alarm.sleep(Nanos(0), Nanos(1_000_000)).0;
        assert!(next > 960_000, "{next}");
    }

    #[test]
    fn one_that_spins_wakes_before_the_moment_and_does_nothing_early() {
        let alarm = Alarm::new(true);
        let (now, due) = (Nanos(0), Nanos(100_000));
        assert_eq!(alarm.sleep(now, due), Nanos(65_000));
        assert_eq!(alarm.sleep(now, Nanos(30_000)), Nanos::ZERO);
        assert_eq!(alarm.horizon(now), now);
    }
}
