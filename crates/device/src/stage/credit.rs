//! A burst bucket: gp2, st1, sc1, and the half hour of an instance.
//!
//! ```text
//!   rate ▲ burst ┌──────────┐
//!        │       │          │ bucket empty        lasts  balance / (burst - baseline)
//!        │  base │          └───────────          fills  capacity / baseline, at rest
//!        └───────┴─────────────────────▶ time
//! ```
//!
//! It earns at the baseline all the time and every operation or byte is paid from it: two meters,
//! the baseline with the bucket as its tolerance, and the burst rate without any.
//!
//! EC2 user guide, 2023-05-11, in our words: a gp2 volume starts with 5.4 million I/O credits,
//! which is also the most it can hold, earns 3 a second for every GiB, and spends them up to
//! 3,000 IOPS; st1 and sc1 do the same with MiB, and hold 1 TiB for every TiB of volume.

use blocklab_units::Nanos;

use super::meter::{Meter, MeterUse};
use super::{ChargedIo, Counts, FORGIVEN_STALL, Stage, WhichMeter};
use crate::Credit;

/// A [`Credit`] at work.
#[derive(Debug, Clone)]
pub(crate) struct Burst {
    counts: Counts,
    baseline: Meter,
    burst: Meter,
    full_again: Option<Nanos>,
    last_full: Nanos,
    emptied: Emptied,
}

/// The moments at which a bucket ran empty.
#[derive(Debug, Clone, Default)]
struct Emptied {
    moments: Vec<Nanos>,
    is_empty: bool,
}

/// A bucket that is empty counts as emptied anew once it has held this share of its size again:
/// a load at the baseline takes out what it earns, operation by operation.
const REFILLED: f64 = 0.01;
/// Moments that are kept; a load that empties its bucket more often than this does so by habit.
const EMPTIED_KEPT: usize = 64;

impl Emptied {
    /// Notes the moment at which the bucket runs empty. `waited`: an operation had to wait for the
    /// bucket; `share` gives how full it is, from 0 to 1.
    #[inline]
    fn look(&mut self, waited: bool, at: Nanos, share: impl FnOnce() -> f64) {
        if waited && !self.is_empty {
            self.is_empty = true;
            if self.moments.len() < EMPTIED_KEPT {
                self.moments.push(at);
            }
        } else if !waited && self.is_empty {
            self.is_empty = share() < REFILLED;
        }
    }
}

impl Burst {
    pub(crate) fn new(credit: &Credit, counts: Counts) -> Self {
        Self::forgiving(credit, counts, FORGIVEN_STALL)
    }

    /// A bucket at the fill level that the credit begins with. After a pause in the load, its burst rate
    /// makes up at once for up to `forgiven` of unused time.
    fn forgiving(credit: &Credit, counts: Counts, forgiven: Nanos) -> Self {
        let burst = credit.burst.per_second();
        assert!(
            (0.0..=1.0).contains(&credit.initial_share),
            "a bucket begins between empty and full, not with {} of it",
            credit.initial_share
        );
        // A meter begins full.
        let mut baseline = Meter::new(credit.baseline.per_second(), credit.capacity);
        baseline.spend(credit.capacity * (1.0 - credit.initial_share));
        Self {
            counts,
            baseline,
            burst: Meter::new(burst, burst * forgiven.as_secs_f64()),
            full_again: credit.full_again,
            last_full: Nanos::ZERO,
            emptied: Emptied::default(),
        }
    }

    /// What its two meters have counted: of the baseline, and of the burst rate.
    pub(crate) const fn use_so_far(&self) -> [MeterUse; 2] {
        [self.baseline.use_so_far(), self.burst.use_so_far()]
    }

    /// What one of its meters has counted, to correct it.
    pub(crate) const fn use_mut(&mut self, meter: WhichMeter) -> &mut MeterUse {
        match meter {
            WhichMeter::First => self.baseline.use_mut(),
            WhichMeter::Second => self.burst.use_mut(),
        }
    }

    /// The first moments at which it ran empty.
    pub(crate) fn emptied(&self) -> &[Nanos] {
        &self.emptied.moments
    }

    /// Operations or bytes left.
    pub(crate) fn balance(&self, now: Nanos) -> f64 {
        self.baseline.saved(now)
    }

    /// Fills the bucket to this share of its size.
    pub(crate) fn set_share(&mut self, now: Nanos, share: f64) {
        self.baseline.set_saved(now, self.baseline.size() * share);
    }

    /// Takes over the fill level of another bucket, as a share, and when that was last full.
    pub(crate) fn go_on_from(&mut self, before: &Self, now: Nanos) {
        self.baseline.go_on_from(&before.baseline, now);
        self.burst.go_on_from(&before.burst, now);
        self.last_full = before.last_full;
    }

    /// Fills the bucket if it has not been full for that long, in which the vendor promises one burst.
    #[inline]
    fn fill_in_time(&mut self, now: Nanos, at_the_latest: Nanos) {
        if now.since(self.last_full) >= at_the_latest {
            self.baseline.fill(now);
        }
        if self.baseline.is_full(now) {
            self.last_full = now;
        }
    }
}

