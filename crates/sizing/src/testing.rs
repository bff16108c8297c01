//! In: one limit. Out: a volume that has it alone, whose medium always takes the same time: so what an
//! operation waits for is the limit.

use blocklab_device::{Accounting, Cap, DeviceSpec, Service, VolumeSpec};
use blocklab_units::{Bytes, Nanos};

/// The volume, which counts operations like that.
pub(crate) fn limited(cap: Cap, accounting: Accounting) -> DeviceSpec {
    let volume = VolumeSpec {
        caps: vec![cap],
        accounting,
        service: Some(Service::constant(Nanos(100_000))),
        ..VolumeSpec::new("test", Bytes(1 << 40))
    };
    DeviceSpec::new("test", vec![volume])
}
