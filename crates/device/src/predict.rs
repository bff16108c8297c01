//! The closed form: X = min(n / L, every cap), and latency = n / X (Little).

use blocklab_units::{Bytes, Nanos};

use crate::limit::Owner;
use crate::stage::streams::RECENT;
use crate::stage::{PREFETCH_KEPT, STATED_AT, is_ahead};
use crate::{
    Accounting, Binding, Cap, Covers, Credit, DeviceSpec, Invalid, Latency, Layout, LimitKind,
    LimitName, Rate, Service, VolumeSpec,
};

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
    /// At least one, in order of time; the last one goes on for ever.
    pub phases: Vec<Phase>,
}

impl Prediction {
    /// What a test sees at first, while every bucket holds something.
    #[must_use]
    pub fn first(&self) -> &Phase {
        &self.phases[0]
    }

    /// What remains when every bucket is empty.
    #[must_use]
    pub fn sustained(&self) -> &Phase {
        &self.phases[self.phases.len() - 1]
    }

    /// The phase at a moment: after some seconds, the one that a test with a warm-up sees.
    #[must_use]
    pub fn at(&self, moment: Nanos) -> &Phase {
        let begun = self.phases.iter().rev().find(|it| it.begins <= moment);
        begun.unwrap_or(&self.phases[0])
    }

