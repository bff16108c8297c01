//! In: an address and a load of this many operations a second. Out: how long the burst credits last
//! at this load, and what is left then, by arithmetic alone.

use std::str::FromStr;

use blocklab_device::{Binding, Load, drains, predict_rate};
use blocklab_units::{Bytes, SECTOR};
use serde::Serialize;

use crate::cost::Cost;
use crate::price::HOURS_PER_MONTH;
use crate::stretch::Stretch;
use crate::{Error, Resolved};

/// A load that goes on for ever: `600iops,16KiB`, `40MB/s,128KiB,30%write,sequential`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SteadyLoad {
    /// Operations a second.
    pub iops: f64,
    /// Size of each.
    pub block: Bytes,
    /// Share of reads in per cent; the rest are writes.
    pub read_percent: u8,
    /// Each operation continues the one before it.
    pub is_sequential: bool,
}

/// A text that is no load.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{text}` is no load: {why}; write the rate and the size of an operation, such as 600iops,16KiB \
     or 40MB/s,128KiB,30%write,sequential"
)]
pub struct NotALoad {
    text: String,
    why: String,
}

/// The parts of a load as they were written.
#[derive(Default)]
struct Written {
    iops: Option<f64>,
    byte_rate: Option<f64>,
    block: Option<Bytes>,
    read_percent: Option<u8>,
    is_sequential: Option<bool>,
}

/// Sets what `part` gives, unless an earlier part has given another value.
fn set<T: Copy + PartialEq>(known: &mut Option<T>, value: T, part: &str) -> Result<(), String> {
    match known.replace(value) {
        Some(earlier) if earlier != value => Err(format!("`{part}` contradicts an earlier part")),
        _ => Ok(()),
    }
}

/// A number above zero, with or without `_` between its digits.
fn number(text: &str) -> Option<f64> {
    let number: f64 = text.trim().replace('_', "").parse().ok()?;
    (number.is_finite() && number > 0.0).then_some(number)
}

impl Written {
    /// Takes a part of a load: `5000iops`, `16KiB`, `100MB/s`, `70%reads`. The error says what is wrong.
    fn take(&mut self, part: &str) -> Result<(), String> {
        let wrong = || format!("`{part}` is neither a rate, a size nor a share of reads or writes");
        let lower = part.to_ascii_lowercase();
        if let Some(digits) = lower.strip_suffix("iops") {
            set(&mut self.iops, number(digits).ok_or_else(wrong)?, part)
        } else if let Some(size) = part.strip_suffix("/s") {
            let rate: Option<Bytes> = size.parse().ok().filter(|rate: &Bytes| rate.0 > 0);
            set(&mut self.byte_rate, rate.ok_or_else(wrong)?.as_f64(), part)
        } else if lower == "sequential" || lower == "random" {
            set(&mut self.is_sequential, lower == "sequential", part)
        } else if let Some((share, side)) = lower.split_once('%') {
            let share: Option<u8> = share.trim().parse().ok();
            let share = share.filter(|share| *share <= 100).ok_or_else(wrong)?;
            match side.trim() {
                "read" | "reads" => set(&mut self.read_percent, share, part),
                "write" | "writes" => set(&mut self.read_percent, 100 - share, part),
                _ => Err(wrong()),
            }
        } else {
            set(&mut self.block, part.parse().map_err(|_| wrong())?, part)
        }
    }

    /// The load, once all its parts are read. Without a share of reads it only reads.
    fn load(self) -> Result<SteadyLoad, String> {
        let block = self.block.ok_or("the size of an operation is missing")?;
        if block.0 < SECTOR {
            return Err(format!("an operation of {block} is smaller than a sector"));
        }
        let iops = match (self.iops, self.byte_rate) {
            (Some(iops), None) => iops,
            (None, Some(bytes)) => bytes / block.as_f64(),
            (Some(_), Some(_)) => return Err("it names two rates".to_owned()),
            (None, None) => return Err("the rate is missing".to_owned()),
        };
        Ok(SteadyLoad {
            iops,
            block,
            read_percent: self.read_percent.unwrap_or(100),
            is_sequential: self.is_sequential.unwrap_or(false),
        })
    }
}

impl FromStr for SteadyLoad {
    type Err = NotALoad;

    fn from_str(text: &str) -> Result<Self, NotALoad> {
        let mut written = Written::default();
        let parts = text.split(',').map(str::trim);
        let taken: Result<(), String> = parts.into_iter().try_for_each(|part| written.take(part));
        taken.and_then(|()| written.load()).map_err(|why| NotALoad {
            text: text.to_owned(),
            why,
        })
    }
}

