//! In: a load in the language of another tool. Out: its run on this host, begun with all others.
//!
//! A file of its own: the languages are spoken by crates that this one does not know; the rank
//! program brings them.

use anyhow::Result;
use blocklab_record::Record;
use blocklab_runner::{HostSetting, Observer};

use crate::plan::ForeignLoad;

/// What runs loads in the languages of other tools.
pub trait ForeignTools: Sync {
    /// Looks at everything, asks whether all hosts are permitted to go on, lays out what is missing
    /// and runs the load. Nothing is written before `permitted` has answered `true`; the observer
    /// says when to begin. Nothing comes back where it was stopped before it measured.
    ///
    /// # Errors
    /// What this host refuses, and what fails before the first measurement.
    fn run(
        &self,
        load: &ForeignLoad,
        host: &HostSetting<'_>,
        permitted: &mut dyn FnMut() -> bool,
        observer: &mut dyn Observer,
    ) -> Result<Option<Record>>;
}
