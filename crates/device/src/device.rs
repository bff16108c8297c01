//! In: operations and the moments at which they arrive. Out: the moments at which they complete, what
//! each waited for, and what is left of every limit. No other file knows
//! the order of the stages.

use blocklab_random::Stream;
use blocklab_units::{Bytes, Nanos};

use crate::limit::Owner;
use crate::stage::accounting::ChargeCounter;
use crate::stage::cache::CacheState;
use crate::stage::chain::{Chain, MOST_LINKS};
use crate::stage::fault::Schedule;
use crate::stage::instance::{Instance, SharedInstance};
use crate::stage::layout::Map;
use crate::stage::media::Media;
use crate::stage::meter::MeterUse;
use crate::stage::spread::LatencyDistribution;
use crate::stage::tags::QueueTags;
use crate::stage::{
    ChargedIo, Counts, Link, Stage as _, WhichMeter, instance, limiter_kinds, limiters,
};
use crate::usage::{DeviceUse, counted};
use crate::{
    Answer, Covers, Credit, CreditBalance, DeviceSpec, Direction, Fault, Invalid, Io, LimitKind,
    LimitName, Service, Spread, VolumeSpec,
};

/// A device at work: its stages with the state of their limiters and random streams.
///
/// The same device, the same seed and the same arrivals give the same answers on every machine.
/// Its memory does not grow with the number of operations.
#[derive(Debug, Clone)]
pub struct Device {
    spec: Box<DeviceSpec>,
    capacity: Bytes,
    map: Map,
    instance: Instance,
    cache: Option<Box<CachedPath>>,
    volumes: Vec<Volume>,
    faults: Schedule,
    last: Nanos,
    arrived: Arrived,
}

/// The way through a cache of the host.
#[derive(Debug, Clone)]
struct CachedPath {
    limits: Instance,
    state: CacheState,
    /// What the write waited for that is written in the background at the moment.
    background: Vec<Wait>,
}

/// The operations that a device was given.
#[derive(Debug, Clone, Copy, Default)]
struct Arrived {
    ios: u64,
    bytes: u64,
    in_device_ns: u64,
}

/// What an operation waited for on its way through the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wait {
    /// Index among [`Device::waits_of`] of the operation's volume.
    pub limit: usize,
    /// When it came there.
    pub from: Nanos,
    /// When it went on.
    pub until: Nanos,
}

impl Wait {
    /// Each place has [`MOST_LINKS`] links, and each link two meters, by which the limits are numbered.
    #[inline(always)]
    const fn new(place: Place, link: usize, meter: WhichMeter, from: Nanos, until: Nanos) -> Self {
        let link = link + place as usize * MOST_LINKS;
        Self {
            limit: link * 2 + meter as usize,
            from,
            until,
        }
    }

    const fn length(&self) -> Nanos {
        self.until.since(self.from)
    }

    /// Whether the limit is one of the instance.
    const fn is_of_instance(&self) -> bool {
        self.limit / 2 / MOST_LINKS == Place::Instance as usize
    }

    /// The link in the chain of its place, and the meter of it.
    const fn link(&self) -> (usize, WhichMeter) {
        let meter = if self.limit.is_multiple_of(2) {
            WhichMeter::First
        } else {
            WhichMeter::Second
        };
        (self.limit / 2 % MOST_LINKS, meter)
    }
}

/// Whose limit an operation waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Instance,
    Volume,
    Cache,
}

/// One volume's chain.
#[derive(Debug, Clone)]
struct Volume {
    counter: ChargeCounter,
    tags: Option<QueueTags>,
    /// Half a round trip of the network, there or back.
    half_trip: Nanos,
    chain: Chain,
    media: Media,
    /// The longest wait of the last write that a cache wrote to it in the background.
    slowest: Option<Wait>,
}

