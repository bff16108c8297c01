//! A load in virtual time, as small as can be: this many operations in flight, each followed by
//! the next one when it is answered. Enough for the model's own tests.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use blocklab_device::{Accounting, Latency, Service, Spread, VolumeSpec};
use blocklab_device::{Cap, Device, DeviceSpec, Direction, Io, Load, Origin, Rate};
use blocklab_random::Stream;
use blocklab_units::{Bytes, Nanos};

/// How a cloud SSD counts.
pub const SSD: Accounting = Accounting::Merged {
    unit: Bytes(256 << 10),
};

/// How a cloud hard disk counts.
pub const HDD: Accounting = Accounting::WholeUnits { unit: Bytes::MIB };

/// The gp3 volume of the study r5d-vs-gp3: random operations, and one sequential stream.
pub fn gp3() -> Service {
    let line = |base, per_kib_ns| Latency {
        base: Nanos(base),
        per_kib_ns,
        origin: Origin::Given,
    };
    let spread = Spread {
        sigma: 0.295,
        tail: None,
        origin: Origin::Given,
    };
    Service {
        stream_read: Some(line(580_000, 4_060.0)),
        stream_write: Some(line(580_000, 4_060.0)),
        ..Service::even(line(600_000, 2_200.0), spread)
    }
}

/// What came of it.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// Operations answered in each whole second.
    pub by_second: Vec<u64>,
    /// Mean time from arrival to answer, of all operations.
    pub latency_mean: f64,
}

impl Outcome {
    /// Operations a second from one second to another.
    pub fn iops(&self, from: usize, until: usize) -> f64 {
        let inside = self.by_second[from..until].iter().sum::<u64>();
        inside as f64 / (until - from) as f64
    }
}

/// Runs `load` on a rested device for whole seconds.
pub fn closed_loop(spec: &DeviceSpec, load: Load, seconds: u64) -> Outcome {
    let mut device = Device::new(spec, 1).expect("a sound device");
    let mut offsets = Offsets::new(load, device.capacity());
    let end = Nanos::from_secs(seconds);
    let mut due: BinaryHeap<_> = (0..load.in_flight)
        .map(|k| Reverse((Nanos(0), k)))
        .collect();
    let mut by_second = vec![0; seconds as usize];
    let (mut count, mut sum) = (0u64, 0.0);
    let mut order = load.in_flight;
    while let Some(Reverse((now, slot))) = due.pop() {
        if now >= end {
            break;
        }
        let answer = device.admit(now, offsets.next(slot));
        assert_eq!(answer.result, Ok(()));
        if answer.at < end {
            by_second[(answer.at.0 / 1_000_000_000) as usize] += 1;
            count += 1;
            sum += answer.at.since(now).0 as f64;
        }
        // A stream keeps its slot; random operations only need an order of their own.
        let next = if load.streams > 0 { slot } else { order };
        order = order.wrapping_add(1);
        due.push(Reverse((answer.at, next)));
    }
    Outcome {
        by_second,
        latency_mean: sum / count as f64,
    }
}

/// Where operations go.
struct Offsets {
    load: Load,
    blocks: u64,
    next: Vec<u64>,
    chance: Stream,
}

impl Offsets {
    fn new(load: Load, capacity: Bytes) -> Self {
        let blocks = capacity.0 / load.block.0;
        let streams = u64::from(load.streams);
        Self {
            load,
            blocks,
            next: (0..streams).map(|k| blocks / streams * k).collect(),
            chance: Stream::new(3, "offsets", 0),
        }
    }

    fn next(&mut self, slot: u32) -> Io {
        let block = match self.load.streams {
            0 => self.chance.below(self.blocks),
            streams => {
                let stream = &mut self.next[(slot % streams) as usize];
                *stream = (*stream + 1) % self.blocks;
                *stream
            }
        };
        let reads = u64::from(self.load.read_percent);
        let direction = if self.chance.below(100) < reads {
            Direction::Read
        } else {
            Direction::Write
        };
        Io {
            direction,
            offset: block * self.load.block.0,
            len: self.load.block.0 as u32,
        }
    }
}

pub fn cap(rate: Rate) -> Cap {
    let name = if rate.counts_bytes() {
        "throughput"
    } else {
        "operations"
    };
    Cap::new(name, rate, Origin::Given)
}

/// A medium that always takes the same time.
pub fn constant(nanos: u64) -> Service {
    Service::constant(Nanos(nanos))
}

pub fn volume(gib: u64, service: Service) -> VolumeSpec {
    VolumeSpec {
        service: Some(service),
        ..VolumeSpec::new("volume", Bytes::GIB * gib)
    }
}

pub fn device(volumes: Vec<VolumeSpec>) -> DeviceSpec {
    DeviceSpec::new("test", volumes)
}
