//! The closed form: X = min(n / L, every cap), and latency = n / X (Little).

mod demand;
mod most_written;

use blocklab_units::{Bytes, Nanos};

use crate::limit::Owner;
use crate::stage::spread;
use crate::{
    Accounting, Binding, Cap, Covers, Credit, DeviceSpec, Invalid, LimitKind, LimitName, Rate,
    VolumeSpec,
};
use demand::Demand;
pub use most_written::{WritingTime, most_written};

/// A steady load, as far as the closed form needs it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Load {
    /// Share of reads in per cent, at most 100; the rest are writes.
    pub read_percent: u8,
    /// Size of an operation, at least 1 byte.
    pub block: Bytes,
    /// Number of sequential streams; 0: random.
    pub streams: u32,
    /// Operations really in flight, on all volumes together; at least 1.
    pub in_flight: u32,
}

impl Load {
    /// Random operations of this size.
    pub const fn random(read_percent: u8, block: Bytes, in_flight: u32) -> Self {
        Self {
            read_percent,
            block,
            streams: 0,
            in_flight,
        }
    }

    /// The load with at least one operation in flight and one byte in each, so that no rate is divided by 0.
    fn sound(self) -> Self {
        Self {
            in_flight: self.in_flight.max(1),
            block: self.block.max(Bytes(1)),
            ..self
        }
    }
}

/// A stretch of time with one rate.
#[derive(Debug, Clone, PartialEq)]
pub struct Phase {
    /// When it begins, counted from the start of the load.
    pub begins: Nanos,
    /// Operations per second, as the host counts them.
    pub iops: f64,
    /// Bytes per second.
    pub bytes_per_s: f64,
    /// Mean time from arrival to answer.
    pub latency_mean: Nanos,
    /// What holds the load back.
    pub binding: Binding,
}

/// What to expect.
#[derive(Debug, Clone, PartialEq)]
pub struct Prediction {
    /// At least one, in order of time; the last one goes on for ever, but for `later`.
    pub phases: Vec<Phase>,
    /// What comes where a bucket is filled again at intervals, up to [`HORIZON`] and
    /// [`MOST_REFILLS`].
    pub later: Vec<Phase>,
}

/// Seconds up to which refills are predicted: 30 days.
const HORIZON: f64 = 30.0 * 86_400.0;
/// Most refills that are predicted: as many as a daily one has up to [`HORIZON`].
const MOST_REFILLS: usize = 29;

impl Prediction {
    /// What remains when every bucket is empty.
    pub fn sustained(&self) -> &Phase {
        &self.phases[self.phases.len() - 1]
    }

    /// The phase at a moment: after some seconds, the one that a test with a warm-up sees.
    pub fn at(&self, moment: Nanos) -> &Phase {
        let begun = self.all().rev().find(|phase| phase.begins <= moment);
        begun.unwrap_or(&self.phases[0])
    }

    fn all(&self) -> impl DoubleEndedIterator<Item = &Phase> + Clone {
        self.phases.iter().chain(&self.later)
    }

    /// Operations per second on average between two moments, the first before the second.
    pub fn iops_mean(&self, from: Nanos, until: Nanos) -> f64 {
        let next = self.all().skip(1).map(|phase| phase.begins);
        let ends = next.chain([Nanos::MAX]);
        let parts = self.all().zip(ends).map(|(phase, end)| {
            let inside = end.min(until).since(phase.begins.max(from));
            phase.iops * inside.as_secs_f64()
        });
        parts.sum::<f64>() / until.since(from).as_secs_f64()
    }
}

/// The closed form: the least of what the operations in flight can ask for and every cap, phase
/// by phase as the buckets run dry, from a rested device.
///
/// Operations fall evenly on all volumes (striped or random; several streams in the joined
/// layout need not). Faults and chance are left out. Against
/// simulations the error is below 3 % (`tests/prediction.rs`).
///
/// # Errors
/// As [`crate::Device::new`].
pub fn predict(spec: &DeviceSpec, load: Load) -> Result<Prediction, Invalid> {
    spec.check()?;
    let load = load.sound();
    let promised = spec.volumes.iter().map(VolumeSpec::promised);
    let services = promised.collect::<Result<Vec<_>, _>>()?;
    let demand = Demand::new(spec, services[0], load);
    let mut meters = meters(spec, load);
    let mut room = room(spec, load);
    let phases = until_steady(&demand, &mut meters, &mut room, load, 0.0);
    let mut later = Vec::new();
    // Full at the start and empty since, a bucket is filled a day after it was last full.
    let every = meters.iter().filter_map(Metered::refilled_every);
    if let Some(every) = every.min_by(f64::total_cmp) {
        let refills = (1..=MOST_REFILLS).map(|number| every * number as f64);
        for full in refills.take_while(|full| *full < HORIZON) {
            meters.iter_mut().for_each(Metered::refill);
            later.extend(until_steady(&demand, &mut meters, &mut room, load, full));
        }
    }
    Ok(Prediction { phases, later })
}