impl Device {
    /// A rested device: all buckets as full as the specification says.
    ///
    /// # Errors
    /// The first rule that the specification breaks.
    pub fn new(spec: &DeviceSpec, seed: u64) -> Result<Self, Invalid> {
        spec.check()?;
        let mut distributions = Vec::new();
        let volumes = spec.volumes.iter().enumerate().map(|(index, volume)| {
            let service = volume.promised()?;
            let distribution = shared(&mut distributions, &service.spread);
            let chance = Stream::new(seed, "media", index as u64);
            let media = Media::new(service, distribution, chance);
            Ok(Volume::new(volume, service, media))
        });
        Ok(Self {
            capacity: spec.capacity(),
            map: Map::new(spec),
            instance: Instance::Own(instance::chain(spec.instance.as_ref())),
            cache: cached_path(spec, seed),
            volumes: volumes.collect::<Result<_, Invalid>>()?,
            faults: Schedule::new(&spec.faults, seed),
            last: Nanos::ZERO,
            arrived: Arrived::default(),
            spec: Box::new(spec.clone()),
        })
    }

    /// A rested device that is attached to an instance together with others.
    ///
    /// # Errors
    /// As [`Device::new`].
    ///
    /// # Panics
    /// When the specification names another instance.
    pub fn on_shared(
        spec: &DeviceSpec,
        seed: u64,
        instance: &SharedInstance,
    ) -> Result<Self, Invalid> {
        assert_eq!(
            spec.instance.as_ref(),
            Some(instance.spec()),
            "a device is attached to the instance that it names"
        );
        let mut device = Self {
            instance: Instance::Shared(instance.clone()),
            ..Self::new(spec, seed)?
        };
        if let Some(path) = &mut device.cache {
            path.limits = Instance::Shared(instance.of_cache());
        }
        Ok(device)
    }

    /// When `io`, arriving `now`, leaves the device. Arrivals must come in order of time;
    /// answers need not. When several arrive at the same moment, the one that is admitted first goes
    /// first.
    ///
    /// # Panics
    /// When `now` lies before the last arrival, or the operation reaches beyond the capacity: the
    /// caller broke its promise.
    #[inline(always)]
    pub fn admit(&mut self, now: Nanos, io: Io) -> Answer {
        self.explain(now, io, &mut |_| ())
    }

    /// As [`Device::admit`]; `on_wait` is called with each limit that the operation waits for.
    ///
    /// # Panics
    /// As [`Device::admit`].
    #[inline(always)]
    pub fn explain(&mut self, now: Nanos, io: Io, on_wait: &mut impl FnMut(Wait)) -> Answer {
        assert!(now >= self.last, "arrivals must come in order of time");
        let end = io.offset.checked_add(u64::from(io.len));
        assert!(
            end.is_some_and(|end| end <= self.capacity.0),
            "an operation must lie within the capacity"
        );
        self.last = now;
        let answer = self.parts(now, io, on_wait);
        assert!(answer.at >= now, "nothing leaves before it arrives");
        self.arrived.ios += 1;
        self.arrived.bytes += u64::from(io.len);
        let in_device_ns = answer.at.0 - now.0;
        self.arrived.in_device_ns = self.arrived.in_device_ns.saturating_add(in_device_ns);
        answer
    }

    /// Sends the parts of an operation to their volumes. It is done when its last part is, and failed
    /// when one of them has.
    #[inline(always)]
    fn parts(&mut self, now: Nanos, io: Io, on_wait: &mut impl FnMut(Wait)) -> Answer {
        if matches!(self.map, Map::One) {
            return self.part(now, 0, io, on_wait);
        }
        self.cut_parts(now, io, on_wait)
    }

    /// As [`Self::parts`], on several volumes.
    #[inline(never)]
    fn cut_parts(&mut self, now: Nanos, io: Io, on_wait: &mut impl FnMut(Wait)) -> Answer {
        let mut cut = self.map.cut(io);
        let mut answer = self.part(now, cut.volume, cut.part, on_wait);
        let mut moved = u64::from(cut.part.len);
        while let Some(rest) = cut.rest {
            cut = self.map.cut(rest);
            let part = self.part(now, cut.volume, cut.part, on_wait);
            answer.at = answer.at.max(part.at);
            answer.result = answer.result.and(part.result);
            moved += u64::from(cut.part.len);
        }
        assert!(moved == u64::from(io.len), "parts add up to the whole");
        answer
    }

    #[inline(always)]
    fn part(&mut self, now: Nanos, index: usize, io: Io, on_wait: &mut impl FnMut(Wait)) -> Answer {
        if !self.faults.is_empty() {
            return self.part_with_faults(now, index, io, on_wait);
        }
        let at = self.admitted(now, index, io, on_wait);
        Answer { at, result: Ok(()) }
    }

