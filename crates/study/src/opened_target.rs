//! One target, ready to be opened by workers, and the device model that may stand behind it.

use std::sync::atomic::AtomicBool;

use blocklab_catalog::{Catalog, resolve_text};
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

/// The device behind `sim:ADDRESS` or `emu:ADDRESS`, with full burst buckets; `None` for any other
/// text.
pub(crate) fn model_target(
    text: &str,
    context: &TargetContext<'_>,
) -> Result<Option<OpenedTarget>, Error> {
    let (address, backing): (_, fn(Model) -> Backing) =
        match (text.strip_prefix("sim:"), text.strip_prefix("emu:")) {
            (Some(address), _) => (address, Backing::Simulated),
            (_, Some(address)) => (address, Backing::Emulated),
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
    let facts = TargetFacts {
        path: text.to_owned(),
        kind: TargetKind::Model,
        size_bytes: device.capacity(),
        limits: resolved.limits,
        assumptions: resolved.assumptions,
        ..TargetFacts::default()
    };
    let file = TargetFile {
        path: text.into(),
        reopen: Reopen::Name,
        size: device.capacity().0,
        may_write: true,
        backing: backing(Model::new(device)),
    };
    Ok(Some(OpenedTarget::new(file, facts)))
}
