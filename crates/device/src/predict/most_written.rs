//! In: a device, and the times in which a load writes as fast as it can. Out: the bytes that all of them
//! together write at most.
//!
//! ```text
//!   bytes ▲           ╱ rate of the limiter, times the bytes that an operation carries
//!         │        ╱
//!         │  ──╱─      a rest: something is saved up again
//!         │ ╱
//!         ├╱           saved up at the start
//!         └────────────────▶ time
//! ```
//!
//! Every limiter gives such a line, and the lowest one holds. Latencies give none: they scatter, and
//! nothing is known beforehand of how slow operations will be.

use blocklab_units::{Bytes, Nanos};

use crate::{Accounting, Cap, Credit, DeviceSpec, Direction, FORGIVEN_STALL, Rate};

/// A time in which a load writes as fast as it can.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WritingTime {
    /// How long it writes.
    pub lasts: Nanos,
    /// Its largest write.
    pub largest: Bytes,
    /// How long nothing is written before it, so that limiters save up.
    pub rest: Nanos,
    /// How often it comes.
    pub count: u32,
}

/// The most bytes that a rested device takes in these times, one after the other, as far as its limiters
/// tell; `None` if no limiter counts writes. What is in flight at the end of each time comes on top.
pub fn most_written(spec: &DeviceSpec, times: &[WritingTime]) -> Option<f64> {
    let on_a_volume = times.iter().map(|time| WritingTime {
        largest: spec.part(time.largest),
        ..*time
    });
    let on_a_volume: Vec<WritingTime> = on_a_volume.collect();
    let volumes: Option<f64> = spec
        .volumes
        .iter()
        .map(|volume| {
            least(
                &volume.caps,
                &volume.credits,
                &on_a_volume,
                |rate, largest| carried(volume.accounting, rate, largest),
            )
        })
        .sum();
    let Some(instance) = &spec.instance else {
        return volumes;
    };
    // An instance counts the bytes that cross its wire, and operations as its volumes count them.
    let carried = |rate: Rate, largest: Bytes| {
        let volumes = spec.volumes.iter();
        let by_volume = volumes.map(|volume| carried(volume.accounting, rate, spec.part(largest)));
        if rate.counts_bytes() {
            1.0
        } else {
            by_volume.fold(0.0, f64::max)
        }
    };
    let shared = least(&instance.caps, &instance.credits, times, carried);
    let behind = lower(volumes, shared);
    let Some(cache) = &instance.cache else {
        return behind;
    };
    // Writes that the cache answers are with no volume yet.
    let held = cache.writes_back.unwrap_or_default().as_f64();
    let cached = least(&cache.caps, &cache.credits, times, carried);
    lower(behind.map(|bytes| bytes + held), cached)
}

fn lower(one: Option<f64>, other: Option<f64>) -> Option<f64> {
    one.into_iter().chain(other).min_by(f64::total_cmp)
}

/// The bytes by the lowest line of these limiters, as drawn above. `carried`: the bytes of the load that a
/// unit of a rate moves at most, where no write is larger than this.
fn least(
    caps: &[Cap],
    credits: &[Credit],
    times: &[WritingTime],
    carried: impl Fn(Rate, Bytes) -> f64,
) -> Option<f64> {
    let caps = caps
        .iter()
        .filter(|cap| cap.covers.counts(Direction::Write))
        .flat_map(Line::of_cap);
    let lines = caps.chain(credits.iter().flat_map(Line::of_credit));
    lines
        .map(|line| {
            let largest = times.iter().map(|time| time.largest);
            let units = largest.map(|largest| largest.as_f64() / carried(line.rate, largest));
            let line = line.overdrawn(units.fold(0.0, f64::max));
            line.bytes(times, &carried)
        })
        .min_by(f64::total_cmp)
}

/// The most bytes of the load for each operation or byte that a volume counts: less than one where a
/// small write counts as a whole unit.
fn carried(accounting: Accounting, rate: Rate, largest: Bytes) -> f64 {
    // Each part of a longer write carries no more than a write of one unit.
    let unit = accounting.unit();
    let size = unit.map_or(largest, |unit| unit.min(largest)).as_f64();
    // Where they happen to lie in a row, they are merged.
    let charge = accounting.charge(size, true);
    let counted = if rate.counts_bytes() {
        charge.bytes
    } else {
        charge.ops
    };
    size / counted
}

/// One rate of a limiter, in its own units.
struct Line {
    rate: Rate,
    /// Saved up at the start, and at most.
    saved: f64,
    capacity: f64,
    /// Units that a rest brings back at the whole rate, and the share of it at which more return.
    refilled_in_full: f64,
    refill_share: f64,
}

