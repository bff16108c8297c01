//! How many admissions a second one core manages: `cargo run --release -p blocklab-device
//! --example admit_speed`. Offsets and moments are made beforehand and cost next to nothing.

use std::hint::black_box;
use std::time::Instant;

use blocklab_device::class::Class;
use blocklab_device::{
    Accounting, Cap, Covers, Credit, Device, DeviceSpec, Direction, InstanceSpec, Io, Latency,
    Layout, Origin, Rate, Service, Spread, VolumeSpec,
};
use blocklab_units::{Bytes, Nanos};

const COUNT: u64 = 20_000_000;

fn cap(name: &str, rate: Rate) -> Cap {
    Cap {
        name: name.to_owned(),
        covers: Covers::All,
        rate,
        bucket: Nanos::from_secs(1),
        peak: None,
        origin: Origin::Given,
    }
}

/// The catalog's gp3: one line for random operations, one for a stream.
fn network_ssd() -> Service {
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

fn gp3() -> VolumeSpec {
    VolumeSpec {
        kind: "gp3".to_owned(),
        capacity: Bytes(1 << 40),
        accounting: Accounting::Merged {
            unit: Bytes(256 << 10),
        },
        caps: vec![
            cap("operations", Rate::Iops(16_000.0)),
            cap("throughput", Rate::MibPerS(1000.0)),
        ],
        credits: Vec::new(),
        service: Some(network_ssd()),
        queue_depth: None,
        network: None,
    }
}

fn i3() -> VolumeSpec {
    let origin = Origin::Given;
    VolumeSpec {
        kind: "local".to_owned(),
        accounting: Accounting::Plain,
        service: Some(
            Class::I3Nvme
                .service()
                .saturating_at(412_500.0, 180_000.0, origin),
        ),
        ..gp3()
    }
}

/// Reads that wait behind programs.
fn i3en() -> VolumeSpec {
    let service = Class::I3enNvme.service();
    VolumeSpec {
        service: Some(service.saturating_at(275_000.0, 1e6, Origin::Given)),
        ..i3()
    }
}

fn device(volume: VolumeSpec, count: usize) -> DeviceSpec {
    let rate =
        |name: &str, baseline, maximum| Credit::half_hour(name, baseline, maximum, Origin::Given);
    let instance = InstanceSpec {
        name: "instance".to_owned(),
        caps: Vec::new(),
        credits: vec![
            rate("operations", Rate::Iops(40_000.0), Rate::Iops(80_000.0)),
            rate("throughput", Rate::MbPerS(1000.0), Rate::MbPerS(2000.0)),
        ],
    };
    DeviceSpec {
        name: volume.kind.clone(),
        volumes: vec![volume; count],
        layout: Layout::default(),
        instance: (count > 1).then_some(instance),
        faults: Vec::new(),
    }
}

fn measure(name: &str, spec: &DeviceSpec, sequential: bool) {
    let mut device = Device::new(spec, 1).expect("sound");
    let blocks = device.capacity().0 / 4096;
    let begin = Instant::now();
    let mut latest = Nanos::ZERO;
    for index in 0..COUNT {
        let block = match sequential {
            true => index % blocks,
            false => index.wrapping_mul(0x9e37_79b9_7f4a_7c15) % blocks,
        };
        let direction = match index % 4 {
            0 => Direction::Write,
            _ => Direction::Read,
        };
        let io = Io {
            direction,
            offset: block * 4096,
            len: 4096,
        };
        let answer = device.admit(Nanos(index * 60_000), black_box(io));
        latest = latest.max(answer.at);
    }
    let seconds = begin.elapsed().as_secs_f64();
    let millions = COUNT as f64 / seconds / 1e6;
    println!(
        "{name:<34} {millions:>6.1} M/s  {:>6.1} ns each   ({latest})",
        1e3 / millions
    );
}

fn main() {
    measure("gp3, random", &device(gp3(), 1), false);
    measure("gp3, sequential", &device(gp3(), 1), true);
    measure("local NVMe with channels, random", &device(i3(), 1), false);
    measure(
        "local NVMe with programs, random",
        &device(i3en(), 1),
        false,
    );
    measure("30 x gp3 on an instance, random", &device(gp3(), 30), false);
    measure("30 x gp3 on an instance, seq.", &device(gp3(), 30), true);
}
