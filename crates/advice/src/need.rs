//! In: what a disk must hold and do, as text. Out: the loads that it asks for, and each limit of a
//! device beside what they ask of it. Whether limits meet a need is decided here and nowhere else, by
//! the closed form of the device.

use std::fmt;
use std::str::FromStr;

use blocklab_device::{
    Accounting, Charge, DeviceSpec, Grant, LimitName, Load, Rate, drains, grants, service_quantile,
};
use blocklab_units::{Bytes, Nanos, count, did_you_mean, trimmed};
use blocklab_workload::address::exact;
use serde::Serialize;

/// What a disk must hold and do.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Need {
    /// Bytes that it holds.
    pub capacity: Bytes,
    /// Operations a second at random, of `block` bytes; 0: any.
    pub iops: f64,
    /// Bytes a second in large sequential operations, at another time; 0: any.
    pub bytes_per_s: f64,
    /// Size of a random operation.
    pub block: Bytes,
    /// Share of reads in per cent; `None`: whichever direction is slower.
    pub read_percent: Option<u8>,
    /// The 99th percentile of the latency of random operations is at most this.
    pub p99: Option<Nanos>,
    /// How long full burst buckets have to last; `None`: for ever, so that they do not count.
    pub lasts: Option<Nanos>,
}

/// The size of the operations in which throughput is asked for.
pub const LARGE: Bytes = Bytes::MIB;

/// A quantity that a need asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Wanted {
    /// Bytes that it holds.
    Capacity,
    /// Random operations a second.
    Iops,
    /// Bytes a second in large operations.
    Throughput,
    /// The 99th percentile of the latency.
    P99,
}

impl Wanted {
    /// Its name in texts, the same as in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Capacity => "capacity",
            Self::Iops => "iops",
            Self::Throughput => "throughput",
            Self::P99 => "p99",
        }
    }

    /// The unit of its values.
    pub(crate) const fn unit(self) -> &'static str {
        match self {
            Self::Capacity => "bytes",
            Self::Iops => "IOPS",
            Self::Throughput => "bytes/s",
            Self::P99 => "ns",
        }
    }
}

/// A limit of a device, and what a need asks of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Margin {
    /// What is asked for.
    pub wanted: Wanted,
    /// The limit; `None`: the size of the device, its latency, or nothing that is documented.
    pub limit: Option<LimitName>,
    /// What it allows for as long as the need lasts: operations of the load or bytes a second, bytes, or
    /// nanoseconds; `None`: no document gives it.
    pub has: Option<f64>,
    /// What is needed, in the same unit.
    pub needs: f64,
}

impl Margin {
    /// The share of the limit that the need takes; above 1 it is too much.
    pub fn used(&self) -> f64 {
        match (self.wanted, self.has) {
            (_, None) => f64::INFINITY,
            (Wanted::P99, Some(has)) => has / self.needs,
            (_, Some(has)) => self.needs / has,
        }
    }

    /// Whether the need stays within the limit. The tolerance is for rounding: figures of tables are
    /// decimal fractions. A latency is a whole number of nanoseconds.
    pub fn is_met(&self) -> bool {
        let tolerance = if self.wanted == Wanted::P99 {
            0.0
        } else {
            1e-9
        };
        self.used() <= 1.0 + tolerance
    }

    /// What falls short, in words: `536 IOPS at most`.
    pub fn lack(&self) -> String {
        let (unit, name) = match self.wanted {
            Wanted::Capacity => {
                let has = Bytes(self.has.unwrap_or_default() as u64);
                return format!("{has} at most");
            }
            Wanted::P99 => {
                return match self.has {
                    Some(has) => format!("p99 of {} at best", Nanos(has as u64)),
                    None => "no document gives its latency".to_owned(),
                };
            }
            Wanted::Iops => (1.0, "IOPS"),
            Wanted::Throughput => (1e6, "MB/s"),
        };
        match self.has {
            Some(has) => format!("{} {name} at most", count((has / unit).floor())),
            None => format!("no document gives its {name}"),
        }
    }
}

