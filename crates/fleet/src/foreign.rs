//! The interface to loads in the languages of other tools, whose crates this one does not know. The rank
//! program passes in the implementation.

use anyhow::Result;
use blocklab_record::Record;
use blocklab_runner::{HostSetting, Observer};

use crate::plan::ForeignLoad;

/// Runs loads in the languages of other tools.
pub trait ForeignTools: Sync {
    /// Checks everything, asks with `permitted` whether all hosts may go on, lays out what is missing
    /// and runs the load. Nothing is written before `permitted` has returned true. The observer decides
    /// when the run begins. `None`: it was stopped before anything was measured.
    ///
    /// # Errors
    /// When something is refused on this host, or fails before the first measurement.
    fn run(
        &self,
        load: &ForeignLoad,
        host: &HostSetting<'_>,
        permitted: &mut dyn FnMut() -> bool,
        observer: &mut dyn Observer,
    ) -> Result<Option<Record>>;
}