    /// When an operation on the volume at `index` is done, without faults.
    #[inline(always)]
    fn admitted(
        &mut self,
        now: Nanos,
        index: usize,
        io: Io,
        on_wait: &mut impl FnMut(Wait),
    ) -> Nanos {
        let volume = &mut self.volumes[index];
        match &mut self.cache {
            None => volume.admit(&mut self.instance, now, io, on_wait),
            Some(path) => volume.admit_cached(path, &mut self.instance, now, io, on_wait),
        }
    }

    /// The answer of the volume at `index`, with the faults that hold at this moment.
    #[cold]
    fn part_with_faults(
        &mut self,
        now: Nanos,
        index: usize,
        io: Io,
        on_wait: &mut impl FnMut(Wait),
    ) -> Answer {
        if self.faults.is_gone(now, index) {
            return Answer {
                at: now,
                result: Err(Fault::Detached),
            };
        }
        let at = self.admitted(now, index, io, on_wait);
        self.faults.apply(now, at, index, io.direction)
    }

    #[cfg(test)]
    pub(crate) fn cache_state(&mut self) -> Option<&mut CacheState> {
        self.cache.as_mut().map(|path| &mut path.state)
    }

    /// Addressable bytes.
    pub const fn capacity(&self) -> Bytes {
        self.capacity
    }

    /// First byte and length of a volume in the joined layout; `None` when striped, or when
    /// there is no such volume.
    pub fn span(&self, volume: usize) -> Option<(u64, Bytes)> {
        self.map.span(volume, self.capacity)
    }

    /// What is left in every burst bucket at `now`. Several volumes are numbered from 1.
    pub fn balances(&self, now: Nanos) -> Vec<CreditBalance> {
        let mut found = Vec::new();
        let several = self.volumes.len() > 1;
        for (index, (volume, spec)) in self.volumes.iter().zip(&self.spec.volumes).enumerate() {
            let owner = if several {
                format!("{} {}", spec.kind, index + 1)
            } else {
                spec.kind.clone()
            };
            found.extend(balances(&volume.chain, &owner, &spec.credits, now));
        }
        found.extend(self.balances_of_instance(now));
        found
    }

    /// As [`Device::balances`], of one volume and of the instance.
    pub fn balances_of(&self, volume: usize, now: Nanos) -> Vec<CreditBalance> {
        let spec = self.spec.volumes.get(volume);
        let volume = self.volumes.get(volume).zip(spec);
        let of_volume = volume
            .into_iter()
            .flat_map(|(volume, spec)| balances(&volume.chain, &spec.kind, &spec.credits, now));
        of_volume.chain(self.balances_of_instance(now)).collect()
    }

    /// What the burst buckets of the instance and of its host cache hold.
    fn balances_of_instance(&self, now: Nanos) -> impl Iterator<Item = CreditBalance> {
        let spec = self.spec.instance.iter();
        spec.flat_map(move |instance| {
            let mut found = self.instance.with(|chain| {
                balances(chain, &instance.name, &instance.credits, now).collect::<Vec<_>>()
            });
            if let (Some(path), Some(cache)) = (&self.cache, &instance.cache) {
                let of_cache = path.limits.with(|chain| {
                    balances(chain, &instance.name, &cache.credits, now).collect::<Vec<_>>()
                });
                found.extend(of_cache);
            }
            found
        })
    }

    /// The burst buckets of a volume, or of the instance (`None`), hold this share of what they can
    /// hold from now on.
    pub fn set_credits(&mut self, volume: Option<usize>, now: Nanos, share: f64) {
        assert!((0.0..=1.0).contains(&share), "{share} of a bucket");
        let Some(index) = volume else {
            let of_cache = self.cache.iter_mut().map(|path| &mut path.limits);
            for limits in of_cache.chain([&mut self.instance]) {
                limits.with_mut(|chain| chain.set_credits(now, share));
            }
            return;
        };
        if let Some(volume) = self.volumes.get_mut(index) {
            volume.chain.set_credits(now, share);
        }
    }