/// The size of an operation if none is named.
const USUAL_BLOCK: Bytes = Bytes(16 << 10);

impl Need {
    /// A need of capacity alone.
    pub const fn new(capacity: Bytes) -> Self {
        Self {
            capacity,
            iops: 0.0,
            bytes_per_s: 0.0,
            block: USUAL_BLOCK,
            read_percent: None,
            p99: None,
            lasts: None,
        }
    }

    /// The quantities that it asks for.
    pub(crate) fn parts(&self) -> Vec<Wanted> {
        let mut parts = vec![Wanted::Capacity];
        if self.iops > 0.0 {
            parts.push(Wanted::Iops);
        }
        if self.bytes_per_s > 0.0 {
            parts.push(Wanted::Throughput);
        }
        if self.p99.is_some() {
            parts.push(Wanted::P99);
        }
        parts
    }

    /// The value of a part, in its unit.
    pub(crate) fn value(&self, part: Wanted) -> f64 {
        match part {
            Wanted::Capacity => self.capacity.as_f64(),
            Wanted::Iops => self.iops,
            Wanted::Throughput => self.bytes_per_s,
            Wanted::P99 => self.p99.unwrap_or_default().0 as f64,
        }
    }

    /// The need with another value of a part, in its unit.
    pub(crate) fn with_value(&self, part: Wanted, value: f64) -> Self {
        let mut other = *self;
        match part {
            Wanted::Capacity => other.capacity = Bytes((value as u64).max(1)),
            Wanted::Iops => other.iops = value,
            Wanted::Throughput => other.bytes_per_s = value,
            Wanted::P99 => other.p99 = Some(Nanos(value as u64)),
        }
        other
    }

    /// The random loads that it asks for: without a mix, reads alone and writes alone.
    pub fn random(&self) -> Vec<Load> {
        let shares = self
            .read_percent
            .map_or_else(|| vec![100, 0], |percent| vec![percent]);
        let loads = shares
            .into_iter()
            .map(|read_percent| Load::random(read_percent, self.block, 1));
        loads.collect()
    }

    /// The sequential loads in large operations that it asks for: for each direction that occurs in
    /// its mix, one stream of that direction alone.
    pub fn streams(&self) -> Vec<Load> {
        // A share of 0 or 100 is a load of one direction; any other, or none, is one of both.
        let shares = [100, 0].into_iter().filter(|percent| {
            let only = self.read_percent.filter(|share| share % 100 == 0);
            only.is_none_or(|only| only == *percent)
        });
        let loads = shares.map(|read_percent| Load {
            read_percent,
            block: LARGE,
            streams: 1,
            in_flight: 1,
        });
        loads.collect()
    }

    /// Every limit of what it asks for, the tightest first.
    pub fn margins(&self, spec: &DeviceSpec) -> Vec<Margin> {
        let mut margins = self.rates(spec);
        margins.push(Margin {
            wanted: Wanted::Capacity,
            limit: None,
            has: Some(spec.capacity().as_f64()),
            needs: self.capacity.as_f64(),
        });
        margins.extend(self.p99.map(|p99| Margin {
            wanted: Wanted::P99,
            limit: None,
            has: self.least_p99(spec).map(|least| least.0 as f64),
            needs: p99.0 as f64,
        }));
        margins.sort_by(|a, b| b.used().total_cmp(&a.used()));
        margins
    }

    /// The limits of rates alone, in no order.
    pub fn rates(&self, spec: &DeviceSpec) -> Vec<Margin> {
        let mut margins = Vec::new();
        if self.iops > 0.0 {
            let loads = self.random();
            margins.extend(self.margins_of_rate(spec, Wanted::Iops, &loads, 1.0, self.iops));
        }
        if self.bytes_per_s > 0.0 {
            let (loads, each) = (self.streams(), LARGE.as_f64());
            let needs = self.bytes_per_s;
            margins.extend(self.margins_of_rate(spec, Wanted::Throughput, &loads, each, needs));
        }
        margins
    }

