//! One target, ready to be opened by workers, and the device model that may stand behind it.

use std::sync::atomic::AtomicBool;

use blocklab_catalog::{Catalog, Resolved, resolve_text};
use blocklab_device::Device;
use blocklab_driver::{Backing, Reopen, TargetFile};
use blocklab_host::guard::Guard;
use blocklab_record::{TargetFacts, TargetKind};
use blocklab_targets::Model;

use crate::Error;
use crate::scratch::Scratch;

/// One target, ready to be opened by workers.
#[derive(Debug)]
pub(crate) struct OpenedTarget {
    pub(crate) file: TargetFile,
    pub(crate) facts: TargetFacts,
    /// Held, so that the file lives as long as this value.
    #[expect(dead_code, reason = "it is kept for its Drop")]
    pub(crate) scratch: Option<Scratch>,
}

impl OpenedTarget {
    /// A target that exists already.
    pub(crate) const fn new(file: TargetFile, facts: TargetFacts) -> Self {
        Self {
            file,
            facts,
            scratch: None,
        }
    }
}

/// What becomes of a target that does not exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Missing {
    /// The run is refused.
    Refused,
    /// A file is made there, and removed after the run.
    Scratch,
    /// The same, except for names that jobs make themselves: they are left to the jobs.
    ScratchOrName,
}

impl Missing {
    /// A scratch file, if one may be made.
    pub const fn scratch_if(may_be_made: bool) -> Self {
        match may_be_made {
            true => Self::Scratch,
            false => Self::Refused,
        }
    }
}

/// What targets are opened with.
pub(crate) struct TargetContext<'a> {
    /// Targets of the jobs that name none.
    pub(crate) targets: &'a [String],
    /// What may be written to.
    pub(crate) guard: &'a Guard,
    pub(crate) missing: Missing,
    pub(crate) seed: u64,
    pub(crate) catalog: &'a Catalog,
    pub(crate) interrupted: &'a AtomicBool,
}

/// A target that is a model: its address, its device, and what its figures rest on.
pub(crate) struct Modelled {
    text: String,
    device: Device,
    resolved: Resolved,
    in_real_time: bool,
}

impl Modelled {
    /// The device behind `sim:ADDRESS` or `emu:ADDRESS`; `None` for any other text.
    pub(crate) fn parse(text: &str, context: &TargetContext<'_>) -> Result<Option<Self>, Error> {
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
            resolve_text(address, context.catalog).map_err(|error| wrong(error.to_string()))?;
        let device =
            Device::new(&resolved.spec, context.seed).map_err(|error| wrong(error.to_string()))?;
        Ok(Some(Self {
            text: text.to_owned(),
            device,
            resolved,
            in_real_time,
        }))
    }

    /// The device, with full burst buckets.
    pub(crate) fn open(self) -> OpenedTarget {
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
            reopen: Reopen::Name,
            size: capacity.0,
            may_write: true,
            backing,
        };
        OpenedTarget::new(file, facts)
    }
}
