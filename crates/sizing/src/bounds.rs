//! In: operations, once for all devices. Out: for each limit of a device, how long an operation waits
//! for it: between two figures, which are the same for most limits.
//!
//! ```text
//!   operation ─▶ Charges (one for each accounting) ─▶ Group (operations, bytes) ─▶ Gate (a rate)
//! ```
//!
//! A gate is a limiter without a bucket: how far what has come is ahead of what its rate lets pass. The
//! longest wait behind a limiter of that rate and any bucket is the furthest that it was ahead, less
//! the bucket: to the nanosecond what the device model gives. Hundreds of gates cost an operation
//! less than one model does.
//!
//! Two kinds of limits are answered by two figures: a bucket that saves only a part of unused rate is
//! at least its small part and at most all of it, and credits are at least what is held at the
//! beginning; where a vendor fills them within a time, a longer queue may not have waited at all.
//! Limits in a row hold an operation back at least as long as the hardest of them alone, and at most as
//! long as all of them together.

use blocklab_device::{
    Accounting, Cap, Charges, Covers, Credit, DeviceSpec, Direction, FORGIVEN_STALL, Io, Rate,
    VolumeSpec,
};
use blocklab_trace::Operation;
use blocklab_units::Nanos;
use blocklab_workload as workload;

/// Binary places below a nanosecond, as limiters have them.
pub(crate) const PLACES: u32 = 32;

/// What is counted of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Work {
    /// Operations by the accounting of the volume.
    Operations,
    /// Bytes by the same.
    Charged,
    /// Bytes as they are.
    Moved,
}

/// A rate, and how far what has come is ahead of it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Gate {
    /// Time of one unit. It and the others have [`PLACES`] binary places below a nanosecond.
    step: u64,
    /// When all that has come will have passed.
    due: u128,
    /// The longest that an operation has waited.
    longest: u128,
    /// When that operation came.
    longest_at: u64,
    /// When the queue began in which it waited.
    longest_from: u64,
    /// When the present queue began: since then more has come than passed.
    queue_from: u64,
}

impl Gate {
    /// Counts work that comes at `at`, in ns, and remembers the longest wait.
    #[inline]
    fn add(&mut self, at: u64, units: u64) {
        let now = u128::from(at) << PLACES;
        if self.due > now {
            let wait = self.due - now;
            if wait > self.longest {
                self.longest = wait;
                self.longest_at = at;
                self.longest_from = self.queue_from;
            }
        } else {
            self.due = now;
            self.queue_from = at;
        }
        self.due += u128::from(units) * u128::from(self.step);
    }

    /// The longest wait with a bucket of this many units.
    fn worst(&self, per_second: f64, bucket: f64) -> Worst {
        let tolerance = (bucket * step(per_second)) as u128;
        let wait = self.longest.saturating_sub(tolerance);
        // Rounded up to whole nanoseconds, as limiters do.
        let wait = (wait + ((1 << PLACES) - 1)) >> PLACES;
        Worst {
            wait: Nanos(u64::try_from(wait).unwrap_or(u64::MAX)),
            from: Nanos(self.longest_from),
            at: Nanos(self.longest_at),
        }
    }
}

/// Time of one unit, before it becomes a whole number.
pub(crate) fn step(per_second: f64) -> f64 {
    1e9 / per_second * (1_u64 << PLACES) as f64
}

/// The rates that count the same.
#[derive(Debug, Clone)]
struct Group {
    /// Which of the accountings.
    charges: usize,
    work: Work,
    covers: Covers,
    gates: Vec<Gate>,
}

/// All that some devices count.
#[derive(Debug, Clone, Default)]
pub struct Gates {
    accountings: Vec<(Accounting, Charges)>,
    groups: Vec<Group>,
}

/// The longest wait behind a limiter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Worst {
    /// How long.
    pub wait: Nanos,
    /// Since when more came than the limiter let pass.
    pub from: Nanos,
    /// When the operation with this wait came.
    pub at: Nanos,
}

/// How long an operation waits for a limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bound {
    /// `gp3: volume IOPS`.
    pub limit: String,
    /// Whether it is about spent credits.
    pub is_credit: bool,
    /// At least.
    pub least: Worst,
    /// At most.
    pub most: Worst,
}

/// How long an operation waits on a device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bounds {
    /// By limit, the one that holds back most first.
    pub limits: Vec<Bound>,
    /// At least.
    pub least: Nanos,
    /// At most.
    pub most: Nanos,
}