    /// The margins of one kind of rate, in units of which an operation has `each`: 1 for a rate of
    /// operations, its bytes for a throughput. Of several loads, the smallest grant of a limit counts.
    /// Without any limit on this kind of rate, the rate is taken for undocumented, not for unlimited, so
    /// a device without figures never meets a need.
    fn margins_of_rate(
        &self,
        spec: &DeviceSpec,
        wanted: Wanted,
        loads: &[Load],
        each: f64,
        needs: f64,
    ) -> Vec<Margin> {
        let margin = |limit, has| Margin {
            wanted,
            limit,
            has,
            needs,
        };
        if !is_documented(spec, wanted) {
            return vec![margin(None, None)];
        }
        let mut found: Vec<Margin> = Vec::new();
        for load in loads {
            for grant in grants(spec, *load).into_iter().flatten() {
                let (name, iops) = match self.in_burst(spec, *load, &grant) {
                    Some(iops) => (grant.burst_name, iops),
                    None => (grant.name, grant.iops),
                };
                let has = iops * each;
                let known = found
                    .iter_mut()
                    .find(|known| known.limit.as_ref() == Some(&name));
                match known {
                    Some(known) => known.has = known.has.map(|other| other.min(has)),
                    None => found.push(margin(Some(name), Some(has))),
                }
            }
        }
        found
    }

    /// Operations a second that the burst bucket of a limit, full at first, allows for as long as the need
    /// lasts; `None`: there is no bucket, or credits do not count.
    fn in_burst(&self, spec: &DeviceSpec, load: Load, grant: &Grant) -> Option<f64> {
        let needed = self.lasts?.as_secs_f64();
        // A bucket loses in a second what goes beyond its baseline: any rate above that tells what it holds.
        let rate = (2.0 * grant.iops + 1.0).min(grant.burst_iops);
        let drains = drains(spec, load, rate).ok()?;
        let drain = drains.iter().find(|drain| drain.name == grant.name)?;
        let share = drain.lasts.map(|lasts| lasts.as_secs_f64() / needed);
        let saved = share.map_or(f64::INFINITY, |share| share * (rate - grant.iops));
        Some((grant.iops + saved).min(grant.burst_iops))
    }

    /// The tightest margin, if it is not met.
    pub fn lacks(&self, spec: &DeviceSpec) -> Option<Margin> {
        let tightest = self.margins(spec).into_iter().next();
        tightest.filter(|margin| !margin.is_met())
    }

    /// The 99th percentile of the latency without any queueing, of the slower direction; `None`: no
    /// document gives it.
    pub fn least_p99(&self, spec: &DeviceSpec) -> Option<Nanos> {
        let loads = self.random().into_iter();
        let each = loads.map(|load| service_quantile(spec, load, 0.99).ok());
        each.collect::<Option<Vec<Nanos>>>()?.into_iter().max()
    }

    /// Operations and bytes a second that the limits of a device allow for ever, of such loads;
    /// `None`: no limit is documented.
    pub(crate) fn most(&self, spec: &DeviceSpec) -> [Option<f64>; 2] {
        // What limits allow does not depend on the rate that is needed, but a rate of zero has no margins.
        let any = Self {
            iops: 1.0,
            bytes_per_s: 1.0,
            lasts: None,
            ..*self
        };
        let rates = any.rates(spec);
        [Wanted::Iops, Wanted::Throughput].map(|wanted| {
            let of_it = rates.iter().filter(|margin| margin.wanted == wanted);
            of_it.filter_map(|margin| margin.has).reduce(f64::min)
        })
    }

