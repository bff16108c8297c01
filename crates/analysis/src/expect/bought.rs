//! What kind of thing was bought, and what the delivered unit cost.

use blocklab_device::{Accounting, predict};
use blocklab_units::{Bytes, count};

use super::bench::{Bench, Why};
use crate::price::Unit;
use crate::rules::hit::{Hit, figure, of_run};
use crate::rules::says::{number, says, speed};
use crate::{Confidence, Finding, Severity};

/// Rule 20: nobody promises anything, so nothing can be missed.
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
    let statement = format!(
        "{kind} is sold without a contract: nothing is promised, so nothing can be missed, and no \
         prediction is made."
    );
    let advice = "profile=average, or a device file, stands in for the promise in the address.";
    let info = Severity::Info;
    vec![of_run(
        "best-effort",
        info,
        statement,
        Vec::new(),
        Some(advice),
    )]
}

/// Rule 8: a random operation costs a hard-disk volume a whole unit of its credit.
pub(super) fn hdd_credit(bench: &Bench<'_>) -> Vec<Finding> {
    let volume = bench.given.resolved.spec.volumes.first();
    let Some(Accounting::WholeUnits { unit }) = volume.map(|volume| volume.accounting) else {
        return Vec::new();
    };
    let hits = bench.because(&Why::AsExpected).filter_map(|seen| {
        let load = seen.load.filter(|it| it.streams == 0 && it.block < unit)?;
        let limited = *seen.binding()? != blocklab_device::Binding::Latency;
        let charged = seen.iops * unit.as_f64() / 1_048_576.0;
        let moved = seen.iops * load.block.as_f64() / 1_048_576.0;
        limited.then(|| Hit {
            case: seen.case.name,
            severity: Severity::Info,
            confidence: Confidence::High,
            says: says(
                "each of {} random operations a second costs a whole MiB of the volume's credit: \
                 {} MiB/s are charged and {} MiB/s are moved",
                [number(seen.iops), speed(charged), speed(moved)],
            ),
            evidence: vec![
                figure("delivered", seen.iops, "IOPS"),
                figure("charged", charged, "MiB/s"),
                figure("moved", moved, "MiB/s"),
            ],
        })
    });
    let advice = "Operations of 1 MiB, or in sequence, get all that is paid for.";
    bench.joined("hdd-random-credit", Some(advice), hits)
}

/// Rule 25: the price of a delivered operation, recomputed from its inputs.
pub(super) fn price_audit(bench: &Bench<'_>) -> Option<Finding> {
    let priced = bench.given.priced?;
    let (month, unit) = (priced.usd_per_month?, Unit::Iops);
    let found = priced.units.iter().find(|it| it.unit == unit)?;
    let dates: Vec<String> = priced.dates.iter().map(ToString::to_string).collect();
    let statement = format!(
        "{:.4} USD per IOPS and month: {month:.2} USD / {} IOPS, the best case ({}); prices of {} \
         of {}.",
        found.usd,
        count(found.delivered),
        found.delivered_by,
        priced.regions.join(" and "),
        dates.join(" and "),
    );
    let evidence = vec![
        figure("USD a month", month, ""),
        figure("delivered", found.delivered, "IOPS"),
        figure("USD per IOPS", found.usd, ""),
    ];
    let advice = "`blocklab price` shows every price with its source.";
    let info = Severity::Info;
    Some(of_run(
        "price-audit",
        info,
        statement,
        evidence,
        Some(advice),
    ))
}
