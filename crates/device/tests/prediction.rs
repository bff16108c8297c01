//! The closed form against the simulation.

#![allow(dead_code, reason = "each test uses a part of the drive")]
mod drive;

use blocklab_device::class::Class;
use blocklab_device::{
    Cap, Covers, Credit, DeviceSpec, HostCache, InstanceSpec, Invalid, Layout, Load, Origin, Rate,
    VolumeSpec, predict,
};
use blocklab_units::{Bytes, Nanos};
use drive::{cap, closed_loop, constant, device, volume};

const LATENCY: &str = "latency";
const NVME: &str = "volume: physical maximum (reads)";

fn load(read_percent: u8, kib: u64, in_flight: u32) -> Load {
    Load::random(read_percent, Bytes(kib << 10), in_flight)
}

/// Seconds 5 to 15 of a simulation against the phase at 5 s, which must last.
#[track_caller]
fn check(spec: &DeviceSpec, load: Load, binding: &str) {
    let predicted = predict(spec, load).expect("sound");
    let phase = predicted.at(Nanos::from_secs(5));
    let seen = closed_loop(spec, load, 15);
    let error = phase.iops / seen.iops(5, 15) - 1.0;
    assert!(
        error.abs() < 0.03,
        "{load:?}: predicted {:.0}, simulated {:.0} IOPS",
        phase.iops,
        seen.iops(5, 15)
    );
    assert_eq!(phase.binding.to_string(), binding, "{load:?}");
}

fn gp3(iops: f64, mibps: f64) -> VolumeSpec {
    let with_bucket = |rate| Cap {
        bucket: Nanos::from_secs(1),
        ..cap(rate)
    };
    VolumeSpec {
        accounting: drive::SSD,
        caps: vec![
            with_bucket(Rate::Iops(iops)),
            with_bucket(Rate::MibPerS(mibps)),
        ],
        ..volume(100, drive::gp3())
    }
}

#[test]
fn an_ssd_volume() {
    let spec = device(vec![gp3(16_000.0, 1000.0)]);
    for (in_flight, kib, binding) in [
        (1, 4, LATENCY),
        (8, 4, LATENCY),
        (64, 4, "volume: operations"),
        (64, 128, "volume: throughput"),
        (2, 128, LATENCY),
        (32, 1024, "volume: throughput"),
    ] {
        check(&spec, load(50, kib, in_flight), binding);
    }
}

#[test]
fn streams_are_merged_unless_directions_mix() {
    let spec = device(vec![gp3(3000.0, 1000.0)]);
    let stream = |read_percent| Load {
        streams: 4,
        ..load(read_percent, 32, 16)
    };
    check(&spec, stream(100), LATENCY);
    let narrow = Load {
        streams: 4,
        ..load(100, 4, 256)
    };
    check(&spec, narrow, "volume: operations");
    check(&spec, stream(50), "volume: operations");
}

#[test]
fn a_medium_with_channels() {
    let local = Class::I3Nvme
        .service()
        .saturating_at(412_500.0, 180_000.0, Origin::Given);
    let spec = device(vec![volume(100, local)]);
    for (reads, in_flight, binding) in [
        (100, 1, LATENCY),
        (100, 16, LATENCY),
        (100, 64, LATENCY),
        (100, 256, NVME),
        (70, 32, LATENCY),
        (0, 32, "volume: physical maximum (writes)"),
    ] {
        check(&spec, load(reads, 4, in_flight), binding);
    }
}

/// From three quarters of what the medium can do, no number in flight gives more than a third more: the
/// medium is named as what binds, and no longer the latency of an operation.
#[test]
fn a_medium_binds_from_three_quarters_of_its_maximum() {
    let local = Class::I3Nvme
        .service()
        .saturating_at(412_500.0, 180_000.0, Origin::Given);
    let spec = device(vec![volume(100, local)]);
    let mut shares = [0.0_f64, 1.0];
    for in_flight in 1..300 {
        let found = predict(&spec, load(100, 4, in_flight)).expect("sound");
        let first = &found.phases[0];
        let (share, binding) = (first.iops / 412_500.0, &first.binding);
        if binding.to_string() == LATENCY {
            shares[0] = shares[0].max(share);
        } else {
            shares[1] = shares[1].min(share);
        }
    }
    assert!((0.74..0.75).contains(&shares[0]), "{shares:?}");
    assert!((0.75..0.76).contains(&shares[1]), "{shares:?}");
}