    /// Operations and bytes a second that all volumes together are charged for the need, by the rules of
    /// accounting of their type: the more of its random load and its throughput, which come at different
    /// times. Striping cuts large operations, so that more are counted.
    pub(crate) fn counted(&self, accounting: Accounting, is_striped: bool) -> Charge {
        let stripe = blocklab_device::Layout::default().part(LARGE);
        let large = self.bytes_per_s / LARGE.as_f64();
        let mut most = Charge {
            ops: 0.0,
            bytes: 0.0,
        };
        for (block, iops, in_order) in [(self.block, self.iops, false), (LARGE, large, true)] {
            let part = if is_striped { block.min(stripe) } else { block }.as_f64();
            let charge = accounting.charge(part, in_order);
            let parts_per_s = block.as_f64() / part * iops;
            most.ops = most.ops.max(charge.ops * parts_per_s);
            most.bytes = most.bytes.max(charge.bytes * parts_per_s);
        }
        most
    }
}

/// Whether some limit counts operations, or bytes.
fn is_documented(spec: &DeviceSpec, wanted: Wanted) -> bool {
    let Some(volume) = spec.volumes.first() else {
        return false;
    };
    let mut rates: Vec<Rate> = volume.caps.iter().map(|cap| cap.rate).collect();
    rates.extend(volume.credits.iter().map(|credit| credit.baseline));
    if let Some(machine) = &spec.instance {
        rates.extend(machine.caps.iter().map(|cap| cap.rate));
        rates.extend(machine.credits.iter().map(|credit| credit.baseline));
    }
    let counts_bytes = rates.iter().any(|rate| rate.counts_bytes());
    let counts_ops = rates.iter().any(|rate| !rate.counts_bytes());
    // With whole units, each random operation is charged at least one unit of bytes, so a limit on bytes
    // limits operations as well.
    let by_units = matches!(volume.accounting, Accounting::WholeUnits { .. });
    match wanted {
        Wanted::Iops => counts_ops || by_units && counts_bytes,
        _ => counts_bytes,
    }
}

/// A text that is no need.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{text}` is no need: {why}; write what it must hold and do, such as 1TiB,10000iops,300MB/s or \
     capacity=1TiB,iops=10000,throughput=300MB/s,block=16KiB,read=70,p99=5ms"
)]
pub struct NotANeed {
    text: String,
    why: String,
}

/// The keys of `key=value`.
const KEYS: [&str; 6] = ["capacity", "iops", "throughput", "block", "read", "p99"];

impl FromStr for Need {
    type Err = NotANeed;

    fn from_str(text: &str) -> Result<Self, NotANeed> {
        let need = Self::new(Bytes::ZERO).with(text)?;
        if need.capacity == Bytes::ZERO {
            let (text, why) = (text.to_owned(), "the size is missing".to_owned());
            return Err(NotANeed { text, why });
        }
        Ok(need)
    }
}

impl Need {
    /// The need with the parts that a text gives.
    ///
    /// # Errors
    /// A part that cannot be read, or that is given twice.
    pub fn with(self, text: &str) -> Result<Self, NotANeed> {
        let wrong = |why: String| NotANeed {
            text: text.to_owned(),
            why,
        };
        let mut need = self;
        let mut given: Vec<&str> = Vec::new();
        for part in text.split(',').map(str::trim) {
            let (key, value) = match part.split_once(['<', '=']) {
                // Of `p99<=5ms`, the `=` is left at the value.
                Some((key, value)) => (key.trim(), value.trim_start_matches(['=', ' '])),
                None => bare(part).map_err(wrong)?,
            };
            let key = known_key(key).map_err(wrong)?;
            // Of all others, at least the value is needed.
            if part.contains('<') && key != "p99" {
                return Err(wrong(format!("only p99 has an upper bound: {key}={value}")));
            }
            need.set(key, value).map_err(wrong)?;
            if given.contains(&key) {
                return Err(wrong(format!("{key} is given twice")));
            }
            given.push(key);
        }
        Ok(need)
    }
}

