//! Limits that control groups set for the block devices below a target. The record knows them, and
//! nothing counts for what an operation waited: a rate near one of them is held back by it.

use blocklab_record::{DeviceLimit, DeviceLimitCounts};
use blocklab_workload::Direction;

use crate::Finding;
use crate::hit::{info, per_case};
use crate::requested::{is_met, is_missed};
use crate::statement::{fixed, in_unit, number, percent, word};
use crate::view::{CaseView, Cases};

/// The kernel gives a group a little less than its limit, and in a short pass a little more.
const REACHED: std::ops::Range<f64> = 0.9..1.1;

/// A limit of a control group, and the rate of a case that is near it.
pub(crate) struct Reached<'a> {
    limit: &'a DeviceLimit,
    /// Kernel name of the device.
    device: &'a str,
    /// What the case moved of what is limited, a second, as the device counts it.
    rate: f64,
    /// How many requests of the device an operation is, where operations are limited.
    requests: f64,
}

/// From this many requests an operation on, the device visibly counts more than the load; and from this many
/// times its bytes on, others use the device as well.
const SPLIT: f64 = 1.1;

impl Reached<'_> {
    fn share(&self) -> f64 {
        self.rate / self.limit.per_second as f64
    }

    const fn unit(&self) -> &'static str {
        match self.limit.counts {
            DeviceLimitCounts::Operations => "IOPS",
            DeviceLimitCounts::Bytes => "MB/s",
        }
    }

    /// The limit in its unit: bytes a second are shown as 10^6 bytes a second.
    fn value(&self) -> f64 {
        let limit = self.limit.per_second as f64;
        match self.limit.counts {
            DeviceLimitCounts::Operations => limit,
            DeviceLimitCounts::Bytes => limit / 1e6,
        }
    }
}

/// The limits of control groups that hold cases back.
pub(super) fn group_limit(cases: &Cases<'_>) -> Vec<Finding> {
    let advice = "More load only adds latency. Give the control group a higher limit (io.max, \
                  blkio.throttle.*_device), or measure outside of it.";
    per_case(cases, "group-limit", Some(advice), |case| {
        let reached = reached(cases, case)?;
        let (value, share) = (reached.value(), reached.share() * 100.0);
        let directions = match reached.limit.direction {
            Direction::Read => "reads",
            _ => "writes",
        };
        let hit = info(
            "{} is the limit of {}, set by a control group of this process for {}; the rate is \
             {} of it",
            [
                in_unit(value, reached.unit()),
                fixed(directions),
                word(reached.device),
                percent(share),
            ],
        )
        .with("limit", value, reached.unit())
        .with("share of the limit", share, "%");
        let operations = reached.rate / reached.requests;
        Some(if reached.requests >= SPLIT {
            hit.alone(
                "; it counts {} requests for {} operations a second, which are split",
                [number(reached.rate), number(operations)],
            )
        } else {
            hit
        })
    })
}

/// The limit of a control group that a case reaches, the one that is used most; `None` where the case
/// got the rate that it requested, pauses of its own accord, or may have been answered by memory.
pub(crate) fn reached<'a>(cases: &Cases<'a>, case: &CaseView<'_>) -> Option<Reached<'a>> {
    let record = cases.record;
    let wants_more = case.is_saturating() || is_missed(case);
    if !cases.on_storage() || !case.is_direct() || !wants_more || is_met(case) {
        return None;
    }
    let limits = record.environment.device_limits.iter();
    let reached = limits.filter_map(|limit| {
        // Only what all targets lie on has moved all that the case did.
        let mut below = record.targets.iter().map(|target| {
            let mut devices = target.devices.iter();
            devices.find(|device| device.number == limit.device)
        });
        let device = &*below.next()??.name;
        let on_all = below.all(|device| device.is_some());
        let requests = requests_per_operation(case, limit, device);
        let rate = moved(case, limit) * requests;
        on_all.then_some(Reached {
            limit,
            device,
            rate,
            requests,
        })
    });
    let reached = reached.filter(|reached| REACHED.contains(&reached.share()));
    reached.max_by(|a, b| a.share().total_cmp(&b.share()))
}

