//! In: a system of a study. Out: its figures in documents and price lists.

use blocklab_catalog::{Cost, HOURS_PER_MONTH, Listed, Per, Price, Resolved};
use blocklab_device::{Covers, LimitKind, LimitUnit};
use blocklab_workload::publication::Figure;

use super::SystemOutcome;
use super::value::Value;

/// Seconds in a month of [`HOURS_PER_MONTH`].
const MONTH: f64 = HOURS_PER_MONTH * 3600.0;

/// A figure of the system itself, as a list of instances has it, else as documents and prices of
/// its address give it; `None`: unknown.
pub(super) fn figure(outcome: &SystemOutcome<'_>, figure: Figure) -> Option<Value> {
    let from_list = outcome.listed.and_then(|list| listed(list, figure));
    let value = from_list.or_else(|| of_address(outcome, outcome.bought?, figure));
    value.map(Value::exact)
}

/// A figure of an instance in the list of instances; `None`: the list has no such figure.
fn listed(instance: &Listed, figure: Figure) -> Option<f64> {
    match figure {
        Figure::Vcpus => instance.vcpus.map(f64::from),
        Figure::MemoryGib => Some(instance.memory_mib? as f64 / 1024.0),
        Figure::NetworkGbps => instance.network_gbps,
        Figure::EbsMbPerS => instance.ebs_max_mb_per_s,
        Figure::EbsGbps => Some(instance.ebs_max_mb_per_s? * 8.0 / 1000.0),
        Figure::Disks => Some(f64::from(instance.disks)),
        Figure::DiskGb => instance.disk_gb,
        _ => None,
    }
}

/// A figure by the documents and prices of the system's address.
fn of_address(outcome: &SystemOutcome<'_>, bought: &Resolved, figure: Figure) -> Option<f64> {
    // Some figures are computed from other figures of the same system.
    let again = |other| Some(self::figure(outcome, other)?.value);
    match figure {
        Figure::DocumentedReadIops => bound(bought, "reads of 4 KiB, all disks", LimitUnit::Iops)
            .or_else(|| rate(bought, "volume IOPS", LimitUnit::Iops)),
        Figure::DocumentedWriteIops => bound(bought, "writes of 4 KiB, all disks", LimitUnit::Iops)
            .or_else(|| rate(bought, "volume IOPS", LimitUnit::Iops)),
        Figure::DocumentedReadMbPerS => {
            bound(bought, "read throughput, all disks", LimitUnit::MbPerS)
        }
        Figure::CapacityGb => {
            let volumes = bought.spec.volumes.iter();
            Some(volumes.map(|volume| volume.capacity.as_f64()).sum::<f64>() / 1e9)
        }
        Figure::CapacityGib => Some(again(Figure::CapacityGb)? * 1e9 / 2f64.powi(30)),
        Figure::MaxVolumeGib => bound(bought, "size max", LimitUnit::Gib),
        Figure::BurstMibPerS => by_size(bought, "burst MiB/s per TiB")
            .or_else(|| rate(bought, "volume throughput", LimitUnit::MibPerS)),
        Figure::BaseMibPerS => by_size(bought, "base MiB/s per TiB")
            .or_else(|| rate(bought, "volume throughput", LimitUnit::MibPerS)),
        Figure::ConsoleBurstMibPerS => by_size(bought, "burst MiB/s per TiB").map(f64::ceil),
        Figure::ConsoleBaseMibPerS => by_size(bought, "base MiB/s per TiB").map(f64::ceil),
        Figure::UsdPerHour => hour(bought),
        Figure::UsdPerMonth => {
            let billed = outcome.system.billed_iops.unwrap_or(0.0);
            Some(month(bought)? + usd_for_use(bought, billed))
        }
        Figure::UsdPerTbMonth => Some(month(bought)? / again(Figure::CapacityGb)? * 1000.0),
        Figure::UsdHourPerMillionReadIops => {
            Some(hour(bought)? / again(Figure::DocumentedReadIops)? * 1e6)
        }
        Figure::UsdHourPerMillionWriteIops => {
            Some(hour(bought)? / again(Figure::DocumentedWriteIops)? * 1e6)
        }
        _ => None,
    }
}

/// A documented rate by the name of its limiter.
fn rate(bought: &Resolved, name: &str, unit: LimitUnit) -> Option<f64> {
    let wanted = LimitKind::Rate {
        limiter: name.to_owned(),
        covers: Covers::All,
    };
    limit(bought, unit, |kind| *kind == wanted)
}

