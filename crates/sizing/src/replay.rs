//! In: operations, each at its moment, and the model of a device. Out: how long they wait there, for
//! what, and from when to when.
//!
//! Operations come when they came, whatever is still in flight: the device has to keep up with them.

use blocklab_device::{Device, DeviceSpec, Invalid, LimitKind, LimitName};
use blocklab_trace::Operation;
use blocklab_units::Nanos;
use serde::Serialize;

use crate::bounds::as_io;

/// Waits that are further apart than this are two episodes.
const APART: Nanos = Nanos::from_secs(1);
/// An operation that takes longer is slow.
const SLOW: Nanos = Nanos::from_millis(10);

/// A load on the model of a device.
#[derive(Debug)]
pub struct Replay {
    device: Device,
    limits: Vec<(usize, LimitName)>,
    /// The waits for each limit in nanoseconds, by its index in `limits`.
    waited_for: Vec<u64>,
    tolerated: Nanos,
    operations: u64,
    slow: u64,
    late: u64,
    first_late: Option<Nanos>,
    wait_max: Nanos,
    /// When the operation with that wait came.
    wait_max_at: Nanos,
    latency_max: Nanos,
    /// The number of operations in each [`bucket`] of latency.
    latencies: Vec<u64>,
    now: Option<Episode>,
    longest: Option<Episode>,
    /// End of the last byte that lies beyond the device; 0: none does.
    beyond: u64,
}

/// Operations that waited too long, one soon after the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Episode {
    /// When the first of them came.
    pub from_ns: u64,
    /// When the last of them was done.
    pub until_ns: u64,
    /// The longest wait.
    pub wait_max_ns: u64,
    /// How many there were.
    pub operations: u64,
}

/// A limit, and how long it held operations back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Held {
    /// `gp2: burst credits`.
    pub limit: String,
    /// Whether credits were spent.
    pub is_credit: bool,
    /// The waits of all operations together.
    pub waited_ns: u64,
}

/// What became of a load.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Outcome {
    /// Operations that were played.
    pub operations: u64,
    /// The longest wait for limits.
    pub wait_max_ns: u64,
    /// When the operation with that wait came.
    pub wait_max_at_ns: u64,
    /// Operations that waited longer than is tolerated.
    pub late: u64,
    /// When the first of them came.
    pub first_late_ns: Option<u64>,
    /// The episode with the longest wait.
    pub episode: Option<Episode>,
    /// Who held operations back, the longest first.
    pub held: Vec<Held>,
    /// Operations that took more than 10 ms altogether.
    pub above_10_ms_percent: f64,
    /// Latency, waits included, to 3 %.
    pub latency_p50_ns: u64,
    /// The same.
    pub latency_p99_ns: u64,
    /// The same, exactly.
    pub latency_max_ns: u64,
    /// End of the last byte that lies beyond the device; `None`: all are on it.
    pub beyond_bytes: Option<u64>,
}

impl Replay {
    /// A load whose operations may wait for at most `tolerated`. On a device without faults: whether an
    /// operation fails is not looked at.
    ///
    /// # Errors
    /// The first rule that the specification of the device breaks.
    pub fn new(spec: &DeviceSpec, tolerated: Nanos) -> Result<Self, Invalid> {
        let device = Device::new(spec, 1)?;
        let limits = device.waits_of(0);
        let most = limits.iter().map(|(index, _)| index + 1).max();
        Ok(Self {
            device,
            limits,
            waited_for: vec![0; most.unwrap_or(0)],
            tolerated,
            operations: 0,
            slow: 0,
            late: 0,
            first_late: None,
            wait_max: Nanos::ZERO,
            wait_max_at: Nanos::ZERO,
            latency_max: Nanos::ZERO,
            latencies: vec![0; 64 * SUB_BUCKETS],
            now: None,
            longest: None,
            beyond: 0,
        })
    }

