//! A specification as JSON, its rules, and the limits that it shows.

#![allow(dead_code, reason = "each test uses a part of the drive")]
mod drive;

use std::collections::BTreeSet;

use blocklab_device::class::Class;
use blocklab_device::{
    Accounting, Cap, Credit, Device, DeviceSpec, Direction, FaultKind, FaultSpec, HostCache,
    InstanceSpec, Invalid, Io, Latency, Layout, Network, Origin, Programs, Rate, Service, Spread,
    Tail,
};
use blocklab_units::{Bytes, Nanos};
use drive::{cap, constant, device, volume};

/// Everything that a device can have, at least once.
fn rich() -> DeviceSpec {
    let guess = |because| Origin::assumed(because);
    let latency = Latency {
        base: Nanos(1_000_000),
        per_kib_ns: 2_200.0,
        origin: guess("1 ms, because the vendor asks for a queue of 1 per 1,000 IOPS"),
    };
    let spread = Spread {
        sigma: 0.295,
        tail: None,
        origin: guess("scatter of another type"),
    };
    let mut gp2 = volume(100, Service::even(latency, spread));
    gp2.kind = "gp2".to_owned();
    gp2.accounting = drive::SSD;
    gp2.caps = vec![Cap {
        bucket: Nanos::from_secs(1),
        peak: Some(Rate::MibPerS(500.0)),
        origin: Origin::documented("EC2 user guide", "2018-12-07"),
        ..cap(Rate::MibPerS(250.0))
    }];
    gp2.credits = vec![Credit {
        name: "burst credits".to_owned(),
        baseline: Rate::Iops(300.0),
        burst: Rate::Iops(3000.0),
        capacity: 5.4e6,
        initial_share: 1.0,
        full_again: None,
        origin: Origin::documented("EC2 user guide", "2023-05-11"),
    }];
    let given = Origin::Given;
    let maximum = |name: &str, rate| Credit::half_hour(name, Rate::Iops(6e3), rate, given.clone());
    DeviceSpec {
        instance: Some(InstanceSpec {
            caps: vec![cap(Rate::MbPerS(593.75))],
            credits: vec![maximum("EBS operations", Rate::Iops(18_750.0))],
            ..InstanceSpec::new("r5d.xlarge")
        }),
        faults: vec![FaultSpec {
            from: Nanos(1),
            until: Nanos::MAX,
            volume: None,
            kind: FaultKind::Stall,
        }],
        ..device(vec![gp2.clone(), gp2])
    }
}

/// Programs read the device that `calibrate` has fitted: its keys have their units.
#[test]
fn json_has_units_in_its_keys() {
    let json = serde_json::to_value(rich()).expect("plain data");
    let volume = &json["volumes"][0];
    assert_eq!(volume["accounting"]["merged"]["unit_bytes"], 262_144);
    assert_eq!(volume["caps"][0]["rate"]["mib_per_s"], 250.0);
    assert_eq!(volume["caps"][0]["bucket_ns"], 1_000_000_000);
    assert_eq!(volume["service"]["read"]["base_ns"], 1_000_000);
    assert_eq!(json["faults"][0]["from_ns"], 1);
    assert_eq!(json["faults"][0]["kind"], "stall");
}

#[test]
fn limits_are_listed_once_for_equal_volumes() {
    let limits = rich().limits();
    let shown: Vec<_> = limits
        .iter()
        .map(|limit| format!("{} = {} {}", limit.name, limit.value, limit.unit))
        .collect();
    assert_eq!(
        shown,
        [
            "2 x gp2: throughput = 250 MiB/s",
            "2 x gp2: throughput (peak) = 500 MiB/s",
            "2 x gp2: burst credits (baseline) = 300 IOPS",
            "2 x gp2: burst credits (burst) = 3000 IOPS",
            "2 x gp2: burst credits (bucket) = 5400000 operations",
            "2 x gp2: read latency = 1000 µs",
            "2 x gp2: read latency per KiB = 2.2 µs/KiB",
            "2 x gp2: write latency = 1000 µs",
            "2 x gp2: write latency per KiB = 2.2 µs/KiB",
            "r5d.xlarge: throughput = 593.75 MB/s",
            "r5d.xlarge: EBS operations (baseline) = 6000 IOPS",
            "r5d.xlarge: EBS operations (burst) = 18750 IOPS",
            "r5d.xlarge: EBS operations (bucket) = 22950000 operations",
        ]
    );
}