/// A limiter of a device, as gates see it.
struct Limiter {
    name: String,
    accounting: Accounting,
    work: Work,
    covers: Covers,
    per_second: f64,
    /// Units of its bucket: at least, and at most.
    bucket: [f64; 2],
    is_credit: bool,
    /// A queue that lasts at least this long may find the bucket filled anew.
    full_again: Option<Nanos>,
}

impl Limiter {
    fn counts_like(&self, accounting: Accounting, group: &Group) -> bool {
        (self.accounting, self.work, self.covers) == (accounting, group.work, group.covers)
    }
}

impl Gates {
    /// A gate for everything that these devices count.
    pub fn new<'a>(specs: impl Iterator<Item = &'a DeviceSpec>) -> Self {
        let mut all = Self::default();
        for limiter in specs.flat_map(limiters) {
            if all.find(&limiter).is_none() {
                all.put(&limiter);
            }
        }
        all
    }

    /// Adds a gate for a limiter to the group that counts the same.
    fn put(&mut self, limiter: &Limiter) {
        let mut accountings = self.accountings.iter();
        let known = accountings.position(|(known, _)| *known == limiter.accounting);
        let charges = known.unwrap_or_else(|| {
            let charges = Charges::new(limiter.accounting);
            self.accountings.push((limiter.accounting, charges));
            self.accountings.len() - 1
        });
        let gate = Gate {
            step: (step(limiter.per_second) + 0.5) as u64,
            ..Gate::default()
        };
        let mut groups = self.groups.iter_mut();
        let same = groups.find(|group| {
            group.charges == charges && limiter.counts_like(limiter.accounting, group)
        });
        match same {
            Some(group) => group.gates.push(gate),
            None => self.groups.push(Group {
                charges,
                work: limiter.work,
                covers: limiter.covers,
                gates: vec![gate],
            }),
        }
    }

    fn find(&self, limiter: &Limiter) -> Option<&Gate> {
        let step = (step(limiter.per_second) + 0.5) as u64;
        let mut groups = self.groups.iter();
        let group =
            groups.find(|group| limiter.counts_like(self.accountings[group.charges].0, group))?;
        group.gates.iter().find(|gate| gate.step == step)
    }

    /// Takes an operation in, not before the one before it.
    pub fn add(&mut self, operation: &Operation) {
        let io = as_io(operation);
        for (index, (_, charges)) in self.accountings.iter_mut().enumerate() {
            let (ops, charged) = charges.count(io);
            for group in &mut self.groups {
                let units = match group.work {
                    Work::Operations => ops,
                    Work::Charged => charged,
                    Work::Moved => io.moved(),
                };
                if group.charges != index || units == 0 || !group.covers.counts(io.direction) {
                    continue;
                }
                for gate in &mut group.gates {
                    gate.add(operation.at.0, units);
                }
            }
        }
    }

    /// How long operations wait on a device; `None` where its volumes share the load, or where a cache of
    /// the host answers a part of it.
    pub fn bounds(&self, spec: &DeviceSpec) -> Option<Bounds> {
        let instance = spec.instance.as_ref();
        let is_cached = instance.is_some_and(|instance| instance.cache.is_some());
        if spec.volumes.len() != 1 || is_cached {
            return None;
        }
        let mut limits = Vec::new();
        for limiter in limiters(spec) {
            let gate = self.find(&limiter)?;
            let [most, mut least] = limiter
                .bucket
                .map(|bucket| gate.worst(limiter.per_second, bucket));
            let lasted = least.at.since(least.from);
            if limiter.full_again.is_some_and(|within| lasted >= within) {
                least = Worst::default();
            }
            limits.push(Bound {
                least,
                most,
                is_credit: limiter.is_credit,
                limit: limiter.name,
            });
        }
        limits.sort_by_key(|bound| std::cmp::Reverse((bound.least.wait, bound.most.wait)));
        let most = limits.iter().map(|bound| bound.most.wait);
        Some(Bounds {
            least: limits.first().map_or(Nanos::ZERO, |bound| bound.least.wait),
            most: most.fold(Nanos::ZERO, Nanos::saturating_add),
            limits,
        })
    }
}

