//! What the operations in flight can ask for, limiters aside.

use blocklab_units::{Bytes, Nanos};

use super::{Load, missed};
use crate::stage::streams::RECENT;
use crate::stage::{PREFETCH_KEPT, STATED_AT, is_ahead};
use crate::{Binding, Covers, DeviceSpec, Latency, LimitKind, Service};

/// A rate, and what holds it there.
pub(super) struct Demand {
    pub(super) iops: f64,
    pub(super) binding: Binding,
}

impl Demand {
    pub(super) fn new(spec: &DeviceSpec, service: &Service, load: Load) -> Self {
        let volumes = spec.volumes.len() as f64;
        let parts = load.block.as_f64() / spec.part(load.block).as_f64();
        let media = Channels::new(spec, service, load);
        let places = spec.volumes[0].queue_depth.map_or(f64::INFINITY, f64::from);
        let working = f64::from(load.in_flight).min(places * volumes);
        // An operation meets all the others in flight, and not itself.
        let others = 1.0 - 1.0 / f64::from(load.in_flight);
        // Operations in flight = rate · latency (Little) rises with the rate: halve the interval, 40
        // times to a part in 10^12.
        let (mut low, mut high) = (0.0, working / media.latency(0.0, others));
        for _ in 0..40 {
            let rate = f64::midpoint(low, high);
            let latency = media.latency(rate * parts / volumes, others);
            if rate * latency < working {
                low = rate
            } else {
                high = rate
            }
        }
        // Channels that are busy less than three quarters of the time let few operations wait: the latency
        // of an idle medium holds the load back then.
        let binding = match media.busiest(low * parts / volumes) {
            Some((used, covers)) if used > 0.75 => {
                let (_, owner) = spec.distinct_volumes()[0];
                Binding::Limit(owner.name_of(LimitKind::PhysicalMaximum { covers }))
            }
            _ => Binding::Latency,
        };
        Self { iops: low, binding }
    }
}

/// Mean time of a read on the medium, in seconds.
pub(super) fn read_latency(spec: &DeviceSpec, service: &Service, load: Load, iops: f64) -> f64 {
    let parts = load.block.as_f64() / spec.part(load.block).as_f64() / spec.volumes.len() as f64;
    let others = 1.0 - 1.0 / f64::from(load.in_flight);
    let media = Channels::new(spec, service, load);
    media.read.latency(iops * parts, others)
}

/// One direction of the medium of one volume, in seconds.
struct DirectionQueue {
    /// Of all operations of the load, those that reach the medium.
    share: f64,
    mean: f64,
    /// How long a channel is held, and how many there are; no channels: nothing is waited for.
    held: f64,
    channels: f64,
    /// Share of the time for which each die programs, for one operation a second of the load; and
    /// how long one program takes.
    programmed: f64,
    program: f64,
}

impl DirectionQueue {
    /// `share`: of all operations. `random` gives the number of channels with `most_iops`, the
    /// physical maximum; `here` is the latency of the load's own pattern, whose parts have `part`
    /// bytes.
    fn new(
        share: f64,
        random: &Latency,
        here: &Latency,
        part: Bytes,
        most_iops: Option<f64>,
    ) -> Self {
        let mean = here.seconds(part);
        let needed = most_iops.map_or(0.0, |iops| iops * random.seconds(Bytes(STATED_AT)));
        let (channels, held) = if needed > 0.0 {
            // A whole number of channels, each held for a shorter time, with which together they still
            // reach the maximum.
            let channels = needed.max(1.0).floor();
            (channels, mean * channels / needed)
        } else {
            (0.0, 0.0)
        };
        Self {
            share,
            mean,
            held,
            channels,
            programmed: 0.0,
            program: 0.0,
        }
    }

    /// Share of the time for which operations hold its channels, apart from waits for programs.
    fn used(&self, rate: f64) -> f64 {
        rate * self.share * self.held / self.channels
    }