#[test]
fn what_is_assumed_says_so() {
    let assumptions = rich().assumptions();
    let expected = [
        "2 x gp2: read latency 1,000 µs, read latency per KiB 2.2 µs/KiB, write latency 1,000 µs, \
         write latency per KiB 2.2 µs/KiB: 1 ms, because the vendor asks for a queue of 1 \
         per 1,000 IOPS",
        "2 x gp2: scatter of latencies, sigma 0.295: scatter of another type",
    ];
    assert_eq!(assumptions, expected);
}

type Change = fn(&mut DeviceSpec);

/// What breaks a specification, and the words of the error.
const BROKEN: [(Change, &str); 15] = [
    (|it| it.volumes.clear(), "a device needs a volume"),
    (
        |it| it.volumes[0].service = None,
        "gp2: no prediction is made",
    ),
    (
        |it| it.volumes[0].caps[0].rate = Rate::MibPerS(0.0),
        "gp2: throughput: a rate must be 1 to 10^12",
    ),
    (
        |it| it.volumes[0].caps[0].rate = Rate::MibPerS(f64::NAN),
        "a rate must be 1",
    ),
    (
        |it| it.volumes[0].caps[0].peak = Some(Rate::Iops(1e9)),
        "its peak must lie above its rate, both in operations or both in bytes",
    ),
    (
        |it| it.volumes[1].credits[0].burst = Rate::Iops(200.0),
        "without a burst it is a cap",
    ),
    (
        |it| it.volumes[0].credits[0].initial_share = 1.5,
        "initial_share must be 0 to 1",
    ),
    (
        |it| {
            it.volumes[0].accounting = Accounting::Merged {
                unit: Bytes(100_000),
            }
        },
        "a power of two from 512 B to 1 GiB",
    ),
    (
        |it| {
            it.layout = Layout::Striped {
                block: Bytes(1 << 50),
            }
        },
        "at most the smallest volume",
    ),
    (
        |it| it.faults[0].volume = Some(2),
        "no such volume: they are 0 to 1",
    ),
    (
        |it| it.faults[0].until = Nanos(0),
        "it must end after it begins",
    ),
    (
        |it| it.volumes[0].queue_depth = Some(0),
        "queue_depth must be 1 to 65,536",
    ),
    (
        |it| it.volumes[0].capacity = Bytes(u64::MAX),
        "at most 4 EiB",
    ),
    (
        |it| {
            let service = it.volumes[0].service.as_mut().expect("a service");
            service.write = Latency {
                base: Nanos(0),
                ..service.write.clone()
            };
        },
        "gp2: write latency: the base must be 1 ns to 60 s",
    ),
    (
        |it| {
            it.volumes[0]
                .service
                .as_mut()
                .expect("a service")
                .spread
                .sigma = 3.0
        },
        "sigma must be 0 to 2",
    ),
];

#[test]
fn rules_say_what_would_work() {
    for (change, wanted) in BROKEN {
        let mut spec = rich();
        change(&mut spec);
        let error = Device::new(&spec, 1).expect_err(wanted).to_string();
        assert!(error.contains(wanted), "{error}");
    }
}

/// The story: a cache that takes 584 years overflowed with the first hit; only its limiters and its
/// share of hits were checked.
#[test]
fn the_latency_of_a_cache_is_checked() {
    let mut spec = device(vec![volume(1, constant(1))]);
    spec.instance = Some(InstanceSpec {
        cache: Some(HostCache {
            caps: Vec::new(),
            credits: Vec::new(),
            hit_share: 1.0,
            writes_back: None,
            latency: Latency {
                base: Nanos::MAX,
                ..constant(1).read
            },
        }),
        ..InstanceSpec::new("vm")
    });
    let error = spec.check().expect_err("too slow").to_string();
    assert_eq!(error, "vm: cache latency: the base must be 1 ns to 60 s");
}

