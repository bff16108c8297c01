//! The tables that the vendor publishes, in virtual time.

#![allow(dead_code, reason = "each test uses a part of the drive")]
mod drive;

use blocklab_device::{Accounting, Credit, Device, DeviceSpec, InstanceSpec, Load, Origin, Rate};
use blocklab_units::{Bytes, Nanos};
use drive::{cap, closed_loop, constant, device, volume};

fn credit(baseline: Rate, burst: Rate, capacity: f64) -> Credit {
    Credit {
        name: "burst credits".to_owned(),
        baseline,
        burst,
        capacity,
        initial_share: 1.0,
        full_again: None,
        origin: Origin::documented("EC2 user guide", "2023-05-11"),
    }
}

fn random_reads(kib: u64, in_flight: u32) -> Load {
    Load::random(100, Bytes(kib << 10), in_flight)
}

/// 3 IOPS a GiB, at least 100; 5.4 million credits; burst 3,000.
fn gp2(gib: u64, initial_share: f64) -> DeviceSpec {
    let baseline = Rate::Iops((3.0 * gib as f64).max(100.0));
    let mut gp2 = volume(gib, constant(1_000_000));
    gp2.accounting = drive::SSD;
    gp2.credits = vec![Credit {
        initial_share,
        ..credit(baseline, Rate::Iops(3000.0), 5.4e6)
    }];
    device(vec![gp2])
}

#[test]
fn gp2_bursts_as_long_as_the_table_says() {
    let check = |gib: u64, seconds: u64| {
        let outcome = closed_loop(&gp2(gib, 1.0), random_reads(4, 16), seconds + 20);
        let burst = outcome
            .by_second
            .iter()
            .take_while(|it| **it >= 2990)
            .count() as f64;
        let error = (burst / seconds as f64 - 1.0).abs();
        assert!(error < 0.001, "{gib} GiB: {burst} s instead of {seconds} s");
        let after = outcome.iops(seconds as usize + 10, seconds as usize + 20);
        let baseline = (3.0 * gib as f64).max(100.0);
        assert!(
            (after / baseline - 1.0).abs() < 0.001,
            "{gib} GiB: then {after} IOPS"
        );
    };
    check(33, 1862);
    check(100, 2000);
    check(334, 2703);
    check(750, 7200);
}

#[test]
fn gp2_buckets_fill_as_fast_as_the_table_says() {
    for (gib, seconds) in [(33, 54_000), (100, 18_000), (334, 5389), (750, 2400)] {
        let device = Device::new(&gp2(gib, 0.0), 1).expect("sound");
        let balance = |seconds: u64| device.balances(Nanos::from_secs(seconds))[0].left;
        assert_eq!(balance(0), 0.0);
        assert!((balance(seconds) / 5.4e6 - 1.0).abs() < 0.001, "{gib} GiB");
        assert!(
            (balance(seconds / 2) / 2.7e6 - 1.0).abs() < 0.001,
            "{gib} GiB"
        );
        assert!(
            (balance(seconds * 2) - 5.4e6).abs() < 1.0,
            "{gib} GiB: never more than full"
        );
    }
}

/// MiB/s a TiB: baseline and burst; and the most a volume gets.
fn hdd(tib: u64, (base, burst, most): (f64, f64, f64)) -> DeviceSpec {
    let (base, burst) = (base * tib as f64, burst * tib as f64);
    let mut hdd = volume(tib << 10, constant(8_000_000));
    hdd.accounting = drive::HDD;
    let bucket = tib as f64 * (1u64 << 40) as f64;
    // Large volumes have a baseline at their maximum, and nothing to burst to.
    let rates = [base.min(most), burst.min(most)].map(Rate::MibPerS);
    if rates[1].value() > rates[0].value() {
        hdd.credits = vec![credit(rates[0], rates[1], bucket)]
    } else {
        hdd.caps = vec![cap(rates[0])]
    }
    device(vec![hdd])
}

const ST1: (f64, f64, f64) = (40.0, 250.0, 500.0);
const SC1: (f64, f64, f64) = (12.0, 80.0, 250.0);

/// Hours to read a volume once from end to end, by its size in TiB from 1 to 16.
const ST1_SCAN_HOURS: [f64; 16] = [
    1.17, 1.17, 1.75, 2.33, 2.91, 3.50, 4.08, 4.66, 5.24, 5.83, 6.41, 6.99, 7.57, 8.16, 8.74, 9.32,
];
const SC1_SCAN_HOURS: [f64; 16] = [
    3.64, 3.64, 3.64, 4.66, 5.83, 6.99, 8.16, 9.32, 10.49, 11.65, 12.82, 13.98, 15.15, 16.31,
    17.48, 18.64,
];