    /// Mean time when the volume gets `rate` operations a second, of which an operation on its way
    /// meets `others`, as a share.
    ///
    /// An operation finds work V on its channel, as much as the others leave there (Reiser, 1979), and
    /// what is left of a program on its die, R. It begins after the longer of both and holds the
    /// channel for a time H: V grows by H + X, where X = max(R - V, 0). In equilibrium the means of V
    /// and V² stay as they are, which gives P(V = 0) = 1 - a (H + E[X]) and E[V] for a arrivals a
    /// second.
    fn latency(&self, rate: f64, others: f64) -> f64 {
        if self.channels == 0.0 {
            return self.mean;
        }
        let programming = rate * self.programmed;
        if self.used(rate) >= 1.0 || programming >= 1.0 {
            return f64::INFINITY;
        }
        let (used, held) = (others * self.used(rate), self.held);
        let arrivals = used / held;
        let relative = self.excess(arrivals, programming);
        let idle = (1.0 - used) / (1.0 + arrivals * relative.mean);
        let [mean, square, product] =
            [relative.mean, relative.square, relative.product].map(|share| share * idle);
        let growth = held * held + 2.0 * held * mean + square + 2.0 * product;
        arrivals * growth / 2.0 / (1.0 - used) + mean + self.mean
    }

    /// The moments of X for P(V = 0) = 1. V crosses every level upwards as often as downwards: below
    /// the length of a program its distribution F follows
    /// F'(v) = a (F(v) - F(v - H) P(R <= v - H)), which is integrated.
    fn excess(&self, arrivals: f64, programming: f64) -> Excess {
        let mut excess = Excess::default();
        if programming == 0.0 {
            return excess;
        }
        // Eight steps resolve the time that a channel is held; more than 10,000 in all would only cost
        // time.
        let step = (self.held / 8.0).max(self.program / 1e4);
        let lag = (self.held / step).round().max(1.0) as usize;
        let steps = (self.program / step).ceil() as usize;
        let remaining = |at: f64| (self.program - at * step).max(0.0);
        excess.add(programming / self.program, 0.0, self.program);
        let mut distribution = Vec::with_capacity(steps + 1);
        distribution.push(1.0);
        let below = |distribution: &[f64], at: usize| {
            let at = at.checked_sub(lag)?;
            let ends = 1.0 - programming * remaining(at as f64) / self.program;
            Some(distribution[at] * ends)
        };
        // The trapezoidal rule, solved for the next value, which is on both sides.
        let half = arrivals * step / 2.0;
        for at in 0..steps {
            let ends = [at, at + 1].map(|at| below(&distribution, at).unwrap_or(0.0));
            let next =
                (distribution[at] * (1.0 + half) - half * (ends[0] + ends[1])) / (1.0 - half);
            let middle = at as f64 + 0.5;
            let share = (next - distribution[at]) * programming / self.program;
            excess.add(share, middle * step, remaining(middle));
            distribution.push(next);
        }
        excess
    }
}

/// How much longer an operation waits for its die than for its channel: the mean, the mean square,
/// and the mean product with the wait for the channel.
#[derive(Default)]
struct Excess {
    mean: f64,
    square: f64,
    product: f64,
}

impl Excess {
    /// Adds operations that find `work` on their channel, and on their die a program of which at most
    /// `remaining` more is left, all lengths being equally likely with this density.
    fn add(&mut self, density: f64, work: f64, remaining: f64) {
        self.mean += density * remaining.powi(2) / 2.0;
        self.square += density * remaining.powi(3) / 3.0;
        self.product += density * work * remaining.powi(2) / 2.0;
    }
}

/// The medium of one volume, and the cache of the host in front of it.
struct Channels {
    read: DirectionQueue,
    write: DirectionQueue,
    network: f64,
    /// Mean time that the cache takes for an operation of the load, of those that it answers.
    cached: f64,
    /// Whether the cache answers writes.
    writes_back: bool,
}

