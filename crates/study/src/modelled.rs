//! A target that is a model: its address, its device, and what its figures rest on.

use blocklab_catalog::{Resolved, resolve_text};
use blocklab_device::Device;
use blocklab_driver::{Backing, TargetFile};
use blocklab_record::{TargetFacts, TargetKind};
use blocklab_targets::Model;

use crate::Error;
use crate::place::{Place, Terms};

/// A device that nobody rented.
pub(crate) struct Modelled {
    text: String,
    device: Device,
    resolved: Resolved,
    in_real_time: bool,
}

impl Modelled {
    /// The device behind `sim:ADDRESS` or `emu:ADDRESS`; `None` for any other text.
    pub(crate) fn of(text: &str, terms: &Terms<'_>) -> Result<Option<Self>, Error> {
        let (address, in_real_time) = match (text.strip_prefix("sim:"), text.strip_prefix("emu:")) {
            (Some(address), _) => (address, false),
            (_, Some(address)) => (address, true),
            _ => return Ok(None),
        };
        let wrong = |message: String| Error::Address {
            text: text.to_owned(),
            message,
        };
        let resolved =
            resolve_text(address, terms.catalog).map_err(|error| wrong(error.to_string()))?;
        let device =
            Device::new(&resolved.spec, terms.seed).map_err(|error| wrong(error.to_string()))?;
        Ok(Some(Self {
            text: text.to_owned(),
            device,
            resolved,
            in_real_time,
        }))
    }

    /// The device at work, rested.
    pub(crate) fn place(self) -> Place {
        let capacity = self.device.capacity();
        let facts = TargetFacts {
            path: self.text.clone(),
            kind: TargetKind::Model,
            size_bytes: capacity,
            limits: self.resolved.limits,
            assumptions: self.resolved.assumptions,
            ..TargetFacts::default()
        };
        let model = Model::new(self.device);
        let backing = match self.in_real_time {
            true => Backing::Emulated(model),
            false => Backing::Simulated(model),
        };
        let file = TargetFile {
            path: self.text.into(),
            held: None,
            size: capacity.0,
            may_write: true,
            backing,
        };
        Place::of(file, facts)
    }
}