/// Mean value analysis of a wait for the channel and then for the die was up to 44 % off: a read waits
/// for both at the same time.
#[test]
fn reads_wait_for_their_channel_and_for_a_program_on_their_die() {
    let i3 = Class::I3Nvme.service();
    let i3 = i3.saturating_at(412_500.0, 412_500.0, Origin::Given);
    let i3en = Class::I3enNvme.service();
    let i3en = i3en.saturating_at(275_000.0, 1e6, Origin::Given);
    for service in [i3, i3en] {
        let spec = device(vec![volume(100, service)]);
        for (reads, kib) in [(90, 32), (70, 4), (50, 4)] {
            for in_flight in [1, 16, 64, 256] {
                let load = load(reads, kib, in_flight);
                let predicted = predict(&spec, load).expect("sound").sustained().iops;
                let error = predicted / closed_loop(&spec, load, 2).iops(1, 2) - 1.0;
                assert!(error.abs() < 0.015, "{load:?}: {error:+.3}");
            }
        }
    }
}

#[test]
fn separate_budgets() {
    let budget = |covers, iops| Cap {
        covers,
        bucket: Nanos::from_secs(1),
        ..cap(Rate::Iops(iops))
    };
    let mut local = volume(100, Class::R5dNvme.service());
    local.caps = vec![
        budget(Covers::Reads, 59_000.0),
        budget(Covers::Writes, 29_000.0),
    ];
    let spec = device(vec![local]);
    check(&spec, load(50, 4, 16), "volume: operations (writes)");
    check(&spec, load(100, 4, 16), "volume: operations (reads)");
    check(&spec, load(50, 4, 2), LATENCY);
}

#[test]
fn thirty_volumes_on_an_instance() {
    let mut spec = device(vec![gp3(3000.0, 125.0); 30]);
    check(&spec, load(100, 4, 240), "30 x volume: operations");
    spec.layout = Layout::Joined;
    check(&spec, load(100, 4, 20), LATENCY);
    spec.instance = Some(InstanceSpec {
        caps: vec![cap(Rate::Iops(64_000.0)), cap(Rate::MbPerS(1250.0))],
        ..InstanceSpec::new("i3.metal")
    });
    check(&spec, load(100, 4, 240), "i3.metal: operations");
    check(&spec, load(100, 64, 240), "i3.metal: throughput");
}

#[test]
fn places_and_a_network() {
    let mut narrow = volume(100, constant(500_000));
    narrow.queue_depth = Some(4);
    narrow.network = Some(blocklab_device::Network {
        round_trip: Nanos(500_000),
        origin: Origin::Given,
    });
    let spec = device(vec![narrow]);
    check(&spec, load(100, 4, 2), LATENCY);
    check(&spec, load(100, 4, 32), LATENCY);
}