impl Line {
    /// The rate of a cap with its bucket, and its peak.
    fn of_cap(cap: &Cap) -> impl Iterator<Item = Self> {
        let units = cap.rate.per_second();
        let capacity = units * cap.bucket.as_secs_f64();
        let steady = Self {
            rate: cap.rate,
            saved: capacity,
            capacity,
            refilled_in_full: capacity.min(units * FORGIVEN_STALL.as_secs_f64()),
            refill_share: cap.refill_share,
        };
        let peak = cap.peak.map(|rate| Self {
            rate,
            saved: 0.0,
            capacity: 0.0,
            refilled_in_full: 0.0,
            refill_share: 0.0,
        });
        std::iter::once(steady).chain(peak)
    }

    /// The baseline of burst credits with what they hold, and their burst rate.
    fn of_credit(credit: &Credit) -> impl Iterator<Item = Self> {
        let burst = credit.burst.per_second() * FORGIVEN_STALL.as_secs_f64();
        let burst = Self {
            rate: credit.burst,
            saved: burst,
            capacity: burst,
            refilled_in_full: burst,
            refill_share: 1.0,
        };
        // A bucket that is filled at intervals, whatever was spent, bounds nothing in the long run.
        let earned = credit.full_again.is_none().then_some(Self {
            rate: credit.baseline,
            saved: credit.capacity * credit.initial_share,
            capacity: credit.capacity,
            refilled_in_full: 0.0,
            refill_share: 1.0,
        });
        std::iter::once(burst).chain(earned)
    }

    /// The line with one more operation of these units, which begins while anything is left and is paid
    /// for afterwards.
    fn overdrawn(&self, units: f64) -> Self {
        Self {
            saved: self.saved + units,
            capacity: self.capacity + units,
            refilled_in_full: self.refilled_in_full + units,
            ..*self
        }
    }

    /// The units that return in a rest.
    fn returned(&self, rest: Nanos) -> f64 {
        let earned = self.rate.per_second() * rest.as_secs_f64();
        let in_full = self.refilled_in_full.min(earned);
        self.capacity
            .min(in_full + (earned - in_full) * self.refill_share)
    }

    /// The most bytes of the load that it lets pass.
    fn bytes(&self, times: &[WritingTime], carried: impl Fn(Rate, Bytes) -> f64) -> f64 {
        let each = times.iter().map(|time| carried(self.rate, time.largest));
        let most_carried = each.fold(0.0, f64::max);
        let first = times.first().map_or(0.0, |time| self.returned(time.rest));
        // What returns before the first time has no room beyond a full bucket.
        let mut saved = self.capacity.min(self.saved + first) - first;
        let mut bytes = 0.0;
        for time in times {
            let granted = self.rate.per_second() * time.lasts.as_secs_f64();
            let (count, carried) = (f64::from(time.count), carried(self.rate, time.largest));
            bytes += count * granted * carried;
            saved += count * self.returned(time.rest);
            // What small writes leave of the rate is saved up, and larger ones carry more with it.
            bytes += count * self.capacity.min(granted) * (most_carried - carried);
        }
        bytes + saved * most_carried
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Covers, InstanceSpec, Origin, VolumeSpec};

    const SSD: Accounting = Accounting::Merged {
        unit: Bytes(256 << 10),
    };

    fn volume(accounting: Accounting, rates: &[Rate]) -> VolumeSpec {
        VolumeSpec {
            accounting,
            caps: (rates.iter())
                .map(|rate| Cap::new("cap", *rate, Origin::Given))
                .collect(),
            ..VolumeSpec::new("test", Bytes::GIB)
        }
    }

    fn time(seconds: u64, largest: u64, rest: u64) -> WritingTime {
        WritingTime {
            lasts: Nanos::from_secs(seconds),
            largest: Bytes(largest),
            rest: Nanos::from_secs(rest),
            count: 1,
        }
    }

    #[track_caller]
    fn check(volumes: &[VolumeSpec], times: &[WritingTime], expected: f64) {
        let spec = DeviceSpec::new("test", volumes.to_vec());
        let found = most_written(&spec, times).expect("a limit");
        assert!((found - expected).abs() < 1.0, "{found} {expected}");
    }

