//! What came from outside of the run: the program was stopped, or others used its disk.

use std::collections::BTreeSet;

use blocklab_record::{BlockDevice, TargetFacts, TargetKind};
use blocklab_units::Nanos;
use blocklab_workload::{Direction, Durability};

use crate::hit::{per_case, warning};
use crate::statement::{percent as share_of, time, word};
use crate::view::{CaseView, Cases, disk_bytes};
use crate::{Confidence, Finding};

/// The process did not run for a while. Operations that were under way then carry the whole wait
/// in their latency, and all others were not issued in that time.
pub(super) fn stood_still(cases: &Cases<'_>) -> Vec<Finding> {
    let advice = "Measure again without suspending blocklab or its machine (Ctrl-Z, a debugger, a \
                  snapshot or migration of the virtual machine).";
    per_case(cases, "stood-still", Some(advice), |case| {
        let passes = case.passes.iter();
        let still: u64 = passes.filter_map(|pass| pass.stood_still_ns).sum();
        (still > 0).then(|| {
            warning(
                "blocklab itself stood still for {}: rates and the highest latencies include that",
                [time(Nanos(still))],
            )
            .with("standstill", still as f64 / 1e9, "s")
        })
    })
}

/// Less than this share of our own bytes is what every running system writes anyway.
const MUCH_PERCENT: f64 = 25.0;
/// Fewer bytes than this are no evidence.
const ENOUGH_BYTES: f64 = 1e6;
/// File systems that write data in place, and next to nothing else.
const IN_PLACE: [&str; 4] = ["ext2", "ext3", "ext4", "xfs"];

/// The disk moved far more than the load did: a second run, a backup, another machine's load that
/// this one carries.
pub(super) fn disk_shared(cases: &Cases<'_>) -> Vec<Finding> {
    let advice = "Find who uses the disk (another run of blocklab, a backup, a database), wait \
                  for its end, and measure again.";
    per_case(cases, "disk-shared", Some(advice), |case| {
        if !cases.on_storage() || !bytes_arrive(case) {
            return None;
        }
        let disks = disks(&cases.record.targets);
        let by_others = [Direction::Read, Direction::Write].map(|direction| {
            let compared = direction == Direction::Read || writes_are_comparable(cases, case);
            compared
                .then(|| foreign_bytes(case, &disks, direction))
                .flatten()
        });
        let others: f64 = by_others.into_iter().flatten().sum();
        let directions = [Direction::Read, Direction::Write].into_iter();
        let own: f64 = directions.map(|direction| case.moved(direction)).sum();
        // A run that was stopped at once moved nothing, and was disturbed by nothing.
        let percent = (own > 0.0).then(|| others / own * 100.0)?;
        (others >= ENOUGH_BYTES && percent >= MUCH_PERCENT).then(|| {
            warning(
                "other programs used {} at the same time: they moved {} as much as this load",
                [word(listed(&disks)), share_of(percent)],
            )
            .confidence(Confidence::Medium)
            .with("moved by others", others / 1e6, "MB")
            .with("moved by the load", own / 1e6, "MB")
        })
    })
}

fn listed(disks: &BTreeSet<&str>) -> String {
    let names: Vec<&str> = disks.iter().copied().collect();
    names.join(", ")
}

/// Whether the disk sees the bytes of the load and no others on its behalf: no page cache that
/// reads ahead, nothing read to verify, nothing that failed half-way.
fn bytes_arrive(case: &CaseView<'_>) -> bool {
    case.jobs()
        .all(|job| job.direct == Some(true) && job.verified.is_none() && job.accounting.failed == 0)
}

/// Whether the bytes that a disk writes can be compared with those of the load. A file system
/// writes more where space must be found or changes are flushed.
fn writes_are_comparable(cases: &Cases<'_>, case: &CaseView<'_>) -> bool {
    let is_flushed = case.does(Direction::Sync) || case.does(Direction::Trim);
    let only_reads = !is_flushed && !case.does(Direction::Write);
    let is_plain = case.jobs().all(|job| job.durability == Durability::None) && !is_flushed;
    only_reads
        || (is_plain
            && cases
                .record
                .targets
                .iter()
                .all(|target| match (target.kind, &target.file_system) {
                    (TargetKind::BlockDevice, _) => true,
                    (TargetKind::Scratch, Some(system)) => IN_PLACE.contains(&&*system.kind),
                    _ => false,
                }))
}

/// The disks that the targets lie on: the nearest device, and of a partition its disk.
fn disks(targets: &[TargetFacts]) -> BTreeSet<&str> {
    targets
        .iter()
        .filter_map(|target| {
            let nearest = target.devices.first()?;
            let mut devices = target.devices.iter();
            let disk = devices.find(|device| is_disk_of(device, nearest));
            Some(&*disk.unwrap_or(nearest).name)
        })
        .collect()
}

/// By the names, as sysfs has them: `vda` of `vda1`, `nvme0n1` of `nvme0n1p2`. Volumes of the
/// device mapper are only numbered.
fn is_disk_of(disk: &BlockDevice, part: &BlockDevice) -> bool {
    let rest = part.name.strip_prefix(&disk.name).unwrap_or_default();
    // Behind a name that ends in a digit the kernel puts a `p`: nvme0n12 is another disk than nvme0n1.
    let number = if disk.name.ends_with(|last: char| last.is_ascii_digit()) {
        rest.strip_prefix('p').unwrap_or_default()
    } else {
        rest
    };
    disk.transport != "dm" && !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
}

