//! In: a specification. Out: what of it cannot be a device, and what would work. Everything that makes a
//! device checks it here first, so that no stage checks its own numbers a second time.

use blocklab_units::Nanos;

use crate::{
    Cap, Credit, DeviceSpec, FaultKind, FaultSpec, Latency, Layout, Rate, Service, VolumeSpec,
};

/// A specification that cannot be a device, and what would work.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Invalid {
    /// No rate is known that this kind holds, and no measurement stands in.
    #[error(
        "{kind}: no prediction is made, because no rate is known that it holds. A device file whose `service` was measured can stand in: by itself, or in an address as profile=FILE.toml (profile=average where `catalog show` says so)"
    )]
    NoContract {
        /// The volume's kind.
        kind: String,
    },
    /// Something outside its range.
    #[error("{what}: {problem}")]
    Wrong {
        /// Which part: `gp3: volume throughput`.
        what: String,
        /// What is wrong, and what would work.
        problem: String,
    },
}

type Verdict = Result<(), Invalid>;

/// Rows of rules for one part: what must hold, and what would work. The first broken one is the
/// answer.
macro_rules! rules {
    ($what:expr; $($holds:expr, $problem:expr;)*) => {{
        let what: &str = $what;
        $(rule($holds, what, $problem)?;)*
    }};
}

/// `Ok` if the rule holds.
fn rule(holds: bool, what: &str, problem: &str) -> Verdict {
    if holds {
        Ok(())
    } else {
        Err(Invalid::Wrong {
            what: what.to_owned(),
            problem: problem.to_owned(),
        })
    }
}

fn between(value: f64, least: f64, most: f64) -> bool {
    value >= least && value <= most
}

impl DeviceSpec {
    /// The first broken rule, if any. A volume without `service` passes: limits can be shown
    /// without it, only a prediction cannot be made.
    ///
    /// # Errors
    /// [`Invalid`] names the part and what would work.
    pub fn check(&self) -> Verdict {
        let name = &self.name;
        let smallest = self.volumes.iter().map(|volume| volume.capacity).min();
        // Below a sector a stripe could divide one; above the smallest volume, that one would be empty.
        let fits = match self.layout {
            Layout::Joined => true,
            Layout::Striped { block } => {
                block.0 >= 512 && (self.volumes.len() == 1 || smallest >= Some(block))
            }
        };
        let capacities = self
            .volumes
            .iter()
            .map(|volume| u128::from(volume.capacity.0));
        rules! { name;
            !self.volumes.is_empty(), "a device needs a volume";
            fits, "the striping block must be at least 512 B, at most the smallest volume";
            capacities.sum::<u128>() <= 1 << 62, "a device holds at most 4 EiB";
        }
        self.volumes.iter().try_for_each(VolumeSpec::check)?;
        if let Some(instance) = &self.instance {
            check_limiters(&instance.name, &instance.caps, &instance.credits)?;
            if let Some(cache) = &instance.cache {
                check_limiters(&instance.name, &cache.caps, &cache.credits)?;
                (cache.latency).check(&format!("{}: cache latency", instance.name))?;
                let room = cache.writes_back.is_none_or(|room| room.0 >= 1 << 20);
                rules! { &instance.name;
                    (0.0..=1.0).contains(&cache.hit_share), "a share of hits lies between 0 and 1";
                    room, "a cache that writes back holds at least 1 MiB";
                }
            }
        }
        let mut faults = self.faults.iter();
        faults.try_for_each(|fault| fault.check(name, self.volumes.len()))
    }
}

impl VolumeSpec {
    /// The medium.
    ///
    /// # Errors
    /// [`Invalid::NoContract`] if its latencies are not known.
    pub(crate) fn promised(&self) -> Result<&Service, Invalid> {
        self.service.as_ref().ok_or_else(|| Invalid::NoContract {
            kind: self.kind.clone(),
        })
    }

    fn check(&self) -> Verdict {
        let kind = &self.kind;
        let unit = self
            .accounting
            .unit()
            .is_none_or(|unit| unit.0.is_power_of_two() && (512..=1 << 30).contains(&unit.0));
        let places = self
            .queue_depth
            .is_none_or(|queue_depth| (1..=65_536).contains(&queue_depth));
        let longest = Nanos::from_secs(60);
        let network = self.network.as_ref();
        rules! { kind;
            self.capacity.0 >= 512, "a volume holds at least 512 B";
            unit, "the accounting unit must be a power of two from 512 B to 1 GiB";
            places, "queue_depth must be 1 to 65,536";
            network.is_none_or(|network| network.round_trip <= longest),
                "the network's round trip may be at most 60 s";
        }
        check_limiters(kind, &self.caps, &self.credits)?;
        self.service
            .as_ref()
            .map_or(Ok(()), |service| service.check(kind))
    }
}