    /// The story: 4 KiB writes to a volume of 3,000 IOPS were to write as much as its 125 MiB/s allow, and
    /// a second more of that in every pass.
    #[test]
    fn operations_count_as_well_as_bytes() {
        let rates = [Rate::Iops(3000.0), Rate::MibPerS(125.0)];
        let ssd = volume(SSD, &rates);
        let one = std::slice::from_ref(&ssd);
        // The story: of three threads with 1 MiB each, 32.5 MB were written in a pass of 150 ms where 32.1
        // were announced. One operation more begins at the end and is paid for afterwards.
        check(one, &[time(10, 4096, 0)], 30_001.0 * 4096.0);
        // Those that lie in a row are merged, so the bytes are what limits them.
        let bytes = 10.0 * 125.0 * 1_048_576.0 + 65_536.0;
        check(one, &[time(10, 65_536, 0)], bytes);
        check(
            &[ssd.clone(), ssd.clone()],
            &[time(10, 65_536, 0)],
            2.0 * bytes,
        );
        let hdd = volume(
            Accounting::WholeUnits { unit: Bytes::MIB },
            &[Rate::MibPerS(500.0)],
        );
        check(&[hdd], &[time(1, 4096, 0)], 501.0 * 4096.0);
    }

    /// Unequal volumes add up, and no limit of reads counts.
    #[test]
    fn each_volume_has_its_own_limit() {
        let mut fast = volume(Accounting::Plain, &[Rate::MbPerS(300.0)]);
        fast.caps.push(Cap {
            covers: Covers::Reads,
            ..Cap::new("reads", Rate::MbPerS(1.0), Origin::Given)
        });
        let slow = volume(Accounting::Plain, &[Rate::MbPerS(100.0)]);
        check(
            &[fast.clone(), slow.clone()],
            &[time(1, 4096, 0)],
            400e6 + 8192.0,
        );
        let instance = InstanceSpec {
            caps: vec![Cap::new("cap", Rate::MbPerS(250.0), Origin::Given)],
            ..InstanceSpec::new("i")
        };
        let spec = DeviceSpec {
            instance: Some(instance),
            ..DeviceSpec::new("test", vec![fast, slow])
        };
        let found = most_written(&spec, &[time(1, 4096, 0)]);
        let bytes = found.expect("a limit");
        assert!((bytes - 250e6 - 4096.0).abs() < 1.0, "{bytes}");
        let unlimited = DeviceSpec::new("test", vec![volume(Accounting::Plain, &[])]);
        assert_eq!(most_written(&unlimited, &[time(1, 4096, 0)]), None);
    }

    /// A bucket is full once, and each rest returns a part of it.
    #[test]
    fn what_is_saved_up_counts_once_and_comes_back_in_rests() {
        let mut saving = volume(Accounting::Plain, &[Rate::MbPerS(100.0)]);
        saving.caps[0].bucket = Nanos::from_secs(1);
        check(&[saving.clone()], &[time(5, 4096, 9)], 600e6 + 4096.0);
        let two = [time(5, 4096, 0), time(5, 4096, 3)];
        check(&[saving.clone()], &two, 1200e6 + 8192.0);
        // 20 ms at the rate, and a hundredth of the other 2.98 s.
        saving.caps[0].refill_share = 0.01;
        let returned = 2e6 + 2.98e6 + 0.99 * 4096.0;
        check(&[saving.clone()], &two, 1100e6 + 4096.0 + returned);
        saving.caps[0].peak = Some(Rate::MbPerS(105.0));
        check(&[saving], &two, 1050e6 + 8192.0);
    }

    #[test]
    fn credits_are_their_baseline_with_what_they_hold_or_their_burst() {
        let mut bursts = volume(Accounting::Plain, &[]);
        bursts.credits.push(Credit {
            name: "credits".to_owned(),
            baseline: Rate::Iops(100.0),
            burst: Rate::Iops(3000.0),
            capacity: 10_000.0,
            initial_share: 0.5,
            full_again: None,
            origin: Origin::Given,
        });
        // 60 operations make up for the 20 ms that a stall may last.
        check(&[bursts.clone()], &[time(1, 1000, 0)], 3061e3);
        check(&[bursts.clone()], &[time(100, 1000, 0)], 15_001e3);
        bursts.credits[0].full_again = Some(Nanos::from_secs(50));
        check(&[bursts], &[time(100, 1000, 0)], 300_061e3);
    }

    /// Small writes leave what the large ones after them carry away.
    #[test]
    fn what_small_writes_save_up_large_ones_use() {
        let mut saving = volume(Accounting::Plain, &[Rate::Iops(1000.0)]);
        saving.caps[0].bucket = Nanos::from_secs(1);
        let two = [time(5, 1000, 0), time(5, 3000, 0)];
        check(&[saving], &two, 5e6 + 15e6 + 1001.0 * (2000.0 + 3000.0));
    }
}