/// How many requests of the device an operation of a case is. The kernel splits operations that are larger
/// than the device takes, and a group's limit counts the parts, before others are merged with them. One
/// where the device moved more than the case did: requests of other programs are among those it counts.
fn requests_per_operation(case: &CaseView<'_>, limit: &DeviceLimit, device: &str) -> f64 {
    let row_of = |which| {
        case.row
            .directions
            .iter()
            .find(|moved| moved.direction == which)
    };
    let row = row_of(limit.direction);
    let (DeviceLimitCounts::Operations, Some(row)) = (limit.counts, row) else {
        return 1.0;
    };
    let bytes_each = row.bytes_per_s.value / row.iops.value.max(f64::MIN_POSITIVE);
    let (mut requests, mut bytes_of_device, mut bytes) = (0, 0, 0.0);
    for pass in &case.passes {
        let Some(disk) = pass.disks.iter().find(|disk| disk.name == device) else {
            return 1.0;
        };
        let (of_pass, bytes_of_pass) = match limit.direction {
            Direction::Read => (disk.read_ios + disk.read_merges, disk.read_bytes),
            _ => (disk.write_ios + disk.write_merges, disk.write_bytes),
        };
        requests += of_pass;
        bytes_of_device += bytes_of_pass;
        bytes += CaseView::moved_bytes(pass, limit.direction);
    }
    let operations = bytes / bytes_each.max(f64::MIN_POSITIVE);
    // A device counts flushes as requests to write, and a limit does not.
    let flushes = row_of(Direction::Sync).filter(|_| limit.direction == Direction::Write);
    let flushes_each = flushes.map_or(0.0, |flushes| flushes.iops.value / row.iops.value);
    let each = requests as f64 / operations.max(f64::MIN_POSITIVE) - flushes_each;
    let is_alone = (bytes_of_device as f64) < SPLIT * bytes;
    if operations > 0.0 && is_alone && each >= SPLIT {
        each
    } else {
        1.0
    }
}