/// The phases from a moment on, in seconds, until every bucket that the load empties is empty and every
/// cache that it fills is full. `room`: operations of the load for which the cache of the host has room.
fn until_steady(
    demand: &Demand,
    meters: &mut [Metered],
    room: &mut f64,
    load: Load,
    mut now: f64,
) -> Vec<Phase> {
    let mut phases: Vec<Phase> = Vec::new();
    // Each turn but the last empties a bucket or fills the cache, and none of that is undone while the
    // load lasts, so it ends.
    loop {
        let (iops, binding) = bound(demand, meters, *room > 0.0);
        let phase = Phase {
            begins: Nanos::from_secs_f64(now),
            iops,
            bytes_per_s: iops * load.block.as_f64(),
            latency_mean: Nanos::from_secs_f64(f64::from(load.in_flight) / iops),
            binding,
        };
        // A bucket that runs empty behind a cache changes nothing before it.
        let is_new = phases
            .last()
            .is_none_or(|last| (last.iops, &last.binding) != (phase.iops, &phase.binding));
        if is_new {
            phases.push(phase);
        }
        match drain(meters, room, iops) {
            Some(seconds) => now += seconds,
            None => return phases,
        }
    }
}

/// What to expect of a load that asks for `iops` operations a second and no more: the rate that
/// it gets, phase by phase as the buckets run dry. [`Binding::Latency`] stands for the load itself,
/// and `in_flight` is of no account.
///
/// # Errors
/// As [`crate::Device::new`].
pub fn predict_rate(spec: &DeviceSpec, load: Load, iops: f64) -> Result<Prediction, Invalid> {
    spec.check()?;
    let load = load.sound();
    let demand = Demand {
        iops,
        binding: Binding::Latency,
    };
    let mut room = room(spec, load);
    let phases = until_steady(&demand, &mut meters(spec, load), &mut room, load, 0.0);
    Ok(Prediction {
        phases,
        later: Vec::new(),
    })
}

/// A burst bucket under a load.
#[derive(Debug, Clone, PartialEq)]
pub struct Drain {
    /// Whose, and which: its baseline.
    pub name: LimitName,
    /// Operations of the load a second that it allows for ever.
    pub sustains_iops: f64,
    /// How long what it holds at first lasts at the rate that is asked for, or at that of its burst where
    /// this is less; `None`: for ever.
    pub lasts: Option<Nanos>,
}

/// Every burst bucket under a load of `iops` operations a second, each by itself: none of another
/// limit, which may hold the load back before.
///
/// # Errors
/// As [`crate::Device::new`].
pub fn drains(spec: &DeviceSpec, load: Load, iops: f64) -> Result<Vec<Drain>, Invalid> {
    spec.check()?;
    let buckets = meters(spec, load.sound()).into_iter();
    let buckets =
        buckets.filter(|meter| matches!(meter.rate_name.kind, LimitKind::Baseline { .. }));
    let drains = buckets.map(|meter| Drain {
        lasts: match meter.lasts(iops.min(meter.ceiling)) {
            Some(seconds) => Some(Nanos::from_secs_f64(seconds)),
            // It is empty at the start.
            None if iops > meter.rate => Some(Nanos::ZERO),
            None => None,
        },
        sustains_iops: meter.rate,
        name: meter.rate_name,
    });
    Ok(drains.collect())
}

/// Mean time that a read of a load takes on its medium while the device does this many operations of the
/// load a second, in seconds; infinite where the medium cannot do as many.
///
/// # Errors
/// As [`crate::Device::new`].
pub fn read_latency(spec: &DeviceSpec, load: Load, iops: f64) -> Result<f64, Invalid> {
    spec.check()?;
    let service = spec.volumes[0].promised()?;
    Ok(demand::read_latency(spec, service, load.sound(), iops))
}

/// A quantile of the latency of a random operation that waits for nothing, of the slower direction of
/// a load: queues only add to it. An operation that falls on several volumes takes at least as long
/// as on one.
///
/// # Errors
/// As [`crate::Device::new`].
pub fn service_quantile(spec: &DeviceSpec, load: Load, share: f64) -> Result<Nanos, Invalid> {
    let load = load.sound();
    let mut slowest = 0.0_f64;
    for (volume, _) in spec.distinct_volumes() {
        let service = volume.promised()?;
        let part = spec.part(load.block);
        let network = volume.network.as_ref();
        let round_trip = network.map_or(0.0, |network| network.round_trip.as_secs_f64());
        let sides = [
            (load.read_percent > 0, &service.read),
            (load.read_percent < 100, &service.write),
        ];
        let factor = spread::quantile(&service.spread, share);
        for (_, latency) in sides.into_iter().filter(|(is_done, _)| *is_done) {
            slowest = slowest.max(latency.seconds(part) * factor + round_trip);
        }
    }
    Ok(Nanos::from_secs_f64(slowest))
}