    /// Plays an operation; operations come in the order of their times. One that ends beyond the device
    /// is not played, and only its end is noted.
    pub fn add(&mut self, operation: &Operation) {
        if operation.end() > self.device.capacity().0 {
            self.beyond = self.beyond.max(operation.end());
            return;
        }
        let io = as_io(operation);
        let at = operation.at;
        let (mut waited, mut counted_until) = (0, Nanos::ZERO);
        let waited_for = &mut self.waited_for;
        let answer = self.device.explain(at, io, &mut |wait| {
            // The parts of a striped operation wait at the same time, which counts once.
            let held = wait.until.since(wait.from.max(counted_until)).0;
            counted_until = counted_until.max(wait.until);
            waited += held;
            // Only the limits of the first volume are listed; one of another kind may have more.
            if let Some(sum) = waited_for.get_mut(wait.limit) {
                *sum = sum.saturating_add(held);
            }
        });
        self.operations += 1;
        let took = answer.at.since(at);
        self.latencies[bucket(took.0)] += 1;
        self.slow += u64::from(took > SLOW);
        self.latency_max = self.latency_max.max(took);
        if Nanos(waited) > self.wait_max {
            (self.wait_max, self.wait_max_at) = (Nanos(waited), at);
        }
        if Nanos(waited) > self.tolerated {
            self.late(at, waited, answer.at);
        }
    }

    /// Adds an operation that waited too long to the episode under way, or begins another one.
    #[cold]
    fn late(&mut self, at: Nanos, waited: u64, done: Nanos) {
        self.late += 1;
        self.first_late.get_or_insert(at);
        match &mut self.now {
            Some(now) if at.0 <= now.until_ns.saturating_add(APART.0) => {
                now.until_ns = now.until_ns.max(done.0);
                now.wait_max_ns = now.wait_max_ns.max(waited);
                now.operations += 1;
            }
            _ => {
                self.close();
                self.now = Some(Episode {
                    from_ns: at.0,
                    until_ns: done.0,
                    wait_max_ns: waited,
                    operations: 1,
                });
            }
        }
    }

    /// Ends the episode under way, and keeps it if none had a longer wait.
    fn close(&mut self) {
        let Some(now) = self.now.take() else { return };
        let longest = self.longest.map_or(0, |longest| longest.wait_max_ns);
        if now.wait_max_ns > longest {
            self.longest = Some(now);
        }
    }

    /// What is left of the credits that are nearest to their end, in per cent; `None`: it has none.
    pub(crate) fn balance_percent(&self, now: Nanos) -> Option<f64> {
        let balances = self.device.balances_of(0, now).into_iter();
        let left = balances.map(|balance| 100.0 * balance.left / balance.capacity);
        left.reduce(f64::min)
    }

    /// What became of it.
    pub fn end(mut self) -> Outcome {
        self.close();
        let limits = self.limits.iter();
        let held = limits.map(|(index, name)| Held {
            limit: name.to_string(),
            is_credit: matches!(name.kind, LimitKind::Baseline { .. }),
            waited_ns: self.waited_for[*index],
        });
        let mut held: Vec<Held> = held.filter(|held| held.waited_ns > 0).collect();
        held.sort_by_key(|held| std::cmp::Reverse(held.waited_ns));
        Outcome {
            operations: self.operations,
            wait_max_ns: self.wait_max.0,
            wait_max_at_ns: self.wait_max_at.0,
            late: self.late,
            first_late_ns: self.first_late.map(|first| first.0),
            episode: self.longest,
            held,
            above_10_ms_percent: 100.0 * self.slow as f64 / self.operations.max(1) as f64,
            latency_p50_ns: self.quantile(0.5),
            latency_p99_ns: self.quantile(0.99),
            latency_max_ns: self.latency_max.0,
            beyond_bytes: (self.beyond > 0).then_some(self.beyond),
        }
    }