    /// A volume becomes another one, as a provider modifies it while it is in use: its limiters and
    /// burst buckets keep the share that they hold, what they owe is paid at its moment, and what
    /// others share stays as it is.
    ///
    /// # Errors
    /// The first rule that the new volume breaks; then nothing has changed.
    ///
    /// # Panics
    /// When there is no such volume, or the new one has another size: offsets would move.
    pub fn modify(&mut self, index: usize, now: Nanos, to: VolumeSpec) -> Result<(), Invalid> {
        assert_eq!(
            self.spec.volumes[index].capacity, to.capacity,
            "a volume that is modified keeps its size"
        );
        let mut spec = self.spec.clone();
        spec.volumes[index] = to;
        // Another seed than the volume had, so that it does not draw the same latencies again.
        let mut fresh = Self::new(&spec, self.last.0)?.volumes.swap_remove(index);
        // Channels and queue tags begin idle: what is in flight has its answer already.
        fresh.chain.go_on_from(&self.volumes[index].chain, now);
        self.volumes[index] = fresh;
        self.spec = spec;
        Ok(())
    }

    /// What came to it since it was made, and what each limit counted and held back. What it shares
    /// with other devices has counted their operations too.
    pub fn use_so_far(&self) -> DeviceUse {
        let mut found = DeviceUse {
            ios: self.arrived.ios,
            bytes: self.arrived.bytes,
            in_device_ns: self.arrived.in_device_ns,
            limits: Vec::new(),
        };
        if let Some(spec) = &self.spec.instance {
            let kinds = limiter_kinds(&spec.caps, &spec.credits);
            self.instance
                .with(|chain| add_chain(&mut found, spec.owner(), kinds, chain));
            if let (Some(path), Some(cache)) = (&self.cache, &spec.cache) {
                let kinds = limiter_kinds(&cache.caps, &cache.credits);
                path.limits
                    .with(|chain| add_chain(&mut found, spec.owner(), kinds, chain));
            }
        }
        let distinct = self.spec.distinct_volumes();
        for (volume, spec) in self.volumes.iter().zip(&self.spec.volumes) {
            let Some((_, owner)) = distinct.iter().find(|(known, _)| *known == spec) else {
                continue;
            };
            let kinds = limiter_kinds(&spec.caps, &spec.credits);
            add_chain(&mut found, *owner, kinds, &volume.chain);
            for (kind, counted) in MEDIUM.into_iter().zip(volume.media.use_so_far()) {
                found.add(owner.name_of(kind), counted, &[]);
            }
            if let Some(tags) = &volume.tags {
                found.add(owner.name_of(LimitKind::QueueDepth), tags.use_so_far(), &[]);
            }
        }
        found
    }

    /// What it was made from, with what was modified since.
    pub const fn spec(&self) -> &DeviceSpec {
        &self.spec
    }

    /// The limits for which an operation on a volume can wait, by the index of [`Wait`].
    pub fn waits_of(&self, volume: usize) -> Vec<(usize, LimitName)> {
        let Some(spec) = self.spec.volumes.get(volume) else {
            return Vec::new();
        };
        let mut found = Vec::new();
        let mut add = |place, owner: Owner<'_>, kinds: Vec<[LimitKind; 2]>| {
            for (link, kinds) in kinds.into_iter().enumerate() {
                for (meter, kind) in [WhichMeter::First, WhichMeter::Second]
                    .into_iter()
                    .zip(kinds)
                {
                    let wait = Wait::new(place, link, meter, Nanos::ZERO, Nanos::ZERO);
                    found.push((wait.limit, owner.name_of(kind)));
                }
            }
        };
        if let Some(spec) = &self.spec.instance {
            let kinds = limiter_kinds(&spec.caps, &spec.credits);
            add(Place::Instance, spec.owner(), kinds);
            if let Some(cache) = &spec.cache {
                let kinds = limiter_kinds(&cache.caps, &cache.credits);
                add(Place::Cache, spec.owner(), kinds);
            }
        }
        let mut kinds = limiter_kinds(&spec.caps, &spec.credits);
        kinds.push(MEDIUM);
        let mut distinct = self.spec.distinct_volumes().into_iter();
        if let Some((_, owner)) = distinct.find(|(known, _)| *known == spec) {
            add(Place::Volume, owner, kinds);
        }
        found
    }
}

