//! Findings on a case that delivers what other settings, another volume or instance, another day or
//! another unit would give.

use blocklab_device::predict;
use blocklab_units::{Bytes, plural};

use super::explain::{ExplainedCase, ExplainedRun};
use super::why::Why;
use blocklab_findings::hit::{Hit, info, warning};
use blocklab_findings::statement::{fixed, in_unit, listed, number, speed, word};
use blocklab_findings::{Confidence, Finding};

/// A provisioned setting is paid for, but not in effect.
pub(super) fn setting_not_in_effect(run: &ExplainedRun<'_>) -> Vec<Finding> {
    let advice = "Look up what the volume is set to, and whether a change of it is still being \
                  carried out.";
    let by_default = run.because(&Why::DefaultSettings);
    run.joined("setting-not-in-effect", Some(advice), by_default, |case| {
        let (default, load) = (run.default.as_ref()?, case.load?);
        let rate = predict(default, load).ok()?.at(case.window.until).clone();
        let expected = case.expected()?;
        let hit = warning(
            "{} IOPS are what the type gives without settings ({}), and not the {} expected \
             with those of the address: the settings are not in effect",
            [
                number(case.iops),
                fixed(rate.binding.to_string()),
                number(expected),
            ],
        );
        Some(
            hit.with("delivered", case.iops, "IOPS")
                .with("by default", rate.iops, "IOPS")
                .with("as provisioned", expected, "IOPS"),
        )
    })
}

/// The rate is below the documented one, and the record itself knows the setting that held it back.
pub(super) fn recorded_setting(run: &ExplainedRun<'_>) -> Vec<Finding> {
    let advice = "Look up what the volume is set to, or compare the run with the address that was \
                  measured.";
    run.per_case("below-documented-limit", Some(advice), |case| {
        let Why::OtherSetting {
            limit,
            recorded,
            promised,
            unit,
        } = &case.why
        else {
            return None;
        };
        let (delivered, expected) = (number(case.iops), number(case.expected()?));
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
        Some(with_rates(hit, case, case.expected()?))
    })
}

/// Adds the delivered and the expected rate to the evidence of a finding.
fn with_rates(hit: Hit, case: &ExplainedCase<'_>, expected: f64) -> Hit {
    hit.with("delivered", case.iops, "IOPS")
        .with("expected", expected, "IOPS")
}

/// The rate, or the record itself, is that of another type of volume than the address names.
pub(super) fn other_volume_type(run: &ExplainedRun<'_>) -> Vec<Finding> {
    let advice =
        "Look up the type of the volume, or name the one that was measured in the address.";
    let recorded = run.others.recorded_type.is_some();
    run.per_case("other-volume-type", Some(advice), |case| {
        let Why::OtherType(kind) = &case.why else {
            return None;
        };
        let expected = case.expected()?;
        let text = if recorded {
            "the record is of a volume of type {}: its {} IOPS are not the {} of this address"
        } else {
            "as a volume of type {} delivers: {} IOPS instead of the {} expected from the \
                 address"
        };
        let slots = [fixed(kind.clone()), number(case.iops), number(expected)];
        // A rate that matches that of another volume may do so by chance; a record that names it is sure.
        let hit = warning(text, slots).confidence(Confidence::high_if(recorded));
        Some(with_rates(hit, case, expected))
    })
}

/// The rate is that of a volume of another size, for a type whose limits grow with the size.
pub(super) fn other_volume_size(run: &ExplainedRun<'_>) -> Vec<Finding> {
    let advice = "Look up the size of the volume, or name it in the address.";
    run.per_case("other-volume-size", Some(advice), |case| {
        let Why::OtherSize(gib) = case.why else {
            return None;
        };
        let volume = run.given.resolved.spec.volumes.first()?;
        let expected = case.expected()?;
        let hit = warning(
            "as a {} of about {} delivers: {} IOPS instead of the {} expected of {}",
            [
                fixed(volume.kind.clone()),
                fixed(Bytes(gib << 30).to_string()),
                number(case.iops),
                number(expected),
                fixed(volume.capacity.to_string()),
            ],
        )
        .confidence(Confidence::Medium);
        Some(with_rates(hit, case, expected))
    })
}

