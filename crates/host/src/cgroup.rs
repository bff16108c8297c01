//! What the control groups of this process allow it: <https://docs.kernel.org/admin-guide/cgroup-v2.html>
//! and, for version 1, `Documentation/admin-guide/cgroup-v1` and `scheduler/sched-bwc.rst`.

use blocklab_record::{DeviceLimit, DeviceLimitCounts};
use blocklab_units::Bytes;
use blocklab_workload::Direction;

use crate::roots::Roots;

/// In place of the name of a controller: version 2, which has one folder for all.
const V2: &str = "";
/// Where both versions are mounted by custom.
const MOUNTED: &str = "/sys/fs/cgroup";

/// A limit of memory that is none: version 1 prints the largest number of pages.
const NO_LIMIT: u64 = 1 << 60;

/// Processors that this process may use at a time: the least quota of its groups and of those above
/// them. `None`: no quota, or none that can be read.
pub(crate) fn processor_quota(roots: &Roots) -> Option<f64> {
    let of_v2 = levels(roots, V2).into_iter().filter_map(|folder| {
        let text = roots.text(format!("{folder}/cpu.max"))?;
        let (quota, period) = text.split_once(' ')?;
        ratio(quota, period)
    });
    let of_v1 = levels(roots, "cpu").into_iter().filter_map(|folder| {
        let quota = roots.text(format!("{folder}/cpu.cfs_quota_us"))?;
        let period = roots.text(format!("{folder}/cpu.cfs_period_us"))?;
        ratio(&quota, &period)
    });
    of_v2.chain(of_v1).reduce(f64::min)
}

/// Processors that a quota allows; `None` for `max` and -1, which are no quota.
fn ratio(quota: &str, period: &str) -> Option<f64> {
    let quota: f64 = quota.parse().ok()?;
    let period: f64 = period.parse().ok()?;
    (quota > 0.0 && period > 0.0).then_some(quota / period)
}

/// Memory that this process may use, page cache included: the least limit of its groups and of those
/// above them. `None`: no limit, or none that can be read.
pub(crate) fn memory_limit(roots: &Roots) -> Option<Bytes> {
    let files = [(V2, "memory.max"), ("memory", "memory.limit_in_bytes")];
    let limits = files.into_iter().flat_map(|(controller, file)| {
        let folders = levels(roots, controller).into_iter();
        folders.filter_map(move |folder| roots.number::<u64>(format!("{folder}/{file}")))
    });
    limits.filter(|limit| *limit < NO_LIMIT).min().map(Bytes)
}

/// What this process may do on block devices: of each device, direction and unit the least limit of its
/// groups and of those above them.
pub(crate) fn device_limits(roots: &Roots) -> Vec<DeviceLimit> {
    let of_v2 = levels(roots, V2).into_iter().flat_map(|folder| {
        let text = roots.whole(format!("{folder}/io.max")).unwrap_or_default();
        text.lines().flat_map(limits_of_v2).collect::<Vec<_>>()
    });
    let of_v1 = levels(roots, "blkio").into_iter().flat_map(|folder| {
        LIMITED
            .into_iter()
            .flat_map(move |(_, file, direction, counts)| {
                let path = format!("{folder}/blkio.throttle.{file}_device");
                let text = roots.whole(path).unwrap_or_default();
                let lines = text.lines().filter_map(|line| line.split_once(' '));
                lines
                    .filter_map(|(device, value)| limit(device, direction, counts, value))
                    .collect::<Vec<_>>()
            })
    });
    let mut least: Vec<DeviceLimit> = Vec::new();
    for found in of_v2.chain(of_v1) {
        let mut known = least.iter_mut();
        let same = known.find(|known| {
            known.device == found.device
                && known.direction == found.direction
                && known.counts == found.counts
        });
        match same {
            Some(known) => known.per_second = known.per_second.min(found.per_second),
            None => least.push(found),
        }
    }
    least
}

/// What can be limited: the key of version 2, the file of version 1, and what they mean.
const LIMITED: [(&str, &str, Direction, DeviceLimitCounts); 4] = [
    (
        "riops",
        "read_iops",
        Direction::Read,
        DeviceLimitCounts::Operations,
    ),
    (
        "wiops",
        "write_iops",
        Direction::Write,
        DeviceLimitCounts::Operations,
    ),
    (
        "rbps",
        "read_bps",
        Direction::Read,
        DeviceLimitCounts::Bytes,
    ),
    (
        "wbps",
        "write_bps",
        Direction::Write,
        DeviceLimitCounts::Bytes,
    ),
];

/// The limits of one line of `io.max`: `8:16 rbps=2097152 wbps=max riops=max wiops=120`.
fn limits_of_v2(line: &str) -> Vec<DeviceLimit> {
    let mut words = line.split_whitespace();
    let Some(device) = words.next() else {
        return Vec::new();
    };
    let pairs = words.filter_map(|word| word.split_once('='));
    pairs
        .filter_map(|(key, value)| {
            let (_, _, direction, counts) = LIMITED.into_iter().find(|row| row.0 == key)?;
            limit(device, direction, counts, value)
        })
        .collect()
}

