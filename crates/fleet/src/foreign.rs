//! In: a load in the language of another tool. Out: its run on this host, begun with all others.
//!
//! A file of its own: the languages are spoken by crates that this one does not know; the rank
//! program brings them.

use std::sync::atomic::AtomicBool;

use anyhow::Result;
use blocklab_record::Record;
use blocklab_runner::Observer;
use blocklab_store::Store;

use crate::plan::ForeignLoad;

/// The host on which such a load runs.
#[derive(Debug, Clone, Copy)]
pub struct ForeignHost<'a> {
    /// As the user named it.
    pub name: &'a str,
    /// The id of its run.
    pub run: &'a str,
    /// What it may overwrite, by name.
    pub destroy_data: &'a [String],
    /// Where it keeps its run.
    pub store: &'a Store,
    /// Ends the run.
    pub interrupted: &'a AtomicBool,
}

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
        host: &ForeignHost<'_>,
        permitted: &mut dyn FnMut() -> bool,
        observer: &mut dyn Observer,
    ) -> Result<Option<Record>>;
}
