//! The arithmetic of all limiters: the generic cell rate algorithm, in whole numbers.
//!
//! ```text
//!          tolerance
//!        ◀───────────▶
//!  ──────┼───────────┼──────────▶ time
//!        │           TAT: when everything admitted so far is paid for
//!        due: earliest start of the next one, TAT - tolerance
//!
//!  start = max(now, due)           due' = max(due, now - tolerance) + units / rate
//! ```
//!
//! An operation is admitted at the *old* moment and pays afterwards: paid first, it would take
//! 1 / rate longer even on an idle device. A bucket of B units is a tolerance of B / rate, so a
//! full bucket lets B units pass at once and no timer has to fill it.
//!
//! Moments are nanoseconds with 32 binary places: 1 / 3,000 s is no whole number of nanoseconds,
//! and the error of a rate stays below 10^-6 up to 10^12 units a second. They are signed: at moment
//! zero a full bucket is due long ago.

use blocklab_units::Nanos;

const PLACES: u32 = 32;

/// One limiter's state.
#[derive(Debug, Clone)]
pub(crate) struct Meter {
    /// Time of one unit.
    step: u64,
    tolerance: i128,
    due: i128,
    /// Start of the last operation that paid: what is merged into it starts with it.
    opened: Nanos,
    use_so_far: MeterUse,
}

/// What a meter has counted, and for how long it held operations back.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct MeterUse {
    /// Operations or bytes.
    pub(crate) units: u64,
    /// The waits of all operations together, in nanoseconds.
    pub(crate) waited_ns: u64,
}

impl MeterUse {
    #[inline]
    pub(crate) const fn add(&mut self, units: u64, waited: Nanos) {
        self.units += units;
        // A caller that asks without waiting for answers piles up more than the number holds.
        self.waited_ns = self.waited_ns.saturating_add(waited.0);
    }

    /// Takes back a wait that was counted: no answer contains it.
    pub(crate) const fn take_back(&mut self, waited: Nanos) {
        self.waited_ns = self.waited_ns.saturating_sub(waited.0);
    }
}

impl Meter {
    /// `per_second` from 1 to 10^12 units, with a full bucket of `bucket` units.
    pub(crate) fn new(per_second: f64, bucket: f64) -> Self {
        let step = 1e9 / per_second * (1u64 << PLACES) as f64;
        assert!(
            (1.0..1.8e19).contains(&step) && bucket >= 0.0,
            "{per_second} units a second, and a bucket of {bucket}"
        );
        let tolerance = (bucket * step) as i128;
        Self {
            step: (step + 0.5) as u64,
            tolerance,
            due: -tolerance,
            opened: Nanos::ZERO,
            use_so_far: MeterUse::default(),
        }
    }

    /// When an operation of `units` that arrives `now` may start.
    #[inline]
    pub(crate) fn admit(&mut self, now: Nanos, units: u64) -> Nanos {
        if units == 0 {
            let at = now.max(self.opened);
            self.use_so_far.add(0, at.since(now));
            return at;
        }
        let arrival = moment(now);
        let cost = (u128::from(units) * u128::from(self.step)) as i128;
        if self.due > arrival {
            // Rounded up: never before it is due. The fraction stays in `due`, so nothing drifts.
            self.opened = Nanos(((self.due + ((1 << PLACES) - 1)) >> PLACES) as u64);
            self.due += cost;
        } else {
            self.opened = now;
            // A bucket gives no more than it holds.
            self.due = self.due.max(arrival - self.tolerance) + cost;
        }
        debug_assert!(self.opened >= now, "nothing starts before it arrives");
        self.use_so_far.add(units, Nanos(self.opened.0 - now.0));
        debug_assert!(
            arrival - self.due <= self.tolerance,
            "a bucket holds no more than its size"
        );
        self.opened
    }

    /// The units that passed since it was made, and how long operations waited.
    pub(crate) const fn use_so_far(&self) -> MeterUse {
        self.use_so_far
    }

    /// What [`Self::use_so_far`] gives, to correct it.
    pub(crate) const fn use_mut(&mut self) -> &mut MeterUse {
        &mut self.use_so_far
    }

    /// As [`Self::admit`], with savings that pay what the bucket cannot, and get a part of what
    /// it has no room for.
    #[inline]
    pub(crate) fn admit_saving(&mut self, now: Nanos, units: u64, savings: &mut Savings) -> Nanos {
        // A load that stays at the rate has nothing to pay with, one far below it nothing to put by.
        let has_nothing_to_do = if self.due > moment(now) {
            savings.is_spent
        } else {
            savings.is_full
        };
        if !has_nothing_to_do {
            self.settle(now, savings);
            savings.is_spent = savings.held == 0;
            savings.is_full = savings.held == savings.most;
        }
        self.admit(now, units)
    }