/// A documented bound of what may be bought, by its words.
fn bound(bought: &Resolved, words: &str, unit: LimitUnit) -> Option<f64> {
    limit(
        bought,
        unit,
        |kind| matches!(kind, LimitKind::Bound { what } if what == words),
    )
}

/// A throughput that grows with the size of the volume, up to the documented maximum.
fn by_size(bought: &Resolved, words: &str) -> Option<f64> {
    let tib = bought.spec.volumes.first()?.capacity.as_f64() / 2f64.powi(40);
    let promised = bound(bought, words, LimitUnit::MibPerSPerTib)? * tib;
    Some(promised.min(bound(bought, "max throughput", LimitUnit::MibPerS)?))
}

/// A limit of the volume or of the local disks. What the instance grants to its volumes has similar
/// names, and is left out.
fn limit(bought: &Resolved, unit: LimitUnit, wanted: impl Fn(&LimitKind) -> bool) -> Option<f64> {
    let found = bought.limits.iter().find(|limit| {
        let is_granted = limit.name.volumes.is_none() && !limit.is_bound();
        wanted(&limit.name.kind) && limit.unit == unit && !is_granted
    })?;
    Some(found.value)
}

/// US dollars per hour for everything that is not billed by use; `None` if nothing has a price, or if the
/// prices are in another currency.
pub(super) fn hour(bought: &Resolved) -> Option<f64> {
    if !is_in_dollars(bought) {
        return None;
    }
    let usd_per_month: f64 = bought
        .costs
        .iter()
        .filter_map(|cost| cost.usd_per_month)
        .sum();
    (usd_per_month > 0.0).then(|| usd_per_month / HOURS_PER_MONTH)
}

/// Whether the prices of a system are those of a region that sells in US dollars: a figure of another
/// currency is none in dollars, and no rate between them is known.
fn is_in_dollars(bought: &Resolved) -> bool {
    bought.currency() == "USD"
}

/// US dollars per month of the volumes. Local disks have no price of their own: theirs is that of
/// the instance.
fn month(bought: &Resolved) -> Option<f64> {
    if !is_in_dollars(bought) {
        return None;
    }
    let volumes: Vec<f64> = bought
        .costs
        .iter()
        .filter(|cost| cost.per != Per::Hour)
        .filter_map(|volume| volume.usd_per_month)
        .collect();
    if volumes.is_empty() {
        Some(hour(bought)? * HOURS_PER_MONTH)
    } else {
        Some(volumes.iter().sum())
    }
}

/// US dollars per month for operations at this rate, where operations are billed.
pub(super) fn usd_for_use(bought: &Resolved, iops: f64) -> f64 {
    let costs = bought.costs.iter();
    let millions = iops * MONTH / 1e6;
    costs
        .filter_map(Cost::usd_per_million_operations)
        .map(|usd| usd * millions)
        .sum()
}

/// Region and date of every price list in use: `ap-northeast-1, 2017-02-27`.
pub(super) fn price_list(bought: &Resolved) -> Option<String> {
    let mut lists: Vec<String> = Vec::new();
    for price in used_prices(bought) {
        let list = format!("{}, {}", price.region, price.date);
        if !lists.contains(&list) {
            lists.push(list);
        }
    }
    (!lists.is_empty()).then(|| lists.join("; "))
}

/// Whether any of the prices is assumed, as no list is as old as the requested day.
pub(super) fn price_is_assumed(bought: &Resolved) -> bool {
    used_prices(bought).any(|price| !price.evidence.is_listed())
}

/// The prices that the costs are made of; a list has more.
fn used_prices(bought: &Resolved) -> impl Iterator<Item = &Price> {
    let prices = bought.prices.iter();
    prices.filter(|price| bought.costs.iter().any(|cost| cost.what == price.what))
}

#[cfg(test)]
mod tests {
    use blocklab_catalog::{Catalog, resolve};

    use super::*;

    /// The story: in a table of systems in Virginia and in Beijing, a yuan was a dollar.
    #[test]
    fn a_price_in_yuan_is_none_in_dollars() {
        let hourly = |address: &str| {
            let address = address.parse().expect("an address");
            hour(&resolve(&address, &Catalog::embedded()).expect("something sold"))
        };
        assert!(hourly("local,region=us-east-1@r5d.large").is_some());
        assert_eq!(hourly("local,region=cn-north-1@r5d.large"), None);
    }
}
