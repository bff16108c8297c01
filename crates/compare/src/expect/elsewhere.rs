//! Delivered is what other settings, another day or another unit would give.

use blocklab_device::predict;
use blocklab_units::Bytes;

use super::bench::Bench;
use super::why::Why;
use blocklab_findings::hit::{info, warning};
use blocklab_findings::statement::{fixed, in_unit, listed, number, speed, word};
use blocklab_findings::{Confidence, Finding};

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

/// Less than is documented, where the record itself knows the setting that held the load back.
pub(super) fn recorded_setting(bench: &Bench<'_>) -> Vec<Finding> {
    let advice = "Look up what the volume is set to, or compare the run with the address that was \
                  measured.";
    bench.per_case("below-documented-limit", Some(advice), |seen| {
        let Why::OtherSetting {
            limit,
            recorded,
            promised,
            unit,
        } = &seen.why
        else {
            return None;
        };
        let (delivered, expected) = (number(seen.iops), number(seen.expected()?));
        let hit = warning(
            "held back by {} at {}, where the address has {}: {} IOPS instead of {}",
            [
                fixed(limit.clone()),
                in_unit(*recorded, unit),
                in_unit(*promised, unit),
                delivered,
                expected,
            ],
        );
        Some(
            hit.with("delivered", seen.iops, "IOPS")
                .with("expected", seen.expected()?, "IOPS"),
        )
    })
}

/// The rate, or the record itself, is of another type of volume than the address names.
pub(super) fn other_volume_type(bench: &Bench<'_>) -> Vec<Finding> {
    let advice =
        "Look up the type of the volume, or name the one that was measured in the address.";
    let recorded = bench.others.recorded_type.is_some();
    bench.per_case("other-volume-type", Some(advice), |seen| {
        let Why::OtherType(kind) = &seen.why else {
            return None;
        };
        let expected = seen.expected()?;
        let text = if recorded {
            "the record is of a volume of type {}: its {} IOPS are not the {} of this address"
        } else {
            "as a volume of type {} delivers: {} IOPS, where {} were to be expected by the \
                 address"
        };
        let slots = [fixed(kind.clone()), number(seen.iops), number(expected)];
        let sure = if recorded {
            Confidence::High
        } else {
            Confidence::Medium
        };
        let hit = warning(text, slots).confidence(sure);
        Some(
            hit.with("delivered", seen.iops, "IOPS")
                .with("expected", expected, "IOPS"),
        )
    })
}

/// The rate is that of a volume of another size, of a type whose limits are by size.
pub(super) fn other_volume_size(bench: &Bench<'_>) -> Vec<Finding> {
    let advice = "Look up the size of the volume, or name it in the address.";
    bench.per_case("other-volume-size", Some(advice), |seen| {
        let Why::OtherSize(gib) = seen.why else {
            return None;
        };
        let volume = bench.given.resolved.spec.volumes.first()?;
        let expected = seen.expected()?;
        let hit = warning(
            "as a {} of about {} delivers: {} IOPS, where {} were to be expected of {}",
            [
                fixed(volume.kind.clone()),
                fixed(Bytes(gib << 30).to_string()),
                number(seen.iops),
                number(expected),
                fixed(volume.capacity.to_string()),
            ],
        )
        .confidence(Confidence::Medium)
        .with("delivered", seen.iops, "IOPS");
        Some(hit.with("expected", expected, "IOPS"))
    })
}

/// The rate is that of a part of the volumes.
pub(super) fn missing_members(bench: &Bench<'_>) -> Vec<Finding> {
    let advice = "Look whether every volume of the stripe is attached and has its share of the \
                  operations.";
    bench.per_case("missing-members", Some(advice), |seen| {
        let Why::FewerVolumes(fewer) = seen.why else {
            return None;
        };
        let all = bench.given.resolved.spec.volumes.len();
        let expected = seen.expected()?;
        let hit = warning(
            "as many as {} of the {} volumes deliver: {} IOPS, where {} were to be expected of all",
            [
                fixed(fewer.to_string()),
                fixed(all.to_string()),
                number(seen.iops),
                number(expected),
            ],
        )
        .confidence(Confidence::Medium)
        .with("delivered", seen.iops, "IOPS");
        Some(hit.with("expected", expected, "IOPS"))
    })
}

/// Sizes of a family share limits: this many are named.
const NAMED: usize = 4;

/// The rate is that of a limit of other instances.
pub(super) fn other_instance_size(bench: &Bench<'_>) -> Vec<Finding> {
    let advice = "Look up the type of the instance that was measured: in the console, or with \
                  `curl http://169.254.169.254/latest/meta-data/instance-type` on it.";
    let recorded = bench.others.recorded_instance.is_some();
    bench.per_case("other-instance-size", Some(advice), |seen| {
        let Why::OtherInstance(names) = &seen.why else {
            return None;
        };
        let (expected, load) = (seen.expected()?, seen.load?);
        let text = if recorded {
            "the record is of {}: its {} IOPS, {} MB/s, are not the {} IOPS of this address"
        } else {
            "as {} would let pass for volumes: {} IOPS, {} MB/s, where {} IOPS were to be \
             expected by the address"
        };
        let more = names.len().saturating_sub(NAMED);
        let mut named: Vec<&str> = names.iter().take(NAMED).map(String::as_str).collect();
        let rest = format!("{more} other sizes");
        if more > 0 {
            named.push(&rest);
        }
        let mb = seen.iops * load.block.as_f64() / 1e6;
        let slots = [
            fixed(listed(&named, "or")),
            number(seen.iops),
            speed(mb),
            number(expected),
        ];
        let hit = warning(text, slots).confidence(if recorded {
            Confidence::High
        } else {
            Confidence::Medium
        });
        let hit = hit
            .with("delivered", seen.iops, "IOPS")
            .with("delivered bytes", mb, "MB/s");
        Some(hit.with("expected", expected, "IOPS"))
    })
}

/// Rule 16: the limits of another day explain the figure.
pub(super) fn limit_of_another_date(bench: &Bench<'_>) -> Vec<Finding> {
    let advice = "Name the day of the measurement: as-of=YYYY-MM-DD in the address.";
    bench.per_case("limit-of-another-date", Some(advice), |seen| {
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
    })
}

/// Rule 24: a factor that confused units leave.
pub(super) fn unit_slip(bench: &Bench<'_>) -> Vec<Finding> {
    bench.per_case("unit-slip", None, |seen| {
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