    /// Lets the savings pay what is owed, or take a part of what the bucket has no room for.
    #[cold]
    fn settle(&mut self, now: Nanos, savings: &mut Savings) {
        let arrival = moment(now);
        // The bucket is empty: the savings pay what is owed.
        if self.due > arrival {
            let paid = savings.held.min(self.due - arrival);
            savings.held -= paid;
            self.due -= paid;
            return;
        }
        // The bucket is full: a share of what it has no room for goes to the savings, once, which is
        // why `due` moves up to the moment that a full bucket has.
        let unused = arrival - self.tolerance - self.due;
        if unused > 0 {
            let put_by = (unused * savings.share) >> Savings::PLACES;
            savings.held = savings.most.min(savings.held + put_by);
            self.due += unused;
        }
    }

    /// Whether nothing is owed.
    pub(crate) const fn is_full(&self, now: Nanos) -> bool {
        self.due + self.tolerance <= moment(now)
    }

    /// Forgets all that is owed.
    pub(crate) fn fill(&mut self, now: Nanos) {
        self.due = self.due.min(moment(now) - self.tolerance);
    }

    /// Takes units out of the bucket.
    pub(crate) fn spend(&mut self, units: f64) {
        assert!(units >= 0.0, "{units} units would fill the bucket");
        self.due += (units * self.step as f64) as i128;
    }

    /// Fills the bucket to `units`, at most to its size, and forgets what it owes.
    pub(crate) fn set_saved(&mut self, now: Nanos, units: f64) {
        assert!(units >= 0.0, "a bucket that holds {units} units");
        let saved = (units * self.step as f64) as i128;
        self.due = moment(now) - saved.min(self.tolerance);
    }

    /// Takes over the state of another one: holds the same share of its bucket, and pays what that one owes
    /// at the same moment.
    pub(crate) fn go_on_from(&mut self, before: &Self, now: Nanos) {
        let saved = moment(now) - before.due;
        self.due = if saved > 0 && before.tolerance > 0 {
            let share = saved.min(before.tolerance) as f64 / before.tolerance as f64;
            moment(now) - (self.tolerance as f64 * share) as i128
        } else {
            before.due.max(moment(now))
        };
    }

    /// What the bucket holds at most, in units.
    pub(crate) fn size(&self) -> f64 {
        self.tolerance as f64 / self.step as f64
    }

    /// What the bucket holds at `now`, in units; at least 0, at most its size.
    pub(crate) fn saved(&self, now: Nanos) -> f64 {
        let saved = moment(now) - self.due;
        saved.clamp(0, self.tolerance) as f64 / self.step as f64
    }
}

/// What a limiter put by beyond its bucket: spent at once, and filled with only a share of what is
/// not used.
#[derive(Debug, Clone)]
pub(crate) struct Savings {
    /// In time at the rate, as moments are.
    held: i128,
    most: i128,
    /// Whether nothing is held, and whether no more can be: what each operation asks.
    is_spent: bool,
    is_full: bool,
    /// With [`Self::PLACES`] binary places.
    share: i128,
}

impl Savings {
    /// A moment has 96 bits with its places, and its product with a share must fit into 127.
    const PLACES: u32 = 30;

    /// Full, with `most` of time at the rate.
    pub(crate) fn new(most: Nanos, share: f64) -> Self {
        Self {
            held: moment(most),
            most: moment(most),
            is_spent: most == Nanos::ZERO,
            is_full: true,
            share: (share * f64::from(1 << Self::PLACES) + 0.5) as i128,
        }
    }

    /// Holds as much time of the rate as those of another limiter, of at most its size.
    pub(crate) fn go_on_from(&mut self, before: &Self) {
        self.held = before.held.min(self.most);
        self.is_spent = self.held == 0;
        self.is_full = self.held == self.most;
    }
}

