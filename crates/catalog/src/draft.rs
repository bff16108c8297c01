//! The device of an address while it is put together: its volume, its machine, what is bought, and the
//! remarks that come up on the way.

use blocklab_device::{Cap, DeviceSpec, InstanceSpec, Limit, Origin, Rate, VolumeSpec};
use blocklab_units::Bytes;

use crate::cost::Purchase;
use crate::figure::Figure;
use crate::remarks::Remark;
use crate::stand_in::{BUCKET, REFILL};

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

/// A limit as providers enforce it: with a bucket that fills at a part of its rate.
pub fn cap(name: &str, rate: Rate, origin: &Origin) -> Cap {
    Cap {
        bucket: BUCKET,
        refill_share: REFILL,
        ..Cap::new(name, rate, origin.clone())
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

    /// A machine that nothing is attached to.
    pub(crate) fn of_machine(name: &str) -> Self {
        let mut draft = Self {
            volumes: 0,
            ..Self::new(VolumeSpec::new("", Bytes::ZERO))
        };
        draft.purchase.instance = Some(name.to_owned());
        draft
    }

    /// Limits the volume by a rate that rests on a figure.
    pub(crate) fn cap(&mut self, name: &str, rate: Rate, figure: &Figure) {
        self.volume.caps.push(cap(name, rate, &figure.origin));
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