    /// Operations per second on average between two moments, the first before the second.
    #[must_use]
    pub fn iops_mean(&self, from: Nanos, until: Nanos) -> f64 {
        let ends = self.phases.iter().skip(1).map(|it| it.begins);
        let ends = ends.chain([Nanos::MAX]);
        let parts = self.phases.iter().zip(ends).map(|(phase, end)| {
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
/// layout need not). Faults, the daily refill of an instance and chance are left out. Against
/// simulations the error is below 3 % (`tests/prediction.rs`).
///
/// # Errors
/// As [`crate::Device::new`].
pub fn predict(spec: &DeviceSpec, load: Load) -> Result<Prediction, Invalid> {
    spec.check()?;
    let load = Load {
        in_flight: load.in_flight.max(1),
        block: load.block.max(Bytes(1)),
        ..load
    };
    let services = spec.volumes.iter().map(VolumeSpec::promised);
    let services = services.collect::<Result<Vec<_>, _>>()?;
    let demand = Demand::new(spec, services[0], load);
    let mut meters = meters(spec, load);
    let (mut phases, mut now) = (Vec::new(), 0.0);
    loop {
        let (iops, binding) = bound(&demand, &meters);
        phases.push(Phase {
            begins: Nanos::from_secs_f64(now),
            iops,
            bytes_per_s: iops * load.block.as_f64(),
            latency_mean: Nanos::from_secs_f64(f64::from(load.in_flight) / iops),
            binding,
        });
        match drain(&mut meters, iops) {
            Some(seconds) => now += seconds,
            None => return Ok(Prediction { phases }),
        }
    }
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
    let block = load.block.max(Bytes(1));
    let granted = meters(spec, Load { block, ..load }).into_iter();
    let granted = granted.map(|meter| Grant {
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
    ceiling: f64,
    ceiling_name: LimitName,
}

impl Metered {
    fn grants(&self) -> (f64, &LimitName) {
        match self.saved > 0.0 {
            true => (self.ceiling, &self.ceiling_name),
            false => (self.rate, &self.rate_name),
        }
    }

    /// Seconds until its bucket is empty at this rate.
    fn lasts(&self, iops: f64) -> Option<f64> {
        // A rate that exceeds the limiter's by a rounding error empties nothing.
        (self.saved > 0.0 && iops > self.rate * (1.0 + 1e-9))
            .then(|| self.saved / (iops - self.rate))
    }
}

/// The least of all, and what makes it so.
fn bound(demand: &Demand, meters: &[Metered]) -> (f64, Binding) {
    let grants = meters.iter().map(Metered::grants);
    let least = grants.min_by(|a, b| a.0.total_cmp(&b.0));
    match least.filter(|(iops, _)| *iops < demand.iops) {
        Some((iops, limit)) => (iops, Binding::Limit(limit.clone())),
        None => (demand.iops, demand.binding.clone()),
    }
}

/// Lets time pass until the next bucket is empty; `None`: none ever is.
fn drain(meters: &mut [Metered], iops: f64) -> Option<f64> {
    let lasting = meters.iter().filter_map(|it| it.lasts(iops));
    let seconds = lasting.min_by(f64::total_cmp)?;
    for meter in meters {
        if let Some(lasts) = meter.lasts(iops) {
            let left = meter.saved - seconds * (iops - meter.rate);
            meter.saved = if lasts <= seconds { 0.0 } else { left };
        }
    }
    Some(seconds)
}

/// As what one operation of the load counts: operations and bytes at a volume's limiters.
#[derive(Clone, Copy)]
struct Counted {
    ops: f64,
    charged: f64,
    moved: f64,
}

fn counted(spec: &DeviceSpec, accounting: Accounting, load: Load) -> Counted {
    let part = part_of(spec, load).as_f64();
    let parts = load.block.as_f64() / part;
    let merged = load.streams > 0 && load.read_percent.is_multiple_of(100);
    let units = |unit: Bytes| match merged {
        true => part / unit.as_f64(),
        false => part.div_euclid(unit.as_f64()) + f64::from(part % unit.as_f64() > 0.0),
    };
    let (ops, charged) = match accounting {
        Accounting::Plain => (1.0, part),
        Accounting::Merged { unit } => (units(unit), part),
        Accounting::WholeUnits { unit } => (units(unit), units(unit) * unit.as_f64()),
    };
    Counted {
        ops: ops * parts,
        charged: charged * parts,
        moved: load.block.as_f64(),
    }
}

/// The piece of an operation that falls on one volume.
fn part_of(spec: &DeviceSpec, load: Load) -> Bytes {
    match spec.layout {
        Layout::Striped { block } if spec.volumes.len() > 1 => block.min(load.block),
        _ => load.block,
    }
}

fn share_of(covers: Covers, load: Load) -> f64 {
    let reads = f64::from(load.read_percent) / 100.0;
    match covers {
        Covers::All => 1.0,
        Covers::Reads => reads,
        Covers::Writes => 1.0 - reads,
    }
}

fn meters(spec: &DeviceSpec, load: Load) -> Vec<Metered> {
    let mut found = Vec::new();
    let volumes = spec.volumes.len() as f64;
    for (volume, owner) in spec.distinct_volumes() {
        let count = counted(spec, volume.accounting, load);
        let each = |rate: Rate| match rate.counts_bytes() {
            true => count.charged / volumes,
            false => count.ops / volumes,
        };
        found.extend(limiters(owner, &volume.caps, &volume.credits, load, each));
    }
    if let Some(instance) = &spec.instance {
        let count = counted(spec, spec.volumes[0].accounting, load);
        let each = |rate: Rate| match rate.counts_bytes() {
            true => count.moved,
            false => count.ops,
        };
        let (owner, caps) = (instance.owner(), &instance.caps);
        found.extend(limiters(owner, caps, &instance.credits, load, each));
    }
    found
}

/// Limiters that count `each` units for one operation of the load.
fn limiters(
    owner: Owner<'_>,
    caps: &[Cap],
    credits: &[Credit],
    load: Load,
    each: impl Fn(Rate) -> f64,
) -> Vec<Metered> {
    let covered = caps.iter().filter(|cap| share_of(cap.covers, load) > 0.0);
    let limiters = covered.map(|cap| {
        let units = each(cap.rate) * share_of(cap.covers, load);
        let peak = cap.peak.map_or(f64::INFINITY, Rate::per_second);
        let ceiling = cap.peak.map_or_else(|| cap.steady(), |_| cap.at_peak());
        Metered {
            rate: cap.rate.per_second() / units,
            rate_name: owner.has(cap.steady()),
            saved: cap.rate.per_second() * cap.bucket.as_secs_f64() / units,
            ceiling: peak / units,
            ceiling_name: owner.has(ceiling),
        }
    });
    let bursts = credits.iter().map(|credit| {
        let units = each(credit.baseline);
        Metered {
            rate: credit.baseline.per_second() / units,
            rate_name: owner.has(credit.at_baseline()),
            saved: credit.capacity * credit.initial_share / units,
            ceiling: credit.burst.per_second() / units,
            ceiling_name: owner.has(credit.in_burst()),
        }
    });
    limiters.chain(bursts).collect()
}

/// What the operations in flight can ask for, limiters aside.
struct Demand {
    iops: f64,
    binding: Binding,
}

impl Demand {
    fn new(spec: &DeviceSpec, service: &Service, load: Load) -> Self {
        let volumes = spec.volumes.len() as f64;
        let part = part_of(spec, load);
        let parts = load.block.as_f64() / part.as_f64();
        let media = Channels::new(&spec.volumes[0], service, load, part);
        let places = spec.volumes[0].queue_depth.map_or(f64::INFINITY, f64::from);
        let in_flight = f64::from(load.in_flight);
        let working = in_flight.min(places * volumes);
        // Operations in flight = rate · latency rises with the rate: halve the interval.
        let (mut low, mut high) = (0.0, working / media.latency(0.0, 0.0));
        let others = (in_flight - 1.0) / in_flight;
        for _ in 0..64 {
            let rate = f64::midpoint(low, high);
            let latency = media.latency(rate * parts / volumes, others);
            match rate * latency < working {
                true => low = rate,
                false => high = rate,
            }
        }
        let busiest = media.busiest(low * parts / volumes);
        let binding = match busiest {
            Some((used, covers)) if used > 0.75 => {
                let (_, owner) = spec.distinct_volumes()[0];
                Binding::Limit(owner.has(LimitKind::PhysicalMaximum { covers }))
            }
            _ => Binding::Latency,
        };
        Self { iops: low, binding }
    }
}

/// One direction of the medium of one volume, in seconds.
struct Side {
    share: f64,
    mean: f64,
    /// How long a channel is held, and how many there are; no channels: nothing is waited for.
    held: f64,
    channels: f64,
    /// Share of the time for which programs hold each channel, for one operation a second of the
    /// load; and how long one takes.
    programmed: f64,
    program: f64,
}

impl Side {
    /// Mean time when the volume gets `rate` operations a second.
    ///
    /// Mean value analysis of channels that are chosen at random and held for a constant time
    /// (Reiser, 1979): a newcomer finds what the others leave there on average, and the one being
    /// served is half done.
    fn latency(&self, rate: f64, others: f64) -> f64 {
        if self.channels == 0.0 {
            return self.mean;
        }
        let busy = rate * self.share * self.held / self.channels;
        let programmed = rate * self.programmed;
        if busy + programmed >= 1.0 {
            return f64::INFINITY;
        }
        let used = others * busy;
        let stay = self.held * (1.0 - used / 2.0) / (1.0 - used);
        // Reads go before programs that wait: only the one under way is in their way (Cobham, 1954).
        let behind = programmed * self.program / 2.0 / (1.0 - used);
        stay + behind + self.mean - self.held
    }
}

struct Channels {
    read: Side,
    write: Side,
    network: f64,
}

impl Channels {
    fn new(volume: &VolumeSpec, service: &Service, load: Load, part: Bytes) -> Self {
        let reads = f64::from(load.read_percent) / 100.0;
        let most = service.saturation.as_ref();
        let pick = |random: &Latency, stream: &Option<Latency>, others: &Option<Latency>| {
            let apart = others.as_ref().unwrap_or(random);
            match (load.streams, stream) {
                (0, _) | (1, None) => random.clone(),
                (1, Some(stream)) => stream.clone(),
                (_, Some(stream)) if is_ahead(stream, apart) => apart.towards(stream, load.streams),
                _ => apart.clone(),
            }
        };
        let side = |share: f64, random: &Latency, here: &Latency, iops: Option<f64>| {
            let needed = iops.map_or(0.0, |it| it * random.seconds(Bytes(STATED_AT)));
            let channels = if needed > 0.0 {
                needed.max(1.0).floor()
            } else {
                0.0
            };
            let mean = here.seconds(part);
            let held = if channels > 0.0 {
                mean * channels / needed
            } else {
                0.0
            };
            Side {
                share,
                mean,
                held,
                channels,
                programmed: 0.0,
                program: 0.0,
            }
        };
        let (read, write) = (&service.read, &service.write);
        let here_read = pick(read, &service.stream_read, &service.interleaved_read);
        let here_write = pick(write, &service.stream_write, &service.interleaved_write);
        let round_trip = volume
            .network
            .as_ref()
            .map_or(Nanos::ZERO, |it| it.round_trip);
        let mut read = side(reads, read, &here_read, most.map(|it| it.read_iops));
        if let Some(programs) = service.programs.as_ref().filter(|_| read.channels > 0.0) {
            let pages = part.as_f64() / programs.page.as_f64();
            read.program = programs.time.as_secs_f64();
            read.programmed = (1.0 - reads) * pages * read.program / read.channels;
        }
        Self {
            read,
            write: side(
                1.0 - reads,
                write,
                &here_write,
                most.map(|it| it.write_iops),
            ),
            network: round_trip.as_secs_f64(),
        }
    }

    fn latency(&self, rate: f64, others: f64) -> f64 {
        let sides = [&self.read, &self.write].into_iter();
        let used = sides.filter(|side| side.share > 0.0);
        let times = used.map(|side| side.share * side.latency(rate, others));
        times.sum::<f64>() + self.network
    }

    /// The direction whose channels are used most, and to which share.
    fn busiest(&self, rate: f64) -> Option<(f64, Covers)> {
        let used = |side: &Side| rate * side.share * side.held / side.channels;
        let sides = [(&self.read, Covers::Reads), (&self.write, Covers::Writes)].into_iter();
        let has_channels = sides.filter(|(side, _)| side.channels > 0.0);
        let all = has_channels.map(|(side, covers)| (used(side), covers));
        all.max_by(|a, b| a.0.total_cmp(&b.0))
    }
}

impl Latency {
    /// What is left of reading ahead where so many streams take turns.
    fn towards(&self, stream: &Self, streams: u32) -> Self {
        let between = streams - 1;
        let kept = match (between as usize) < RECENT {
            true => PREFETCH_KEPT.powi(between as i32),
            false => 0.0,
        };
        let mixed = |own: f64, ahead: f64| own + (ahead - own) * kept;
        Self {
            base: Nanos(mixed(self.base.0 as f64, stream.base.0 as f64) as u64),
            per_kib_ns: mixed(self.per_kib_ns, stream.per_kib_ns),
            origin: self.origin.clone(),
        }
    }

    fn seconds(&self, size: Bytes) -> f64 {
        (self.base.0 as f64 + self.per_kib_ns * size.as_f64() / 1024.0) / 1e9
    }
}