const fn moment(now: Nanos) -> i128 {
    (now.0 as i128) << PLACES
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Units that arrive all at once at 0, and when they start.
    #[track_caller]
    fn check(mut meter: Meter, units: &[u64], starts: &[u64]) {
        let got: Vec<_> = units.iter().map(|u| meter.admit(Nanos(0), *u).0).collect();
        assert_eq!(got, starts);
    }

    #[test]
    fn paced_from_the_first() {
        check(
            Meter::new(1000.0, 0.0),
            &[1, 1, 1],
            &[0, 1_000_000, 2_000_000],
        );
        check(
            Meter::new(3000.0, 0.0),
            &[1; 4],
            &[0, 333_334, 666_667, 1_000_000],
        );
    }

    #[test]
    fn a_big_one_makes_the_next_wait() {
        check(
            Meter::new(1000.0, 0.0),
            &[5, 1, 1],
            &[0, 5_000_000, 6_000_000],
        );
    }

    #[test]
    fn a_bucket_of_three_lets_three_more_pass() {
        check(
            Meter::new(1000.0, 3.0),
            &[1; 6],
            &[0, 0, 0, 0, 1_000_000, 2_000_000],
        );
    }

    #[test]
    fn what_costs_nothing_starts_with_what_paid() {
        check(
            Meter::new(1000.0, 0.0),
            &[1, 1, 0, 1],
            &[0, 1_000_000, 1_000_000, 2_000_000],
        );
    }

    #[test]
    fn admission_comes_before_payment() {
        // One at a time, each a millisecond after the last: a limiter of 1,000 adds nothing.
        let mut meter = Meter::new(1000.0, 0.0);
        for millis in 0..10 {
            let now = Nanos::from_millis(millis);
            assert_eq!(meter.admit(now, 1), now);
        }
    }

    #[test]
    fn the_bucket_fills_at_the_rate_and_no_further() {
        let mut meter = Meter::new(1000.0, 500.0);
        meter.spend(500.0);
        for (millis, saved) in [(0, 0.0), (100, 100.0), (500, 500.0), (9000, 500.0)] {
            assert!((meter.saved(Nanos::from_millis(millis)) - saved).abs() < 1e-6);
        }
    }

    #[test]
    fn a_bucket_that_is_set_begins_there() {
        let mut meter = Meter::new(1000.0, 500.0);
        let now = Nanos::from_secs(7);
        for (set, held) in [(0.0, 0.0), (200.0, 200.0), (900.0, 500.0)] {
            meter.set_saved(now, set);
            assert!((meter.saved(now) - held).abs() < 1e-6, "{set}");
        }
        meter.set_saved(now, 0.0);
        assert_eq!(meter.admit(now, 1), now);
        assert_eq!(meter.admit(now, 1), now + Nanos::from_millis(1));
    }

    /// The story: a share of 0.0001, the least that a specification may have, was kept in parts of 2^16,
    /// and 7 % more was saved.
    #[test]
    fn the_smallest_share_is_saved_to_a_hundred_thousandth() {
        let mut savings = Savings::new(Nanos::from_secs(1000), 1e-4);
        savings.held = 0;
        savings.is_full = false;
        let mut meter = Meter::new(1000.0, 0.0);
        meter.admit_saving(Nanos::from_secs(1_000_000), 1, &mut savings);
        let held = savings.held as f64 / moment(Nanos::from_secs(100)) as f64;
        assert!((held - 1.0).abs() < 1e-5, "{held}");
        let mut at_the_end = Savings::new(Nanos::MAX, 1.0);
        at_the_end.held = 0;
        at_the_end.is_full = false;
        Meter::new(1000.0, 0.0).admit_saving(Nanos::MAX, 1, &mut at_the_end);
        assert!(at_the_end.is_full);
    }

    /// Fewer places would let a fast rate drift; more would not hold the time of one unit a second.
    #[test]
    fn rates_from_one_to_a_million_million_are_kept_to_a_millionth() {
        for rate in [1.0, 3.0, 7e3, 7e6, 7e9, 0.7e12, 0.9e12, 1e12] {
            let mut meter = Meter::new(rate, 0.0);
            let units = (rate * 1000.0) as u64;
            meter.admit(Nanos(0), units);
            let seconds = meter.admit(Nanos(0), 1).as_secs_f64();
            assert!((seconds / 1000.0 - 1.0).abs() < 1e-6, "{rate}: {seconds} s");
        }
    }

    #[test]
    fn three_thousand_a_second_for_a_day_drift_by_less_than_a_microsecond() {
        let mut meter = Meter::new(3000.0, 0.0);
        let day = 86_400 * 3000;
        meter.admit(Nanos(0), day);
        let error = meter.admit(Nanos(0), 1).0.abs_diff(86_400_000_000_000);
        assert!(error < 1000, "{error} ns");
    }
}