/// What a case moves a second of what a limit counts.
fn moved(case: &CaseView<'_>, limit: &DeviceLimit) -> f64 {
    let directions = case.row.directions.iter();
    let limited = directions.filter(|moved| moved.direction == limit.direction);
    limited
        .map(|moved| match limit.counts {
            DeviceLimitCounts::Operations => moved.iops.value,
            DeviceLimitCounts::Bytes => moved.bytes_per_s.value,
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use blocklab_record::Record;

    use super::*;
    use crate::testing::{Sketch, found, record, silent, the};

    /// Reads of 4 KiB on a device for which a control group has this limit.
    fn limited(iops: f64, per_second: u64, counts: DeviceLimitCounts) -> Record {
        let mut record = record(&[Sketch {
            iops: vec![iops; 3],
            block: 4096,
            depth: 16,
            ..Sketch::named("a")
        }]);
        let devices = &mut record.targets[0].devices;
        devices.resize_with(1, Default::default);
        (devices[0].name, devices[0].number) = ("loop0".to_owned(), "7:0".to_owned());
        record.environment.device_limits = vec![DeviceLimit {
            device: "7:0".to_owned(),
            direction: Direction::Read,
            counts,
            per_second,
        }];
        record
    }

    /// The story: a loop device that `blkio.throttle.read_iops_device` held at 600 operations a second
    /// gave 601, and no finding said why.
    #[test]
    fn a_rate_at_the_limit_of_a_group_is_that_limit() {
        let by_operations = limited(601.0, 600, DeviceLimitCounts::Operations);
        assert_eq!(
            the(&by_operations, "group-limit").statement,
            "a: 600 IOPS is the limit of reads, set by a control group of this process for loop0; \
             the rate is 100 % of it."
        );
        let by_bytes = limited(5000.0, 20_480_000, DeviceLimitCounts::Bytes);
        assert!(
            the(&by_bytes, "group-limit")
                .statement
                .starts_with("a: 20.48 MB/s is the limit of reads")
        );
        // On both sides of [`REACHED`].
        let is_found = |iops| {
            let record = limited(iops, 600, DeviceLimitCounts::Operations);
            !found(&record, "group-limit").is_empty()
        };
        assert!(is_found(545.0) && !is_found(535.0) && !is_found(665.0));
    }

    /// The story: reads of 1 MiB on a device that takes 512 KiB at a time, held at 100 operations a second by
    /// a group, gave 51, and no finding said why.
    #[test]
    fn a_limit_counts_the_requests_into_which_operations_are_split() {
        let split = |requests_each: f64| {
            let mut record = limited(300.0, 600, DeviceLimitCounts::Operations);
            for pass in &mut record.measurements {
                let ios = pass.jobs[0].directions[&Direction::Read].ios;
                let counts = &mut pass.jobs[0].accounting;
                (counts.completed, counts.completed_in_ramp) = (ios, 0);
                pass.disks[0].name = "loop0".to_owned();
                pass.disks[0].read_merges = 0;
                pass.disks[0].read_ios = (ios as f64 * requests_each) as u64;
            }
            record
        };
        assert_eq!(
            the(&split(2.0), "group-limit").statement,
            "a: 600 IOPS is the limit of reads, set by a control group of this process for loop0; \
             the rate is 100 % of it; it counts 600 requests for 300 operations a second, which are \
             split."
        );
        silent(&split(1.0), "group-limit");
    }

    /// The story: reads at the limit of their group, beside another program that read as much from the same
    /// device, were taken for split ones, at 200 % of the limit, and no finding named it.
    #[test]
    fn requests_of_other_programs_are_no_parts_of_operations() {
        let mut record = limited(600.0, 600, DeviceLimitCounts::Operations);
        for pass in &mut record.measurements {
            let read = &pass.jobs[0].directions[&Direction::Read];
            let (ios, bytes) = (read.ios, read.bytes);
            let disk = &mut pass.disks[0];
            disk.name = "loop0".to_owned();
            disk.read_merges = 0;
            (disk.read_ios, disk.read_bytes) = (ios * 2, bytes * 2);
            let counts = &mut pass.jobs[0].accounting;
            (counts.completed, counts.completed_in_ramp) = (ios, 0);
        }
        assert_eq!(
            the(&record, "group-limit").statement,
            "a: 600 IOPS is the limit of reads, set by a control group of this process for loop0; \
             the rate is 100 % of it."
        );
    }

    /// The story: writes with an fsync after each, at the limit of their group, were taken for split ones, at 190 %
    /// of the limit, as the loop device counted the flushes, too; "latency is the limit" was told. Such writes
    /// may be split as well.
    #[test]
    fn flushes_are_no_parts_of_writes() {
        for (iops, requests_each) in [(290.0, 2), (145.0, 3)] {
            let mut record = limited(iops, 300, DeviceLimitCounts::Operations);
            record.environment.device_limits[0].direction = Direction::Write;
            for pass in &mut record.measurements {
                let directions = &mut pass.jobs[0].directions;
                let each = directions.remove(&Direction::Read).expect("it read");
                let (ios, bytes) = (each.ios, each.bytes);
                directions.insert(Direction::Sync, each.clone());
                directions.insert(Direction::Write, each);
                let disk = &mut pass.disks[0];
                disk.name = "loop0".to_owned();
                (disk.write_ios, disk.write_merges, disk.write_bytes) =
                    (requests_each * ios, 0, bytes);
                let counts = &mut pass.jobs[0].accounting;
                (counts.completed, counts.completed_in_ramp) = (2 * ios, 0);
            }
            let finding = the(&record, "group-limit").statement;
            assert!(
                finding.starts_with("a: 300 IOPS is the limit of writes"),
                "{finding}"
            );
        }
    }

    #[test]
    fn what_does_not_come_to_the_limit_is_silent() {
        let of = || limited(600.0, 600, DeviceLimitCounts::Operations);
        let mut writes = of();
        writes.environment.device_limits[0].direction = Direction::Write;
        let mut other = of();
        other.environment.device_limits[0].device = "7:1".to_owned();
        let mut met = of();
        let passes = met.measurements.iter_mut();
        passes.for_each(|pass| pass.jobs[0].requested_iops = Some(600.0));
        for record in [writes, other, met] {
            silent(&record, "group-limit");
        }
    }

    /// The story: the same 500 operations a second at three sizes were "a cap on operations" to be compared
    /// with documents, and the waits for the group a heavy tail of the device.
    #[test]
    fn what_a_group_explains_is_not_guessed_as_well() {
        let sketches = [4, 16, 64].map(|kib| Sketch {
            iops: vec![600.0; 3],
            block: kib * 1024,
            depth: 16,
            ..Sketch::named(["a", "b", "c"][kib.ilog(4) as usize - 1])
        });
        let mut several = record(&sketches);
        let known = limited(600.0, 600, DeviceLimitCounts::Operations);
        the(&several, "iops-cap");
        several.targets = known.targets;
        several.environment = known.environment;
        the(&several, "group-limit");
        silent(&several, "iops-cap");
    }

    /// Its rate was to be reached by "more depth or threads", which a limit of the group leaves behind.
    #[test]
    fn a_missed_rate_names_the_limit_of_the_group() {
        let mut record = limited(600.0, 600, DeviceLimitCounts::Operations);
        let passes = record.measurements.iter_mut();
        passes.for_each(|pass| pass.jobs[0].requested_iops = Some(2000.0));
        let missed = the(&record, "rate-missed");
        assert!(
            missed
                .advice
                .is_some_and(|advice| advice.contains("more depth cannot help"))
        );
    }
}
