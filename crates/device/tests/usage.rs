//! What a device tells of itself: for which limits operations waited, when credits ran out, and what
//! devices share that are attached to one instance.

#![allow(dead_code, reason = "each test uses a part of the drive")]
mod drive;

use blocklab_device::{
    Credit, Device, DeviceSpec, DeviceUse, Direction, InstanceSpec, Io, LimitKind, LimitUse,
    Origin, Rate, SharedInstance,
};
use blocklab_units::Nanos;
use drive::{cap, constant, device, volume};

const READ: Io = Io {
    direction: Direction::Read,
    offset: 0,
    len: 4096,
};

/// Keeps this many reads in flight on each device, for whole seconds.
fn closed_loop(devices: &mut [Device], in_flight: usize, seconds: u64) {
    let end = Nanos::from_secs(seconds);
    let mut due: Vec<(Nanos, usize)> = (0..devices.len())
        .flat_map(|index| vec![(Nanos::ZERO, index); in_flight])
        .collect();
    loop {
        due.sort_unstable_by_key(|(at, _)| std::cmp::Reverse(*at));
        let Some((now, index)) = due.pop().filter(|(at, _)| *at < end) else {
            return;
        };
        due.push((devices[index].admit(now, READ).at, index));
    }
}

fn of_kind(used: &DeviceUse, wanted: fn(&LimitKind) -> bool) -> &LimitUse {
    let mut limits = used.limits.iter();
    limits
        .find(|limit| wanted(&limit.limit.kind))
        .expect("a limit")
}

/// A thousand operations a second of a millisecond each: of eight in flight one is served, and the
/// other seven wait.
#[test]
fn waits_are_those_of_littles_law() {
    let mut limited = volume(1, constant(1_000_000));
    limited.caps = vec![cap(Rate::Iops(1000.0))];
    let mut devices = [Device::new(&device(vec![limited]), 1).expect("sound")];
    closed_loop(&mut devices, 8, 100);
    let used = devices[0].use_so_far();
    let limit = of_kind(&used, |kind| matches!(kind, LimitKind::Rate { .. }));
    let share = limit.waited_ns as f64 / used.in_device_ns as f64;
    assert!((share - 7.0 / 8.0).abs() < 0.001, "{share}");
    assert_eq!((limit.units, used.bytes), (used.ios, used.ios * 4096));
    // With one in flight the volume is just as fast, and nothing waits.
    let mut alone = [Device::new(devices[0].spec(), 1).expect("sound")];
    closed_loop(&mut alone, 1, 10);
    let used = alone[0].use_so_far();
    assert_eq!(
        of_kind(&used, |kind| matches!(kind, LimitKind::Rate { .. })).waited_ns,
        0
    );
}

/// Of eight in flight on a device that serves two at a time, six wait for a place.
#[test]
fn waits_for_a_place_are_counted() {
    let mut narrow = volume(1, constant(1_000_000));
    narrow.queue_depth = Some(2);
    let mut devices = [Device::new(&device(vec![narrow]), 1).expect("sound")];
    closed_loop(&mut devices, 8, 100);
    let used = devices[0].use_so_far();
    let queue = of_kind(&used, |kind| *kind == LimitKind::QueueDepth);
    let share = queue.waited_ns as f64 / used.in_device_ns as f64;
    assert!((share - 6.0 / 8.0).abs() < 0.001, "{share}");
    assert_eq!(queue.units, used.ios);
}

/// All reads lie on the first of two equal volumes.
#[test]
fn each_of_equal_volumes_counts_for_itself() {
    let mut limited = volume(1, constant(1_000_000));
    limited.caps = vec![cap(Rate::Iops(1000.0))];
    let mut devices = [Device::new(&device(vec![limited.clone(), limited]), 1).expect("sound")];
    closed_loop(&mut devices, 8, 1);
    let earlier = devices[0].use_so_far();
    let limit = of_kind(&earlier, |kind| matches!(kind, LimitKind::Rate { .. }));
    assert_eq!(limit.by_volume, [earlier.ios, 0]);
    let later = devices[0].use_so_far().since(&earlier);
    let limit = of_kind(&later, |kind| matches!(kind, LimitKind::Rate { .. }));
    assert_eq!(limit.by_volume, [0, 0]);
}

fn credit(baseline: f64, burst: f64, capacity: f64, full_again: Option<Nanos>) -> Credit {
    Credit {
        name: "burst credits".to_owned(),
        baseline: Rate::Iops(baseline),
        burst: Rate::Iops(burst),
        capacity,
        initial_share: 1.0,
        full_again,
        origin: Origin::Given,
    }
}

/// 9,000 credits at 1,000 a second above a baseline of 100 last for ten seconds; filled again after a
/// minute, they run out again ten seconds later.
#[test]
fn a_bucket_tells_when_it_ran_empty() {
    let mut limited = volume(1, constant(1_000_000));
    let again = Some(Nanos::from_secs(60));
    limited.credits = vec![credit(100.0, 1000.0, 9000.0, again)];
    let mut devices = [Device::new(&device(vec![limited]), 1).expect("sound")];
    closed_loop(&mut devices, 8, 100);
    let used = devices[0].use_so_far();
    let baseline = of_kind(&used, |kind| matches!(kind, LimitKind::Baseline { .. }));
    let seconds: Vec<f64> = baseline.emptied.iter().map(|at| at.as_secs_f64()).collect();
    assert_eq!(seconds.len(), 2, "{seconds:?}");
    for (seen, wanted) in seconds.into_iter().zip([10.0, 70.0]) {
        assert!(
            (seen / wanted - 1.0).abs() < 0.02,
            "{seen} s for {wanted} s"
        );
    }
    // What was seen before is no part of what came after.
    let later = devices[0].use_so_far().since(&used);
    assert!(
        later
            .limits
            .iter()
            .all(|limit| limit.emptied.is_empty() && limit.units == 0)
    );
}

fn on_instance() -> DeviceSpec {
    DeviceSpec {
        instance: Some(InstanceSpec {
            caps: vec![cap(Rate::Iops(1000.0))],
            ..InstanceSpec::new("m5.4xlarge")
        }),
        ..device(vec![volume(1, constant(1_000_000))])
    }
}

/// The story: two volumes of one instance, each a target of its own, had an instance each, and
/// together passed 1,049 MB/s where it lets 593.75 pass.
#[test]
fn devices_on_one_instance_share_what_it_lets_pass() {
    let spec = on_instance();
    let instance = SharedInstance::new(spec.instance.as_ref().expect("an instance"));
    let shared = |seed| Device::on_shared(&spec, seed, &instance).expect("sound");
    let mut together = [shared(1), shared(2)];
    closed_loop(&mut together, 8, 10);
    let ios: u64 = together.iter().map(|device| device.use_so_far().ios).sum();
    assert!((10_000..10_020).contains(&ios), "{ios}");
    let mut apart = [1, 2].map(|seed| Device::new(&spec, seed).expect("sound"));
    closed_loop(&mut apart, 8, 10);
    let ios: u64 = apart.iter().map(|device| device.use_so_far().ios).sum();
    assert!((20_000..20_020).contains(&ios), "{ios}");
}
