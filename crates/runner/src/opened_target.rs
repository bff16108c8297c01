//! One target, checked and ready for workers to open, and the settings with which targets are opened.

use std::sync::atomic::AtomicBool;

use blocklab_catalog::Catalog;
use blocklab_driver::TargetFile;
use blocklab_host::guard::Guard;
use blocklab_record::TargetFacts;

use crate::scratch::Scratch;

/// One target, ready for workers to open.
#[derive(Debug)]
pub(crate) struct OpenedTarget {
    pub(crate) file: TargetFile,
    pub(crate) facts: TargetFacts,
    /// Held, so that the file lives as long as this value.
    #[expect(dead_code, reason = "it is kept for its Drop")]
    pub(crate) scratch: Option<Scratch>,
    /// The index of a modelled volume's instance, if other volumes are attached to it too.
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

/// What to do about a target that does not exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Missing {
    /// Refuse the run.
    Refused,
    /// Create a file there, and remove it after the run.
    Scratch,
    /// The same, except for names that the jobs create themselves.
    ScratchOrName,
}

impl Missing {
    /// A scratch file, if one may be created.
    pub const fn scratch_if(may_be_made: bool) -> Self {
        if may_be_made {
            Self::Scratch
        } else {
            Self::Refused
        }
    }
}

/// The settings with which targets are opened.
pub(crate) struct TargetContext<'a> {
    /// Targets of the jobs that name none.
    pub(crate) targets: &'a [String],
    /// Decides what may be written to.
    pub(crate) guard: &'a Guard,
    pub(crate) missing: Missing,
    pub(crate) seed: u64,
    pub(crate) catalog: &'a Catalog,
    pub(crate) interrupted: &'a AtomicBool,
}
