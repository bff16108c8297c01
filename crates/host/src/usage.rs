//! Counters of a device before and after a run, and what was used in between.

use blocklab_record::{DiskUse, Exceeded};
use blocklab_units::SECTOR;

use crate::ebs;
use crate::roots::Roots;

/// The block layer's counters of a device or partition since it appeared, by kernel name.
/// Nothing where there is no such device.
pub fn disk_stats(name: &str) -> Option<DiskUse> {
    stats(&Roots::real(), name)
}

/// The counters of a device by its kernel name.
fn stats(roots: &Roots, name: &str) -> Option<DiskUse> {
    if name.is_empty() || name.contains('/') {
        return None;
    }
    let text = roots.text(format!("/sys/class/block/{name}/stat"))?;
    let exceeded = ebs::exceeded(roots, name);
    parse(name, &text).map(|counted| DiskUse {
        exceeded,
        ..counted
    })
}

/// Reads a line of statistics; `None` if it is too short. Eleven numbers since ever, more since Linux
/// 4.18 (discards) and 5.5 (flushes).
fn parse(name: &str, text: &str) -> Option<DiskUse> {
    let numbers: Result<Vec<u64>, _> = text.split_whitespace().map(str::parse).collect();
    let numbers = numbers.ok()?;
    // All are counters but the operations in flight, of which a difference would say nothing.
    let &[ri, rm, rs, rt, wi, wm, ws, wt, _in_flight, busy, queue, ..] = numbers.as_slice() else {
        return None;
    };
    Some(DiskUse {
        name: name.to_owned(),
        read_ios: ri,
        read_merges: rm,
        read_bytes: rs.saturating_mul(SECTOR),
        read_ticks_ms: rt,
        write_ios: wi,
        write_merges: wm,
        write_bytes: ws.saturating_mul(SECTOR),
        write_ticks_ms: wt,
        busy_ms: busy,
        queue_ms: queue,
        exceeded: None,
    })
}

/// What happened between two readings of the same device.
pub fn disk_use_between(later: &DiskUse, earlier: &DiskUse) -> DiskUse {
    DiskUse {
        name: later.name.clone(),
        read_ios: later.read_ios.saturating_sub(earlier.read_ios),
        read_merges: later.read_merges.saturating_sub(earlier.read_merges),
        read_bytes: later.read_bytes.saturating_sub(earlier.read_bytes),
        read_ticks_ms: passed(later.read_ticks_ms, earlier.read_ticks_ms),
        write_ios: later.write_ios.saturating_sub(earlier.write_ios),
        write_merges: later.write_merges.saturating_sub(earlier.write_merges),
        write_bytes: later.write_bytes.saturating_sub(earlier.write_bytes),
        write_ticks_ms: passed(later.write_ticks_ms, earlier.write_ticks_ms),
        busy_ms: passed(later.busy_ms, earlier.busy_ms),
        queue_ms: passed(later.queue_ms, earlier.queue_ms),
        exceeded: later
            .exceeded
            .zip(earlier.exceeded)
            .map(|(later, earlier)| exceeded_since(later, earlier)),
    }
}

/// How long limits were exceeded between two readings.
fn exceeded_since(later: Exceeded, earlier: Exceeded) -> Exceeded {
    Exceeded {
        volume_iops_us: later.volume_iops_us.saturating_sub(earlier.volume_iops_us),
        volume_throughput_us: later
            .volume_throughput_us
            .saturating_sub(earlier.volume_throughput_us),
        instance_iops_us: later
            .instance_iops_us
            .saturating_sub(earlier.instance_iops_us),
        instance_throughput_us: later
            .instance_throughput_us
            .saturating_sub(earlier.instance_throughput_us),
    }
}

/// The kernel prints milliseconds as 32-bit numbers: they begin again after 49.7 days of
/// summed time, which a busy device with deep queues reaches.
fn passed(later: u64, earlier: u64) -> u64 {
    const ROUND: u64 = 1 << 32;
    if later >= earlier {
        return later - earlier;
    }
    (later + ROUND).saturating_sub(earlier)
}

#[cfg(test)]
mod tests {
    use super::*;

    const EARLY: &str = "  10 1 80 5 20 2 160 7 0 9 12 0 0 0 0 0 0";
    const LATE: &str = "  15 1 120 9 40 3 480 10 3 19 24 0 0 0 0 0 0";

    #[test]
    fn sectors_become_bytes_and_readings_a_difference() {
        let early = parse("vda", EARLY).unwrap();
        assert_eq!(early.read_bytes, 80 * 512);
        let used = disk_use_between(&parse("vda", LATE).unwrap(), &early);
        assert_eq!((used.read_ios, used.read_bytes), (5, 40 * 512));
        assert_eq!((used.write_ios, used.write_bytes), (20, 320 * 512));
        assert_eq!((used.busy_ms, used.queue_ms), (10, 12));
    }

    #[test]
    fn milliseconds_that_began_again() {
        assert_eq!(passed(5, (1 << 32) - 10), 15);
        assert_eq!(passed(5, 5), 0);
    }

    #[test]
    fn what_is_no_device_has_no_counters() {
        for name in ["", "no-such-disk", "../../etc", "a/b"] {
            assert_eq!(disk_stats(name), None, "{name}");
        }
        assert_eq!(parse("x", "1 2 3"), None);
        assert_eq!(parse("x", "a b c d e f g h i j k"), None);
    }
}
