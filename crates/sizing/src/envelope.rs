//! In: moments and amounts of work. Out: the longest that any of it waits behind a limiter of any
//! rate and bucket, exactly, without playing it again.
//!
//! A limiter of rate r and bucket B, full at the beginning, lets operation j go when
//! `max over i <= j of (W(i, j) - B) / r + t(i)` has come, where W(i, j) is the work from operation i up
//! to j, without j. So its wait is the maximum over all pairs of `(W - B) / r - (t(j) - t(i))`. For any
//! rate, that maximum lies on the upper hull of the points `(t(j) - t(i), W(i, j))`: some dozens of
//! points hold the answer for all limiters there can be.
//!
//! ```text
//!   W ▲            ·───── hull           pairs of a later and an earlier half are the differences of
//!     │        · ╱   ·                   two hulls, and the hull of differences of hulls is a walk along
//!     │      ╱ ·    ·                    both. Halves are joined as the digits of a counter carry, so
//!     │    ╱·  ·                         one pass is enough and only a hull for each digit is held.
//!     └──────────────▶ t(j) - t(i)
//! ```

use blocklab_units::Nanos;

use crate::bounds::{PLACES, Worst, step};

/// An operation: when it came, and the work before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Point {
    at: u64,
    before: u64,
}

/// A pair of operations: how far apart, and the work from one to the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Pair {
    apart: u64,
    work: u64,
    from: u64,
}

/// Hulls of a run of operations.
#[derive(Debug, Default)]
struct Run {
    /// The points that may be the later one of a pair.
    upper: Vec<Point>,
    /// The points that may be the earlier one of a pair.
    lower: Vec<Point>,
    pairs: Vec<Pair>,
}

/// Steps of a bisection, enough for any precision.
const STEPS: usize = 50;

/// The work that arrives within any time.
#[derive(Debug, Default)]
pub struct Envelope {
    /// By the binary digits of the number of operations; larger runs are earlier.
    runs: Vec<Option<Run>>,
    /// All work so far.
    work: u64,
}

impl Envelope {
    /// An operation that comes at a moment, not before the one before it, with its work.
    pub fn add(&mut self, at: Nanos, work: u64) {
        let point = Point {
            at: at.0,
            before: self.work,
        };
        self.work += work;
        let mut run = Run {
            upper: vec![point],
            lower: vec![point],
            pairs: vec![Pair {
                apart: 0,
                work: 0,
                from: at.0,
            }],
        };
        for digit in &mut self.runs {
            match digit.take() {
                Some(earlier) => run = joined(earlier, run),
                None => {
                    *digit = Some(run);
                    return;
                }
            }
        }
        self.runs.push(Some(run));
    }

    /// Merges what is left in the digits, so that questions are answered at once.
    #[must_use]
    pub fn consolidated(mut self) -> Self {
        let runs = std::mem::take(&mut self.runs);
        let all = runs
            .into_iter()
            .flatten()
            .reduce(|later, earlier| joined(earlier, later));
        self.runs = vec![all];
        self
    }

    /// The most work that any limiter sees within a window: on the hull, so at least what came within
    /// one, and where a limiter of any rate can bind, exactly that. To be asked of a
    /// [`consolidated`](Self::consolidated) one.
    pub fn within(&self, window: Nanos) -> f64 {
        let pairs = self.runs.iter().flatten().flat_map(|run| &run.pairs);
        let mut last: Option<&Pair> = None;
        for pair in pairs {
            if pair.apart > window.0 {
                let before = last.map_or((0, 0), |last| (last.apart, last.work));
                let share = (window.0 - before.0) as f64 / (pair.apart - before.0) as f64;
                return before.1 as f64 + share * (pair.work as f64 - before.1 as f64);
            }
            last = Some(pair);
        }
        last.map_or(0.0, |last| last.work as f64)
    }

    /// The least rate, in units a second, of a limiter behind which nothing waits longer than
    /// `tolerated`. Its bucket holds what the rate gives in the time `saved`, and is full whenever it is
    /// needed. To be asked of a [`consolidated`](Self::consolidated) one.
    pub fn least_rate(&self, tolerated: Nanos, saved: Nanos) -> f64 {
        let (mut low, mut high) = (0.5, self.work as f64 + 1.0);
        // At `high`, even all work at once waits less than a second. If less than that is tolerated,
        // the bound goes up.
        while !self.is_enough(high, saved, tolerated) && high < 1e15 {
            high *= 16.0;
        }
        for _ in 0..STEPS {
            // The geometric mean, because rates span many orders of magnitude.
            let middle = (low * high).sqrt();
            if self.is_enough(middle, saved, tolerated) {
                high = middle;
            } else {
                low = middle;
            }
        }
        high
    }

