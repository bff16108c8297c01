//! In: the specification of a device. Out: all its limits, by name, value, unit and origin. No device
//! is made for that.

use blocklab_units::trimmed;

use crate::limit::Owner;
use crate::{
    Cap, Covers, Credit, DeviceSpec, InstanceSpec, Limit, LimitKind, LimitUnit, Origin, Rate,
    VolumeSpec,
};

impl Rate {
    /// The number as it is sold.
    pub const fn value(self) -> f64 {
        match self {
            Self::Iops(value) | Self::MibPerS(value) | Self::MbPerS(value) => value,
        }
    }

    /// This many times this rate.
    #[must_use]
    pub const fn times(self, factor: f64) -> Self {
        match self {
            Self::Iops(value) => Self::Iops(value * factor),
            Self::MibPerS(value) => Self::MibPerS(value * factor),
            Self::MbPerS(value) => Self::MbPerS(value * factor),
        }
    }

    /// The unit in which it is sold.
    pub const fn unit(self) -> LimitUnit {
        match self {
            Self::Iops(_) => LimitUnit::Iops,
            Self::MibPerS(_) => LimitUnit::MibPerS,
            Self::MbPerS(_) => LimitUnit::MbPerS,
        }
    }

    /// Whether it counts bytes.
    pub const fn counts_bytes(self) -> bool {
        !matches!(self, Self::Iops(_))
    }

    /// Operations or bytes per second.
    pub const fn per_second(self) -> f64 {
        match self {
            Self::Iops(value) => value,
            Self::MibPerS(value) => value * 1_048_576.0,
            Self::MbPerS(value) => value * 1e6,
        }
    }
}

impl Cap {
    pub(crate) fn steady(&self) -> LimitKind {
        LimitKind::Rate {
            limiter: self.name.clone(),
            covers: self.covers,
        }
    }

    pub(crate) fn at_peak(&self) -> LimitKind {
        LimitKind::Peak {
            limiter: self.name.clone(),
            covers: self.covers,
        }
    }

    fn limits(&self, owner: Owner<'_>) -> Vec<Limit> {
        let limit = |rate: Rate, kind| owner.limit(kind, rate.value(), rate.unit(), &self.origin);
        let peak = self.peak.map(|peak| limit(peak, self.at_peak()));
        let steady = limit(self.rate, self.steady());
        std::iter::once(steady).chain(peak).collect()
    }
}

impl Credit {
    pub(crate) fn at_baseline(&self) -> LimitKind {
        LimitKind::Baseline {
            limiter: self.name.clone(),
        }
    }

    pub(crate) fn in_burst(&self) -> LimitKind {
        LimitKind::Burst {
            limiter: self.name.clone(),
        }
    }

    /// The limits of one bucket: its baseline, its burst and its size.
    fn limits(&self, owner: Owner<'_>) -> Vec<Limit> {
        let limit = |kind, value, unit| owner.limit(kind, value, unit, &self.origin);
        let unit = if self.baseline.counts_bytes() {
            LimitUnit::Bytes
        } else {
            LimitUnit::Operations
        };
        let limiter = self.name.clone();
        let (baseline, burst) = (self.baseline, self.burst);
        vec![
            limit(self.at_baseline(), baseline.value(), baseline.unit()),
            limit(self.in_burst(), burst.value(), burst.unit()),
            limit(LimitKind::Bucket { limiter }, self.capacity, unit),
        ]
    }
}

/// The limits of caps and credits that have the same owner.
fn limiters(owner: Owner<'_>, caps: &[Cap], credits: &[Credit]) -> Vec<Limit> {
    let caps = caps.iter().flat_map(|cap| cap.limits(owner));
    let credits = credits.iter().flat_map(|credit| credit.limits(owner));
    caps.chain(credits).collect()
}