/// `None` for `max`, which is no limit.
fn limit(
    device: &str,
    direction: Direction,
    counts: DeviceLimitCounts,
    value: &str,
) -> Option<DeviceLimit> {
    Some(DeviceLimit {
        device: device.to_owned(),
        direction,
        counts,
        per_second: value.trim().parse().ok().filter(|value| *value > 0)?,
    })
}

/// How long, in nanoseconds since its group was made, the threads of this process were runnable and
/// held back by the quota. `None` where nothing counts that.
pub fn throttled_ns() -> Option<u64> {
    throttled(&Roots::real())
}

/// [`throttled_ns`] of any tree of files.
fn throttled(roots: &Roots) -> Option<u64> {
    // Version 2 counts microseconds, version 1 nanoseconds.
    [(V2, "throttled_usec ", 1000), ("cpu", "throttled_time ", 1)]
        .iter()
        .find_map(|(controller, name, unit_ns)| {
            // The time counts in the group that has the quota, which may be any group above this one.
            levels(roots, controller)
                .iter()
                .filter_map(|folder| counter(roots, &format!("{folder}/cpu.stat"), name))
                .max()
                .map(|count| count * unit_ns)
        })
}

/// How often the kernel has killed a process for want of memory, until now.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MemoryKills {
    /// Kills in the control group of this process; `None`: unknown.
    pub group: Option<u64>,
    /// In the whole machine.
    pub machine: Option<u64>,
}

impl MemoryKills {
    /// The counts at this moment.
    pub fn now() -> Self {
        Self::read(&Roots::real())
    }

    /// [`MemoryKills::now`] of any tree of files.
    fn read(roots: &Roots) -> Self {
        let files = [("memory", "memory.oom_control"), (V2, "memory.events")];
        let mut of_group = files.into_iter().flat_map(|(controller, file)| {
            // The group itself comes last; those above it count what is killed in others, too.
            let folders = levels(roots, controller).into_iter().rev();
            folders.filter_map(move |folder| counter(roots, &format!("{folder}/{file}"), KILLS))
        });
        Self {
            group: of_group.next(),
            machine: counter(roots, "/proc/vmstat", KILLS),
        }
    }
}

const KILLS: &str = "oom_kill ";

/// The number behind a name that begins a line; `None` if no line of the file begins so.
fn counter(roots: &Roots, path: &str, name: &str) -> Option<u64> {
    let text = roots.whole(path)?;
    let number = text.lines().find_map(|line| line.strip_prefix(name))?;
    number.trim().parse().ok()
}

