//! The device of an address while it is put together: its volume, its machine, what is bought, and the
//! remarks that come up on the way.

use blocklab_device::{DeviceSpec, InstanceSpec, Limit, VolumeSpec};

use crate::cost::Purchase;
use crate::remarks::Remark;

/// Equal volumes, what they are attached to, and the remarks about them.
pub(crate) struct Draft {
    pub(crate) volume: VolumeSpec,
    pub(crate) volumes: usize,
    pub(crate) instance: Option<InstanceSpec>,
    /// Bounds of what may be bought, which are no limit of the device.
    pub(crate) bounds: Vec<Limit>,
    pub(crate) purchase: Purchase,
    pub(crate) assumptions: Vec<String>,
    pub(crate) notes: Vec<Remark>,
    /// The notes about what its price rests on or leaves out.
    pub(crate) cost_notes: Vec<String>,
}

/// A machine that nothing is attached to.
pub(crate) fn without_volumes(name: String, instance: Option<InstanceSpec>) -> DeviceSpec {
    DeviceSpec {
        instance,
        ..DeviceSpec::new(&name, Vec::new())
    }
}

impl Draft {
    pub(crate) fn new(volume: VolumeSpec) -> Self {
        Self {
            volume,
            volumes: 1,
            instance: None,
            bounds: Vec::new(),
            purchase: Purchase::default(),
            assumptions: Vec::new(),
            notes: Vec::new(),
            cost_notes: Vec::new(),
        }
    }

    /// The device that it is so far, without a name.
    pub(crate) fn spec(&self) -> DeviceSpec {
        let volumes = vec![self.volume.clone(); self.volumes];
        DeviceSpec {
            instance: self.instance.clone(),
            ..DeviceSpec::new("", volumes)
        }
    }
}
