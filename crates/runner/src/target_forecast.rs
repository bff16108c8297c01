//! In: the facts of a target. Out: what a run would do to it.

use std::path::Path;

use blocklab_device::DeviceSpec;
use blocklab_record::{TargetFacts, TargetKind};
use blocklab_units::Bytes;

/// One target, as it is now.
#[derive(Debug)]
pub struct TargetForecast {
    /// Its facts. For a file that would be created, these are its path, its size and its file system.
    pub facts: TargetFacts,
    /// Bytes written before the first pass, because the file does not exist yet.
    pub laid_out: Bytes,
    /// Whether the plan writes to it.
    pub is_written: bool,
    /// The modelled device; `None` for a real one.
    pub model: Option<DeviceSpec>,
}

impl TargetForecast {
    pub(crate) fn new(facts: TargetFacts, model: Option<DeviceSpec>, is_written: bool) -> Self {
        Self {
            model,
            laid_out: Bytes::ZERO,
            facts,
            is_written,
        }
    }

    /// A file that is created and filled first.
    pub(crate) fn made(facts: TargetFacts, path: &Path, size: Bytes) -> Self {
        let facts = TargetFacts {
            path: path.display().to_string(),
            kind: TargetKind::Scratch,
            size_bytes: size,
            ..facts
        };
        Self {
            laid_out: size,
            ..Self::new(facts, None, true)
        }
    }
}