/// What a limiter grants to a load, in operations of the host a second.
#[derive(Debug, Clone, PartialEq)]
pub struct Grant {
    /// Its name in [`crate::Limit`]: of what it grants for ever.
    pub name: LimitName,
    /// For ever.
    pub iops: f64,
    /// Name of what it grants while something is saved up.
    pub burst_name: LimitName,
    /// That rate; infinite where only the medium bounds it.
    pub burst_iops: f64,
}

/// Every limiter that counts a load, as it counts it, whether it binds or not.
///
/// # Errors
/// As [`crate::Device::new`].
pub fn grants(spec: &DeviceSpec, load: Load) -> Result<Vec<Grant>, Invalid> {
    spec.check()?;
    let meters = meters(spec, load.sound()).into_iter();
    let granted = meters.map(|meter| Grant {
        name: meter.rate_name,
        iops: meter.rate,
        burst_name: meter.ceiling_name,
        burst_iops: meter.ceiling,
    });
    Ok(granted.collect())
}

/// One limiter, in operations of the host: how many of them a second it grants and has saved.
struct Metered {
    rate: f64,
    rate_name: LimitName,
    saved: f64,
    /// What it holds when it is full, and how often it is filled, in seconds.
    refill: Option<(f64, f64)>,
    ceiling: f64,
    ceiling_name: LimitName,
    /// Whether it is one of the cache of the host, which holds back what the cache answers.
    is_of_cache: bool,
}

impl Metered {
    /// How often it is filled, where the load has emptied it.
    fn refilled_every(&self) -> Option<f64> {
        let (_, every) = self.refill?;
        (self.saved <= 0.0).then_some(every)
    }

    fn refill(&mut self) {
        if let Some((full, _)) = self.refill {
            self.saved = full;
        }
    }

    /// The rate that it allows now, and the name of the limit that sets it.
    fn grants(&self) -> (f64, &LimitName) {
        if self.saved > 0.0 {
            (self.ceiling, &self.ceiling_name)
        } else {
            (self.rate, &self.rate_name)
        }
    }

    /// Seconds until its bucket is empty at this rate; `None`: never.
    fn lasts(&self, iops: f64) -> Option<f64> {
        // A rate that exceeds the limiter's by a rounding error empties nothing.
        (self.saved > 0.0 && iops > self.rate * (1.0 + 1e-9))
            .then(|| self.saved / (iops - self.rate))
    }
}

/// The least of all, and what makes it so. While the cache `has_room`, its own limits alone count.
fn bound(demand: &Demand, meters: &[Metered], has_room: bool) -> (f64, Binding) {
    let counted = meters.iter().filter(|meter| meter.is_of_cache || !has_room);
    let least = counted
        .map(Metered::grants)
        .min_by(|a, b| a.0.total_cmp(&b.0));
    match least.filter(|(iops, _)| *iops < demand.iops) {
        Some((iops, limit)) => (iops, Binding::Limit(limit.clone())),
        None => (demand.iops, demand.binding.clone()),
    }
}

/// Lets time pass until the next bucket is empty or the cache is full; `None`: none ever is. What the
/// cache answers reaches the volumes as fast as their limits let it pass.
fn drain(meters: &mut [Metered], room: &mut f64, iops: f64) -> Option<f64> {
    let all = meters.iter().map(|meter| meter.grants().0);
    let behind = if *room > 0.0 {
        all.fold(iops, f64::min)
    } else {
        iops
    };
    let rate = |meter: &Metered| if meter.is_of_cache { iops } else { behind };
    let full = (behind < iops).then(|| *room / (iops - behind));
    let lasting = meters.iter().filter_map(|meter| meter.lasts(rate(meter)));
    let seconds = lasting.chain(full).min_by(f64::total_cmp)?;
    for meter in meters {
        let rate = rate(meter);
        if let Some(lasts) = meter.lasts(rate) {
            let left = meter.saved - seconds * (rate - meter.rate);
            meter.saved = if lasts <= seconds { 0.0 } else { left };
        }
    }
    if let Some(full) = full {
        let left = *room - seconds * (iops - behind);
        *room = if full <= seconds { 0.0 } else { left };
    }
    Some(seconds)
}

/// Operations of a load for which a cache of the host has room that writes back what it answers. Reads that
/// miss wait behind what is written back, so that only a load without reads gets ahead of its volumes.
fn room(spec: &DeviceSpec, load: Load) -> f64 {
    let cache = spec.instance.as_ref().and_then(|spec| spec.cache.as_ref());
    let room = cache.and_then(|cache| cache.writes_back);
    let only_writes = room.filter(|_| load.read_percent == 0);
    only_writes.map_or(0.0, |room| room.as_f64() / load.block.as_f64())
}