/// The way through the cache of the instance, where it has one.
fn cached_path(spec: &DeviceSpec, seed: u64) -> Option<Box<CachedPath>> {
    let instance = spec.instance.as_ref();
    let cache = instance?.cache.as_ref()?;
    Some(Box::new(CachedPath {
        limits: Instance::Own(instance::cached(instance)),
        state: CacheState::new(cache, seed),
        background: Vec::new(),
    }))
}

/// The kinds of the two sides of a medium.
const MEDIUM: [LimitKind; 2] = [
    LimitKind::PhysicalMaximum {
        covers: Covers::Reads,
    },
    LimitKind::PhysicalMaximum {
        covers: Covers::Writes,
    },
];

impl Volume {
    fn new(spec: &VolumeSpec, service: &Service, media: Media) -> Self {
        let network = spec.network.as_ref();
        let chain = limiters(&spec.caps, &spec.credits, Counts::ChargedBytes);
        Self {
            counter: ChargeCounter::new(spec.accounting, service),
            tags: spec.queue_depth.map(QueueTags::new),
            half_trip: network.map_or(Nanos::ZERO, |network| Nanos(network.round_trip.0 / 2)),
            chain: Chain::new(chain),
            media,
            slowest: None,
        }
    }

    #[inline(always)]
    fn admit(
        &mut self,
        instance: &mut Instance,
        now: Nanos,
        io: Io,
        on_wait: &mut impl FnMut(Wait),
    ) -> Nanos {
        let charged_io = self.counter.enter(io);
        self.serve(instance, now, charged_io, on_wait)
    }

    /// As [`Self::admit`], through the cache of the host.
    #[inline(never)]
    fn admit_cached(
        &mut self,
        path: &mut CachedPath,
        instance: &mut Instance,
        now: Nanos,
        io: Io,
        on_wait: &mut impl FnMut(Wait),
    ) -> Nanos {
        let charged_io = self.counter.enter(io);
        let CachedPath { limits, state, .. } = path;
        if io.direction == Direction::Flush {
            let at = state.flushed_at(now);
            self.wait_for_slowest(instance, [now, at], on_wait);
            return self.serve(instance, at, charged_io, on_wait);
        }
        let mut by_cache =
            |link, meter, from, until| on_wait(Wait::new(Place::Cache, link, meter, from, until));
        let at = limits.explain(now, &charged_io, &mut by_cache);
        let is_read = io.direction == Direction::Read;
        if is_read && state.hits() {
            return state.answer(at, charged_io.moved);
        }
        if is_read || !state.writes_back() {
            return self.serve(instance, at, charged_io, on_wait);
        }
        self.write_back(path, instance, at, charged_io, on_wait)
    }

    /// A write that the cache answers and that is written in the background. Only a flush and a write without
    /// room wait for that, so that what it meets on its way counts as no wait.
    fn write_back(
        &mut self,
        path: &mut CachedPath,
        instance: &mut Instance,
        came: Nanos,
        charged_io: ChargedIo,
        on_wait: &mut impl FnMut(Wait),
    ) -> Nanos {
        let (state, background) = (&mut path.state, &mut path.background);
        let bytes = charged_io.moved;
        let at = state.room_at(came, bytes);
        let queued_before = self.queued_ns();
        background.clear();
        let written = self.serve(instance, at, charged_io, &mut |wait| background.push(wait));
        let queued_ns = self.queued_ns() - queued_before;
        if let Some(tags) = &mut self.tags {
            tags.use_mut().take_back(Nanos(queued_ns));
        }
        for wait in background.iter() {
            self.correct(instance, *wait, |used| used.take_back(wait.length()));
        }
        self.slowest = background.iter().copied().max_by_key(Wait::length);
        state.write_back(written, bytes);
        self.wait_for_slowest(instance, [came, at], on_wait);
        state.answer(at, bytes)
    }

