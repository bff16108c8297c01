//! One target, ready to be opened by workers.

use std::sync::atomic::AtomicBool;

use blocklab_catalog::Catalog;
use blocklab_driver::TargetFile;
use blocklab_host::guard::Guard;
use blocklab_record::TargetFacts;

use crate::scratch::Scratch;

/// One target, ready to be opened by workers.
#[derive(Debug)]
pub(crate) struct OpenedTarget {
    pub(crate) file: TargetFile,
    pub(crate) facts: TargetFacts,
    /// Held, so that the file lives as long as this value.
    #[expect(dead_code, reason = "it is kept for its Drop")]
    pub(crate) scratch: Option<Scratch>,
    /// The place of the instance of a modelled volume, where others are attached to it.
    pub(crate) instance: Option<usize>,
}

impl OpenedTarget {
    /// A target that exists already.
    pub(crate) const fn new(file: TargetFile, facts: TargetFacts) -> Self {
        Self {
            file,
            facts,
            scratch: None,
            instance: None,
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
        if may_be_made {
            Self::Scratch
        } else {
            Self::Refused
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
