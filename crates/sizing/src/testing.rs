//! In: one limit. Out: a volume that has it alone, whose medium always takes the same time: so what an
//! operation waits for is the limit.

use blocklab_device::{
    Accounting, Cap, DeviceSpec, Latency, Layout, Origin, Service, Spread, VolumeSpec,
};
use blocklab_units::{Bytes, Nanos};

/// The volume, which counts operations like that.
pub(crate) fn limited(cap: Cap, accounting: Accounting) -> DeviceSpec {
    let latency = Latency {
        base: Nanos(100_000),
        per_kib_ns: 0.0,
        origin: Origin::Given,
    };
    let spread = Spread {
        sigma: 0.0,
        tail: None,
        origin: Origin::Given,
    };
    DeviceSpec {
        name: "test".to_owned(),
        volumes: vec![VolumeSpec {
            caps: vec![cap],
            accounting,
            service: Some(Service::even(latency, spread)),
            ..VolumeSpec::new("test", Bytes(1 << 40))
        }],
        layout: Layout::default(),
        instance: None,
        faults: Vec::new(),
    }
}
