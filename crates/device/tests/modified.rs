//! A volume that is modified while it is in use.

#![allow(dead_code, reason = "each test uses a part of the drive")]
mod drive;

use blocklab_device::{Device, Direction, Io, Rate};
use blocklab_units::Nanos;
use drive::{cap, constant, device, volume};

const IN_FLIGHT: usize = 64;

/// Operations that are answered in each of six seconds with 64 in flight, under 3,000 IOPS that save
/// up one second; at each whole second from the third on the limit is set.
fn by_second(set: impl Fn(u64) -> f64) -> Vec<u64> {
    let limited = |iops| {
        let mut volume = volume(1, constant(1_000));
        let mut limit = cap(Rate::Iops(iops));
        limit.bucket = Nanos::from_secs(1);
        volume.caps = vec![limit];
        volume
    };
    let mut device = Device::new(&device(vec![limited(3_000.0)]), 1).expect("sound");
    let mut due = vec![Nanos::ZERO; IN_FLIGHT];
    let mut by_second = vec![0; 6];
    let mut modified = 2;
    loop {
        let next = (0..IN_FLIGHT).min_by_key(|slot| due[*slot]).expect("some");
        let second = due[next].0 / 1_000_000_000;
        if second >= 6 {
            return by_second;
        }
        if second > modified {
            modified = second;
            let to = limited(set(second));
            device.modify(0, due[next], to).expect("sound");
        }
        by_second[second as usize] += 1;
        let io = Io {
            direction: Direction::Read,
            offset: 0,
            len: 512,
        };
        due[next] = device.admit(due[next], io).at;
    }
}

/// The story: each `set` of a served volume, also to the value that it had, filled the second of
/// operations that a rested limiter has saved up. A busy volume of 3,000 IOPS, set once a second, gave
/// 6,075.
#[test]
fn a_busy_volume_that_is_modified_has_nothing_saved_up() {
    for (iops, after) in [(3_000.0, 3_000.0), (6_000.0, 6_000.0), (1_000.0, 1_000.0)] {
        let seconds = by_second(|_| iops);
        for (second, answered) in seconds.iter().enumerate().skip(3) {
            let off = *answered as f64 / after - 1.0;
            assert!(
                off.abs() < 0.05,
                "{iops}: {answered} in second {second}: {seconds:?}"
            );
        }
    }
}

/// A rested volume is as rested after it.
#[test]
fn a_rested_volume_keeps_what_it_has_saved_up() {
    let mut limited = volume(1, constant(1_000));
    let mut limit = cap(Rate::Iops(1_000.0));
    limit.bucket = Nanos::from_secs(1);
    limited.caps = vec![limit];
    let mut device = Device::new(&device(vec![limited.clone()]), 1).expect("sound");
    let now = Nanos::from_secs(5);
    device.modify(0, now, limited).expect("sound");
    let io = Io {
        direction: Direction::Read,
        offset: 0,
        len: 512,
    };
    let waits = |device: &mut Device| device.admit(now, io).at.since(now) > Nanos(2_000);
    let at_once = (0..2_000).take_while(|_| !waits(&mut device)).count();
    assert!((1_000..=1_002).contains(&at_once), "{at_once}");
}