/// How long a device endures a load: what it delivers with burst credits and after them. Not wear.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Endurance {
    /// Operations a second that are asked for.
    pub asked_iops: f64,
    /// Size of each.
    pub block_bytes: u64,
    /// Share of reads in per cent.
    pub read_percent: u8,
    /// Each operation continues the one before it.
    pub is_sequential: bool,
    /// From the start on; the last one goes on for ever. A binding of `the load` is a limit of none.
    pub phases: Vec<Stretch>,
    /// Every burst bucket of volumes and machine.
    pub buckets: Vec<Bucket>,
    /// What is billed by use, where it is documented what is counted.
    pub by_use: Vec<UseCost>,
}

/// What a month of the load costs by use.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct UseCost {
    /// `azure/Premium_LRS:on-demand I/O`.
    pub what: String,
    /// Operations that are billed in a month of 730 hours.
    pub operations: f64,
    /// A month, in `currency`.
    pub usd_per_month: f64,
    /// `USD`, or `CNY` in the regions of China.
    pub currency: &'static str,
}

/// A burst bucket under the load.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Bucket {
    /// `gp2: burst credits`.
    pub name: String,
    /// Operations of this load a second that it allows for ever.
    pub sustains_iops: f64,
    /// Seconds that what it holds at first lasts at the rate that is asked for, or at that of its burst
    /// where this is less, and where no other limit holds the load back; `None`: for ever.
    pub lasts_s: Option<f64>,
}

impl Resolved {
    /// How long the burst credits last at a load, and what is left then.
    ///
    /// # Errors
    /// When nothing is predicted of the device.
    pub fn endure(&self, load: &SteadyLoad) -> Result<Endurance, Error> {
        let of_device = Load {
            read_percent: load.read_percent,
            block: load.block,
            streams: u32::from(load.is_sequential),
            in_flight: 1,
        };
        let unknown = |why: blocklab_device::Invalid| Error::NoPrediction {
            address: self.address.to_string(),
            why: why.to_string(),
        };
        let prediction = predict_rate(&self.spec, of_device, load.iops).map_err(unknown)?;
        let buckets = drains(&self.spec, of_device, load.iops).map_err(unknown)?;
        let phases = prediction.phases.iter().map(|phase| match phase.binding {
            Binding::Limit(_) => Stretch::new(phase, &self.limits),
            Binding::Latency => Stretch {
                evidence: "given",
                binding: "the load".to_owned(),
                ..Stretch::new(phase, &self.limits)
            },
        });
        let phases: Vec<Stretch> = phases.collect();
        let costs = self.costs.iter();
        Ok(Endurance {
            asked_iops: load.iops,
            block_bytes: load.block.0,
            read_percent: load.read_percent,
            is_sequential: load.is_sequential,
            by_use: costs.filter_map(|cost| by_use_of(cost, &phases)).collect(),
            phases,
            buckets: buckets
                .into_iter()
                .map(|drain| Bucket {
                    name: drain.name.to_string().replace(" (baseline)", ""),
                    sustains_iops: drain.sustains_iops,
                    lasts_s: drain.lasts.map(|lasts| lasts.as_secs_f64()),
                })
                .collect(),
        })
    }
}