    /// Whether nothing waits longer than `tolerated` behind a limiter of `rate` units a second whose
    /// bucket holds what the rate gives in the time `saved`.
    fn is_enough(&self, rate: f64, saved: Nanos, tolerated: Nanos) -> bool {
        self.worst(rate, rate * saved.as_secs_f64()).wait <= tolerated
    }

    /// The longest wait behind a limiter of `per_second` units and a bucket of `bucket` units.
    ///
    /// To the nanosecond what a limiter of the device model gives: the same whole numbers.
    pub fn worst(&self, per_second: f64, bucket: f64) -> Worst {
        let step = step(per_second);
        let tolerance = (bucket * step) as i128;
        let step = (step + 0.5) as u64;
        let mut worst = Worst::default();
        for pair in self.runs.iter().flatten().flat_map(|run| &run.pairs) {
            let due = (u128::from(pair.work) * u128::from(step)) as i128 - tolerance;
            let since = (due + ((1 << PLACES) - 1)) >> PLACES;
            let wait = since - i128::from(pair.apart);
            if wait > i128::from(worst.wait.0) {
                worst = Worst {
                    wait: Nanos(u64::try_from(wait).unwrap_or(u64::MAX)),
                    from: Nanos(pair.from),
                    at: Nanos(pair.from + pair.apart),
                };
            }
        }
        worst
    }
}

/// Joins two runs that follow each other.
fn joined(earlier: Run, later: Run) -> Run {
    let across = across(&earlier.lower, &later.upper);
    let mut pairs = merged(merged(earlier.pairs, later.pairs), across);
    hull(&mut pairs, |pair| (pair.apart, pair.work), Side::Upper);
    let (mut upper, mut lower) = (earlier.upper, earlier.lower);
    upper.extend(later.upper);
    hull(&mut upper, |point| (point.at, point.before), Side::Upper);
    lower.extend(later.lower);
    hull(&mut lower, |point| (point.at, point.before), Side::Lower);
    Run {
        upper,
        lower,
        pairs,
    }
}

/// Merges two lists that are sorted by distance and work.
fn merged(one: Vec<Pair>, other: Vec<Pair>) -> Vec<Pair> {
    let mut all = Vec::with_capacity(one.len() + other.len());
    let (mut one, mut other) = (one.into_iter().peekable(), other.into_iter().peekable());
    loop {
        let next = match (one.peek(), other.peek()) {
            (Some(a), Some(b)) if (a.apart, a.work) <= (b.apart, b.work) => one.next(),
            (_, Some(_)) => other.next(),
            (Some(_), None) => one.next(),
            (None, None) => return all,
        };
        all.extend(next);
    }
}

/// On which side of the line from `a` to `b` the point `c` lies: above 0 to its left.
fn turn(a: (u64, u64), b: (u64, u64), c: (u64, u64)) -> i128 {
    // Both as seen from `a`.
    let [(bx, by), (cx, cy)] = [b, c].map(|(x, y)| {
        let x = i128::from(x) - i128::from(a.0);
        (x, i128::from(y) - i128::from(a.1))
    });
    bx * cy - by * cx
}

/// A side of a hull.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Upper,
    Lower,
}

/// Leaves one side of the hull of points, which must be in order of their first number.
fn hull<T: Copy>(points: &mut Vec<T>, place: impl Fn(&T) -> (u64, u64), side: Side) {
    let mut kept = 0;
    for index in 0..points.len() {
        let next = points[index];
        let here = place(&next);
        while kept > 0 {
            let last = place(&points[kept - 1]);
            // At one moment, the most work counts for the upper hull and the least for the lower.
            let is_same = last.0 == here.0;
            let is_worse = match side {
                Side::Upper => last.1 <= here.1,
                Side::Lower => last.1 >= here.1,
            };
            let is_inside = kept > 1 && {
                let turn = turn(place(&points[kept - 2]), last, here);
                match side {
                    Side::Upper => turn >= 0,
                    Side::Lower => turn <= 0,
                }
            };
            if (is_same && is_worse) || (!is_same && is_inside) {
                kept -= 1;
            } else {
                break;
            }
        }
        let is_covered = kept > 0 && place(&points[kept - 1]).0 == here.0;
        if !is_covered {
            points[kept] = next;
            kept += 1;
        }
    }
    points.truncate(kept);
}