    /// What is written in the background moves at the pace of the limit for which it waits longest: a wait for
    /// that, `from` a moment until another, counts as one for this limit.
    fn wait_for_slowest(
        &mut self,
        instance: &mut Instance,
        [from, until]: [Nanos; 2],
        on_wait: &mut impl FnMut(Wait),
    ) {
        if let Some(slowest) = self.slowest.filter(|_| until > from) {
            let wait = Wait {
                limit: slowest.limit,
                from,
                until,
            };
            self.correct(instance, wait, |used| used.add(0, wait.length()));
            on_wait(wait);
        }
    }

    /// How long operations have waited for a place in the queue.
    fn queued_ns(&self) -> u64 {
        let tags = self.tags.as_ref();
        tags.map_or(0, |tags| tags.use_so_far().waited_ns)
    }

    /// Corrects what the limit of a wait has counted.
    fn correct(&mut self, instance: &mut Instance, wait: Wait, change: impl FnOnce(&mut MeterUse)) {
        let (link, meter) = wait.link();
        if wait.is_of_instance() {
            instance.with_mut(|chain| chain.use_mut(link, meter).map(change));
        } else if let Some(used) = self.chain.use_mut(link, meter) {
            change(used);
        } else {
            // The medium has the index after the last link of the chain.
            change(self.media.use_mut(meter));
        }
    }

    /// The instance, the volume and its medium.
    #[inline(always)]
    fn serve(
        &mut self,
        instance: &mut Instance,
        now: Nanos,
        charged_io: ChargedIo,
        on_wait: &mut impl FnMut(Wait),
    ) -> Nanos {
        let mut by_instance = |link, meter, from, until| {
            on_wait(Wait::new(Place::Instance, link, meter, from, until))
        };
        let at = instance.explain(now, &charged_io, &mut by_instance);
        debug_assert!(
            at >= now,
            "the instance lets nothing pass before it arrives"
        );
        // A place in the queue is held from here until the answer is back at the host.
        let at = self.tags.as_mut().map_or(at, |tags| tags.admit(at));
        let mut by_volume =
            |link, meter, from, until| on_wait(Wait::new(Place::Volume, link, meter, from, until));
        let there = at.saturating_add(self.half_trip);
        let at = self.chain.explain(there, &charged_io, &mut by_volume);
        // In [`Wait`], the medium has the index after the last link of the chain.
        let medium = self.chain.links().len();
        let served = self
            .media
            .explain(at, &charged_io, &mut |meter, from, until| {
                if until > from {
                    by_volume(medium, meter, from, until);
                }
            });
        let done = served.saturating_add(self.half_trip);
        if let Some(tags) = &mut self.tags {
            tags.hold(done);
        }
        done
    }
}

/// Adds what the limiters of one owner have counted.
fn add_chain(found: &mut DeviceUse, owner: Owner<'_>, kinds: Vec<[LimitKind; 2]>, chain: &Chain) {
    for (kinds, (used, emptied)) in kinds.into_iter().zip(counted(chain)) {
        for (kind, counted) in kinds.into_iter().zip(used) {
            // The baseline is what an empty bucket leaves, so its entry names these moments.
            let is_baseline = matches!(kind, LimitKind::Baseline { .. });
            let emptied = if is_baseline { emptied } else { &[] };
            found.add(owner.name_of(kind), counted, emptied);
        }
    }
}

/// The tables of a spread, made once for equal volumes.
fn shared<'a>(
    known: &mut Vec<(&'a Spread, LatencyDistribution)>,
    spread: &'a Spread,
) -> LatencyDistribution {
    if let Some((_, distribution)) = known.iter().find(|(other, _)| *other == spread) {
        return distribution.clone();
    }
    let distribution = LatencyDistribution::new(spread);
    known.push((spread, distribution.clone()));
    distribution
}

/// What is left in the buckets of a chain, whose owner has these credits.
fn balances(
    chain: &Chain,
    owner: &str,
    credits: &[Credit],
    now: Nanos,
) -> impl Iterator<Item = CreditBalance> {
    let bursts = chain.links().iter().filter_map(|link| match link {
        Link::Burst(burst) => Some(burst),
        _ => None,
    });
    // The chain was made of the credits in their order.
    let named = bursts.zip(credits);
    named.map(move |(burst, credit)| CreditBalance {
        name: format!("{owner}: {}", credit.name),
        left: burst.balance(now),
        capacity: credit.capacity,
        unit: credit.unit(),
    })
}