/// Of this many caps on the volume and that many on its instance: whether the device is sound, and reports
/// each limit that an operation waits for under its own name.
fn with_caps(count: usize) -> Result<(), Invalid> {
    let numbered = |prefix: &str| {
        let caps = (0..count).map(|number| Cap {
            name: format!("{prefix} {number}"),
            ..cap(Rate::Iops(1000.0))
        });
        caps.collect::<Vec<_>>()
    };
    let mut spec = device(vec![volume(1, constant(1))]);
    spec.volumes[0].caps = numbered("volume");
    spec.instance = Some(InstanceSpec {
        caps: numbered("instance"),
        ..InstanceSpec::new("instance")
    });
    let device = Device::new(&spec, 1)?;
    let waits = device.waits_of(0);
    let different: BTreeSet<usize> = waits.iter().map(|(limit, _)| *limit).collect();
    assert_eq!(different.len(), waits.len());
    Ok(())
}

/// A chain numbers its links with a byte, and more would be a mistake of a program that writes
/// specifications.
#[test]
fn two_hundred_limits_are_the_most() {
    assert_eq!(with_caps(200), Ok(()));
    let error = with_caps(201).expect_err("one more").to_string();
    assert!(error.contains("at most 200 caps and credits"), "{error}");
}

/// What a rule lets pass last, what it refuses first, and the words of its error.
type Edge = (fn(&mut DeviceSpec, f64), f64, f64, &'static str);

fn with_service(spec: &mut DeviceSpec, change: impl FnOnce(&mut Service)) {
    change(spec.volumes[0].service.as_mut().expect("a service"));
}

fn with_tail(spec: &mut DeviceSpec, tail: Tail) {
    with_service(spec, |service| service.spread.tail = Some(tail));
}

fn with_programs(spec: &mut DeviceSpec, time: f64, page: f64) {
    with_service(spec, |service| {
        *service = service.clone().saturating_at(1e5, 1e5, Origin::Given);
        service.programs = Some(Programs {
            time: Nanos(time as u64),
            page: Bytes(page as u64),
            origin: Origin::Given,
        });
    });
}

const RARE: Tail = Tail {
    share: 0.01,
    factor: 10.0,
    sigma: 0.3,
};

const EDGES: [Edge; 22] = [
    (
        |it, value| it.volumes[0].credits[0].baseline = Rate::Iops(value),
        1.0,
        0.99,
        "a rate must be 1 to 10^12",
    ),
    (
        |it, value| it.volumes[0].credits[0].burst = Rate::Iops(value),
        1e12,
        1.01e12,
        "a rate must be 1 to 10^12",
    ),
    (
        |it, value| it.volumes[0].caps[0].bucket = Nanos(value as u64),
        86_400e9,
        86_401e9,
        "at most a day of its rate",
    ),
    (
        |it, value| it.volumes[0].caps[0].refill_share = value,
        1e-4,
        0.99e-4,
        "0.0001 to 1 of an unused rate",
    ),
    (
        |it, value| it.volumes[0].credits[0].capacity = value,
        1e18,
        1.01e18,
        "its bucket must hold 1 to 10^18",
    ),
    (
        |it, value| it.volumes[0].credits[0].capacity = value,
        1.0,
        0.99,
        "its bucket must hold 1 to 10^18",
    ),
    (
        |it, value| it.volumes[0].queue_depth = Some(value as u32),
        65_536.0,
        65_537.0,
        "queue_depth must be 1 to 65,536",
    ),
    (
        |it, value| {
            it.layout = Layout::Joined;
            it.volumes[0].capacity = Bytes(value as u64);
        },
        512.0,
        511.0,
        "a volume holds at least 512 B",
    ),
    (
        |it, value| {
            it.volumes[0].accounting = Accounting::Merged {
                unit: Bytes(value as u64),
            }
        },
        512.0,
        256.0,
        "a power of two from 512 B to 1 GiB",
    ),
    (
        |it, value| {
            it.volumes[0].accounting = Accounting::Merged {
                unit: Bytes(value as u64),
            }
        },
        1_073_741_824.0,
        2_147_483_648.0,
        "a power of two from 512 B to 1 GiB",
    ),
    (
        |it, value| {
            it.layout = Layout::Striped {
                block: Bytes(value as u64),
            }
        },
        512.0,
        511.0,
        "the striping block must be at least 512 B",
    ),
    (
        |it, value| {
            it.volumes[0].network = Some(Network {
                round_trip: Nanos(value as u64),
                origin: Origin::Given,
            })
        },
        60e9,
        61e9,
        "the network's round trip may be at most 60 s",
    ),
    (
        |it, value| with_service(it, |service| service.spread.sigma = value),
        2.0,
        2.01,
        "sigma must be 0 to 2",
    ),
    (
        |it, value| {
            with_tail(
                it,
                Tail {
                    share: value,
                    ..RARE
                },
            )
        },
        0.5,
        0.51,
        "above 0 and at most 0.5",
    ),
    (
        |it, value| {
            with_tail(
                it,
                Tail {
                    factor: value,
                    ..RARE
                },
            )
        },
        1e4,
        1.01e4,
        "factor must be 1 to 10,000",
    ),
    (
        |it, value| {
            with_tail(
                it,
                Tail {
                    sigma: value,
                    ..RARE
                },
            )
        },
        2.0,
        2.01,
        "its sigma 0 to 2",
    ),
    (
        |it, value| with_programs(it, value, 16_384.0),
        1000.0,
        999.0,
        "a program must take 1 µs to 1 s",
    ),
    (
        |it, value| with_programs(it, value, 16_384.0),
        1e9,
        1.01e9,
        "a program must take 1 µs to 1 s",
    ),
    (
        |it, value| with_programs(it, 1e6, value),
        512.0,
        511.0,
        "a page must be 512 B to 1 GiB",
    ),
    (
        |it, value| {
            with_service(it, |service| {
                *service = service.clone().saturating_at(value, 1e5, Origin::Given)
            })
        },
        1e9,
        1.01e9,
        "1 to 10^9 operations a second",
    ),
    (
        |it, value| with_service(it, |service| service.read.base = Nanos(value as u64)),
        60e9,
        61e9,
        "the base must be 1 ns to 60 s",
    ),
    (
        |it, value| with_service(it, |service| service.read.per_kib_ns = value),
        1e9,
        1.01e9,
        "the slope must be 0 to 1 s for a KiB",
    ),
];

#[test]
fn each_rule_lets_its_last_value_pass_and_no_further_one() {
    for (change, last, first, words) in EDGES {
        let with = |value| {
            let mut spec = rich();
            change(&mut spec, value);
            spec.check().map_err(|error| error.to_string())
        };
        assert_eq!(with(last), Ok(()), "{last}: {words}");
        let error = with(first).expect_err(words);
        assert!(error.contains(words), "{first}: {error}");
    }
}

/// The same on every machine and in every release: a change of these numbers changes what every
/// simulation shows, and has to be reported.
#[test]
fn answers_are_the_same_everywhere() {
    let mut spec = rich();
    spec.faults.clear();
    let service = Class::I3Nvme.service();
    spec.volumes[1].service = Some(service.saturating_at(4e5, 2e5, Origin::Given));
    let mut device = Device::new(&spec, 42).expect("sound");
    let answers = (0..8u64).map(|k| {
        let io = Io {
            direction: [Direction::Read, Direction::Write][k as usize % 2],
            offset: k * 131_072,
            len: 16_384,
        };
        device.admit(Nanos(k * 1000), io).at.0
    });
    assert_eq!(
        answers.collect::<Vec<_>>(),
        [
            1521145, 924618, 148068, 152598, 1642373, 671516, 256291, 266367
        ]
    );
}

/// Where nothing is given, a block on one volume is one whole operation of an SSD volume, 256 KiB.
#[test]
fn usual_stripes_are_whole_operations() {
    let mut spec = device(vec![volume(1, constant(1)), volume(1, constant(1))]);
    spec.faults = vec![FaultSpec {
        from: Nanos(0),
        until: Nanos::MAX,
        volume: Some(1),
        kind: FaultKind::Detach,
    }];
    let mut device = Device::new(&spec, 1).expect("sound");
    let on_first = [252, 256, 508, 512].map(|kib: u64| {
        let io = Io {
            direction: Direction::Read,
            offset: kib << 10,
            len: 4096,
        };
        device.admit(Nanos(0), io).result.is_ok()
    });
    assert_eq!(on_first, [true, false, false, true]);
}

#[test]
fn volumes_lie_where_the_layout_puts_them() {
    let mut spec = device(vec![volume(1, constant(1)), volume(2, constant(1))]);
    let striped = Device::new(&spec, 1).expect("sound");
    assert_eq!(
        (striped.capacity(), striped.span(0)),
        (Bytes::GIB * 2, None)
    );
    spec.layout = Layout::Joined;
    let joined = Device::new(&spec, 1).expect("sound");
    assert_eq!(joined.capacity(), Bytes::GIB * 3);
    assert_eq!(joined.span(1), Some((1 << 30, Bytes::GIB * 2)));
}
