//! A modelled volume for tests: that of an SSD in a cloud, without limits.

use blocklab_device::{
    Accounting, Device, DeviceSpec, FaultSpec, Latency, Origin, Service, Spread, VolumeSpec,
};
use blocklab_driver::{Backing, TargetFile};
use blocklab_targets::Model;
use blocklab_units::{Bytes, Nanos};

/// How long a network SSD takes: 600 µs and 2.2 µs a KiB, scattered.
fn network_ssd() -> Service {
    let latency = Latency {
        base: Nanos(600_000),
        per_kib_ns: 2_200.0,
        origin: Origin::Given,
    };
    let spread = Spread {
        sigma: 0.295,
        tail: None,
        origin: Origin::Given,
    };
    Service::even(latency, spread)
}

pub fn with(faults: Vec<FaultSpec>) -> Model {
    let volume = VolumeSpec {
        accounting: Accounting::Merged {
            unit: Bytes(256 << 10),
        },
        service: Some(network_ssd()),
        ..VolumeSpec::new("gp3", Bytes(1 << 30))
    };
    let spec = DeviceSpec {
        faults,
        ..DeviceSpec::new("test", vec![volume])
    };
    Model::new(Device::new(&spec, 1).expect("a device"))
}

pub fn target(backing: Backing) -> TargetFile {
    TargetFile {
        backing,
        ..TargetFile::file("model".into(), 1 << 30, true)
    }
}
