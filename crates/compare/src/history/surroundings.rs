//! In: a Record. Out: where it was measured, in three parts. The target and the class of the
//! machine decide to which series it belongs; the rest may explain a change within a series.

use blocklab_record::{BlockDevice, Origin, Record};
use blocklab_units::stated;

use crate::compare::{aspects, each_target, lasting_path};

/// The class of the machine, so far as another class makes figures incomparable; empty for a
/// simulation. Kernel and scheduler are no part of it: a history should show what their change did.
pub(super) fn machine(record: &Record) -> String {
    if record.origin == Origin::Simulated {
        return String::new();
    }
    let environment = &record.environment;
    let processor = &environment.processor;
    let instance = environment.instance.iter().cloned();
    let processors = (processor.count > 0)
        .then(|| format!("{} x {}", processor.count, processor.model))
        .into_iter();
    instance.chain(processors).collect::<Vec<_>>().join(", ")
}

/// Disks by their serial numbers, where they have one: the kernel may name them differently at
/// every start. Firmware is left out, as an update does not make another disk.
pub(super) fn target(record: &Record) -> String {
    each_target(record, |target| match target.devices.first() {
        Some(device) => disk(device),
        None => lasting_path(target).to_owned(),
    })
}

fn disk(device: &BlockDevice) -> String {
    let model = device.model.as_deref().unwrap_or_default().trim();
    match device.serial.as_deref().map(str::trim) {
        // A bare number does not look like a disk.
        Some(serial) if !serial.is_empty() && model.is_empty() => format!("serial {serial}"),
        Some(serial) if !serial.is_empty() => format!("{model} {serial}"),
        _ => format!("{} {model}", device.name).trim().to_owned(),
    }
}

/// Everything else around the load, by name and value: the aspects that a comparison knows, the
/// host, its processor quota, and the limits of a modelled device. What is not known is left out.
pub(super) fn surroundings(record: &Record) -> Vec<(String, String)> {
    // Status and origin are no surroundings: one doubts the run, the other decides its series.
    let aspects = aspects(record).filter(|(what, _)| !["status", "origin"].contains(what));
    let own = [
        (
            "host",
            record.environment.host_name.clone().unwrap_or_default(),
        ),
        ("limits", limits(record)),
        (
            "processor quota",
            (record.environment.processor_quota).map_or_else(String::new, stated),
        ),
    ];
    aspects
        .chain(own)
        .filter(|(_, value)| !value.is_empty())
        .map(|(what, value)| (what.to_owned(), value))
        .collect()
}

/// The limits of modelled devices: another value of one explains a change.
fn limits(record: &Record) -> String {
    each_target(record, |target| {
        let limits = target.limits.iter().map(|limit| {
            format!(
                "{} {} {}",
                limit.name,
                stated(limit.value),
                limit.unit.text()
            )
        });
        limits.collect::<Vec<_>>().join(", ")
    })
}
