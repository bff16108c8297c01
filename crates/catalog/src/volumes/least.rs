//! In: what a volume of a type must do. Out: the smallest size and the fewest provisioned figures
//! that do it. The rules of the type are inverted here only to find candidates; whether one is enough is
//! judged by the device that the rules make of it.

use blocklab_device::LimitUnit;
use blocklab_units::{Bytes, count};

use super::kind::{IopsRule, Kind, ThroughputRule};
use super::limits::Limits;
use crate::Catalog;

/// What each volume must do.
#[derive(Debug, Clone, Copy)]
pub struct Least {
    /// The capacity, in GiB.
    pub gib: u64,
    /// Operations a second, as the type counts them.
    pub iops: f64,
    /// Bytes a second.
    pub bytes_per_s: f64,
}

impl Kind {
    /// The values of `performance=` in an address that cost nothing extra, the default (`None`) first.
    pub(crate) fn free_performance(&self, catalog: &Catalog) -> Vec<Option<&'static str>> {
        let limits = Limits::newest(catalog, self.limits_of()).ok();
        let has_plus = limits.is_some_and(|limits| limits.first_size("plus_iops").is_some());
        let mut choices = vec![None];
        choices.extend(has_plus.then_some(Some("plus")));
        choices
    }

    /// The smallest that `judge` finds sufficient. It gets a size in GiB, operations and throughput,
    /// and says what is lacking where something is; a larger size never lacks more.
    pub(crate) fn least<T>(
        &self,
        catalog: &Catalog,
        each: Least,
        judge: impl Fn(u64, Option<u64>, Option<u64>) -> Result<T, String>,
    ) -> Result<T, String> {
        if self.iops == IopsRule::BestEffort || self.has_no_limits() {
            return Err("no document gives its limits".to_owned());
        }
        let limits =
            Limits::newest(catalog, self.limits_of()).map_err(|refusal| refusal.message)?;
        let bought = |gib| {
            let each = Least { gib, ..each };
            let throughput = self.least_throughput(&limits, each);
            (self.least_iops(&limits, each, throughput), throughput)
        };
        let (iops, _) = bought(each.gib);
        let value = |name: &str| limits.get(name).map(|figure| figure.value);
        let largest = value("size_max").unwrap_or(f64::INFINITY) as u64;
        let for_iops = match (iops, value("max_iops_per_gib")) {
            // Where operations have to be bought, the size bounds how many.
            (Some(iops), Some(per_gib)) if iops as f64 > value("base_iops").unwrap_or(0.0) => {
                (iops as f64 / per_gib).ceil() as u64
            }
            _ => 0,
        };
        // Else the refusal would be of a throughput that was not asked for.
        if self.iops == IopsRule::ByThroughput
            && let Some(most) = value("max_throughput")
            && let Some(per_mibps) = value("iops_per_mibps")
            && each.iops > most * per_mibps
        {
            return Err(format!("{} IOPS at most", count(most * per_mibps)));
        }
        let smallest = value("size_min").unwrap_or(1.0) as u64;
        let smallest = each.gib.max(smallest);
        if smallest > largest {
            return Err(format!("{} at most", Bytes(largest << 30)));
        }
        // Operations that no size allows are refused as such: the size is not what is lacking.
        let smallest = smallest.max(for_iops).min(largest);
        let judged = |gib| {
            let (iops, throughput) = bought(gib);
            judge(gib, iops, throughput)
        };
        if let Ok(found) = judged(smallest) {
            return Ok(found);
        }
        // If not even the largest is enough, what it lacks is the reason.
        let mut best = judged(largest)?;
        // A bisection: `lacks` is too small, `does` is enough.
        let (mut lacks, mut does) = (smallest, largest);
        while does - lacks > 1 {
            let middle = lacks + (does - lacks) / 2;
            match judged(middle) {
                Ok(found) => (best, does) = (found, middle),
                Err(_) => lacks = middle,
            }
        }
        Ok(best)
    }

    /// Throughput to buy, in the vendor's unit.
    fn least_throughput(&self, limits: &Limits<'_>, each: Least) -> Option<u64> {
        let most = limits.get("max_throughput")?;
        let unit = match most.unit {
            LimitUnit::MbPerS => 1e6,
            _ => 1_048_576.0,
        };
        let needed = (each.bytes_per_s / unit).ceil();
        let value = |name: &str| limits.get(name).map_or(0.0, |figure| figure.value);
        let by_iops = match self.iops {
            IopsRule::ByThroughput => (each.iops / value("iops_per_mibps")).ceil(),
            _ => 0.0,
        };
        match self.throughput {
            ThroughputRule::Included if needed > value("base_throughput") => Some(needed as u64),
            ThroughputRule::Provisioned => {
                let by_size = value("min_mibps_per_gib") * each.gib as f64;
                let by_tib = value("min_mibps_per_tib") * each.gib as f64 / 1024.0;
                let least = value("min_throughput").max(by_size).max(by_tib).ceil();
                Some(needed.max(by_iops).max(least) as u64)
            }
            _ => None,
        }
    }

    /// Operations to buy: as many as are needed, or as the throughput asks for.
    fn least_iops(&self, limits: &Limits<'_>, each: Least, throughput: Option<u64>) -> Option<u64> {
        let value = |name: &str| limits.get(name).map(|figure| figure.value);
        let for_throughput = match (throughput, value("max_mibps_per_iops")) {
            (Some(throughput), Some(ratio)) => (throughput as f64 / ratio).ceil(),
            _ => self.iops_for_bytes(limits, each.bytes_per_s),
        };
        let needed = each.iops.ceil().max(for_throughput);
        match self.iops {
            IopsRule::Included => {
                let base = value("base_iops").unwrap_or(0.0);
                (needed > base).then_some(needed as u64)
            }
            IopsRule::Provisioned => {
                let least = value("min_iops").unwrap_or(1.0);
                let by_size = value("min_iops_per_gib").unwrap_or(0.0) * each.gib as f64;
                Some(needed.max(least).max(by_size.ceil()) as u64)
            }
            _ => None,
        }
    }

    /// The fewest operations with which throughput that follows them is enough.
    fn iops_for_bytes(&self, limits: &Limits<'_>, bytes_per_s: f64) -> f64 {
        if self.throughput != ThroughputRule::ByIops {
            return 0.0;
        }
        let mibps = bytes_per_s / 1_048_576.0;
        let value = |name: &str| limits.get(name).map(|figure| figure.value);
        if let Some(per) = value("mibps_per_iops") {
            return (mibps / per).ceil();
        }
        let kib = limits.need("max_kib_per_iops").value;
        let below = limits.numbered("throughput_to_", "_iops");
        let below = below.first().and_then(|(_, name)| value(name));
        let above = limits.numbered("max_kib_per_iops_above_", "");
        match (below, above.first().and_then(|(_, name)| value(name))) {
            (Some(below), Some(above)) if mibps > below => (mibps * 1024.0 / above).ceil(),
            _ => (mibps * 1024.0 / kib).ceil(),
        }
    }
}
