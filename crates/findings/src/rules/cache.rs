//! Figures that are not the device's: memory answered.

use std::collections::BTreeSet;

use super::submission::blocks_on_submission;
use crate::hit::{Hit, per_case, per_run, warning};
use crate::statement::{delay, percent as share_of, word};
use crate::view::{CaseView, Cases, disk_bytes, lies_in_memory};
use crate::{Confidence, Finding};
use blocklab_record::Origin;
use blocklab_workload::{Access, Direction, EngineKind};

/// Fewer bytes than this are no evidence: metadata and neighbours weigh as much.
const ENOUGH_BYTES: f64 = 1e6;
/// Below this share of the bytes, the page cache took part in what was meant for the device.
const MOST_THROUGH_CACHE_PERCENT: f64 = 80.0;
/// Direct I/O is split or merged, but its bytes arrive: less than half of them is a contradiction.
const LEAST_OF_DIRECT_PERCENT: f64 = 50.0;
/// No storage device answers a small read through the kernel in this time; memory does.
const MEMORY_NS: u64 = 4_000;

/// Buffered reads that the device did not deliver.
pub(super) fn page_cache_reads(cases: &Cases<'_>) -> Vec<Finding> {
    let advice = "Measure the device with direct access, or a file much larger than the memory; \
                  keep the figures only if the page cache is what you want to know.";
    per_case(cases, "page-cache", Some(advice), |case| {
        if !is_buffered(case) || !(cases.on_storage() || is_timed_elsewhere(cases, case)) {
            return None;
        }
        let Some(share) = Share::of_devices(cases, case, Direction::Read) else {
            return too_quick(case);
        };
        let percent = share.percent_below(MOST_THROUGH_CACHE_PERCENT)?;
        let hit = warning(
            "the page cache answered: the device delivered {} of the bytes that were read",
            [share_of(percent)],
        );
        Some(share.add_evidence_to(hit))
    })
}

/// Whether another program measured how long the reads took. fio counts from the return of the call that submits
/// an operation, in which libaio has done it.
fn is_timed_elsewhere(cases: &Cases<'_>, case: &CaseView<'_>) -> bool {
    let mut jobs = case.jobs();
    cases.record.origin == Origin::Imported && !jobs.any(|job| blocks_on_submission(cases, job))
}

/// Without a view of the device, only the latency shows it.
fn too_quick(case: &CaseView<'_>) -> Option<Hit> {
    let mut directions = case.row.directions.iter();
    let reads = directions.find(|d| d.direction == Direction::Read)?;
    let small = case.bytes_per_io() <= 16_384.0;
    let median = reads.service_ns.at("p50");
    (small && reads.knows(0.5) && median > 0 && median < MEMORY_NS).then(|| {
        warning(
            "half of the buffered reads took {} or less: memory answered, not a device",
            [delay(median as f64)],
        )
        .confidence(Confidence::Medium)
        .with("median read latency", median as f64, "ns")
    })
}

/// Buffered writes that had not reached the device when the time was over.
pub(super) fn page_cache_writes(cases: &Cases<'_>) -> Vec<Finding> {
    let advice = "Use direct access, fsync inside the measured time, or O_DSYNC, to measure what \
                  is stored; a longer run shows the pace of the write-back.";
    per_case(cases, "page-cache", Some(advice), |case| {
        if !cases.on_storage() || !is_buffered(case) {
            return None;
        }
        let share = Share::of_devices(cases, case, Direction::Write)?;
        let hit = warning(
            "the page cache took the writes: {} of the written bytes reached the device while it \
             was measured",
            [share_of(share.percent_below(MOST_THROUGH_CACHE_PERCENT)?)],
        );
        Some(share.add_evidence_to(hit))
    })
}

/// Direct I/O of which the device saw little.
pub(super) fn not_from_device(cases: &Cases<'_>) -> Vec<Finding> {
    let advice = "Write the whole file first (holes and blocks that were only reserved are read \
                  without the device), and look for a compressing or caching layer in between.";
    per_case(cases, "not-from-device", Some(advice), |case| {
        if !cases.on_storage() || !case.is_direct() {
            return None;
        }
        let (percent, share) = least_seen(LEAST_OF_DIRECT_PERCENT, |direction| {
            Share::of_devices(cases, case, direction)
        })?;
        let hit = warning(
            "access was direct, yet the device saw only {} of the bytes that were {}: another \
             layer answered",
            [share_of(percent), word(share.verb())],
        );
        Some(share.add_evidence_to(hit.confidence(Confidence::Medium)))
    })
}

