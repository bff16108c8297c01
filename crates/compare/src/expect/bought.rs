//! What kind of thing was bought, and what the delivered unit cost.

use blocklab_catalog::unit_price::Unit;
use blocklab_device::{Accounting, predict};
use blocklab_units::Bytes;

use super::bench::Bench;
use super::why::Why;
use blocklab_findings::Finding;
use blocklab_findings::hit::{info, of_run};
use blocklab_findings::statement::{number, speed, word};

/// Rule 20: without a known rate nothing can be missed.
pub(super) fn best_effort(bench: &Bench<'_>) -> Vec<Finding> {
    let spec = &bench.given.resolved.spec;
    let load = blocklab_device::Load {
        read_percent: 100,
        block: Bytes(4096),
        streams: 0,
        in_flight: 1,
    };
    if predict(spec, load).is_ok() {
        return Vec::new();
    }
    let kind = spec
        .volumes
        .first()
        .map_or("", |volume| volume.kind.as_str());
    let hit = info(
        "no rate is known that {} holds: nothing can be missed, and no prediction is made",
        [word(kind)],
    );
    let advice = "profile=average, or a device file, stands in for the promise in the address.";
    vec![of_run("best-effort", Some(advice), hit)]
}

/// Rule 8: a random operation costs a hard-disk volume a whole unit of its credit.
pub(super) fn hdd_credit(bench: &Bench<'_>) -> Vec<Finding> {
    let volume = bench.given.resolved.spec.volumes.first();
    let Some(Accounting::WholeUnits { unit }) = volume.map(|volume| volume.accounting) else {
        return Vec::new();
    };
    let advice = "Operations of 1 MiB, or in sequence, get all that is paid for.";
    bench.joined("hdd-random-credit", Some(advice), bench.because(&Why::AsExpected), |seen| {
        let load = seen.load.filter(|load| load.streams == 0 && load.block < unit)?;
        let limited = *seen.binding()? != blocklab_device::Binding::Latency;
        let charged = seen.iops * unit.as_f64() / 1_048_576.0;
        let moved = seen.iops * load.block.as_f64() / 1_048_576.0;
        limited.then(|| info(
                "each of {} random operations a second costs a whole MiB of the volume's credit: \
                 {} MiB/s are charged and {} MiB/s are moved",
                [number(seen.iops), speed(charged), speed(moved)],
            ).with("delivered", seen.iops, "IOPS").with("charged", charged, "MiB/s").with("moved", moved, "MiB/s"))
    })
}

/// Rule 25: the price of a delivered operation, recomputed from its inputs.
pub(super) fn price_audit(bench: &Bench<'_>) -> Option<Finding> {
    let priced = bench.given.priced?;
    let (month, unit) = (priced.usd_per_month?, Unit::Iops);
    let found = priced.units.iter().find(|price| price.unit == unit)?;
    let dates: Vec<String> = priced.dates.iter().map(ToString::to_string).collect();
    let hit = info(
        "{} USD per IOPS and month: {} USD / {} IOPS, the best case ({}); prices of {} of {}",
        [
            word(format!("{:.4}", found.usd)),
            word(format!("{month:.2}")),
            number(found.delivered),
            word(&found.delivered_by),
            word(priced.regions.join(" and ")),
            word(dates.join(" and ")),
        ],
    )
    .with("USD a month", month, "")
    .with("delivered", found.delivered, "IOPS")
    .with("USD per 1,000 IOPS", found.usd * 1000.0, "");
    let advice = "`blocklab price` shows every price with its source.";
    Some(of_run("price-audit", Some(advice), hit))
}
