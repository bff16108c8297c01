//! Delivered is what other settings, another day or another unit would give.

use blocklab_device::predict;

use super::bench::{Bench, Why};
use crate::rules::hit::{info, warning};
use crate::rules::says::{fixed, number, word};
use crate::{Confidence, Finding};

/// Rule 7: the provisioned setting is paid for and not in effect.
pub(super) fn setting_not_in_effect(bench: &Bench<'_>) -> Vec<Finding> {
    let advice = "Look up what the volume is set to, and whether a change of it is still being \
                  carried out.";
    bench.joined("setting-not-in-effect", Some(advice), bench.because(&Why::DefaultSettings), |seen| {
        let (default, load) = (bench.default.as_ref()?, seen.load?);
        let rate = predict(default, load).ok()?.at(seen.window.1).clone();
        let expected = seen.expected()?;
        Some(warning(
                "{} IOPS are what the type gives without settings ({}), and {} were to be expected \
                 with those of the address: the settings are not in effect",
                [
                    number(seen.iops),
                    fixed(rate.binding.to_string()),
                    number(expected),
                ],
            ).with("delivered", seen.iops, "IOPS").with("by default", rate.iops, "IOPS").with("as provisioned", expected, "IOPS"))
    })
}

/// Rule 16: the limits of another day explain the figure.
pub(super) fn limit_of_another_date(bench: &Bench<'_>) -> Vec<Finding> {
    let advice = "Name the day of the measurement: as-of=YYYY-MM-DD in the address.";
    bench.joined(
        "limit-of-another-date",
        Some(advice),
        bench.seen.iter(),
        |seen| {
            let Why::AnotherDay(day) = &seen.why else {
                return None;
            };
            Some(
                info(
                    "{} IOPS fit the limits as they were on {}, and not the {} of this address",
                    [
                        number(seen.iops),
                        word(day.to_string()),
                        number(seen.expected()?),
                    ],
                )
                .confidence(Confidence::Medium)
                .with("delivered", seen.iops, "IOPS")
                .with("expected", seen.expected()?, "IOPS"),
            )
        },
    )
}

/// Rule 24: a factor that confused units leave.
pub(super) fn unit_slip(bench: &Bench<'_>) -> Vec<Finding> {
    bench.joined("unit-slip", None, bench.seen.iter(), |seen| {
        let Why::UnitSlip(units) = seen.why else {
            return None;
        };
        let expected = seen.expected()?;
        Some(info(
                "{} IOPS are the {} that were to be expected, but for {}: the limit may be meant in \
                 the other unit",
                [number(seen.iops), number(expected), word(units)],
            ).confidence(Confidence::Low).with("delivered", seen.iops, "IOPS").with("expected", expected, "IOPS").with("ratio", seen.iops / expected, ""))
    })
}