/// Folders of this process's group and of all above it, for a controller of version 1 or for [`V2`].
fn levels(roots: &Roots, controller: &str) -> Vec<String> {
    let groups = roots.whole("/proc/self/cgroup").unwrap_or_default();
    let own = groups.lines().find_map(|line| {
        let mut fields = line.splitn(3, ':').skip(1);
        let (controllers, path) = (fields.next()?, fields.next()?);
        let is_it = controllers.split(',').any(|name| name == controller);
        is_it.then_some((controllers, path))
    });
    let Some((controllers, path)) = own else {
        return Vec::new();
    };
    let bases = match controller {
        // Next to version 1, version 2 has a folder of its own.
        V2 => [MOUNTED.to_owned(), format!("{MOUNTED}/unified")],
        _ => [controllers, controller].map(|name| format!("{MOUNTED}/{name}")),
    };
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    let below = (0..=parts.len()).map(|depth| parts[..depth].join("/"));
    // A container sees its own group as the root, and may get a path that it cannot see.
    let folders = below.flat_map(|path| bases.iter().map(move |base| format!("{base}/{path}")));
    folders.collect()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    fn lay(base: &Path, files: &[(&str, &str)]) -> Roots {
        for (path, text) in files {
            let path = base.join(path);
            fs::create_dir_all(path.parent().expect("it has one")).expect("a folder");
            fs::write(path, text).expect("a file");
        }
        Roots::at(base)
    }

    #[test]
    fn the_least_quota_above_holds_in_version_2() {
        let folder = tempfile::tempdir().expect("a folder");
        let roots = lay(
            folder.path(),
            &[
                ("proc/self/cgroup", "0::/kubepods/pod1\n"),
                ("sys/fs/cgroup/kubepods/cpu.max", "150000 100000\n"),
                ("sys/fs/cgroup/kubepods/pod1/cpu.max", "max 100000\n"),
                ("sys/fs/cgroup/kubepods/pod1/memory.max", "536870912\n"),
                ("sys/fs/cgroup/kubepods/memory.max", "max\n"),
                (
                    "sys/fs/cgroup/kubepods/cpu.stat",
                    "usage_usec 9\nnr_throttled 2\nthrottled_usec 120\n",
                ),
            ],
        );
        assert_eq!(processor_quota(&roots), Some(1.5));
        assert_eq!(memory_limit(&roots), Some(Bytes(512 << 20)));
        assert_eq!(throttled(&roots), Some(120_000));
    }

    #[test]
    fn version_1_is_understood_as_well() {
        let folder = tempfile::tempdir().expect("a folder");
        let roots = lay(
            folder.path(),
            &[
                ("proc/self/cgroup", "4:memory:/m\n2:cpu,cpuacct:/c\n0::/\n"),
                ("sys/fs/cgroup/cpu,cpuacct/c/cpu.cfs_quota_us", "50000\n"),
                ("sys/fs/cgroup/cpu,cpuacct/c/cpu.cfs_period_us", "100000\n"),
                (
                    "sys/fs/cgroup/cpu,cpuacct/c/cpu.stat",
                    "nr_periods 7\nnr_throttled 2\nthrottled_time 77\n",
                ),
                (
                    "sys/fs/cgroup/memory/m/memory.limit_in_bytes",
                    "9223372036854771712\n",
                ),
            ],
        );
        assert_eq!(processor_quota(&roots), Some(0.5));
        assert_eq!(memory_limit(&roots), None);
        assert_eq!(throttled(&roots), Some(77));
    }

    #[test]
    fn the_least_limit_of_a_device_holds_in_both_versions() {
        let limits = |files: &[(&str, &str)]| {
            let folder = tempfile::tempdir().expect("a folder");
            let found = device_limits(&lay(folder.path(), files));
            let found = found.into_iter().map(|limit| {
                let DeviceLimit {
                    device,
                    direction,
                    counts,
                    per_second,
                } = limit;
                (device, direction, counts, per_second)
            });
            found.collect::<Vec<_>>()
        };
        use DeviceLimitCounts::{Bytes, Operations};
        use Direction::{Read, Write};
        let of_v2 = limits(&[
            ("proc/self/cgroup", "0::/pods/a\n"),
            (
                "sys/fs/cgroup/pods/io.max",
                "8:16 rbps=9000 wbps=max riops=max wiops=500\n",
            ),
            (
                "sys/fs/cgroup/pods/a/io.max",
                "8:0 rbps=max wbps=max riops=700 wiops=max\n8:16 rbps=max wbps=max riops=max wiops=120\n",
            ),
        ]);
        let expected = [
            ("8:16".to_owned(), Read, Bytes, 9000),
            ("8:16".to_owned(), Write, Operations, 120),
            ("8:0".to_owned(), Read, Operations, 700),
        ];
        assert_eq!(of_v2, expected);
        let of_v1 = limits(&[
            ("proc/self/cgroup", "7:blkio:/io\n0::/\n"),
            (
                "sys/fs/cgroup/blkio/io/blkio.throttle.read_iops_device",
                "7:0 600\n",
            ),
            (
                "sys/fs/cgroup/blkio/io/blkio.throttle.write_bps_device",
                "7:0 20971520\n",
            ),
        ]);
        let expected = [
            ("7:0".to_owned(), Read, Operations, 600),
            ("7:0".to_owned(), Write, Bytes, 20_971_520),
        ];
        assert_eq!(of_v1, expected);
        assert_eq!(limits(&[("proc/self/cgroup", "0::/\n")]), []);
    }

    #[test]
    fn kills_are_counted_in_the_own_group() {
        let folder = tempfile::tempdir().expect("a folder");
        let roots = lay(
            folder.path(),
            &[
                ("proc/self/cgroup", "4:memory:/box/a\n0::/b\n"),
                (
                    "sys/fs/cgroup/memory/box/memory.oom_control",
                    "oom_kill 9\n",
                ),
                (
                    "sys/fs/cgroup/memory/box/a/memory.oom_control",
                    "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n",
                ),
                ("proc/vmstat", "nr_free_pages 1\noom_kill 12\n"),
            ],
        );
        let expected = MemoryKills {
            group: Some(3),
            machine: Some(12),
        };
        assert_eq!(MemoryKills::read(&roots), expected);
        let folder = tempfile::tempdir().expect("a folder");
        let events = "low 0\noom 1\noom_kill 1\noom_group_kill 0\n";
        let roots = lay(
            folder.path(),
            &[
                ("proc/self/cgroup", "0::/not/seen/here\n"),
                ("sys/fs/cgroup/unified/memory.events", events),
            ],
        );
        assert_eq!(MemoryKills::read(&roots).group, Some(1));
    }

    /// A container may get the path of its group as the host sees it.
    #[test]
    fn a_group_that_is_seen_as_the_root_is_found() {
        let folder = tempfile::tempdir().expect("a folder");
        let roots = lay(
            folder.path(),
            &[
                ("proc/self/cgroup", "0::/a/b/c\n"),
                ("sys/fs/cgroup/cpu.max", "20000 100000\n"),
            ],
        );
        assert_eq!(processor_quota(&roots), Some(0.2));
    }

    #[test]
    fn without_files_there_is_no_value() {
        let folder = tempfile::tempdir().expect("a folder");
        let roots = Roots::at(folder.path());
        assert_eq!(processor_quota(&roots), None);
        assert_eq!(memory_limit(&roots), None);
        assert_eq!(throttled(&roots), None);
        assert_eq!(MemoryKills::read(&roots), MemoryKills::default());
    }
}
