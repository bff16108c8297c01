//! The limits that a record carries, as rates to compare with.

use blocklab_device::{Covers, Limit, LimitKind, LimitUnit, Operation};
use blocklab_record::Record;
use blocklab_workload::Direction;

/// What is known of the only target of a run.
#[derive(Default)]
pub(crate) struct KnownLimits<'a> {
    /// Everything that binds a rate.
    pub(crate) list: Vec<KnownRate<'a>>,
    all: &'a [Limit],
}

/// A rate that is not exceeded, for the whole target.
pub(crate) struct KnownRate<'a> {
    /// As in the record; its value holds for each of equal volumes.
    pub(crate) limit: &'a Limit,
    /// For all volumes together, in the unit of the limit.
    pub(crate) value: f64,
    /// Operations or bytes a second for each unit.
    scale: f64,
    pub(crate) covers: Covers,
    pub(crate) level: Level,
}

/// What kind of limit it is.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Level {
    /// Holds always.
    Steady,
    /// Holds while something is saved up; after so many seconds at it, this remains.
    Burst { lasts: f64, leaves: f64 },
    /// Holds when nothing is saved up any more.
    Baseline,
}

impl<'a> KnownLimits<'a> {
    /// Empty for several targets: how the load fell on them is not recorded.
    pub(crate) fn of(record: &'a Record) -> Self {
        let [target] = &*record.targets else {
            return Self::default();
        };
        let all = &*target.limits;
        let list = all.iter().filter_map(|limit| known(limit, all));
        Self {
            list: list.collect(),
            all,
        }
    }

    /// Nanoseconds that a random operation takes where nothing waits in line.
    pub(crate) fn latency_ns(&self, direction: Direction, bytes: f64) -> Option<f64> {
        let operation = match direction {
            Direction::Read => Operation::Read,
            Direction::Write => Operation::Write,
            _ => return None,
        };
        let micros = |kind: &LimitKind| {
            let mut all = self.all.iter();
            Some(all.find(|limit| limit.name.kind == *kind)?.value)
        };
        let per_kib = micros(&LimitKind::LatencyPerKib { operation }).unwrap_or(0.0);
        let base = micros(&LimitKind::Latency { operation })?;
        Some((base + per_kib * bytes / 1024.0) * 1e3)
    }
}

impl KnownRate<'_> {
    pub(crate) const fn unit(&self) -> &'static str {
        self.limit.unit.text()
    }

    pub(crate) fn counts_operations(&self) -> bool {
        self.limit.unit == LimitUnit::Iops
    }

    /// Operations and bytes a second in its unit.
    pub(crate) fn counted(&self, iops: f64, bytes_per_s: f64) -> f64 {
        match self.counts_operations() {
            true => iops,
            false => bytes_per_s / self.scale,
        }
    }
}

/// `None` for what binds no rate, for a peak, which lasts for an unknown time, and for a
/// bucket, which belongs to its burst.
fn known<'a>(limit: &'a Limit, all: &[Limit]) -> Option<KnownRate<'a>> {
    let scale = limit.unit.per_second()?;
    let times = limit.times();
    let level = match &limit.name.kind {
        LimitKind::Rate { .. } | LimitKind::PhysicalMaximum { .. } => Level::Steady,
        LimitKind::Baseline { .. } => Level::Baseline,
        LimitKind::Burst { limiter } => {
            let sibling = |kind: LimitKind| {
                let is_it = |other: &&Limit| {
                    other.name.owner == limit.name.owner
                        && other.name.volumes == limit.name.volumes
                        && other.name.kind == kind
                };
                Some(all.iter().find(is_it)?.value)
            };
            let limiter = || limiter.clone();
            let leaves = sibling(LimitKind::Baseline { limiter: limiter() })?;
            let bucket = sibling(LimitKind::Bucket { limiter: limiter() })?;
            Level::Burst {
                lasts: bucket / ((limit.value - leaves) * scale),
                leaves: leaves * times,
            }
        }
        LimitKind::Peak { .. }
        | LimitKind::Bucket { .. }
        | LimitKind::Latency { .. }
        | LimitKind::LatencyPerKib { .. }
        | LimitKind::Bound { .. } => return None,
    };
    Some(KnownRate {
        limit,
        value: limit.value * times,
        scale,
        covers: limit.name.kind.covers(),
        level,
    })
}