#[test]
fn phases_come_and_go_as_buckets_run_dry() {
    // 100 GiB of gp2 with a tenth of its credits on an instance with a small burst.
    let mut gp2 = volume(100, constant(1_000_000));
    gp2.credits = vec![Credit {
        name: "burst credits".to_owned(),
        baseline: Rate::Iops(300.0),
        burst: Rate::Iops(3000.0),
        capacity: 5.4e6,
        initial_share: 0.01,
        full_again: None,
        origin: Origin::Given,
    }];
    let mut spec = device(vec![gp2]);
    spec.instance = Some(InstanceSpec {
        credits: vec![Credit {
            capacity: 10_000.0,
            ..Credit::half_hour(
                "operations",
                Rate::Iops(1000.0),
                Rate::Iops(2000.0),
                Origin::Given,
            )
        }],
        ..InstanceSpec::new("small")
    });
    let load = load(100, 4, 16);
    let predicted = predict(&spec, load).expect("sound");
    // 10 s of burst, then the instance's 1,000: 54,000 - 10 · 1,700 credits last 52.86 s more.
    let seen: Vec<_> = predicted
        .phases
        .iter()
        .map(|phase| {
            (
                phase.begins.0 / 1_000_000,
                phase.iops,
                phase.binding.to_string(),
            )
        })
        .collect();
    assert_eq!(
        seen,
        [
            (0, 2000.0, "small: operations (burst)".to_owned()),
            (10_000, 1000.0, "small: operations (baseline)".to_owned()),
            (62_857, 300.0, "volume: burst credits (baseline)".to_owned()),
        ]
    );
    let seen = closed_loop(&spec, load, 100);
    for (from, until, iops) in [(0, 10, 2000.0), (11, 62, 1000.0), (64, 100, 300.0)] {
        assert!(
            (seen.iops(from, until) / iops - 1.0).abs() < 0.01,
            "{from} s"
        );
    }
    let mean = predicted.iops_mean(Nanos::ZERO, Nanos::from_secs(100));
    assert!((mean / seen.iops(0, 100) - 1.0).abs() < 0.002, "{mean}");
    // A second after both buckets ran dry.
    let until = Nanos::from_millis(63_857);
    let operations = predicted.iops_mean(Nanos::ZERO, until) * until.as_secs_f64();
    assert!(
        (operations - (20_000.0 + 52_857.142 + 300.0)).abs() < 1.0,
        "{operations}"
    );
}

/// A month of an instance that bursts for half an hour a day, as bills and prices are compared. What
/// comes later is not foretold: its phases would never end.
#[test]
fn thirty_days_of_daily_bursts_are_foretold() {
    let mut spec = device(vec![volume(100, constant(1_000_000))]);
    spec.instance = Some(InstanceSpec {
        credits: vec![Credit::half_hour(
            "operations",
            Rate::Iops(1000.0),
            Rate::Iops(2000.0),
            Origin::Given,
        )],
        ..InstanceSpec::new("bursting")
    });
    let predicted = predict(&spec, load(100, 4, 16)).expect("sound");
    let day = |number: u64| Nanos::from_secs(number * 86_400);
    let month = predicted.iops_mean(Nanos::ZERO, day(30));
    assert!((month - (1000.0 + 1000.0 / 48.0)).abs() < 0.01, "{month}");
    let later = predicted.iops_mean(day(30), day(60));
    assert!((later - 1000.0).abs() < 0.01, "{later}");
}

/// Behind a cache of the host: its limits bind where it holds enough, and the disk's where it does not.
#[test]
fn a_cache_of_the_host() {
    let mut spec = device(vec![VolumeSpec {
        caps: vec![cap(Rate::Iops(5000.0))],
        ..volume(100, constant(2_000_000))
    }]);
    let cached = |hit_share: f64| InstanceSpec {
        caps: vec![cap(Rate::Iops(20_000.0))],
        cache: Some(HostCache {
            caps: vec![Cap::new("cached", Rate::Iops(16_000.0), Origin::Given)],
            credits: Vec::new(),
            hit_share,
            writes_back: None,
            latency: constant(100_000).read,
        }),
        ..InstanceSpec::new("vm")
    };
    spec.instance = Some(cached(0.9));
    check(&spec, load(100, 4, 256), "vm: cached");
    spec.instance = Some(cached(0.5));
    check(&spec, load(100, 4, 256), "volume: operations");
    // Half of the reads take 100 µs, the other half and all writes 2 ms.
    check(&spec, load(100, 4, 4), LATENCY);
    check(&spec, load(50, 4, 4), LATENCY);
    spec.instance = Some(cached(0.0));
    check(&spec, load(50, 4, 256), "volume: operations");
}

/// The story: reads that the cache of a host answers counted as work of the medium. A disk of 10,000 IOPS
/// behind a cache that holds nine reads in ten was predicted at 10,000 and reached 99,000.
#[test]
fn what_a_cache_answers_is_no_work_of_the_medium() {
    let service = constant(100_000).saturating_at(10_000.0, 10_000.0, Origin::Given);
    let mut spec = device(vec![volume(100, service)]);
    spec.instance = Some(InstanceSpec {
        cache: Some(HostCache {
            caps: Vec::new(),
            credits: Vec::new(),
            hit_share: 0.9,
            writes_back: None,
            latency: constant(10_000).read,
        }),
        ..InstanceSpec::new("vm")
    });
    check(&spec, load(100, 4, 64), NVME);
}

