//! A specification as text, its rules, and the limits that it shows.

#![allow(dead_code, reason = "each test uses a part of the drive")]
mod drive;

use blocklab_device::class::Class;
use blocklab_device::{
    Accounting, Cap, Credit, Device, DeviceSpec, Direction, FaultKind, FaultSpec, InstanceSpec, Io,
    Latency, Layout, Origin, Rate, Service, Spread,
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
            name: "r5d.xlarge".to_owned(),
            caps: vec![cap(Rate::MbPerS(593.75))],
            credits: vec![maximum("EBS operations", Rate::Iops(18_750.0))],
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

#[test]
fn there_and_back_as_text() {
    let spec = rich();
    let text = serde_json::to_string(&spec).expect("text");
    assert_eq!(
        serde_json::from_str::<DeviceSpec>(&text).expect("read"),
        spec
    );
}

#[test]
fn a_short_text_is_enough() {
    let text = r#"{
        "name": "mine",
        "volumes": [{
            "kind": "disk",
            "capacity_bytes": 1073741824,
            "caps": [{"name": "operations", "rate": {"iops": 3000}, "origin": "given"}],
            "service": {
                "read": {"base_ns": 100000, "origin": "given"},
                "write": {"base_ns": 50000, "origin": {"assumed": {"because": "a guess"}}},
                "spread": {"sigma": 0.1, "origin": "given"}
            }
        }]
    }"#;
    let spec: DeviceSpec = serde_json::from_str(text).expect("read");
    assert!(Device::new(&spec, 1).is_ok());
    assert_eq!(spec.assumptions().len(), 1);
    let misspelt = text.replace("base_ns", "base_us");
    assert!(serde_json::from_str::<DeviceSpec>(&misspelt).is_err());
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
        "2 x gp2: read latency 1000 µs, read latency per KiB 2.2 µs/KiB, write latency 1000 µs, \
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
