//! How the load of a case fell on the targets of its run: what the model counted for each, else
//! what the kernel counted for the device below each.

use blocklab_record::{Measurement, Record};

use crate::view::CaseView;

/// The part of a case that fell on one target.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Share {
    /// The share of its operations.
    pub of_ios: f64,
    /// The share of the operations in flight.
    pub of_flight: f64,
}

impl Share {
    /// All of it.
    pub const WHOLE: Self = Self {
        of_ios: 1.0,
        of_flight: 1.0,
    };
}

/// The part of a case that fell on a target, by its place in the record; `None`: nothing counted it.
pub fn share(record: &Record, case: &CaseView<'_>, target: usize) -> Option<Share> {
    if record.targets.len() == 1 {
        return Some(Share::WHOLE);
    }
    let passes = case.passes.iter();
    by_model(passes.clone(), target).or_else(|| by_devices(record, passes, target))
}

/// The share of a target by what the device model counted. `None` if a pass ran without a model, or
/// if the target got no operation.
fn by_model<'a>(passes: impl Iterator<Item = &'a &'a Measurement>, target: usize) -> Option<Share> {
    let (mut ios, mut all_ios, mut flight, mut all_flight) = (0, 0, 0.0, 0.0);
    for pass in passes {
        for used in &pass.model.as_deref()?.targets {
            let (in_device, is_it) = (used.in_device_ns as f64, used.target as usize == target);
            all_ios += used.ios;
            all_flight += in_device;
            if is_it {
                ios += used.ios;
                flight += in_device;
            }
        }
    }
    (ios > 0).then(|| Share {
        of_ios: ios as f64 / all_ios as f64,
        of_flight: flight / all_flight,
    })
}

/// Bytes of the device right below each target: merges change the number of its requests. Only
/// where every target has a device of its own.
fn by_devices<'a>(
    record: &Record,
    passes: impl Iterator<Item = &'a &'a Measurement>,
    target: usize,
) -> Option<Share> {
    let mut names: Vec<&str> = Vec::new();
    for each in &record.targets {
        let name = &*each.devices.first()?.name;
        if names.contains(&name) {
            return None;
        }
        names.push(name);
    }
    let (mut own, mut all) = (0, 0);
    for disk in passes.flat_map(|pass| &pass.disks) {
        let moved = disk.read_bytes + disk.write_bytes;
        if names.contains(&&*disk.name) {
            all += moved;
        }
        if disk.name == names[target] {
            own += moved;
        }
    }
    let part = own as f64 / all as f64;
    (own > 0).then_some(Share {
        of_ios: part,
        of_flight: part,
    })
}

#[cfg(test)]
mod tests {
    use blocklab_record::DiskUse;

    use super::*;
    use crate::testing::{Sketch, record};

    /// The case of a record of two targets, each on a device that moved this many bytes.
    fn part_of(bytes: [u64; 2], names: [&str; 2]) -> Option<f64> {
        let mut record = record(&[Sketch::default()]);
        record.targets.push(record.targets[0].clone());
        for (target, name) in record.targets.iter_mut().zip(names) {
            name.clone_into(&mut target.devices[0].name);
        }
        for pass in &mut record.measurements {
            let disk = |(name, bytes): (&str, u64)| DiskUse {
                name: name.to_owned(),
                read_bytes: bytes,
                ..DiskUse::default()
            };
            pass.disks = names.into_iter().zip(bytes).map(disk).collect();
        }
        let passes: Vec<_> = record.measurements.iter().collect();
        by_devices(&record, passes.iter(), 0).map(|share| share.of_ios)
    }

    #[test]
    fn devices_of_their_own_tell_how_the_load_fell() {
        assert_eq!(part_of([300, 100], ["nvme1n1", "nvme2n1"]), Some(0.75));
        assert_eq!(part_of([300, 100], ["nvme1n1", "nvme1n1"]), None);
        assert_eq!(part_of([0, 100], ["nvme1n1", "nvme2n1"]), None);
    }
}