/// The story: writes that the cache of a host answers were predicted at the rate of its disk from the first
/// second on, and those of a cache with room were "305 % of the most that is documented".
#[test]
fn a_cache_that_writes_back_is_ahead_of_its_disk_until_it_is_full() {
    let mut spec = device(vec![VolumeSpec {
        caps: vec![cap(Rate::Iops(5000.0))],
        ..volume(100, constant(2_000_000))
    }]);
    let with_room = |room| InstanceSpec {
        cache: Some(HostCache {
            caps: vec![Cap::new("cached", Rate::Iops(16_000.0), Origin::Given)],
            credits: Vec::new(),
            hit_share: 0.0,
            writes_back: Some(room),
            latency: constant(100_000).write,
        }),
        ..InstanceSpec::new("vm")
    };
    spec.instance = Some(with_room(Bytes::GIB));
    check(&spec, load(0, 4, 64), "vm: cached");
    // 262,144 writes fit, and in a second 11,000 more of them come than go.
    let predicted = predict(&spec, load(0, 4, 64)).expect("sound");
    let [_, full] = &predicted.phases[..] else {
        panic!("{predicted:?}");
    };
    let seconds = full.begins.as_secs_f64();
    assert!((23.8..23.9).contains(&seconds), "{seconds}");
    spec.instance = Some(with_room(Bytes(64 << 20)));
    check(&spec, load(0, 4, 64), "volume: operations");
    // Reads that miss wait behind the writes, so that both together are as fast as the disk.
    spec.instance = Some(with_room(Bytes::GIB));
    check(&spec, load(50, 4, 64), "volume: operations");
}

/// The story: a bucket that a device file fills every nanosecond was refilled in the prediction 2.6
/// quadrillion times, which took all memory.
#[test]
fn a_bucket_that_is_always_full_again_is_predicted_in_time() {
    let mut spec = device(vec![volume(100, constant(100_000))]);
    for again in [0, 1, 1_000_000_000] {
        spec.volumes[0].credits = vec![Credit {
            name: "burst credits".to_owned(),
            baseline: Rate::Iops(100.0),
            burst: Rate::Iops(3000.0),
            capacity: 1000.0,
            initial_share: 1.0,
            full_again: Some(Nanos(again)),
            origin: Origin::Given,
        }];
        let predicted = predict(&spec, load(100, 4, 8)).expect("sound");
        assert!(predicted.later.len() <= 60, "{}", predicted.later.len());
    }
}

#[test]
fn what_nobody_promises_is_not_predicted() {
    let mut magnetic = volume(100, constant(1));
    magnetic.kind = "standard".to_owned();
    magnetic.service = None;
    let refused = predict(&device(vec![magnetic]), load(100, 4, 1));
    let kind = "standard".to_owned();
    assert_eq!(refused, Err(Invalid::NoContract { kind }));
}

/// What a limiter grants is what is predicted where it binds.
#[test]
fn every_limiter_has_its_grant() {
    let mut volume = volume(100, constant(1_000_000));
    volume.caps = vec![cap(Rate::Iops(3000.0)), cap(Rate::MibPerS(125.0))];
    volume.accounting = blocklab_device::Accounting::Merged {
        unit: Bytes(256 << 10),
    };
    let spec = device(vec![volume]);
    let granted = |kib| -> Vec<f64> {
        let found = blocklab_device::grants(&spec, load(100, kib, 64)).expect("sound");
        found.iter().map(|grant| grant.iops).collect()
    };
    assert_eq!(granted(4), [3000.0, 32_000.0]);
    assert_eq!(
        granted(1024),
        [750.0, 125.0],
        "four operations of 256 KiB each"
    );
    let least = granted(1024).into_iter().fold(f64::INFINITY, f64::min);
    let predicted = predict(&spec, load(100, 1024, 64)).expect("sound");
    assert_eq!(predicted.sustained().iops, least);
}
