//! Faults on a whole device.

#![allow(dead_code, reason = "each test uses a part of the drive")]
mod drive;

use blocklab_device::{Device, DeviceSpec, Direction, Fault, FaultKind, FaultSpec, Io, Layout};
use blocklab_units::{Bytes, Nanos};
use drive::{constant, device, volume};

const MS: u64 = 1_000_000;

/// Two volumes, block by block, of 1 ms; the fault strikes the second from 10 ms to 20 ms.
fn two(kind: FaultKind) -> DeviceSpec {
    DeviceSpec {
        layout: Layout::Striped {
            block: Bytes(65_536),
        },
        faults: vec![FaultSpec {
            from: Nanos(10 * MS),
            until: Nanos(20 * MS),
            volume: Some(1),
            kind,
        }],
        ..device(vec![volume(1, constant(MS)); 2])
    }
}

/// Reads of 4 KiB every 5 ms at an offset: when they are answered, in ms, and how.
#[track_caller]
fn check(spec: &DeviceSpec, offset: u64, len: u32, wanted: &[(u64, Result<(), Fault>)]) {
    let mut device = Device::new(spec, 1).expect("sound");
    let answers = (0..wanted.len() as u64).map(|k| {
        let io = Io {
            direction: Direction::Read,
            offset,
            len,
        };
        let answer = device.admit(Nanos(k * 5 * MS), io);
        (answer.at.0 / MS, answer.result)
    });
    assert_eq!(answers.collect::<Vec<_>>(), wanted);
}

#[test]
fn a_stall_of_one_volume() {
    let spec = two(FaultKind::Stall);
    let sound = [
        (1, Ok(())),
        (6, Ok(())),
        (11, Ok(())),
        (16, Ok(())),
        (21, Ok(())),
    ];
    check(&spec, 0, 4096, &sound);
    let stalled = [
        (1, Ok(())),
        (6, Ok(())),
        (20, Ok(())),
        (20, Ok(())),
        (21, Ok(())),
    ];
    check(&spec, 65_536, 4096, &stalled);
    // An operation over both is done when the second half is.
    check(&spec, 61_440, 8192, &stalled);
}

#[test]
fn a_detached_volume_fails_at_once_and_comes_back() {
    let gone = Err(Fault::Detached);
    let spec = two(FaultKind::Detach);
    let wanted = [
        (1, Ok(())),
        (6, Ok(())),
        (10, gone),
        (15, gone),
        (21, Ok(())),
    ];
    check(&spec, 65_536, 4096, &wanted);
}

#[test]
fn a_latency_spike() {
    let spec = two(FaultKind::Latency {
        added: Nanos(500 * MS),
        read_percent: 100.0,
        write_percent: 0.0,
    });
    let wanted = [
        (1, Ok(())),
        (6, Ok(())),
        (511, Ok(())),
        (516, Ok(())),
        (21, Ok(())),
    ];
    check(&spec, 65_536, 4096, &wanted);
}

#[test]
fn all_reads_fail_for_a_while() {
    let spec = two(FaultKind::Error {
        fault: Fault::Io,
        read_percent: 100.0,
        write_percent: 0.0,
    });
    let failed = Err(Fault::Io);
    let wanted = [
        (1, Ok(())),
        (6, Ok(())),
        (11, failed),
        (16, failed),
        (21, Ok(())),
    ];
    check(&spec, 65_536, 4096, &wanted);
}
