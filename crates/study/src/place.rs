//! A target that can be worked on, and the terms on which it is made.

use std::sync::atomic::AtomicBool;

use blocklab_catalog::Catalog;
use blocklab_driver::TargetFile;
use blocklab_host::guard::Guard;
use blocklab_record::TargetFacts;

use crate::scratch::Scratch;

/// One target, ready to be opened by workers.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) file: TargetFile,
    pub(crate) facts: TargetFacts,
    /// Held, so that the file lives as long as the place.
    #[expect(dead_code, reason = "it is kept for its Drop")]
    pub(crate) scratch: Option<Scratch>,
}

impl Place {
    /// What is there already.
    pub(crate) const fn of(file: TargetFile, facts: TargetFacts) -> Self {
        Self {
            file,
            facts,
            scratch: None,
        }
    }
}

/// How a site is made.
pub(crate) struct Terms<'a> {
    /// Targets of the jobs that name none.
    pub(crate) targets: &'a [String],
    /// What may be written to.
    pub(crate) guard: &'a Guard,
    /// Whether a target that does not exist is made.
    pub(crate) create: bool,
    pub(crate) seed: u64,
    pub(crate) catalog: &'a Catalog,
    pub(crate) interrupted: &'a AtomicBool,
}