impl Channels {
    /// The channels under this load, whose sequential streams decide which latencies apply.
    fn new(spec: &DeviceSpec, service: &Service, load: Load) -> Self {
        let part = spec.part(load.block);
        let reads = f64::from(load.read_percent) / 100.0;
        let reads_of_medium = reads * missed(spec);
        let most = service.saturation.as_ref();
        let pick = |random: &Latency, stream: &Option<Latency>, others: &Option<Latency>| {
            let interleaved = others.as_ref().unwrap_or(random);
            match (load.streams, stream) {
                (0, _) | (1, None) => random.clone(),
                (1, Some(stream)) => stream.clone(),
                (_, Some(stream)) if is_ahead(stream, interleaved) => {
                    interleaved.towards(stream, load.streams)
                }
                _ => interleaved.clone(),
            }
        };
        let (read, write) = (&service.read, &service.write);
        let read_of_load = pick(read, &service.stream_read, &service.interleaved_read);
        let write_of_load = pick(write, &service.stream_write, &service.interleaved_write);
        let most_reads = most.map(|most| most.read_iops);
        let most_writes = most.map(|most| most.write_iops);
        let mut read = DirectionQueue::new(reads_of_medium, read, &read_of_load, part, most_reads);
        if let Some(programs) = service.programs.as_ref().filter(|_| read.channels > 0.0) {
            let pages = part.as_f64() / programs.page.as_f64();
            read.program = programs.time.as_secs_f64();
            read.programmed = (1.0 - reads) * pages * read.program / read.channels;
        }
        let network = spec.volumes[0].network.as_ref();
        let round_trip = network.map_or(Nanos::ZERO, |network| network.round_trip);
        let writes_back = spec
            .cache()
            .is_some_and(|cache| cache.writes_back.is_some());
        let writes_of_cache = if writes_back { 1.0 - reads } else { 0.0 };
        let of_cache = reads - reads_of_medium + writes_of_cache;
        let cache_seconds = spec.cache().map(|cache| cache.latency.seconds(load.block));
        Self {
            read,
            write: DirectionQueue::new(1.0 - reads, write, &write_of_load, part, most_writes),
            network: round_trip.as_secs_f64(),
            cached: of_cache * cache_seconds.unwrap_or(0.0),
            writes_back,
        }
    }

    fn latency(&self, rate: f64, others: f64) -> f64 {
        // Nothing waits for what is written back, but it goes no faster than the medium takes it.
        let waiting = if self.writes_back {
            0.0
        } else {
            self.write.share
        };
        let queues = [(&self.read, self.read.share), (&self.write, waiting)].into_iter();
        let used = queues.filter(|(queue, _)| queue.share > 0.0);
        let times = used.map(|(queue, waiting)| {
            let seconds = queue.latency(rate, others) + self.network;
            if seconds.is_finite() {
                waiting * seconds
            } else {
                seconds
            }
        });
        self.cached + times.sum::<f64>()
    }

    /// The share to which the channels are used that are used most, and their direction; `None`: the
    /// medium has no channels.
    fn busiest(&self, rate: f64) -> Option<(f64, Covers)> {
        let queues = [(&self.read, Covers::Reads), (&self.write, Covers::Writes)].into_iter();
        let has_channels = queues.filter(|(queue, _)| queue.channels > 0.0);
        let all = has_channels.map(|(queue, covers)| (queue.used(rate), covers));
        all.max_by(|a, b| a.0.total_cmp(&b.0))
    }
}

impl Latency {
    /// The latency between this one and that of a stream alone: read-ahead gains less with each
    /// stream that takes turns.
    fn towards(&self, stream: &Self, streams: u32) -> Self {
        let between = streams - 1;
        let kept = if (between as usize) < RECENT {
            PREFETCH_KEPT.powi(between as i32)
        } else {
            0.0
        };
        let mixed = |own: f64, ahead: f64| own + (ahead - own) * kept;
        Self {
            base: Nanos(mixed(self.base.0 as f64, stream.base.0 as f64) as u64),
            per_kib_ns: mixed(self.per_kib_ns, stream.per_kib_ns),
            origin: self.origin.clone(),
        }
    }

    pub(super) fn seconds(&self, size: Bytes) -> f64 {
        (self.base.0 as f64 + self.per_kib_ns * size.as_f64() / 1024.0) / 1e9
    }
}
