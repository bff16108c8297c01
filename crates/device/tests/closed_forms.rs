//! Queueing theory and Little's law against the device.

#![allow(dead_code, reason = "each test uses a part of the drive")]
mod drive;

use blocklab_device::{Device, Direction, Io, Load, Rate};
use blocklab_random::Stream;
use blocklab_units::{Bytes, Nanos};
use drive::{cap, closed_loop, constant, device, volume};

/// Mean wait of a Poisson stream of reads before a limiter of 1,000 IOPS without a bucket.
fn mean_wait(load: f64) -> f64 {
    let mut limited = volume(1, constant(1));
    limited.caps = vec![cap(Rate::Iops(1000.0))];
    let mut device = Device::new(&device(vec![limited]), 1).expect("sound");
    let mut chance = Stream::new(5, "arrivals", 0);
    let (mut now, mut waited) = (0.0, 0.0);
    let count = 3_000_000;
    for _ in 0..count {
        now += chance.exponential() * 1e6 / load;
        let arrival = Nanos(now as u64);
        let io = Io {
            direction: Direction::Read,
            offset: 0,
            len: 512,
        };
        waited += device.admit(arrival, io).at.since(arrival).0 as f64 - 1.0;
    }
    waited / f64::from(count)
}

#[test]
fn a_limiter_is_m_d_1() {
    for load in [0.3, 0.5, 0.8, 0.9] {
        let wanted = load / (2.0 * (1.0 - load)) * 1e6;
        let seen = mean_wait(load);
        let error = (seen / wanted - 1.0).abs();
        assert!(
            error < 0.02,
            "load {load}: {seen:.0} ns, closed form {wanted:.0} ns"
        );
    }
}

#[test]
fn little_holds() {
    for (in_flight, iops) in [(1, None), (8, Some(3000.0)), (64, Some(3000.0))] {
        let mut spec = volume(1, constant(1_000_000));
        spec.caps.extend(iops.map(|iop| cap(Rate::Iops(iop))));
        let load = Load::random(50, Bytes(4096), in_flight);
        let outcome = closed_loop(&device(vec![spec]), load, 100);
        let in_flight_seen = outcome.iops(0, 100) * outcome.latency_mean / 1e9;
        let error = (in_flight_seen / f64::from(in_flight) - 1.0).abs();
        assert!(
            error < 0.002,
            "{in_flight} in flight, {in_flight_seen} by Little's law"
        );
    }
}

#[test]
fn latency_is_depth_over_cap_when_throttled_and_the_medium_alone_when_not() {
    let mut spec = volume(1, constant(1_000_000));
    spec.caps = vec![cap(Rate::Iops(3000.0))];
    for (in_flight, wanted) in [(1, 1.0), (2, 1.0), (8, 8.0 / 3.0), (32, 32.0 / 3.0)] {
        let load = Load::random(100, Bytes(4096), in_flight);
        let outcome = closed_loop(&device(vec![spec.clone()]), load, 20);
        let error = (outcome.latency_mean / 1e6 / wanted - 1.0).abs();
        assert!(
            error < 0.002,
            "{in_flight} in flight: {} ns",
            outcome.latency_mean
        );
    }
}