    /// The least latency that this share of the operations does not exceed, to the width of a bucket
    /// of the histogram; 0 without operations.
    fn quantile(&self, share: f64) -> u64 {
        let rank = ((self.operations as f64 * share).ceil() as u64).max(1);
        let mut seen = 0;
        let found = self.latencies.iter().position(|count| {
            seen += count;
            seen >= rank
        });
        found.map_or(0, upper).min(self.latency_max.0)
    }
}

/// Parts of a power of two: figures are off by 3 % at most.
const SUB_BUCKETS: usize = 32;

/// The index of a latency's bucket: below 64 times `SUB_BUCKETS`, as a latency has 64 bits.
const fn bucket(ns: u64) -> usize {
    if ns < SUB_BUCKETS as u64 {
        return ns as usize;
    }
    let shift = 63 - ns.leading_zeros() - SUB_BUCKETS.ilog2();
    (shift as usize + 1) * SUB_BUCKETS + ((ns >> shift) as usize - SUB_BUCKETS)
}

/// The largest value of a bucket.
fn upper(bucket: usize) -> u64 {
    if bucket < SUB_BUCKETS {
        return bucket as u64;
    }
    let shift = bucket / SUB_BUCKETS - 1;
    let next = ((SUB_BUCKETS + bucket % SUB_BUCKETS + 1) as u64) << shift;
    // Behind the last bucket comes 2^64, which the shift makes 0.
    next.wrapping_sub(1)
}

#[cfg(test)]
mod tests {
    use blocklab_device::{Accounting, Cap, Origin, Rate};
    use blocklab_workload::Direction;

    use super::*;
    use crate::demand::limited;

    /// The story: of a hundred operations with a single slow one, the p99 was that of the slow one, where
    /// all other views have the rank of the share, rounded up.
    #[test]
    fn a_percentile_is_the_latency_of_its_rank() {
        let caps = vec![Cap {
            bucket: Nanos::ZERO,
            ..Cap::new("limit", Rate::Iops(10.0), Origin::Given)
        }];
        let spec = limited(caps, Accounting::Plain);
        let mut replay = Replay::new(&spec, Nanos::from_secs(1)).expect("a sound device");
        // The last one comes with the one before it, and waits for the limit.
        for second in (0..99).chain([98]) {
            let at = Nanos::from_secs(second);
            replay.add(&Operation::new(at, Direction::Read, 0, 4096));
        }
        let outcome = replay.end();
        assert!(outcome.latency_max_ns > 90_000_000, "{outcome:?}");
        assert!(outcome.latency_p99_ns < 1_000_000, "{outcome:?}");
    }

    /// The story: the waits of the parts of a striped operation were added up, so that a load on four
    /// volumes waited four times as long as a quarter of it on one, and did not fit.
    #[test]
    fn parts_that_wait_together_wait_once() {
        let caps = vec![Cap {
            bucket: Nanos::ZERO,
            ..Cap::new("limit", Rate::Iops(10.0), Origin::Given)
        }];
        let mut spec = limited(caps, Accounting::Plain);
        spec.volumes = vec![spec.volumes[0].clone(); 4];
        let mut replay = Replay::new(&spec, Nanos::from_secs(1)).expect("a sound device");
        for _ in 0..2 {
            replay.add(&Operation::new(Nanos::ZERO, Direction::Read, 0, 1 << 20));
        }
        let outcome = replay.end();
        assert_eq!(outcome.wait_max_ns, 100_000_000, "{outcome:?}");
        assert_eq!(outcome.held[0].waited_ns, 100_000_000, "{outcome:?}");
    }

    #[test]
    fn buckets_hold_what_they_say() {
        for ns in [0, 1, 31, 32, 33, 63, 64, 1000, 123_456_789, 1 << 40] {
            let found = upper(bucket(ns));
            assert!(
                found >= ns && found as f64 <= ns as f64 * 1.0313 + 1.0,
                "{ns}: {found}"
            );
        }
    }
}