/// A loop device that passes operations to the page cache: O_DIRECT ends at its file.
pub(super) fn buffered_loop(cases: &Cases<'_>) -> Vec<Finding> {
    let advice = "Attach the file with `losetup --direct-io=on`, or measure the directory that it \
                  lies in.";
    let buffered: BTreeSet<&str> = cases
        .record
        .targets
        .iter()
        .flat_map(|target| &target.devices)
        .filter(|device| device.loop_direct == Some(false))
        .map(|device| &*device.name)
        .collect();
    let Some(device) = buffered.first() else {
        return Vec::new();
    };
    per_case(cases, "buffered-loop", Some(advice), |case| {
        if !cases.on_storage() || case.is_null() {
            return None;
        }
        let Some((percent, share)) = least_seen(MOST_THROUGH_CACHE_PERCENT, |direction| {
            Share::below_loop(case, direction)
        }) else {
            let hit = warning(
                "{} is a loop device over a buffered file: the page cache may have answered",
                [word(*device)],
            );
            return Some(hit.confidence(Confidence::Medium));
        };
        let hit = warning(
            "{} is a loop device over a buffered file: the page cache answered, the disk below \
             moved at most {} of the bytes that were {}",
            [word(*device), share_of(percent), word(share.verb())],
        );
        Some(share.add_evidence_to(hit))
    })
}

/// A target lies in memory, whatever the access.
pub(super) fn memory_target(cases: &Cases<'_>) -> Vec<Finding> {
    let advice = "Choose a target on the disk that you mean.";
    per_run("memory-target", Some(advice), || {
        let is_meant = cases.in_memory() && !cases.list.iter().all(CaseView::is_null);
        let text = if cases.record.targets.iter().all(lies_in_memory) {
            "The target lies on a file system in memory: no disk took part"
        } else {
            "A target lies on a file system in memory: no disk took part in its operations"
        };
        is_meant.then(|| warning(text, []))
    })
}

/// Direct I/O to a file of a FUSE server: O_DIRECT passes the kernel's page cache and ends at the server,
/// a program that has the page cache below it, or its own.
pub(super) fn fuse_server(cases: &Cases<'_>) -> Vec<Finding> {
    let systems = cases
        .record
        .targets
        .iter()
        .filter_map(|target| target.file_system.as_ref());
    let Some(system) = systems
        .filter(|system| system.kind.starts_with("fuse") && !system.kind.ends_with("overlayfs"))
        .min_by_key(|system| &system.mount_point)
    else {
        return Vec::new();
    };
    let advice = "Read the figures as those of the server, its caches included; measure the disk below it \
                  for those of a device.";
    per_case(cases, "fuse-server", Some(advice), |case| {
        (cases.on_storage() && case.is_direct()).then(|| {
            let hit = warning(
                "O_DIRECT ends at the FUSE server of {} ({}): a cache behind it may have answered",
                [word(&system.mount_point), word(&system.kind)],
            );
            hit.confidence(Confidence::Medium)
        })
    })
}

/// Direct access was wanted and not to be had.
pub(super) fn not_direct(cases: &Cases<'_>) -> Vec<Finding> {
    let advice = "The file system offers no O_DIRECT here: choose another target, or read these \
                  figures as those of the page cache.";
    per_case(cases, "not-direct", Some(advice), |case| {
        // Every pass has the same jobs.
        let jobs = case.passes[0]
            .jobs
            .iter()
            .filter(|job| {
                let through_memory = [EngineKind::Mmap, EngineKind::Null]
                    .iter()
                    .any(|engine| job.engine.is(*engine));
                job.access == Some(Access::DirectIfPossible)
                    && job.direct == Some(false)
                    && !through_memory
            })
            .count();
        (cases.on_storage() && jobs > 0).then(|| {
            warning("direct access was wanted, but the page cache was used", []).with(
                "jobs through the page cache",
                jobs as f64,
                "",
            )
        })
    })
}

fn is_buffered(case: &CaseView<'_>) -> bool {
    case.jobs()
        .all(|job| job.direct == Some(false) && !job.engine.is(EngineKind::Null))
}

/// Bytes of a direction that the load moved and that the device saw, over all passes.
struct Share {
    direction: Direction,
    moved: f64,
    seen: f64,
}

/// The direction of which the device saw the smallest share of the bytes, after that share in per
/// cent; `None` if both lie above `most_percent`.
fn least_seen(
    most_percent: f64,
    share: impl Fn(Direction) -> Option<Share>,
) -> Option<(f64, Share)> {
    let seen = [Direction::Read, Direction::Write]
        .into_iter()
        .filter_map(|direction| {
            let share = share(direction)?;
            Some((share.percent_below(most_percent)?, share))
        });
    seen.min_by(|a, b| a.0.total_cmp(&b.0))
}