/// A key of [`KEYS`], also by the name that the flag of `run` has for it.
fn known_key(written: &str) -> Result<&'static str, String> {
    let lower = written.to_ascii_lowercase();
    let key = match lower.as_str() {
        "bs" => "block",
        "mix" | "reads" => "read",
        "size" => "capacity",
        key => key,
    };
    let found = KEYS.iter().find(|known| **known == key);
    found.copied().ok_or_else(|| {
        let hint = did_you_mean(key, KEYS, || format!("there are {}", KEYS.join(", ")));
        format!("it has no `{written}`; {hint}")
    })
}

/// The key of a value without one, by its unit. A bare number is refused: `5000` would parse as bytes,
/// where operations a second are meant.
fn bare(part: &str) -> Result<(&'static str, &str), String> {
    if part.ends_with(|last: char| last.is_ascii_digit()) && part.parse::<f64>().is_ok() {
        return Err(format!(
            "`{part}` lacks its unit, such as {part}iops or {part}GiB"
        ));
    }
    // Saturates on a part shorter than the unit, which then is none.
    let digits = part.len().saturating_sub("iops".len());
    Ok(match (part.get(digits..), part.ends_with("/s")) {
        (Some(unit), _) if unit.eq_ignore_ascii_case("iops") => ("iops", &part[..digits]),
        (_, true) => ("throughput", part),
        _ => ("capacity", part),
    })
}

/// More than any device does; a larger number is a typing error.
const MOST_IOPS: f64 = 1e9;

impl Need {
    /// Sets a part of the need, by its key of [`KEYS`], from its text.
    fn set(&mut self, key: &str, value: &str) -> Result<(), String> {
        let unreadable = |what: &str| format!("`{value}` is no {what}");
        match key {
            "capacity" => {
                let bytes: Option<Bytes> = value.parse().ok();
                let bytes = bytes.filter(|bytes| bytes.0 > 0);
                self.capacity = bytes.ok_or_else(|| unreadable("size nor rate, such as 1TiB"))?;
            }
            "iops" => {
                let digits = value.replace('_', "");
                let iops: Option<f64> = digits.trim().parse().ok();
                let sound = iops.filter(|iops| iops.is_sign_positive() && *iops <= MOST_IOPS);
                self.iops = sound.ok_or_else(|| unreadable("number of operations a second"))?;
            }
            "throughput" => {
                let size = value.strip_suffix("/s").and_then(|size| size.parse().ok());
                let bytes: Bytes = size.ok_or_else(|| unreadable("throughput such as 300MB/s"))?;
                self.bytes_per_s = bytes.as_f64();
            }
            "block" => {
                let block: Option<Bytes> = value.parse().ok();
                let sound = block.filter(|block| {
                    (512..=16 << 20).contains(&block.0) && block.0.is_multiple_of(512)
                });
                let what = "size of an operation such as 16KiB: 512B to 16MiB, in steps of 512";
                self.block = sound.ok_or_else(|| unreadable(what))?;
            }
            "read" => {
                let percent = value.strip_suffix('%').unwrap_or(value).trim().parse().ok();
                let sound = percent.filter(|percent| *percent <= 100);
                self.read_percent =
                    Some(sound.ok_or_else(|| unreadable("share of reads such as 70"))?);
            }
            // p99, the last of the keys.
            _ => {
                if value.ends_with(|last: char| last.is_ascii_digit()) {
                    return Err(format!("`{value}` lacks its unit: p99={value}ms"));
                }
                let time: Option<Nanos> = value.parse().ok();
                let sound = time.filter(|time| *time > Nanos::ZERO);
                self.p99 = Some(sound.ok_or_else(|| unreadable("latency such as 5ms"))?);
            }
        }
        Ok(())
    }
}