/// Bytes that the disks moved beyond those of the load, over all passes; `None` where one of them
/// was not watched.
fn foreign_bytes(case: &CaseView<'_>, disks: &BTreeSet<&str>, direction: Direction) -> Option<f64> {
    case.passes
        .iter()
        .map(|pass| {
            let watched = pass.disks.iter().filter(|disk| disks.contains(&*disk.name));
            let bytes: Vec<u64> = watched
                .map(|watched| disk_bytes(watched, direction))
                .collect();
            let seen = bytes.iter().sum::<u64>() as f64;
            let is_whole = !disks.is_empty() && bytes.len() == disks.len();
            is_whole.then(|| (seen - CaseView::moved_bytes(pass, direction)).max(0.0))
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use blocklab_record::{DiskUse, Record};

    use super::*;
    use crate::testing::{Sketch, record, silent, the};

    /// Somebody sent SIGSTOP to a run for three seconds. They were in its highest latency and in
    /// its time, and no finding said that the device had no part in it.
    #[test]
    fn a_program_that_was_stopped() {
        let stopped = |still: Option<u64>| {
            let mut record = record(&[Sketch::default()]);
            record.measurements[1].stood_still_ns = still;
            record
        };
        let finding = the(&stopped(Some(3_000_000_000)), "stood-still");
        assert!(
            finding.statement.contains("stood still for 3.0 s:"),
            "{}",
            finding.statement
        );
        silent(&stopped(None), "stood-still");
    }

    /// A case on a disk that moved `percent` more of its bytes, in a direction.
    fn shared(sketch: Sketch, direction: &str, percent: u64) -> Record {
        let mut record = record(&[sketch]);
        for measurement in &mut record.measurements {
            let disk = &mut measurement.disks[0];
            let more = (disk.read_bytes + disk.write_bytes) * percent / 100;
            match direction {
                "read" => disk.read_bytes += more,
                _ => disk.write_bytes += more,
            }
        }
        record
    }

    fn writing() -> Sketch {
        Sketch {
            direction: "write",
            ..Sketch::default()
        }
    }

    /// Two runs in one directory halved each other's figures, and neither had a finding.
    #[test]
    fn another_run_on_the_same_disk() {
        let finding = the(&shared(Sketch::default(), "read", 102), "disk-shared");
        assert_eq!(
            finding.statement,
            "rand4k-q32-read: other programs used nvme0n1 at the same time: they moved 102 % as \
             much as this load."
        );
        the(&shared(Sketch::default(), "write", 30), "disk-shared");
        the(&shared(writing(), "write", 30), "disk-shared");
        silent(&shared(Sketch::default(), "read", 20), "disk-shared");
        silent(&shared(Sketch::default(), "read", 0), "disk-shared");
    }

    /// Ctrl-C in the first second: others "moved inf % as much as this load".
    #[test]
    fn a_load_that_moved_nothing_was_not_disturbed() {
        let mut record = shared(Sketch::default(), "read", 300);
        for measurement in &mut record.measurements {
            for job in &mut measurement.jobs {
                job.directions.clear();
                job.accounting = blocklab_record::Accounting::default();
            }
            measurement.cpu.machine_busy_percent = 100;
            measurement.cpu.user_ns = 0;
            measurement.cpu.system_ns = 0;
        }
        silent(&record, "disk-shared");
        silent(&record, "machine-busy");
    }

    /// What the load itself causes is no other program: read-ahead, journals, copies on write.
    #[test]
    fn what_a_file_system_adds_is_not_somebody_else() {
        let buffered = Sketch {
            direct: false,
            ..Sketch::default()
        };
        silent(&shared(buffered, "read", 300), "disk-shared");
        let on = |kind: &str| {
            let mut record = shared(writing(), "write", 300);
            record.targets[0].file_system.as_mut().unwrap().kind = kind.to_owned();
            record
        };
        the(&on("xfs"), "disk-shared");
        silent(&on("btrfs"), "disk-shared");
        let mut durable = on("xfs");
        for job in durable.measurements.iter_mut().flat_map(|m| &mut m.jobs) {
            job.durability = Durability::Dsync;
        }
        silent(&durable, "disk-shared");
        let mut file = on("ext4");
        file.targets[0].kind = TargetKind::File;
        silent(&file, "disk-shared");
        file.targets[0].kind = TargetKind::BlockDevice;
        the(&file, "disk-shared");
    }

    #[test]
    fn a_partition_shares_its_disk() {
        let mut record = shared(Sketch::default(), "read", 0);
        let target = &mut record.targets[0];
        let disk = target.devices[0].clone();
        target.devices[0].name = "nvme0n1p2".to_owned();
        target.devices.push(disk);
        for measurement in &mut record.measurements {
            let own = DiskUse {
                name: "nvme0n1p2".to_owned(),
                ..measurement.disks[0].clone()
            };
            measurement.disks[0].read_bytes *= 2;
            measurement.disks.push(own);
        }
        the(&record, "disk-shared");
        record.measurements[0].disks.remove(0);
        silent(&record, "disk-shared");
    }

    /// The disk nvme0n12 was taken for a partition of nvme0n1, and md12 for one of md1.
    #[test]
    fn a_partition_has_a_p_behind_a_name_that_ends_in_a_digit() {
        let device = |name: &str| BlockDevice {
            name: name.to_owned(),
            ..BlockDevice::default()
        };
        for (disk, part, expected) in [
            ("vda", "vda1", true),
            ("vda", "vdb1", false),
            ("nvme0n1", "nvme0n1p2", true),
            ("nvme0n1", "nvme0n12", false),
            ("md1", "md12", false),
            ("vda", "vda", false),
        ] {
            let found = is_disk_of(&device(disk), &device(part));
            assert_eq!(found, expected, "{disk} {part}");
        }
    }
}
