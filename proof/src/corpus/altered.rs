//! What happens to a run, and not to its device: a machine, a program, a record. The run itself is
//! that of a sound disk.

use std::collections::BTreeMap;

use blocklab_device::{Covers, Limit, LimitKind, LimitName, LimitUnit, Origin};
use blocklab_record::{
    ClockFacts, ControlAction, ControlEvent, Exceeded, Measurement, ObservedLoad, Overhead, Record,
    Status, Stopped, TargetKind, WaitedFor,
};
use blocklab_workload::{Access, Direction};

use super::Scenario;
use super::described::{SCATTERS, disk};
use super::scenarios::{job, plain};

type Event = (&'static str, bool, fn(&mut Record));

/// A rule, whether its finding is no warning, and what makes it speak.
const EVENTS: [Event; 25] = [
    ("accounting", false, |record| {
        job_of(record).accounting.in_flight += 3;
    }),
    ("failed", false, |record| {
        record.status = Status::Failed;
        record.failure = Some("/dev/nvme0n1 vanished".to_owned());
    }),
    ("interrupted", false, |record| {
        record.status = Status::Interrupted;
        job_of(record).stopped = Stopped::Interrupted;
    }),
    ("stalled", false, |record| {
        let job = job_of(record);
        job.stopped = Stopped::Stalled;
        job.accounting.in_flight += 4;
        job.accounting.issued += 4;
    }),
    ("unanswered", false, |record| {
        let job = job_of(record);
        job.accounting.in_flight += 4;
        job.accounting.issued += 4;
        job.accounting.oldest_in_flight_ns = Some(7_000_000_000);
        job.stopped = Stopped::Interrupted;
    }),
    ("damaged-histogram", false, |record| {
        let results = job_of(record).directions.values_mut();
        results.for_each(|result| result.service.histogram_hdr = "HISTFAAA nonsense".to_owned());
    }),
    ("page-cache", false, |record| {
        (job_of(record).direct, job_of(record).access) = (Some(false), Some(Access::Buffered));
        moved(record, 4);
    }),
    ("not-from-device", false, |record| moved(record, 10)),
    ("buffered-loop", false, |record| {
        record.targets[0].kind = TargetKind::BlockDevice;
        record.targets[0].devices[0].loop_direct = Some(false);
    }),
    ("fuse-server", false, |record| {
        let system = record.targets[0]
            .file_system
            .as_mut()
            .expect("a file system");
        system.kind = "fuse.sshfs".to_owned();
    }),
    ("memory-target", false, |record| {
        let system = record.targets[0]
            .file_system
            .as_mut()
            .expect("a file system");
        system.kind = "tmpfs".to_owned();
        record.targets[0].devices.clear();
        measurement_of(record).disks.clear();
    }),
    ("not-direct", false, |record| {
        (job_of(record).direct, job_of(record).access) =
            (Some(false), Some(Access::DirectIfPossible));
    }),
    ("stood-still", false, |record| {
        measurement_of(record).stood_still_ns = Some(3_000_000_000);
    }),
    ("disk-shared", false, |record| moved(record, 200)),
    ("cpu-limit", false, |record| {
        measurement_of(record).cpu.busiest_thread_percent = 99
    }),
    ("machine-busy", false, |record| {
        measurement_of(record).cpu.machine_busy_percent = 98
    }),
    ("uring-workers", false, |record| {
        measurement_of(record).uring_workers_max = 4
    }),
    ("clock", false, |record| {
        record.overhead = Some(overhead(1.0, -250.0))
    }),
    ("littles-law", false, |record| {
        let results = job_of(record).directions.values_mut();
        results.for_each(|result| result.service.mean_ns *= 1.3);
    }),
    ("volume-statistics", true, |record| {
        let us = measurement_of(record).elapsed_ns / 1000;
        measurement_of(record).disks[0].exceeded = Some(Exceeded {
            volume_iops_us: us * 9 / 10,
            ..Exceeded::default()
        });
    }),
    ("bound-by", true, |record| {
        served(record, 7_000_000_000, 1000)
    }),
    ("never-bound", true, |record| served(record, 0, 1000)),
    ("late-replies", false, |record| {
        served(record, 7_000_000_000, 900_000);
        let median = job_of(record).directions[&Direction::Read].service.p50_ns;
        let load = measurement_of(record).observed.as_mut().expect("served");
        load.lateness.as_mut().expect("known").p50_ns = median / 2;
    }),
    ("injected-faults", false, |record| {
        controlled(record, ControlAction::Stall, "fault stall 2s");
    }),
    ("changed-under-way", true, |record| {
        controlled(record, ControlAction::Set, "set iops=4000");
    }),
];

pub(super) fn all() -> Vec<Scenario> {
    let mut all = Vec::new();
    for base in [300, 900, 2000] {
        for (rule, healthy, event) in EVENTS {
            let mut labels = vec![rule];
            // Whoever was late, or was controlled, also waited.
            if ["late-replies", "injected-faults", "changed-under-way"].contains(&rule) {
                labels.push("bound-by");
            }
            if rule == "unanswered" {
                labels.push("interrupted");
            }
            let device = disk(base, SCATTERS[1], "", "");
            all.push(Scenario {
                healthy,
                blind: true,
                besides: Some(event),
                ..plain(device, job(4, 4), &labels)
            });
        }
    }
    for base in [5, 8, 12] {
        let device = disk(base, SCATTERS[1], "", "");
        all.push(Scenario {
            healthy: false,
            blind: true,
            besides: Some(|record| record.overhead = Some(overhead(2000.0, 1.0))),
            ..plain(device, job(4, 1), &["overhead", "latency-bound"])
        });
    }
    all
}

fn measurement_of(record: &mut Record) -> &mut Measurement {
    &mut record.measurements[0]
}

fn job_of(record: &mut Record) -> &mut blocklab_record::JobResult {
    &mut measurement_of(record).jobs[0]
}

/// The disk moved such a share of the bytes of the load.
fn moved(record: &mut Record, percent: u64) {
    let disk = &mut measurement_of(record).disks[0];
    disk.read_bytes = disk.read_bytes * percent / 100;
}

fn overhead(each_ns: f64, error_ppm: f64) -> Overhead {
    Overhead {
        depth1_ns: each_ns,
        depth32_ns: each_ns,
        clock: ClockFacts {
            source: "tsc".to_owned(),
            read_ns: 20.0,
            error_ppm,
        },
    }
}

/// The load came from other programs, waited so long for the volume, and its replies were so late.
fn served(record: &mut Record, waited_ns: u64, late_p99_ns: u64) {
    let limit = Limit {
        name: LimitName {
            owner: "volume".to_owned(),
            volumes: Some(1),
            kind: LimitKind::Rate {
                limiter: "IOPS".to_owned(),
                covers: Covers::All,
            },
        },
        value: 1e9,
        unit: LimitUnit::Iops,
        origin: Origin::Given,
    };
    let mut late = job_of(record).directions[&Direction::Read].service.clone();
    (late.p50_ns, late.p99_ns, late.max_ns) = (500, late_p99_ns, late_p99_ns * 2);
    measurement_of(record).observed = Some(Box::new(ObservedLoad {
        directions: BTreeMap::default(),
        active_ns: 10_000_000_000,
        in_flight_mean: 4.0,
        arrivals_by_depth: [0; 7],
        waited: vec![WaitedFor {
            limit: limit.name.clone(),
            waited_ns,
        }],
        balances: Vec::new(),
        lateness: Some(late),
        clients: 1,
        speed: None,
        events: Vec::new(),
    }));
    record.targets[0].limits = vec![limit];
}

/// A served volume to which something was done on purpose.
fn controlled(record: &mut Record, action: ControlAction, command: &str) {
    served(record, 7_000_000_000, 1000);
    let load = measurement_of(record).observed.as_mut().expect("served");
    load.events.push(ControlEvent {
        at_ns: 3_000_000_000,
        action,
        command: command.to_owned(),
        until_ns: None,
        hits: 8,
    });
}