impl Stage for Burst {
    #[inline]
    fn explain(
        &mut self,
        now: Nanos,
        charged_io: &ChargedIo,
        on_wait: &mut impl FnMut(WhichMeter, Nanos, Nanos),
    ) -> Nanos {
        if let Some(at_the_latest) = self.full_again {
            self.fill_in_time(now, at_the_latest);
        }
        let units = self.counts.units(charged_io);
        let at = self.baseline.admit(now, units);
        on_wait(WhichMeter::First, now, at);
        let baseline = &self.baseline;
        self.emptied
            .look(at > now, now, || baseline.saved(now) / baseline.size());
        let left = self.burst.admit(at, units);
        on_wait(WhichMeter::Second, at, left);
        left
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stage::Follows;
    use crate::{Direction, Io, Origin, Rate};

    fn credit(baseline: Rate, burst: Rate, capacity: f64) -> Credit {
        Credit {
            name: "burst credits".to_owned(),
            baseline,
            burst,
            capacity,
            initial_share: 1.0,
            full_again: None,
            origin: Origin::Given,
        }
    }

    fn charged_io(units: u64) -> ChargedIo {
        ChargedIo {
            io: Io {
                direction: Direction::Read,
                offset: 0,
                len: 4096,
            },
            ops: units,
            charged: units,
            moved: units,
            follows: Follows::Nothing,
        }
    }

    #[test]
    fn a_bucket_of_four_at_twice_the_baseline() {
        let small = credit(Rate::Iops(1000.0), Rate::Iops(2000.0), 4.0);
        let mut stage = Burst::forgiving(&small, Counts::Operations, Nanos::ZERO);
        let starts: Vec<_> = (0..11)
            .map(|_| stage.admit(Nanos(0), &charged_io(1)).0)
            .collect();
        // Every half millisecond until the bucket is empty, 4 / (2000 - 1000) s later.
        assert_eq!(
            starts[..9],
            [
                0, 500_000, 1_000_000, 1_500_000, 2_000_000, 2_500_000, 3_000_000, 3_500_000,
                4_000_000
            ]
        );
        assert_eq!(starts[9..], [5_000_000, 6_000_000]);
    }

    /// 20 ms of 2,000 operations a second are 40; more would be a burst beyond the burst rate, less
    /// would be lost to whoever is late by a few milliseconds.
    #[test]
    fn the_burst_rate_forgives_twenty_milliseconds() {
        let mut stage = Burst::new(
            &credit(Rate::Iops(1000.0), Rate::Iops(2000.0), 1e6),
            Counts::Operations,
        );
        let at_once = (0..200).filter(|_| stage.admit(Nanos(0), &charged_io(1)) == Nanos(0));
        let at_once = at_once.count();
        assert!((36..=44).contains(&at_once), "{at_once}");
    }

    /// When a bucket of 90,000 at a baseline of 100 a second ran empty: at the start, and after pauses of
    /// this many milliseconds, at the end of which all that it earned is taken at once.
    fn emptied_again_after(pause: u64, times: u64) -> Vec<Nanos> {
        let mut stage = Burst::new(
            &credit(Rate::Iops(100.0), Rate::Iops(1000.0), 90_000.0),
            Counts::Operations,
        );
        stage.admit(Nanos(0), &charged_io(90_001));
        for time in 0..=times {
            let now = Nanos::from_millis(time * pause);
            stage.admit(now, &charged_io(1));
            stage.admit(now, &charged_io(stage.balance(now) as u64 + 1));
            stage.admit(now, &charged_io(1));
        }
        stage.emptied().to_vec()
    }

    /// A load at the baseline takes out what it earns, operation by operation, and empties nothing:
    /// a hundredth of a bucket, nine seconds here, tells it from one that rests and comes back.
    #[test]
    fn a_bucket_runs_empty_again_once_it_has_held_a_hundredth() {
        assert_eq!(emptied_again_after(8_900, 1).len(), 1);
        let twice = emptied_again_after(9_100, 1);
        assert_eq!(twice, [Nanos::ZERO, Nanos::from_millis(9_100)]);
    }

    /// A load that comes and goes for a month empties a bucket ten thousand times: the first 64 moments
    /// show what it does.
    #[test]
    fn the_first_moments_of_a_habit_are_kept() {
        assert_eq!(emptied_again_after(10_000, 63).len(), 64);
        let habit = emptied_again_after(10_000, 1000);
        assert_eq!((habit.len(), habit[63]), (64, Nanos::from_secs(630)));
    }

    #[test]
    fn half_full_at_the_start() {
        let half = Credit {
            initial_share: 0.5,
            ..credit(Rate::Iops(100.0), Rate::Iops(3000.0), 5.4e6)
        };
        let stage = Burst::new(&half, Counts::Operations);
        for (seconds, balance) in [(0, 2.7e6), (10, 2.701e6), (27_000, 5.4e6), (90_000, 5.4e6)] {
            let got = stage.balance(Nanos::from_secs(seconds));
            assert!((got - balance).abs() < 1.0, "{seconds} s: {got}");
        }
    }

    #[test]
    fn full_again_after_its_time_even_under_load() {
        let daily = Credit {
            full_again: Some(Nanos::from_secs(100)),
            ..credit(Rate::Iops(1000.0), Rate::Iops(2000.0), 4000.0)
        };
        let mut stage = Burst::forgiving(&daily, Counts::Operations, Nanos::ZERO);
        let mut started = [0u64; 110];
        let mut now = Nanos(0);
        while now < Nanos::from_secs(110) {
            now = stage.admit(now, &charged_io(1));
            started[(now.0 / 1_000_000_000).min(109) as usize] += 1;
        }
        assert_eq!(
            [started[0], started[3], started[50], started[101]],
            [2000, 2000, 1000, 2000]
        );
        assert_eq!(started[105], 1000);
    }
}