impl Share {
    /// `None` where no device was watched or too little was moved.
    fn of_devices(cases: &Cases<'_>, case: &CaseView<'_>, direction: Direction) -> Option<Self> {
        let passes = case.passes.iter();
        let seen = passes
            .map(|pass| cases.device_bytes(pass, direction))
            .sum::<Option<u64>>()?;
        Self::new(case, direction, seen)
    }

    /// What the disks below the file of a loop device saw. In a stack of disks each counts the
    /// same bytes again, so they saw no more than that.
    fn below_loop(case: &CaseView<'_>, direction: Direction) -> Option<Self> {
        let mut passes = case.passes.iter();
        let disks = case.passes.iter().flat_map(|pass| &pass.backing_disks);
        let seen = disks.map(|disk| disk_bytes(disk, direction)).sum();
        let watched = passes.all(|pass| !pass.backing_disks.is_empty());
        Self::new(case, direction, seen).filter(|_| watched)
    }

    /// `None` if too few bytes were moved to tell where they came from.
    fn new(case: &CaseView<'_>, direction: Direction, seen: u64) -> Option<Self> {
        let moved = case.moved(direction);
        (moved >= ENOUGH_BYTES).then_some(Self {
            direction,
            moved,
            seen: seen as f64,
        })
    }

    /// The share in per cent, if it lies below a limit.
    fn percent_below(&self, limit: f64) -> Option<f64> {
        let percent = self.seen / self.moved * 100.0;
        (percent < limit).then_some(percent)
    }

    fn verb(&self) -> &'static str {
        match self.direction {
            Direction::Read => "read",
            _ => "written",
        }
    }

    /// Adds both figures to a finding.
    fn add_evidence_to(&self, hit: Hit) -> Hit {
        hit.with(
            &format!("{} by the load", self.verb()),
            self.moved / 1e6,
            "MB",
        )
        .with("seen by the device", self.seen / 1e6, "MB")
    }
}

#[cfg(test)]
mod tests {
    use blocklab_record::{Record, TargetKind};

    use super::*;
    use crate::testing::{Sketch, record, silent, the};

    fn buffered(direction: &'static str, device_percent: u64) -> Record {
        with_device(
            Sketch {
                direction,
                direct: false,
                ..Sketch::default()
            },
            device_percent,
        )
    }

    fn with_device(sketch: Sketch, percent: u64) -> Record {
        let mut record = record(&[sketch]);
        for disk in record.measurements.iter_mut().flat_map(|m| &mut m.disks) {
            disk.read_bytes = disk.read_bytes * percent / 100;
            disk.write_bytes = disk.write_bytes * percent / 100;
        }
        record
    }

    #[test]
    fn reads_that_the_device_did_not_deliver() {
        let finding = the(&buffered("read", 3), "page-cache");
        assert_eq!(
            finding.statement,
            "rand4k-q32-read: the page cache answered: the device delivered 3 % of the bytes \
             that were read."
        );
        assert_eq!(finding.confidence, Confidence::High);
        silent(&buffered("read", 100), "page-cache");
        silent(&with_device(Sketch::default(), 3), "page-cache");
    }

    #[test]
    fn writes_that_are_still_in_memory() {
        let finding = the(&buffered("write", 40), "page-cache");
        assert!(finding.statement.contains("40 % of the written bytes"));
        silent(&buffered("write", 95), "page-cache");
    }

    #[test]
    fn the_ramp_counts_on_both_sides() {
        let mut record = buffered("read", 100);
        // Half of the operations fell into the ramp; the device moved the bytes of both halves.
        for job in record.measurements.iter_mut().flat_map(|m| &mut m.jobs) {
            job.accounting.completed *= 2;
            job.accounting.issued *= 2;
            job.accounting.completed_in_ramp = job.accounting.completed / 2;
        }
        assert!(the(&record, "page-cache").statement.contains(" 50 % "));
    }

    #[test]
    fn without_a_device_in_sight_the_latency_tells() {
        let quick = |engine, latency| {
            let mut record = record(&[Sketch {
                engine,
                direct: false,
                depth: 1,
                latency_ns: Some(latency),
                iops: vec![1e9 / latency],
                ..Sketch::default()
            }]);
            record.measurements[0].disks.clear();
            record
        };
        let finding = the(&quick("psync", 1500.0), "page-cache");
        assert_eq!(finding.confidence, Confidence::Medium);
        silent(&quick("psync", 80_000.0), "page-cache");
        the(&quick("libaio", 1500.0), "page-cache");
        // The story: what fio read from memory, imported, was "sound".
        let imported = |engine| Record {
            origin: Origin::Imported,
            ..quick(engine, 1500.0)
        };
        the(&imported("psync"), "page-cache");
        // Then "memory answered" what libaio had read from a disk before fio began to count.
        silent(&imported("libaio"), "page-cache");
    }

