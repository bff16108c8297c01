//! In: operations, once for all devices. Out: for each limit of a device, what the longest wait is at
//! most.
//!
//! A limit that counts plainly and fills its bucket at its rate is answered exactly. Others are
//! answered from above: small sequential operations are not merged, a bucket that saves only a part
//! of unused rate is taken as its small part, and the waits for limits in a row are added up. So a load that fits by this fits.

use blocklab_device::{Accounting, Cap, Covers, Credit, DeviceSpec, Rate};
use blocklab_trace::Operation;
use blocklab_units::Nanos;
use blocklab_workload::Direction;

use crate::envelope::{Envelope, Worst};

/// The part of a bucket that always fills at the rate, as the device model has it.
const AT_RATE: Nanos = Nanos::from_millis(20);

/// What is counted of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Work {
    /// One for each unit that is begun; `None`: one.
    Operations(Option<u64>),
    /// Bytes, rounded up to units where there are some.
    Bytes(Option<u64>),
}

impl Work {
    fn of_operation(self, operation: &Operation) -> u64 {
        let len = match operation.direction {
            Direction::Read | Direction::Write => u64::from(operation.len),
            // Metered as an operation that moves nothing.
            _ => 0,
        };
        match self {
            Self::Operations(None) => 1,
            Self::Operations(Some(unit)) => len.div_ceil(unit).max(1),
            Self::Bytes(None) => len,
            Self::Bytes(Some(unit)) => len.div_ceil(unit) * unit,
        }
    }
}

/// The envelopes of everything that some devices count.
#[derive(Debug, Default)]
pub struct Envelopes {
    known: Vec<(Work, Covers, Envelope)>,
}

/// What the longest wait for a limit is at most.
#[derive(Debug, Clone, PartialEq)]
pub struct Bound {
    /// `gp3: volume IOPS`.
    pub limit: String,
    /// The wait.
    pub worst: Worst,
    /// Whether it is that long, and not shorter.
    pub is_exact: bool,
}

/// What an operation waits at most on a device.
#[derive(Debug, Clone, PartialEq)]
pub struct Bounds {
    /// By limit.
    pub limits: Vec<Bound>,
    /// For all of them together.
    pub wait: Nanos,
}

/// A limiter as envelopes see it.
struct Limiter {
    name: String,
    work: Work,
    covers: Covers,
    per_second: f64,
    bucket: f64,
    is_exact: bool,
}

impl Envelopes {
    /// Of everything that these devices count.
    pub fn new<'a>(specs: impl Iterator<Item = &'a DeviceSpec>) -> Self {
        let mut all = Self::default();
        for limiter in specs.flat_map(limiters) {
            if all.find(limiter.work, limiter.covers).is_none() {
                let envelope = Envelope::default();
                all.known.push((limiter.work, limiter.covers, envelope));
            }
        }
        all
    }

    fn find(&self, work: Work, covers: Covers) -> Option<&Envelope> {
        let mut known = self.known.iter();
        let found = known.find(|(own, direction, _)| (*own, *direction) == (work, covers));
        found.map(|(_, _, envelope)| envelope)
    }

    /// Takes an operation in.
    pub fn add(&mut self, operation: &Operation) {
        let counts = |covers: Covers| match operation.direction {
            Direction::Sync => false,
            Direction::Read => covers != Covers::Writes,
            Direction::Write | Direction::Trim => covers != Covers::Reads,
        };
        for (work, covers, envelope) in &mut self.known {
            let amount = work.of_operation(operation);
            if counts(*covers) && amount > 0 {
                envelope.add(operation.at, amount);
            }
        }
    }

    /// After the last operation.
    #[must_use]
    pub fn closed(self) -> Self {
        let known = self.known.into_iter();
        Self {
            known: known
                .map(|(work, covers, envelope)| (work, covers, envelope.closed()))
                .collect(),
        }
    }

    /// What waits on a device are at most; `None` where its volumes share the load.
    pub fn bounds(&self, spec: &DeviceSpec) -> Option<Bounds> {
        if spec.volumes.len() != 1 {
            return None;
        }
        let mut limits = Vec::new();
        for limiter in limiters(spec) {
            let envelope = self.find(limiter.work, limiter.covers)?;
            limits.push(Bound {
                worst: envelope.worst(limiter.per_second, limiter.bucket),
                limit: limiter.name,
                is_exact: limiter.is_exact,
            });
        }
        let wait = limits.iter().map(|bound| bound.worst.wait);
        let wait = wait.fold(Nanos::ZERO, Nanos::saturating_add);
        Some(Bounds { limits, wait })
    }
}

fn limiters(spec: &DeviceSpec) -> Vec<Limiter> {
    let mut all = Vec::new();
    for volume in &spec.volumes {
        let (unit, whole) = match volume.accounting {
            Accounting::Plain => (None, None),
            Accounting::Merged { unit } | Accounting::Split { unit } => (Some(unit.0), None),
            Accounting::WholeUnits { unit } => (Some(unit.0), Some(unit.0)),
        };
        add(
            &mut all,
            &volume.kind,
            (&volume.caps, &volume.credits),
            (unit, whole),
        );
        if let Some(instance) = &spec.instance {
            add(
                &mut all,
                &instance.name,
                (&instance.caps, &instance.credits),
                (unit, None),
            );
        }
    }
    all
}

fn add(
    all: &mut Vec<Limiter>,
    owner: &str,
    (caps, credits): (&[Cap], &[Credit]),
    (unit, whole): (Option<u64>, Option<u64>),
) {
    let mut push = |name: &str, covers, rate: Rate, bucket: f64, is_exact: bool| {
        let work = if rate.counts_bytes() {
            Work::Bytes(whole)
        } else {
            Work::Operations(unit)
        };
        all.push(Limiter {
            name: format!("{owner}: {name}"),
            work,
            covers,
            per_second: rate.per_second(),
            bucket,
            is_exact: is_exact && (unit.is_none() || rate.counts_bytes() && whole.is_none()),
        });
    };
    for cap in caps {
        let saves_all = cap.refill_share >= 1.0 || cap.bucket <= AT_RATE;
        let bucket = if saves_all { cap.bucket } else { AT_RATE };
        let units = cap.rate.per_second() * bucket.as_secs_f64();
        push(&cap.name, cap.covers, cap.rate, units, saves_all);
        if let Some(peak) = cap.peak {
            push(&cap.name, cap.covers, peak, 0.0, false);
        }
    }
    for credit in credits {
        let held = credit.capacity * credit.initial_share;
        push(&credit.name, Covers::All, credit.baseline, held, false);
        let forgiven = credit.burst.per_second() * AT_RATE.as_secs_f64();
        push(&credit.name, Covers::All, credit.burst, forgiven, false);
    }
}
