use blocklab_units::Nanos;

use crate::{
    Accounting, Cap, Credit, DeviceSpec, FaultKind, FaultSpec, Latency, Layout, Rate, Service,
    VolumeSpec,
};

/// A specification that cannot be a device, and what would work.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Invalid {
    /// Nobody promises anything for this kind, and nobody measured it.
    #[error(
        "{kind}: no prediction is made: it comes without a contract (best effort). Give it a measured `service` to simulate it"
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

fn rule(holds: bool, what: &str, problem: &str) -> Verdict {
    match holds {
        true => Ok(()),
        false => Err(Invalid::Wrong {
            what: what.to_owned(),
            problem: problem.to_owned(),
        }),
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
        rule(!self.volumes.is_empty(), name, "a device needs a volume")?;
        if let Layout::Striped { block } = self.layout {
            let smallest = self.volumes.iter().map(|volume| volume.capacity).min();
            let fits = block.0 >= 512 && (self.volumes.len() == 1 || smallest >= Some(block));
            let problem = "the striping block must be at least 512 B, at most the smallest volume";
            rule(fits, name, problem)?;
        }
        let sum: u128 = self
            .volumes
            .iter()
            .map(|it| u128::from(it.capacity.0))
            .sum();
        rule(sum <= 1 << 62, name, "a device holds at most 4 EiB")?;
        self.volumes.iter().try_for_each(VolumeSpec::check)?;
        if let Some(instance) = &self.instance {
            limiters(&instance.name, &instance.caps, &instance.credits)?;
        }
        let mut faults = self.faults.iter();
        faults.try_for_each(|fault| fault.check(name, self.volumes.len()))
    }
}

impl VolumeSpec {
    /// The medium, if anybody knows it.
    pub(crate) fn promised(&self) -> Result<&Service, Invalid> {
        self.service.as_ref().ok_or_else(|| Invalid::NoContract {
            kind: self.kind.clone(),
        })
    }

    fn check(&self) -> Verdict {
        let kind = &self.kind;
        rule(
            self.capacity.0 >= 512,
            kind,
            "a volume holds at least 512 B",
        )?;
        if let Accounting::Merged { unit } | Accounting::WholeUnits { unit } = self.accounting {
            let fits = unit.0.is_power_of_two() && (512..=1 << 30).contains(&unit.0);
            let problem = "the accounting unit must be a power of two from 512 B to 1 GiB";
            rule(fits, kind, problem)?;
        }
        let places = self.queue_depth.is_none_or(|it| (1..=65_536).contains(&it));
        rule(places, kind, "queue_depth must be 1 to 65,536")?;
        if let Some(network) = &self.network {
            let fits = network.round_trip <= Nanos::from_secs(60);
            rule(fits, kind, "the network's round trip may be at most 60 s")?;
        }
        limiters(kind, &self.caps, &self.credits)?;
        self.service.as_ref().map_or(Ok(()), |it| it.check(kind))
    }
}

fn limiters(owner: &str, caps: &[Cap], credits: &[Credit]) -> Verdict {
    let few = caps.len() + credits.len() <= MOST_LIMITERS;
    rule(few, owner, "at most 200 caps and credits together")?;
    caps.iter().try_for_each(|cap| cap.check(owner))?;
    credits.iter().try_for_each(|credit| credit.check(owner))
}

/// A chain numbers its links with a byte, and holds the medium and the network besides.
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
        let what = format!("{owner}: {}", self.name);
        rule(self.rate.is_sound(), &what, RATES)?;
        let fits = self.bucket <= Nanos::from_secs(86_400);
        rule(fits, &what, "its bucket may be at most a day of its rate")?;
        let Some(peak) = self.peak else {
            return Ok(());
        };
        let sound = peak.is_sound() && peak.exceeds(self.rate);
        rule(
            sound,
            &what,
            "its peak must lie above its rate, both in operations or both in bytes",
        )
    }
}

impl Credit {
    fn check(&self, owner: &str) -> Verdict {
        let what = format!("{owner}: {}", self.name);
        let sound = self.baseline.is_sound() && self.burst.is_sound();
        rule(sound, &what, RATES)?;
        let above = self.burst.exceeds(self.baseline);
        let problem = "its burst must lie above its baseline, both in operations or both in bytes; without a burst it is a cap";
        rule(above, &what, problem)?;
        let sizes = between(self.capacity, 1.0, 1e18);
        rule(sizes, &what, "its bucket must hold 1 to 10^18")?;
        let share = between(self.initial_share, 0.0, 1.0);
        rule(share, &what, "initial_share must be 0 to 1")
    }
}

impl Service {
    fn check(&self, owner: &str) -> Verdict {
        for (operation, latency) in self.latencies() {
            latency.check(&format!("{owner}: {} latency", operation.text()))?;
        }
        let what = format!("{owner}: scatter of latencies");
        let spread = &self.spread;
        rule(
            between(spread.sigma, 0.0, 2.0),
            &what,
            "sigma must be 0 to 2",
        )?;
        if let Some(tail) = &spread.tail {
            let share = tail.share > 0.0 && between(tail.share, 0.0, 0.5);
            rule(
                share,
                &what,
                "the tail's share must be above 0 and at most 0.5",
            )?;
            let shape = between(tail.factor, 1.0, 1e4) && between(tail.sigma, 0.0, 2.0);
            let problem = "the tail's factor must be 1 to 10,000 and its sigma 0 to 2";
            rule(shape, &what, problem)?;
        }
        let Some(most) = &self.saturation else {
            return Ok(());
        };
        let sound = between(most.read_iops, 1.0, 1e9) && between(most.write_iops, 1.0, 1e9);
        let what = format!("{owner}: physical maximum");
        rule(sound, &what, "it must be 1 to 10^9 operations a second")
    }
}

impl Latency {
    fn check(&self, what: &str) -> Verdict {
        let base = self.base.0 >= 1 && self.base <= Nanos::from_secs(60);
        rule(base, what, "the base must be 1 ns to 60 s")?;
        let slope = between(self.per_kib_ns, 0.0, 1e9);
        rule(slope, what, "the slope must be 0 to 1 s for a KiB")
    }
}

impl FaultSpec {
    fn check(&self, name: &str, volumes: usize) -> Verdict {
        let what = format!("{name}: fault from {}", self.from);
        rule(self.from < self.until, &what, "it must end after it begins")?;
        let there = self.volume.is_none_or(|index| index < volumes);
        let problem = format!("there is no such volume: they are 0 to {}", volumes - 1);
        rule(there, &what, &problem)?;
        match self.kind {
            FaultKind::Latency {
                read_percent,
                write_percent,
                ..
            }
            | FaultKind::Error {
                read_percent,
                write_percent,
                ..
            } => {
                let shares = [read_percent, write_percent];
                let sound = shares.iter().all(|it| between(*it, 0.0, 100.0));
                rule(sound, &what, "shares must be 0 to 100 per cent")
            }
            FaultKind::Stall | FaultKind::Detach => Ok(()),
        }
    }
}