/// The operation as devices know it.
pub(crate) const fn as_io(operation: &Operation) -> Io {
    Io {
        direction: match operation.direction {
            workload::Direction::Read => Direction::Read,
            workload::Direction::Write => Direction::Write,
            workload::Direction::Trim => Direction::Trim,
            workload::Direction::Sync => Direction::Flush,
        },
        offset: operation.offset,
        len: operation.len,
    }
}

/// All limiters of a device. Those of the instance are listed once for each volume, by whose accounting
/// its operations are counted.
fn limiters(spec: &DeviceSpec) -> Vec<Limiter> {
    let mut all = Vec::new();
    for volume in &spec.volumes {
        let (caps, credits) = (&volume.caps, &volume.credits);
        add(&mut all, &volume.kind, caps, credits, volume, Work::Charged);
        if let Some(instance) = &spec.instance {
            let (caps, credits) = (&instance.caps, &instance.credits);
            add(&mut all, &instance.name, caps, credits, volume, Work::Moved);
        }
    }
    all
}

/// Adds the limiters of a volume or an instance; `bytes` says which bytes their rates count.
fn add(
    all: &mut Vec<Limiter>,
    owner: &str,
    caps: &[Cap],
    credits: &[Credit],
    volume: &VolumeSpec,
    bytes: Work,
) {
    let mut push = |name: &str, covers, rate: Rate, bucket, credit: Option<&Credit>| {
        all.push(Limiter {
            name: format!("{owner}: {name}"),
            accounting: volume.accounting,
            work: if rate.counts_bytes() {
                bytes
            } else {
                Work::Operations
            },
            covers,
            per_second: rate.per_second(),
            bucket,
            is_credit: credit.is_some(),
            full_again: credit.and_then(|credit| {
                // A bucket that begins with less is filled at that moment, in the midst of any queue.
                let within = credit.full_again?;
                Some(if credit.initial_share < 1.0 {
                    Nanos::ZERO
                } else {
                    within
                })
            }),
        });
    };
    for cap in caps {
        let buckets = [cap.filled_at_rate(), cap.bucket];
        let bucket = buckets.map(|time| cap.rate.per_second() * time.as_secs_f64());
        push(&cap.name, cap.covers, cap.rate, bucket, None);
        if let Some(peak) = cap.peak {
            push(&cap.name, cap.covers, peak, [0.0, 0.0], None);
        }
    }
    for credit in credits {
        let held = [credit.capacity * credit.initial_share, credit.capacity];
        push(
            &credit.name,
            Covers::All,
            credit.baseline,
            held,
            Some(credit),
        );
        let forgiven = credit.burst.per_second() * FORGIVEN_STALL.as_secs_f64();
        let bucket = [forgiven, forgiven];
        push(&credit.name, Covers::All, credit.burst, bucket, None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demand::limited;
    use blocklab_device::{Device, HostCache, InstanceSpec, Origin, Service};
    use blocklab_units::Bytes;
    use proptest::prelude::*;

    fn spec(rate: Rate, bucket: Nanos, refill_share: f64, accounting: Accounting) -> DeviceSpec {
        let cap = Cap {
            bucket,
            refill_share,
            ..Cap::new("rate", rate, Origin::Given)
        };
        limited(vec![cap], accounting)
    }

    fn simulated(operations: &[Operation], spec: &DeviceSpec) -> u64 {
        let mut device = Device::new(spec, 1).expect("a sound device");
        let mut worst = 0;
        for operation in operations {
            let (mut waited, io) = (0, as_io(operation));
            device.explain(operation.at, io, &mut |wait| {
                waited += wait.until.0 - wait.from.0;
            });
            worst = worst.max(waited);
        }
        worst
    }

    fn bounds(operations: &[Operation], spec: &DeviceSpec) -> Bounds {
        let mut gates = Gates::new(std::iter::once(spec));
        operations.iter().for_each(|operation| gates.add(operation));
        gates.bounds(spec).expect("one volume")
    }

    /// The story: reads that the host's cache holds were counted against the volume, and `trace fit`
    /// refused it.
    #[test]
    fn a_volume_behind_a_cache_has_no_bounds() {
        let mut spec = spec(Rate::Iops(10.0), Nanos::ZERO, 1.0, Accounting::Plain);
        let cache = HostCache {
            caps: Vec::new(),
            credits: Vec::new(),
            hit_share: 0.9,
            writes_back: None,
            latency: Service::constant(Nanos(1000)).read,
        };
        spec.instance = Some(InstanceSpec {
            cache: Some(cache),
            ..InstanceSpec::new("vm")
        });
        let gates = Gates::new(std::iter::once(&spec));
        assert_eq!(gates.bounds(&spec), None);
    }

    /// The story: a load a little above the baseline for two days, which the promised burst of each day
    /// carries, was judged by the credits of the first day alone: `trace fit` refused the machine.
    #[test]
    fn credits_that_are_filled_again_leave_the_least_wait_open() {
        let day = Nanos::from_secs(86_400);
        let mut spec = spec(Rate::Iops(10.0), Nanos::ZERO, 1.0, Accounting::Plain);
        spec.volumes[0].caps.clear();
        let (base, most) = (Rate::Iops(1.0), Rate::Iops(10.0));
        let mut credit = Credit::half_hour("burst", base, most, Origin::Given);
        // Spent after a day and an hour at 1.2 a second.
        credit.capacity = 0.2 * 90_000.0;
        spec.volumes[0].credits.push(credit);
        let operations: Vec<Operation> = (0..2 * 86_400 * 6 / 5)
            .map(|number: u64| {
                let at = Nanos(number * 833_333_333);
                Operation::new(at, workload::Direction::Read, (number % 2) << 20, 4096)
            })
            .collect();
        let [all, first] = [2, 1].map(|days| {
            let end = operations.partition_point(|operation| operation.at.0 < day.0 * days);
            (
                bounds(&operations[..end], &spec),
                simulated(&operations[..end], &spec),
            )
        });
        assert_eq!(first.0.least.0, first.1, "the first day is exact");
        assert!(all.0.least.0 <= all.1, "{} {}", all.0.least, all.1);
    }

    /// Moments from gaps, as bursts are made of: most are short. Half of the operations go on where
    /// the one before ended.
    fn load() -> impl Strategy<Value = Vec<Operation>> {
        let gap = prop_oneof![0_u64..2000, 0_u64..3_000_000, 0_u64..2_000_000_000];
        let step = (gap, 1_u32..640, any::<bool>(), 0_u64..1000, any::<bool>());
        proptest::collection::vec(step, 1..200).prop_map(|steps| {
            let (mut now, mut end) = (0, 0);
            let operation = |(gap, blocks, goes_on, place, reads): (u64, u32, bool, u64, bool)| {
                now += gap;
                let offset = if goes_on { end } else { place << 20 };
                end = offset + u64::from(blocks * 512);
                let direction = if reads {
                    workload::Direction::Read
                } else {
                    workload::Direction::Write
                };
                Operation::new(Nanos(now), direction, offset, blocks * 512)
            };
            steps.into_iter().map(operation).collect()
        })
    }

    fn accounting() -> impl Strategy<Value = Accounting> {
        let unit = Bytes(256 << 10);
        prop_oneof![
            Just(Accounting::Plain),
            Just(Accounting::Split { unit }),
            Just(Accounting::Merged { unit }),
            Just(Accounting::WholeUnits { unit: Bytes::MIB }),
        ]
    }

    proptest! {
        #[test]
        fn the_closed_form_is_the_simulation_to_the_nanosecond(
            operations in load(),
            per_second in 1_u32..100_000,
            bucket_ms in 0_u64..2000,
            counts_bytes in any::<bool>(),
            accounting in accounting(),
        ) {
            let rate = if counts_bytes {
                Rate::MibPerS(f64::from(per_second) / 1000.0)
            } else {
                Rate::Iops(f64::from(per_second))
            };
            let spec = spec(rate, Nanos::from_millis(bucket_ms), 1.0, accounting);
            let bounds = bounds(&operations, &spec);
            prop_assert_eq!(bounds.least, bounds.most);
            prop_assert_eq!(bounds.most.0, simulated(&operations, &spec));
        }

        #[test]
        fn savings_lie_between_the_two_figures(
            operations in load(),
            per_second in 1_u32..100_000,
            share in 0.01_f64..0.99,
        ) {
            let rate = Rate::Iops(f64::from(per_second));
            let spec = spec(rate, Nanos::from_secs(1), share, Accounting::Plain);
            let bounds = bounds(&operations, &spec);
            let waited = simulated(&operations, &spec);
            prop_assert!(bounds.least.0 <= waited, "{} {waited}", bounds.least);
            prop_assert!(waited <= bounds.most.0, "{waited} {}", bounds.most);
        }
    }
}
