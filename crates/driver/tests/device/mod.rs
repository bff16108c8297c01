//! A modelled volume for tests: that of an SSD in a cloud, without limits.

use blocklab_device::class::Class;
use blocklab_device::{Device, DeviceSpec, FaultSpec, Layout, VolumeSpec};
use blocklab_driver::{Backing, TargetFile};
use blocklab_targets::Model;
use blocklab_units::Bytes;

pub fn with(faults: Vec<FaultSpec>) -> Model {
    let volume = VolumeSpec {
        kind: "gp3".to_owned(),
        capacity: Bytes(1 << 30),
        accounting: Class::Gp3.accounting(),
        caps: Vec::new(),
        credits: Vec::new(),
        service: Some(Class::Gp3.service()),
        queue_depth: None,
        network: None,
    };
    let spec = DeviceSpec {
        name: "test".to_owned(),
        volumes: vec![volume],
        layout: Layout::default(),
        instance: None,
        faults,
    };
    Model::new(Device::new(&spec, 1).expect("a device"))
}

pub fn target(backing: Backing) -> TargetFile {
    TargetFile {
        backing,
        ..TargetFile::file("model".into(), 1 << 30, true)
    }
}