/// The rate is that of only some of the volumes.
pub(super) fn missing_members(run: &ExplainedRun<'_>) -> Vec<Finding> {
    let advice = "Look whether every volume of the stripe is attached and has its share of the \
                  operations.";
    run.per_case("missing-members", Some(advice), |case| {
        let Why::FewerVolumes(fewer) = case.why else {
            return None;
        };
        let all = run.given.resolved.spec.volumes.len();
        let expected = case.expected()?;
        let hit = warning(
            "as many as {} of the {} volumes deliver: {} IOPS instead of the {} expected of all",
            [
                fixed(fewer.to_string()),
                fixed(all.to_string()),
                number(case.iops),
                number(expected),
            ],
        )
        .confidence(Confidence::Medium);
        Some(with_rates(hit, case, expected))
    })
}

/// Many sizes of a family share a limit: a finding names this many of them.
const NAMED: usize = 4;

/// The rate is a limit of other sizes of the instance.
pub(super) fn other_instance_size(run: &ExplainedRun<'_>) -> Vec<Finding> {
    let advice = "Look up the type of the instance that was measured: in the console, or with \
                  `curl http://169.254.169.254/latest/meta-data/instance-type` on it.";
    let recorded = run.others.recorded_instance.is_some();
    run.per_case("other-instance-size", Some(advice), |case| {
        let Why::OtherInstance(names) = &case.why else {
            return None;
        };
        let (expected, load) = (case.expected()?, case.load?);
        let text = if recorded {
            "the record is of {}: its {} IOPS, {} MB/s, are not the {} IOPS of this address"
        } else {
            "as {} would let pass for volumes: {} IOPS, {} MB/s instead of the {} IOPS \
             expected from the address"
        };
        // Sizes beyond the named ones are counted as one more item of the list.
        let more = names.len().saturating_sub(NAMED);
        let mut named: Vec<&str> = names.iter().take(NAMED).map(String::as_str).collect();
        let rest = plural(more, "other size");
        if more > 0 {
            named.push(&rest);
        }
        let mb = case.iops * load.block.as_f64() / 1e6;
        let slots = [
            fixed(listed(&named, "or")),
            number(case.iops),
            speed(mb),
            number(expected),
        ];
        let hit = warning(text, slots)
            .confidence(Confidence::high_if(recorded))
            .with("delivered", case.iops, "IOPS")
            .with("delivered bytes", mb, "MB/s")
            .with("expected", expected, "IOPS");
        Some(hit)
    })
}

/// The limits of another day explain the figure.
pub(super) fn limit_of_another_date(run: &ExplainedRun<'_>) -> Vec<Finding> {
    let advice = "Name the day of the measurement: as-of=YYYY-MM-DD in the address.";
    run.per_case("limit-of-another-date", Some(advice), |case| {
        let Why::AnotherDay(day) = &case.why else {
            return None;
        };
        let expected = case.expected()?;
        let hit = info(
            "{} IOPS fit the limits as they were on {}, and not the {} of this address",
            [number(case.iops), word(day.to_string()), number(expected)],
        )
        .confidence(Confidence::Medium);
        Some(with_rates(hit, case, expected))
    })
}

/// The rate is off by the factor of a mix-up of units.
pub(super) fn unit_slip(run: &ExplainedRun<'_>) -> Vec<Finding> {
    run.per_case("unit-slip", None, |case| {
        let Why::UnitSlip(units) = case.why else {
            return None;
        };
        let expected = case.expected()?;
        let hit = info(
            "{} IOPS differ from the expected {} by the factor of {}: the limit may be meant in \
             the other unit",
            [number(case.iops), number(expected), word(units)],
        );
        Some(
            hit.confidence(Confidence::Low)
                .with("delivered", case.iops, "IOPS")
                .with("expected", expected, "IOPS")
                .with("ratio", case.iops / expected, ""),
        )
    })
}
