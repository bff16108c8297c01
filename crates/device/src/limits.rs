use crate::{Cap, Covers, Credit, DeviceSpec, Origin, Rate, VolumeSpec};

/// One limit in force, for people and for records.
#[derive(Debug, Clone, PartialEq)]
pub struct Limit {
    /// `gp3: volume throughput`, `r5d.xlarge: EBS operations (burst)`; equal volumes give one
    /// entry, `30 x gp2: …`, whose value holds for each of them.
    pub name: String,
    /// In `unit`.
    pub value: f64,
    /// `IOPS`, `MiB/s`, `MB/s`, `operations`, `bytes`, `µs`, `µs/KiB`.
    pub unit: &'static str,
    /// Where it comes from.
    pub origin: Origin,
}

impl Rate {
    /// The number as it is sold.
    #[must_use]
    pub const fn value(self) -> f64 {
        match self {
            Self::Iops(value) | Self::MibPerS(value) | Self::MbPerS(value) => value,
        }
    }

    /// The unit in which it is sold.
    #[must_use]
    pub const fn unit(self) -> &'static str {
        match self {
            Self::Iops(_) => "IOPS",
            Self::MibPerS(_) => "MiB/s",
            Self::MbPerS(_) => "MB/s",
        }
    }

    /// Whether it counts bytes.
    #[must_use]
    pub const fn counts_bytes(self) -> bool {
        !matches!(self, Self::Iops(_))
    }

    /// Operations or bytes per second.
    #[must_use]
    pub const fn per_second(self) -> f64 {
        match self {
            Self::Iops(value) => value,
            Self::MibPerS(value) => value * 1_048_576.0,
            Self::MbPerS(value) => value * 1e6,
        }
    }
}

impl Covers {
    const fn suffix(self) -> &'static str {
        match self {
            Self::All => "",
            Self::Reads => " (reads)",
            Self::Writes => " (writes)",
        }
    }
}

/// The name of a cap in limits and predictions.
pub(crate) fn cap_name(owner: &str, cap: &Cap, note: &str) -> String {
    format!("{owner}: {}{}{note}", cap.name, cap.covers.suffix())
}

/// The name of a figure of a burst bucket.
pub(crate) fn credit_name(owner: &str, credit: &Credit, which: &str) -> String {
    format!("{owner}: {} ({which})", credit.name)
}

/// The name of a medium's maximum in one direction.
pub(crate) fn physical_name(owner: &str, direction: &str) -> String {
    format!("{owner}: physical maximum ({direction})")
}

impl Cap {
    fn limits(&self, owner: &str) -> Vec<Limit> {
        let limit = |rate: Rate, note: &str| Limit {
            name: cap_name(owner, self, note),
            value: rate.value(),
            unit: rate.unit(),
            origin: self.origin.clone(),
        };
        let mut found = vec![limit(self.rate, "")];
        found.extend(self.peak.map(|peak| limit(peak, " (peak)")));
        found
    }
}

impl Credit {
    fn limits(&self, owner: &str) -> Vec<Limit> {
        let limit = |note: &str, value: f64, unit: &'static str| Limit {
            name: credit_name(owner, self, note),
            value,
            unit,
            origin: self.origin.clone(),
        };
        let unit = match self.baseline.counts_bytes() {
            true => "bytes",
            false => "operations",
        };
        vec![
            limit("baseline", self.baseline.value(), self.baseline.unit()),
            limit("burst", self.burst.value(), self.burst.unit()),
            limit("bucket", self.capacity, unit),
        ]
    }
}

impl VolumeSpec {
    fn limits(&self, owner: &str) -> Vec<Limit> {
        let caps = self.caps.iter().flat_map(|cap| cap.limits(owner));
        let credits = self.credits.iter().flat_map(|credit| credit.limits(owner));
        let mut found: Vec<_> = caps.chain(credits).collect();
        let Some(service) = &self.service else {
            return found;
        };
        for (what, latency) in service.latencies() {
            found.push(Limit {
                name: format!("{owner}: {what} latency"),
                value: latency.base.0 as f64 / 1e3,
                unit: "µs",
                origin: latency.origin.clone(),
            });
            if latency.per_kib_ns == 0.0 {
                continue;
            }
            found.push(Limit {
                name: format!("{owner}: {what} latency per KiB"),
                value: latency.per_kib_ns / 1e3,
                unit: "µs/KiB",
                origin: latency.origin.clone(),
            });
        }
        if let Some(most) = &service.saturation {
            for (what, value) in [("reads", most.read_iops), ("writes", most.write_iops)] {
                found.push(Limit {
                    name: physical_name(owner, what),
                    value,
                    unit: "IOPS",
                    origin: most.origin.clone(),
                });
            }
        }
        found
    }
}

impl DeviceSpec {
    /// Every limit, equal volumes once.
    #[must_use]
    pub fn limits(&self) -> Vec<Limit> {
        let mut found = Vec::new();
        for (volume, owner) in self.distinct_volumes() {
            found.extend(volume.limits(&owner));
        }
        if let Some(instance) = &self.instance {
            let caps = instance.caps.iter();
            found.extend(caps.flat_map(|cap| cap.limits(&instance.name)));
            let credits = instance.credits.iter();
            found.extend(credits.flat_map(|credit| credit.limits(&instance.name)));
        }
        found
    }

    /// What nobody has shown, one sentence each, each once.
    #[must_use]
    pub fn assumptions(&self) -> Vec<String> {
        let mut found: Vec<String> = Vec::new();
        let mut add = |name: String, origin: &Origin| {
            let sentence = format!("{name}: {origin}");
            if origin.is_assumed() && !found.contains(&sentence) {
                found.push(sentence);
            }
        };
        for limit in self.limits() {
            add(
                format!("{} {} {}", limit.name, limit.value, limit.unit),
                &limit.origin,
            );
        }
        for (volume, owner) in self.distinct_volumes() {
            if let Some(service) = &volume.service {
                let sigma = service.spread.sigma;
                let name = format!("{owner}: scatter of latencies, sigma {sigma}");
                add(name, &service.spread.origin);
            }
            if let Some(network) = &volume.network {
                let name = format!("{owner}: network round trip {}", network.round_trip);
                add(name, &network.origin);
            }
        }
        found
    }

    /// Each kind of volume once, with a name that tells how many there are.
    pub(crate) fn distinct_volumes(&self) -> Vec<(&VolumeSpec, String)> {
        let mut kinds: Vec<(&VolumeSpec, usize)> = Vec::new();
        for volume in &self.volumes {
            match kinds.iter_mut().find(|(known, _)| *known == volume) {
                Some((_, count)) => *count += 1,
                None => kinds.push((volume, 1)),
            }
        }
        let named = kinds.into_iter().map(|(volume, count)| match count {
            1 => (volume, volume.kind.clone()),
            _ => (volume, format!("{count} x {}", volume.kind)),
        });
        named.collect()
    }
}