    #[test]
    fn direct_reads_of_a_file_with_holes() {
        let finding = the(&with_device(Sketch::default(), 10), "not-from-device");
        assert!(
            finding
                .statement
                .contains("only 10 % of the bytes that were read")
        );
        assert_eq!(finding.confidence, Confidence::Medium);
        silent(&with_device(Sketch::default(), 70), "not-from-device");
        silent(&buffered("read", 10), "not-from-device");
    }

    #[test]
    fn a_stack_of_devices_does_not_count_twice() {
        let mut record = with_device(Sketch::default(), 30);
        for measurement in &mut record.measurements {
            let mut below = measurement.disks[0].clone();
            below.name = "sda".to_owned();
            measurement.disks.push(below);
        }
        the(&record, "not-from-device");
    }

    /// 128 MiB of an image were read at 5.9 GB/s "with O_DIRECT": out of the page cache of the
    /// host, which a loop device goes through unless its file is opened directly.
    #[test]
    fn a_loop_device_over_a_buffered_file() {
        let looped = |direct, percent: Option<u64>| {
            let mut record = record(&[Sketch::default()]);
            record.targets[0].kind = TargetKind::BlockDevice;
            record.targets[0].devices[0].loop_direct = direct;
            for measurement in &mut record.measurements {
                let mut below = measurement.disks[0].clone();
                below.read_bytes = below.read_bytes * percent.unwrap_or(0) / 100;
                measurement.backing_disks = percent.map(|_| below).into_iter().collect();
            }
            record
        };
        let finding = the(&looped(Some(false), Some(3)), "buffered-loop");
        assert_eq!(
            finding.statement,
            "rand4k-q32-read: nvme0n1 is a loop device over a buffered file: the page cache \
             answered, the disk below moved at most 3 % of the bytes that were read."
        );
        assert_eq!(finding.confidence, Confidence::High);
        for unclear in [None, Some(100)] {
            let finding = the(&looped(Some(false), unclear), "buffered-loop");
            assert!(finding.statement.contains("may have answered"));
            assert_eq!(finding.confidence, Confidence::Medium);
        }
        silent(&looped(Some(true), Some(3)), "buffered-loop");
        silent(&looped(None, None), "buffered-loop");
    }

    #[test]
    fn tmpfs_is_memory() {
        let mut record = buffered("read", 0);
        silent(&record, "memory-target");
        let system = record.targets[0].file_system.as_mut().unwrap();
        system.kind = "tmpfs".to_owned();
        let statement = the(&record, "memory-target").statement;
        assert!(statement.ends_with("no disk took part."), "{statement}");
        silent(&record, "page-cache");
    }

    /// The story: of a run on two targets, one of which lay on a disk, "no disk took part".
    #[test]
    fn one_target_in_memory_leaves_the_disk_of_the_other() {
        let mut record = buffered("read", 0);
        let on_disk = record.targets[0].clone();
        let system = record.targets[0].file_system.as_mut().unwrap();
        system.kind = "tmpfs".to_owned();
        record.targets.push(on_disk);
        let statement = the(&record, "memory-target").statement;
        assert!(
            statement.ends_with("took part in its operations."),
            "{statement}"
        );
    }

    /// The story: a file of a FUSE server was read with O_DIRECT from the server's page cache, and the
    /// figures were those of a device.
    #[test]
    fn direct_access_ends_at_a_fuse_server() {
        for (kind, is_server) in [
            ("fuse.sshfs", true),
            ("fuseblk", true),
            ("fuse", true),
            ("fuse.fuse-overlayfs", false),
            ("ext4", false),
        ] {
            let mut record = record(&[Sketch::default()]);
            let system = record.targets[0].file_system.as_mut().unwrap();
            system.kind = kind.to_owned();
            if is_server {
                assert!(the(&record, "fuse-server").statement.contains(kind))
            } else {
                silent(&record, "fuse-server")
            }
            record.measurements[0].jobs[0].direct = Some(false);
            silent(&record, "fuse-server");
        }
    }

    /// One job of three passes was counted as "jobs through the page cache 3".
    #[test]
    fn direct_access_that_was_not_to_be_had() {
        let mut record = buffered("read", 100);
        silent(&record, "not-direct");
        for measurement in &mut record.measurements {
            measurement.jobs[0].access = Some(Access::DirectIfPossible);
        }
        assert!(record.measurements.len() > 1);
        assert_eq!(the(&record, "not-direct").evidence[0].value, 1.0);
        record.targets[0].kind = TargetKind::CharDevice;
        silent(&record, "not-direct");
    }
}
