//! What the delivered unit cost.

use blocklab_units::count;

use super::bench::Bench;
use crate::price::Unit;
use crate::rules::hit::{figure, of_run};
use crate::{Finding, Severity};

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