/// As people write it: `1 TiB, 10,000 IOPS, 300 MB/s`.
impl fmt::Display for Need {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let size = exact(self.capacity);
        let unit = size.find(char::is_alphabetic).unwrap_or(0);
        write!(f, "{} {}", &size[..unit], &size[unit..])?;
        if self.iops > 0.0 {
            write!(f, ", {} IOPS", count(self.iops))?;
            if self.block != Self::new(self.capacity).block {
                write!(f, " of {}", self.block)?;
            }
        }
        if self.bytes_per_s > 0.0 {
            let exact = self.bytes_per_s / 1_048_576.0;
            if exact.fract() == 0.0 {
                write!(f, ", {} MiB/s", count(exact))?;
            } else if self.bytes_per_s < 1e5 {
                write!(f, ", {} B/s", count(self.bytes_per_s))?;
            } else {
                write!(f, ", {} MB/s", trimmed(self.bytes_per_s / 1e6, 1))?;
            }
        }
        if let Some(percent) = self.read_percent {
            write!(f, ", {percent} % reads")?;
        }
        match self.p99 {
            Some(p99) => write!(f, ", p99 below {p99}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use blocklab_catalog::{Catalog, resolve};

    #[test]
    fn a_need_is_read_as_people_write_it() {
        let need: Need = "1TiB, 10_000 IOPS, 300MB/s".parse().expect("a need");
        assert_eq!(
            (need.capacity, need.iops, need.bytes_per_s),
            (Bytes(1 << 40), 10_000.0, 3e8)
        );
        let named: Need = "capacity=1TiB,iops=10000,throughput=300MB/s,block=16KiB"
            .parse()
            .expect("a need");
        assert_eq!(named, need);
        let whole: Need = "capacity=2TiB,iops=20000,throughput=800MiB/s,block=8KiB,read=70,p99=5ms"
            .parse()
            .expect("a need");
        assert_eq!(
            whole.to_string(),
            "2 TiB, 20,000 IOPS of 8 KiB, 800 MiB/s, 70 % reads, p99 below 5.00 ms"
        );
        let as_run: Need = "size=2TiB,20000iops,800MiB/s,bs=8k,mix=70,p99<5ms"
            .parse()
            .expect("a need");
        assert_eq!(as_run, whole);
        let loose: Need = "SIZE=2TiB, iops = 20000, 800MiB/s, BS=8k, read=70 %, P99 <= 5ms"
            .parse()
            .expect("a need");
        assert_eq!(loose, whole);
    }

    /// The story: the need of a trace of one operation was shown as "1 IOPS of 512 B, 0 MB/s".
    #[test]
    fn little_is_not_shown_as_nothing() {
        let shown = |text: &str| text.parse::<Need>().expect("a need").to_string();
        assert_eq!(shown("1GiB,40kB/s"), "1 GiB, 40,000 B/s");
        assert_eq!(shown("1GiB,100kB/s"), "1 GiB, 0.1 MB/s");
    }

    #[test]
    fn what_is_no_need_is_said_with_its_reason() {
        let refuse = |text: &str, why: &str| {
            let told = text.parse::<Need>().expect_err(text).to_string();
            assert!(told.contains(why), "{told}");
        };
        refuse("10000iops", "the size is missing");
        refuse("5000", "`5000` lacks its unit, such as 5000iops or 5000GiB");
        refuse("1TiB,p99<5", "`5` lacks its unit: p99=5ms");
        refuse("1TiB,many", "`many` is no size");
        refuse("1TiB,2TiB", "capacity is given twice");
        refuse("1TiB,iopz=5", "did you mean iops");
        refuse("1TiB,iops=nan", "`nan` is no number");
        refuse("1TiB,read=101", "share of reads");
        refuse("1TiB,iops=-0", "`-0` is no number");
        // The story: this was a need of at least 50 operations a second.
        refuse("1TiB,iops<=50", "only p99 has an upper bound: iops=50");
        refuse("1TiB,p99=0ms", "no latency");
        refuse("1TiB,block=100", "no size of an operation");
        // `16kb`, 16,000 bytes, was told of steps of 512, and not how 16,384 are written.
        refuse("1TiB,block=16kb", "such as 16KiB");
        refuse("0GiB", "`0GiB` is no size");
        refuse("", "`` is no size");
    }

    /// The story: with a tolerance of a billionth, the p99 of a device of two seconds met a need of one
    /// nanosecond less, and the front of price and latency repeated the device up to its last point.
    #[test]
    fn a_latency_has_no_tolerance() {
        let margin = |needs| Margin {
            wanted: Wanted::P99,
            limit: None,
            has: Some(2e9),
            needs,
        };
        assert!(margin(2e9).is_met());
        assert!(!margin(2e9 - 1.0).is_met());
    }

    /// The story: of a gp2 that was made larger only so that its credits last for an hour, the capacity was
    /// said to bind, as the rate of the burst had room.
    #[test]
    fn credits_that_last_no_longer_than_the_need_bind() {
        let volume = |gib: u64| {
            let address = format!("gp2:{gib}GiB").parse().expect("an address");
            resolve(&address, &Catalog::embedded())
                .expect("a volume")
                .spec
        };
        let hour = |gib: u64| Need {
            iops: 2500.0,
            lasts: Some(Nanos::from_secs(3600)),
            ..Need::new(Bytes(gib << 30))
        };
        // 3 IOPS per GiB, and 5.4 million credits in an hour: 1,002 and 1,500.
        let margins = hour(300).margins(&volume(334));
        let name = margins[0].limit.as_ref().map(ToString::to_string);
        assert_eq!(name.as_deref(), Some("gp2: burst credits (burst)"));
        assert!((margins[0].has.expect("a rate") - 2502.0).abs() < 0.001);
        assert!(hour(300).lacks(&volume(333)).is_some());
        // The story: at a need below the baseline, the volume was said to have the burst for that hour.
        let least = |need: Need| {
            let rates = need.rates(&volume(334)).into_iter();
            rates.filter_map(|rate| rate.has).reduce(f64::min)
        };
        let small = Need {
            iops: 500.0,
            ..hour(300)
        };
        assert!((least(small).expect("a rate") - 2502.0).abs() < 0.001);
        // Never more than the burst, whatever the bucket holds.
        let short = Need {
            lasts: Some(Nanos::from_secs(60)),
            ..hour(300)
        };
        assert_eq!(least(short), Some(3000.0));
    }

    proptest::proptest! {
        /// Whatever is written, it is a need or a refusal.
        #[test]
        fn no_text_is_too_strange(text in "[a-z0-9=,/.%_ é-]{0,40}") {
            let _ = text.parse::<Need>();
        }

        /// Parts in any order are the need that they say, and a part that is written twice is refused.
        #[test]
        fn every_need_can_be_written(
            gib in 1_u64..1 << 20,
            iops in 0_u64..1_000_000_000,
            mib in 0_u64..1 << 20,
            sectors in 1_u64..=(16 << 20) / 512,
            read in proptest::option::of(0_u8..=100),
            p99 in proptest::option::of(1_u64..1 << 40),
            turn in 0_usize..6,
        ) {
            let need = Need {
                iops: iops as f64,
                bytes_per_s: Bytes(mib << 20).as_f64(),
                block: Bytes(sectors * 512),
                read_percent: read,
                p99: p99.map(Nanos),
                ..Need::new(Bytes(gib << 30))
            };
            let mut parts = vec![
                format!("{gib}GiB"),
                format!("{iops} IOPS"),
                format!("throughput={mib}MiB/s"),
                format!("BLOCK = {}B", sectors * 512),
            ];
            parts.extend(read.map(|read| format!("read={read}%")));
            parts.extend(p99.map(|p99| format!("p99={p99}ns")));
            let turn = turn % parts.len();
            parts.rotate_left(turn);
            proptest::prop_assert_eq!(parts.join(",").parse::<Need>(), Ok(need));
            parts.push(parts[0].clone());
            proptest::prop_assert!(parts.join(",").parse::<Need>().is_err());
        }
    }
}
