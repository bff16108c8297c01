//! Findings on what was bought: whether it has a promised rate, how it charges credits, and what a
//! delivered operation costs.

use blocklab_catalog::unit_price::Unit;
use blocklab_device::{Accounting, predict};
use blocklab_units::Bytes;

use super::explain::ExplainedRun;
use super::why::Why;
use blocklab_findings::Finding;
use blocklab_findings::hit::{info, of_run};
use blocklab_findings::statement::{fixed, number, speed, word};

/// No rate of this type is known, so none can be missed.
pub(super) fn best_effort(run: &ExplainedRun<'_>) -> Vec<Finding> {
    let spec = &run.given.resolved.spec;
    // Any load will do: a prediction fails for every load of a device without a known rate.
    let load = blocklab_device::Load::random(100, Bytes(4096), 1);
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

/// A small random operation costs a hard-disk volume a whole unit of its credit.
pub(super) fn hdd_credit(run: &ExplainedRun<'_>) -> Vec<Finding> {
    let volume = run.given.resolved.spec.volumes.first();
    let Some(Accounting::WholeUnits { unit }) = volume.map(|volume| volume.accounting) else {
        return Vec::new();
    };
    let advice = format!("Operations of {unit}, or in sequence, get all that is paid for.");
    // EBS has units of 1 MiB; a device file may have others.
    let unit_name = if unit == Bytes::MIB {
        "MiB".to_owned()
    } else {
        unit.to_string()
    };
    let as_expected = run.because(&Why::AsExpected);
    run.joined("hdd-random-credit", Some(&advice), as_expected, |case| {
        // Without streams, all operations are random.
        let load = case
            .load
            .filter(|load| load.streams == 0 && load.block < unit)?;
        // What the latency binds has credit to spare.
        if *case.binding()? == blocklab_device::Binding::Latency {
            return None;
        }
        let charged = case.iops * unit.as_f64() / Bytes::MIB.as_f64();
        let moved = case.iops * load.block.as_f64() / Bytes::MIB.as_f64();
        let hit = info(
            "each of {} random operations a second costs a whole {} of the volume's credit: \
             {} MiB/s are charged and {} MiB/s are moved",
            [
                number(case.iops),
                fixed(unit_name.as_str()),
                speed(charged),
                speed(moved),
            ],
        );
        Some(
            hit.with("delivered", case.iops, "IOPS")
                .with("charged", charged, "MiB/s")
                .with("moved", moved, "MiB/s"),
        )
    })
}

/// The price of a delivered operation, recomputed from its inputs.
pub(super) fn price_audit(run: &ExplainedRun<'_>) -> Option<Finding> {
    let priced = run.given.priced?;
    let (month, unit) = (priced.usd_per_month?, Unit::Iops);
    let found = priced.units.iter().find(|price| price.unit == unit)?;
    let dates: Vec<String> = priced.dates.iter().map(ToString::to_string).collect();
    let hit = info(
        "{} per IOPS and month: {} / {} IOPS, the best case ({}); prices of {} of {}",
        [
            word(format!("{:.4} {}", found.usd, priced.money)),
            word(format!("{month:.2} {}", priced.money)),
            number(found.delivered),
            word(&found.delivered_by),
            word(priced.regions.join(" and ")),
            word(dates.join(" and ")),
        ],
    )
    .with(&format!("{} a month", priced.money), month, "")
    .with("delivered", found.delivered, "IOPS")
    .with(
        &format!("{} per 1,000 IOPS", priced.money),
        found.usd * 1000.0,
        "",
    );
    let advice = "`blocklab price` shows every price with its source.";
    Some(of_run("price-audit", Some(advice), hit))
}