/// What a month of these phases costs by use; `None`: it is paid otherwise, or nothing tells what is
/// counted.
fn by_use_of(cost: &Cost, phases: &[Stretch]) -> Option<UseCost> {
    let above = cost.above?;
    let month_s = HOURS_PER_MONTH * 3600.0;
    let ends = phases.iter().skip(1).map(|phase| phase.begins_s);
    let billed = phases
        .iter()
        .zip(ends.chain([month_s]))
        .map(|(phase, end)| {
            let bytes_per_s = phase.mib_per_s * 1_048_576.0;
            let seconds = (end.min(month_s) - phase.begins_s).max(0.0);
            above.billed_iops(phase.iops, bytes_per_s) * seconds
        });
    let operations: f64 = billed.sum();
    Some(UseCost {
        what: cost.what.clone(),
        operations,
        usd_per_month: operations / cost.per.operations() * cost.usd_each,
        currency: cost.currency,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Catalog, resolve_text};

    fn endure(address: &str, load: &str) -> Endurance {
        let resolved = resolve_text(address, &Catalog::embedded()).expect(address);
        let load = load.parse().unwrap_or_else(|error| panic!("{error}"));
        resolved
            .endure(&load)
            .unwrap_or_else(|error| panic!("{error}"))
    }

    /// 5.4 million credits, spent at 600 - 300 a second, last five hours; then 300 are left.
    #[test]
    fn credits_of_gp2_at_a_load() {
        let endured = endure("gp2:100GiB", "600iops,16KiB");
        assert_eq!(endured.buckets[0].lasts_s, Some(18_000.0));
        assert_eq!(endured.buckets[0].sustains_iops, 300.0);
        let phases: Vec<_> = endured
            .phases
            .iter()
            .map(|p| (p.begins_s, p.iops))
            .collect();
        assert_eq!(phases, [(0.0, 600.0), (18_000.0, 300.0)]);
        assert_eq!(endured.phases[0].binding, "the load");
        assert_eq!(
            endure("gp2:100GiB", "300iops,16KiB").buckets[0].lasts_s,
            None
        );
        assert_eq!(
            endure("gp2:100GiB,credits=0%", "600iops,16KiB").phases[0].iops,
            300.0
        );
        let half = endure("gp2:100GiB,credits=50%", "600 IOPS, 16KiB, 30%write");
        assert_eq!(half.buckets[0].lasts_s, Some(9000.0));
    }

    /// The story: at a load beyond the burst, credits were said to last 11 min 41 s below a course of
    /// 33 min 20 s: no more than the burst can be spent.
    #[test]
    fn credits_are_not_spent_faster_than_the_burst() {
        let endured = endure("gp2:100GiB", "8000iops,16KiB");
        assert_eq!(endured.phases[1].begins_s, 2000.0);
        assert_eq!(endured.buckets[0].lasts_s, Some(2000.0));
    }

    /// P10: 1,000 operations a second of 256 KiB are 262 MB/s: the byte cap of the burst binds first,
    /// and after half an hour its target.
    #[test]
    fn two_buckets_at_once() {
        let endured = endure("azure/P10", "1000iops,256KiB");
        let first = &endured.phases[0];
        assert!((first.iops - 170e6 / 262_144.0).abs() < 1e-6, "{first:?}");
        let second = &endured.phases[1];
        assert_eq!(second.begins_s, 1800.0);
        assert!((second.iops - 100e6 / 262_144.0).abs() < 1e-6, "{second:?}");
        // 40 MB/s lie below 100; 305 operations a second below 500.
        let small = endure("azure/P10", "40MB/s,128KiB");
        assert!(small.buckets.iter().all(|bucket| bucket.lasts_s.is_none()));
    }

    /// The bill of a burst that never ends was "by use", in a total that left it out: 12,000 operations a
    /// second are 4,500 above the 7,500 of a P40, 11.8 thousand million a month.
    #[test]
    fn a_burst_that_is_switched_on_has_a_bill() {
        let address = "azure/P40,performance=on-demand,region=northeurope@D16s_v5";
        let billed = |load| endure(address, load).by_use[0].clone();
        let operations = 4500.0 * 730.0 * 3600.0;
        assert_eq!(billed("12000iops,16KiB").operations, operations);
        assert_eq!(
            billed("12000iops,16KiB").usd_per_month,
            operations / 1e4 * 0.006
        );
        assert_eq!(billed("7500iops,16KiB").operations, 0.0);
        // 300 MB/s are 50 above the 250, four operations each.
        let by_bytes = billed("300MB/s,128KiB").operations / (730.0 * 3600.0);
        assert!((by_bytes - 200.0).abs() < 1e-6, "{by_bytes}");
        // Two disks have twice the rate before anything is billed, and two fees.
        let two = "2xazure/P40,performance=on-demand,region=northeurope@D16s_v5";
        assert_eq!(endure(two, "12000iops,16KiB").by_use[0].operations, 0.0);
        let resolved = resolve_text(two, &Catalog::embedded()).expect(two);
        let fee = resolved
            .costs
            .iter()
            .find(|cost| cost.what.contains("on-demand storage"));
        assert_eq!(fee.expect("a fee").quantity, 2.0);
        assert!(endure("azure/P10", "1000iops,256KiB").by_use.is_empty());
    }

    #[test]
    fn a_load_is_read_as_people_write_it() {
        let load: SteadyLoad = "1_500iops,4KiB,sequential,40%read".parse().expect("a load");
        assert_eq!(
            (load.iops, load.block.0, load.read_percent),
            (1500.0, 4096, 40)
        );
        assert!(load.is_sequential);
        let loose: Result<SteadyLoad, _> = "1500 IOPS, 4KiB, sequential, 60 % writes".parse();
        assert_eq!(loose, Ok(load));
        let refuse = |text: &str, why: &str| {
            let told = text.parse::<SteadyLoad>().expect_err(text).to_string();
            assert!(
                told.contains(why) && told.contains("600iops,16KiB"),
                "{told}"
            );
        };
        refuse("600iops", "the size of an operation is missing");
        refuse("16KiB", "the rate is missing");
        // `16` was taken for operations of 16 bytes.
        refuse("600iops,16", "16 B is smaller than a sector");
        refuse("600iops,4MB/s,4KiB", "two rates");
        refuse("many,4KiB", "`many` is neither");
        refuse("600iops,4KiB,130%write", "neither");
        refuse("0iops,4KiB", "`0iops` is neither");
        refuse("0MB/s,4KiB", "`0MB/s` is neither");
        refuse("600iops,4KiB,5000iops", "`5000iops` contradicts");
    }
}