impl VolumeSpec {
    /// The limits of a volume: its caps and credits, its latencies, and the maximum of its medium.
    fn limits(&self, owner: Owner<'_>) -> Vec<Limit> {
        let mut found = limiters(owner, &self.caps, &self.credits);
        if let Some(places) = self.queue_depth {
            let (kind, origin) = (LimitKind::QueueDepth, Origin::Given);
            found.push(owner.limit(kind, f64::from(places), LimitUnit::Operations, &origin));
        }
        let Some(service) = &self.service else {
            return found;
        };
        for (operation, latency) in service.latencies() {
            let kind = LimitKind::Latency { operation };
            let micros = latency.base.0 as f64 / 1e3;
            found.push(owner.limit(kind, micros, LimitUnit::Micros, &latency.origin));
            if latency.per_kib_ns != 0.0 {
                let kind = LimitKind::LatencyPerKib { operation };
                let (micros, unit) = (latency.per_kib_ns / 1e3, LimitUnit::MicrosPerKib);
                found.push(owner.limit(kind, micros, unit, &latency.origin));
            }
        }
        if let Some(most) = &service.saturation {
            let both = [
                (Covers::Reads, most.read_iops),
                (Covers::Writes, most.write_iops),
            ];
            found.extend(both.map(|(covers, value)| {
                let kind = LimitKind::PhysicalMaximum { covers };
                owner.limit(kind, value, LimitUnit::Iops, &most.origin)
            }));
        }
        found
    }
}

impl InstanceSpec {
    pub(crate) fn owner(&self) -> Owner<'_> {
        Owner {
            name: &self.name,
            volumes: None,
        }
    }
}

impl DeviceSpec {
    /// Every limit, equal volumes once.
    pub fn limits(&self) -> Vec<Limit> {
        let mut found = Vec::new();
        for (volume, owner) in self.distinct_volumes() {
            found.extend(volume.limits(owner));
        }
        if let Some(instance) = &self.instance {
            let (caps, credits) = (&instance.caps, &instance.credits);
            found.extend(limiters(instance.owner(), caps, credits));
            if let Some(cache) = &instance.cache {
                let (caps, credits) = (&cache.caps, &cache.credits);
                found.extend(limiters(instance.owner(), caps, credits));
            }
        }
        found
    }

    /// The figures that are assumed: a sentence for each owner and reason, each figure once.
    pub fn assumptions(&self) -> Vec<String> {
        let mut figures: Vec<(Owner<'_>, String, &Origin)> = Vec::new();
        let limits = self.limits();
        for limit in &limits {
            let name = &limit.name;
            let value = trimmed(limit.value, 6);
            let figure = format!("{} {value} {}", name.kind, limit.unit);
            figures.push((name.owner(), figure, &limit.origin));
        }
        for (volume, owner) in self.distinct_volumes() {
            if let Some(service) = &volume.service {
                let spread = &service.spread;
                let scatter = format!("scatter of latencies, sigma {}", spread.sigma);
                figures.push((owner, scatter, &spread.origin));
                if let Some(programs) = &service.programs {
                    let (time, page) = (programs.time, programs.page);
                    let figure = format!("programs of {time} for each {page} written");
                    figures.push((owner, figure, &programs.origin));
                }
            }
            if let Some(network) = &volume.network {
                let figure = format!("network round trip {}", network.round_trip);
                figures.push((owner, figure, &network.origin));
            }
        }
        if let Some(instance) = &self.instance
            && let Some(cache) = &instance.cache
        {
            let figure = format!("an answer of the cache in {}", cache.latency.base);
            figures.push((instance.owner(), figure, &cache.latency.origin));
        }
        let mut groups: Vec<(String, &str, Vec<String>)> = Vec::new();
        for (owner, figure, origin) in figures {
            let Origin::Assumed { because } = origin else {
                continue;
            };
            let owner = owner.to_string();
            let mut known = groups.iter_mut();
            match known.find(|(by, why, _)| *by == owner && *why == because) {
                Some((.., figures)) if figures.contains(&figure) => {}
                Some((.., figures)) => figures.push(figure),
                None => groups.push((owner, because, vec![figure])),
            }
        }
        let sentences = groups.into_iter();
        sentences
            .map(|(owner, why, figures)| format!("{owner}: {}: {why}", figures.join(", ")))
            .collect()
    }

    /// Each kind of volume once, with how many there are.
    pub(crate) fn distinct_volumes(&self) -> Vec<(&VolumeSpec, Owner<'_>)> {
        let mut kinds: Vec<(&VolumeSpec, Owner<'_>)> = Vec::new();
        for volume in &self.volumes {
            match kinds.iter_mut().find(|(known, _)| *known == volume) {
                Some((_, owner)) => owner.volumes = owner.volumes.map(|count| count + 1),
                None => {
                    let (name, volumes) = (&volume.kind, Some(1));
                    kinds.push((volume, Owner { name, volumes }));
                }
            }
        }
        kinds
    }
}
