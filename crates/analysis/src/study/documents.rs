//! What documents and price lists say of a system.

use blocklab_catalog::{HOURS_PER_MONTH, Per, Resolved};
use blocklab_device::{Covers, Limit, LimitKind, LimitUnit};
use blocklab_publication::Figure;

use super::value::Value;

/// Seconds of a month of [`HOURS_PER_MONTH`].
const MONTH: f64 = HOURS_PER_MONTH * 3600.0;

/// A figure of the system itself; `None`: nobody says.
pub(super) fn figure(bought: &Resolved, figure: Figure) -> Option<Value> {
    let million = |documented| Some(hour(bought)? / self::figure(bought, documented)?.value * 1e6);
    let rate = |limiter: &str, unit| limit(bought, unit, |kind| is_rate(kind, limiter));
    let bound = |words: &str, unit| {
        let is_it = |kind: &LimitKind| matches!(kind, LimitKind::Bound { what } if what == words);
        limit(bought, unit, is_it)
    };
    let volume_iops = || rate("volume IOPS", LimitUnit::Iops);
    let volume_mib = || rate("volume throughput", LimitUnit::MibPerS);
    let value = match figure {
        Figure::DocumentedReadIops => {
            bound("reads of 4 KiB, all disks", LimitUnit::Iops).or_else(volume_iops)
        }
        Figure::DocumentedWriteIops => {
            bound("writes of 4 KiB, all disks", LimitUnit::Iops).or_else(volume_iops)
        }
        Figure::DocumentedReadMbPerS => bound("read throughput, all disks", LimitUnit::MbPerS),
        Figure::CapacityGb => {
            let volumes = bought.spec.volumes.iter();
            Some(volumes.map(|it| it.capacity.as_f64()).sum::<f64>() / 1e9)
        }
        Figure::BurstMibPerS => {
            let is_burst = |kind: &LimitKind| matches!(kind, LimitKind::Burst { .. });
            limit(bought, LimitUnit::MibPerS, is_burst).or_else(volume_mib)
        }
        Figure::BaseMibPerS => {
            let is_baseline = |kind: &LimitKind| matches!(kind, LimitKind::Baseline { .. });
            limit(bought, LimitUnit::MibPerS, is_baseline).or_else(volume_mib)
        }
        Figure::UsdPerHour => hour(bought),
        Figure::UsdPerMonth => month(bought),
        Figure::UsdHourPerMillionReadIops => million(Figure::DocumentedReadIops),
        Figure::UsdHourPerMillionWriteIops => million(Figure::DocumentedWriteIops),
        _ => None,
    };
    value.map(Value::exact)
}

fn is_rate(kind: &LimitKind, name: &str) -> bool {
    let Covers::All = kind.covers() else {
        return false;
    };
    matches!(kind, LimitKind::Rate { limiter, .. } if limiter == name)
}

/// Of the volume or of the local disks: what the instance grants to volumes is left out.
fn limit(bought: &Resolved, unit: LimitUnit, wanted: impl Fn(&LimitKind) -> bool) -> Option<f64> {
    let granted = |limit: &Limit| limit.name.volumes.is_none() && !limit.is_bound();
    let mut all = bought.limits.iter();
    let found = all.find(|it| wanted(&it.name.kind) && it.unit == unit && !granted(it));
    found.map(|it| it.value)
}

/// US dollars an hour for everything, without what is paid by use.
pub(super) fn hour(bought: &Resolved) -> Option<f64> {
    let month: f64 = bought.costs.iter().filter_map(|it| it.usd_per_month).sum();
    (month > 0.0).then(|| month / HOURS_PER_MONTH)
}

/// US dollars a month of the volumes; of local disks, of the instance that they come with.
fn month(bought: &Resolved) -> Option<f64> {
    let volumes = bought.costs.iter().filter(|it| it.per != Per::Hour);
    let volumes: Vec<f64> = volumes.filter_map(|it| it.usd_per_month).collect();
    match volumes.is_empty() {
        true => Some(hour(bought)? * HOURS_PER_MONTH),
        false => Some(volumes.iter().sum()),
    }
}

/// What so many operations a second cost by themselves in a month.
pub(super) fn usd_for_use(bought: &Resolved, iops: f64) -> f64 {
    let prices = bought.prices.iter().filter(|it| it.per == Per::MillionIo);
    let millions = iops * MONTH / 1e6;
    prices.map(|it| it.usd * millions).sum()
}

/// `ap-northeast-1, 2017-02-27`.
pub(super) fn price_list(bought: &Resolved) -> Option<String> {
    let used = |what: &str| bought.costs.iter().any(|it| it.what == what);
    let mut lists: Vec<String> = Vec::new();
    for price in bought.prices.iter().filter(|it| used(&it.what)) {
        let list = format!("{}, {}", price.region, price.date);
        if !lists.contains(&list) {
            lists.push(list);
        }
    }
    (!lists.is_empty()).then(|| lists.join("; "))
}

pub(super) fn price_is_assumed(bought: &Resolved) -> bool {
    let used = |what: &str| bought.costs.iter().any(|it| it.what == what);
    bought.prices.iter().any(|it| it.assumed && used(&it.what))
}