/// The upper hull of all differences of a later point and an earlier one: both hulls are walked
/// along, the steeper edge first.
fn across(earlier: &[Point], later: &[Point]) -> Vec<Pair> {
    let (mut i, mut j) = (earlier.len(), 0);
    let mut pairs = Vec::with_capacity(earlier.len() + later.len());
    while i > 0 && j < later.len() {
        let (from, to) = (earlier[i - 1], later[j]);
        pairs.push(Pair {
            apart: to.at - from.at,
            work: to.before - from.before,
            from: from.at,
        });
        let back = (i > 1).then(|| edge(earlier[i - 2], from));
        let on = later.get(j + 1).map(|next| edge(to, *next));
        match (back, on) {
            (Some((x, y)), Some((u, v))) => {
                // y / x against v / u.
                if u128::from(y) * u128::from(u) >= u128::from(v) * u128::from(x) {
                    i -= 1;
                } else {
                    j += 1;
                }
            }
            (Some(_), None) => i -= 1,
            (None, _) => j += 1,
        }
    }
    pairs
}

const fn edge(a: Point, b: Point) -> (u64, u64) {
    (b.at - a.at, b.before - a.before)
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_hull_gives_the_work_of_a_window() {
        let mut all = super::Envelope::default();
        // Ten at once, and after a second one more, again and again.
        for second in 0..10 {
            let moment = super::Nanos(second * 1_000_000_000);
            (0..if second == 5 { 10 } else { 1 }).for_each(|_| all.add(moment, 1));
        }
        let all = all.consolidated();
        assert_eq!(all.within(super::Nanos(0)), 9.0);
        assert_eq!(all.within(super::Nanos(1_000_000_000)), 10.0);
        assert_eq!(all.within(super::Nanos(1_500_000_000)), 10.5);
        assert_eq!(all.within(super::Nanos(60_000_000_000)), 18.0);
    }

    use blocklab_device::{Accounting, Cap, Covers, Device, Direction, Io, Origin, Rate};
    use proptest::prelude::*;

    use crate::demand::limited;

    use super::*;

    /// A volume that has one limit, and whose medium takes no time that differs.
    fn device(rate: Rate, bucket: Nanos) -> Device {
        let cap = Cap {
            covers: Covers::All,
            bucket,
            refill_share: 1.0,
            ..Cap::new("limit", rate, Origin::Given)
        };
        let spec = limited(vec![cap], Accounting::Plain);
        Device::new(&spec, 1).expect("a sound device")
    }

    fn simulated(operations: &[(u64, u32)], rate: Rate, bucket: Nanos) -> u64 {
        let mut device = device(rate, bucket);
        let mut worst = 0;
        for (at, len) in operations {
            let io = Io {
                direction: Direction::Read,
                offset: 0,
                len: *len,
            };
            device.explain(Nanos(*at), io, &mut |wait| {
                worst = worst.max(wait.until.0 - wait.from.0);
            });
        }
        worst
    }

    /// Moments from gaps, as bursts are made of: most are short.
    fn load() -> impl Strategy<Value = Vec<(u64, u32)>> {
        let gap = prop_oneof![0_u64..2000, 0_u64..3_000_000, 0_u64..2_000_000_000];
        let size = (1_u32..64).prop_map(|blocks| blocks * 512);
        proptest::collection::vec((gap, size), 1..200).prop_map(|steps| {
            let mut now = 0;
            let step = |(gap, len): (u64, u32)| {
                now += gap;
                (now, len)
            };
            steps.into_iter().map(step).collect()
        })
    }

    proptest! {
        #[test]
        fn the_closed_form_is_the_simulation_to_the_nanosecond(
            operations in load(),
            per_second in 1_u32..100_000,
            bucket_ms in 0_u64..2000,
        ) {
            let mut counts = Envelope::default();
            let mut bytes = Envelope::default();
            for (at, len) in &operations {
                counts.add(Nanos(*at), 1);
                bytes.add(Nanos(*at), u64::from(*len));
            }
            let bucket = Nanos::from_millis(bucket_ms);
            let iops = Rate::Iops(f64::from(per_second));
            let held = iops.per_second() * bucket.as_secs_f64();
            let counts = counts.consolidated();
            let closed = counts.worst(iops.per_second(), held);
            prop_assert_eq!(closed.wait.0, simulated(&operations, iops, bucket));
            let rate = Rate::MibPerS(f64::from(per_second) / 1000.0);
            let held = rate.per_second() * bucket.as_secs_f64();
            let parted = bytes.worst(rate.per_second(), held);
            // Runs that are not joined have no pairs across them.
            let closed = bytes.consolidated().worst(rate.per_second(), held);
            prop_assert!(parted.wait <= closed.wait);
            prop_assert_eq!(closed.wait.0, simulated(&operations, rate, bucket));
        }
    }
}