/// What a volume's limiters count for one operation of the load: operations and bytes.
#[derive(Clone, Copy)]
struct Counted {
    ops: f64,
    charged: f64,
    moved: f64,
}

/// What one operation of a load is charged: of each part that the layout makes of it, times their
/// number.
fn counted(spec: &DeviceSpec, accounting: Accounting, load: Load) -> Counted {
    let part = spec.part(load.block).as_f64();
    let parts = load.block.as_f64() / part;
    // Only operations that continue one another in one direction are merged.
    let merged = load.streams > 0 && load.read_percent.is_multiple_of(100);
    let charge = accounting.charge(part, merged);
    Counted {
        ops: charge.ops * parts,
        charged: charge.bytes * parts,
        moved: load.block.as_f64(),
    }
}

/// The share of a load's operations that a limiter counts; `missed` is the share of reads that
/// reach it.
fn share_of(covers: Covers, load: Load, missed: f64) -> f64 {
    let all_reads = f64::from(load.read_percent) / 100.0;
    let (reads, writes) = (all_reads * missed, 1.0 - all_reads);
    match covers {
        Covers::All => reads + writes,
        Covers::Reads => reads,
        Covers::Writes => writes,
    }
}

/// The share of reads that reaches the volumes, because the host's cache does not contain the data.
fn missed(spec: &DeviceSpec) -> f64 {
    let cache = spec.instance.as_ref().and_then(|spec| spec.cache.as_ref());
    cache.map_or(1.0, |cache| 1.0 - cache.hit_share)
}

/// All limiters that a load meets. Writes count whether they go through a cache or are written back: all
/// reach their volume, those that are written back as fast as its limits let them, see [`room`].
fn meters(spec: &DeviceSpec, load: Load) -> Vec<Metered> {
    let mut found = Vec::new();
    let volumes = spec.volumes.len() as f64;
    let missed = missed(spec);
    for (volume, owner) in spec.distinct_volumes() {
        let count = counted(spec, volume.accounting, load);
        let (caps, credits) = (&volume.caps, &volume.credits);
        found.extend(limiters(owner, caps, credits, load, missed, |rate| {
            if rate.counts_bytes() {
                count.charged / volumes
            } else {
                count.ops / volumes
            }
        }));
    }
    if let Some(instance) = &spec.instance {
        let count = counted(spec, spec.volumes[0].accounting, load);
        let each = |rate: Rate| {
            if rate.counts_bytes() {
                count.moved
            } else {
                count.ops
            }
        };
        let (owner, caps) = (instance.owner(), &instance.caps);
        found.extend(limiters(owner, caps, &instance.credits, load, missed, each));
        if let Some(cache) = &instance.cache {
            let (caps, credits) = (&cache.caps, &cache.credits);
            let of_cache = limiters(owner, caps, credits, load, 1.0, each);
            found.extend(of_cache.into_iter().map(|meter| Metered {
                is_of_cache: true,
                ..meter
            }));
        }
    }
    found
}

/// Limiters that count `each` units for one operation of the load.
fn limiters(
    owner: Owner<'_>,
    caps: &[Cap],
    credits: &[Credit],
    load: Load,
    missed: f64,
    each: impl Fn(Rate) -> f64,
) -> Vec<Metered> {
    let covered = caps
        .iter()
        .filter(|cap| share_of(cap.covers, load, missed) > 0.0);
    let limiters = covered.map(|cap| {
        let units = each(cap.rate) * share_of(cap.covers, load, missed);
        let peak = cap.peak.map_or(f64::INFINITY, Rate::per_second);
        let ceiling = cap.peak.map_or_else(|| cap.steady(), |_| cap.at_peak());
        Metered {
            rate: cap.rate.per_second() / units,
            rate_name: owner.name_of(cap.steady()),
            saved: cap.rate.per_second() * cap.bucket.as_secs_f64() / units,
            refill: None,
            ceiling: peak / units,
            ceiling_name: owner.name_of(ceiling),
            is_of_cache: false,
        }
    });
    let all = share_of(Covers::All, load, missed);
    let bursts = credits.iter().filter(|_| all > 0.0).map(|credit| {
        let units = each(credit.baseline) * all;
        Metered {
            rate: credit.baseline.per_second() / units,
            rate_name: owner.name_of(credit.at_baseline()),
            saved: credit.capacity * credit.initial_share / units,
            refill: credit
                .full_again
                .map(|every| (credit.capacity / units, every.as_secs_f64())),
            ceiling: credit.burst.per_second() / units,
            ceiling_name: owner.name_of(credit.in_burst()),
            is_of_cache: false,
        }
    });
    limiters.chain(bursts).collect()
}