/// Seconds for one pass in operations of 16 MiB, 8 in flight.
fn scan(spec: &DeviceSpec) -> f64 {
    let mut device = Device::new(spec, 1).expect("sound");
    let size = 16u32 << 20;
    let mut answers = [Nanos::ZERO; 8];
    for index in 0..device.capacity().0 / u64::from(size) {
        let now = answers[(index % 8) as usize];
        let io = blocklab_device::Io {
            direction: blocklab_device::Direction::Read,
            offset: index * u64::from(size),
            len: size,
        };
        answers[(index % 8) as usize] = device.admit(now, io).at;
    }
    answers[7].as_secs_f64()
}

#[test]
fn hdd_volumes_are_scanned_in_the_hours_of_the_table() {
    for (figures, table) in [(ST1, ST1_SCAN_HOURS), (SC1, SC1_SCAN_HOURS)] {
        for (tib, hours) in (1..).zip(table) {
            let seen = scan(&hdd(tib, figures)) / 3600.0;
            let error = (seen / hours - 1.0).abs();
            assert!(error < 0.01, "{tib} TiB: {seen:.2} h instead of {hours} h");
        }
    }
}

#[test]
fn random_operations_on_hdd_cost_a_mebibyte_each() {
    // 1 TiB of st1 bursts to 250 MiB/s: 250 operations a second of any size up to 1 MiB.
    for kib in [4, 64, 1024] {
        let outcome = closed_loop(&hdd(1, ST1), random_reads(kib, 32), 60);
        let iops = outcome.iops(10, 60);
        assert!((iops / 250.0 - 1.0).abs() < 0.005, "{kib} KiB: {iops}");
    }
}

#[test]
fn small_sequential_reads_on_hdd_reach_the_burst() {
    let stream = Load {
        streams: 1,
        ..random_reads(64, 64)
    };
    let iops = closed_loop(&hdd(1, ST1), stream, 60).iops(10, 60);
    assert!(
        (iops / 4000.0 - 1.0).abs() < 0.005,
        "{iops} of 64 KiB instead of 250 MiB/s"
    );
}

/// r5d.xlarge: 6,000 and 18,750 IOPS; 143.75 and 593.75 MB/s.
fn r5d_xlarge() -> DeviceSpec {
    let origin = || Origin::documented("EC2 user guide", "2020-12-11");
    let operations = Credit::half_hour(
        "EBS operations",
        Rate::Iops(6000.0),
        Rate::Iops(18_750.0),
        origin(),
    );
    let throughput = Credit::half_hour(
        "EBS throughput",
        Rate::MbPerS(143.75),
        Rate::MbPerS(593.75),
        origin(),
    );
    let mut fast = volume(1000, constant(1_000_000));
    fast.accounting = Accounting::Merged {
        unit: Bytes(256 << 10),
    };
    DeviceSpec {
        instance: Some(InstanceSpec {
            credits: vec![operations, throughput],
            ..InstanceSpec::new("r5d.xlarge")
        }),
        ..device(vec![fast.clone(), fast])
    }
}

#[test]
fn an_instance_bursts_for_half_an_hour() {
    // 64 KiB: 593.75 MB/s are 9,060 operations, 143.75 MB/s are 2,193.
    let outcome = closed_loop(&r5d_xlarge(), random_reads(64, 64), 1830);
    for (from, until, wanted) in [(1, 1799, 9059.9), (1802, 1830, 2193.5)] {
        let iops = outcome.iops(from, until);
        assert!(
            (iops / wanted - 1.0).abs() < 0.001,
            "{from} s to {until} s: {iops}"
        );
    }
}

#[test]
fn an_instance_bursts_again_the_next_day() {
    let mut device = Device::new(&r5d_xlarge(), 1).expect("sound");
    // An operation of 1 MiB every millisecond is above the baseline all day.
    let mut balances = Vec::new();
    for millis in 0..86_500_000u64 {
        if millis % 10 != 0 {
            continue;
        }
        let now = Nanos::from_millis(millis);
        let io = blocklab_device::Io {
            direction: blocklab_device::Direction::Write,
            offset: 0,
            len: 4 << 20,
        };
        device.admit(now, io);
        if millis % 3_600_000 == 0 {
            balances.push(device.balances(now)[1].left);
        }
    }
    let full = 450e6 * 1800.0;
    assert!(balances[0] > 0.99 * full && balances[24] > 0.99 * full);
    assert!(balances[5..24].iter().all(|it| *it == 0.0), "{balances:?}");
}

#[test]
fn gp3_is_flat() {
    let mut gp3 = volume(100, drive::gp3());
    gp3.accounting = drive::SSD;
    gp3.caps = vec![cap(Rate::Iops(3000.0)), cap(Rate::MibPerS(125.0))];
    let spec = device(vec![gp3]);
    for (kib, wanted) in [
        (4, 3000.0),
        (16, 3000.0),
        (64, 2000.0),
        (256, 500.0),
        (512, 250.0),
    ] {
        let outcome = closed_loop(&spec, random_reads(kib, 32), 30);
        assert!(
            (outcome.iops(5, 30) / wanted - 1.0).abs() < 0.001,
            "{kib} KiB"
        );
    }
}