fn check_limiters(owner: &str, caps: &[Cap], credits: &[Credit]) -> Verdict {
    let few = caps.len() + credits.len() <= MOST_LIMITERS;
    rule(few, owner, "at most 200 caps and credits together")?;
    caps.iter().try_for_each(|cap| cap.check(owner))?;
    credits.iter().try_for_each(|credit| credit.check(owner))
}

/// A chain numbers its links with a byte, and waits number the medium behind them.
const MOST_LIMITERS: usize = 200;

const RATES: &str = "a rate must be 1 to 10^12 operations or bytes a second";

impl Rate {
    fn is_sound(self) -> bool {
        between(self.per_second(), 1.0, 1e12)
    }

    fn exceeds(self, other: Self) -> bool {
        self.counts_bytes() == other.counts_bytes() && self.per_second() > other.per_second()
    }
}

impl Cap {
    fn check(&self, owner: &str) -> Verdict {
        rules! { &format!("{owner}: {}", self.name);
            self.rate.is_sound(), RATES;
            self.bucket <= Nanos::from_secs(86_400), "its bucket may be at most a day of its rate";
            between(self.refill_share, 1e-4, 1.0), "its bucket takes 0.0001 to 1 of an unused rate";
            self.peak.is_none_or(|peak| peak.is_sound() && peak.exceeds(self.rate)),
                "its peak must lie above its rate, both in operations or both in bytes";
        }
        Ok(())
    }
}

impl Credit {
    fn check(&self, owner: &str) -> Verdict {
        rules! { &format!("{owner}: {}", self.name);
            self.baseline.is_sound() && self.burst.is_sound(), RATES;
            self.burst.exceeds(self.baseline),
                "its burst must lie above its baseline, both in operations or both in bytes; without a burst it is a cap";
            between(self.capacity, 1.0, 1e18), "its bucket must hold 1 to 10^18";
            between(self.initial_share, 0.0, 1.0), "initial_share must be 0 to 1";
        }
        Ok(())
    }
}

impl Service {
    fn check(&self, owner: &str) -> Verdict {
        for (operation, latency) in self.latencies() {
            latency.check(&format!("{owner}: {} latency", operation.text()))?;
        }
        let spread = &self.spread;
        let tail = spread.tail.as_ref();
        rules! { &format!("{owner}: scatter of latencies");
            between(spread.sigma, 0.0, 2.0), "sigma must be 0 to 2";
            tail.is_none_or(|tail| tail.share > 0.0 && between(tail.share, 0.0, 0.5)),
                "the tail's share must be above 0 and at most 0.5";
            tail.is_none_or(|tail| between(tail.factor, 1.0, 1e4) && between(tail.sigma, 0.0, 2.0)),
                "the tail's factor must be 1 to 10,000 and its sigma 0 to 2";
        }
        if let Some(programs) = &self.programs {
            let time = Nanos(1000)..=Nanos::from_secs(1);
            rules! { &format!("{owner}: programs");
                time.contains(&programs.time), "a program must take 1 µs to 1 s";
                (512..=1 << 30).contains(&programs.page.0), "a page must be 512 B to 1 GiB";
                self.saturation.is_some(), "they need `saturation`, from which the number of channels follows";
            }
        }
        let most = self.saturation.as_ref();
        let sound = most.is_none_or(|most| {
            between(most.read_iops, 1.0, 1e9) && between(most.write_iops, 1.0, 1e9)
        });
        let what = format!("{owner}: physical maximum");
        rule(sound, &what, "it must be 1 to 10^9 operations a second")
    }
}

impl Latency {
    fn check(&self, what: &str) -> Verdict {
        rules! { what;
            self.base.0 >= 1 && self.base <= Nanos::from_secs(60), "the base must be 1 ns to 60 s";
            between(self.per_kib_ns, 0.0, 1e9), "the slope must be 0 to 1 s for a KiB";
        }
        Ok(())
    }
}

impl FaultSpec {
    /// Checks a fault of a device with this many volumes.
    fn check(&self, name: &str, volumes: usize) -> Verdict {
        let shares = match self.kind {
            FaultKind::Latency {
                read_percent,
                write_percent,
                ..
            }
            | FaultKind::Error {
                read_percent,
                write_percent,
                ..
            } => [read_percent, write_percent],
            FaultKind::Stall | FaultKind::Detach => [0.0; 2],
        };
        rules! { &format!("{name}: fault from {}", self.from);
            self.from < self.until, "it must end after it begins";
            self.volume.is_none_or(|index| index < volumes),
                &format!("there is no such volume: they are 0 to {}", volumes - 1);
            shares.iter().all(|share| between(*share, 0.0, 100.0)), "shares must be 0 to 100 per cent";
        }
        Ok(())
    }
}
