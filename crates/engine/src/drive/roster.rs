//! Who takes part in a run, as the results see it.

use std::sync::Arc;

use blocklab_record::{Note, Stopped};

use crate::bounds::Stopper;
use crate::recorder::Recorder;

/// One worker, seen from outside.
pub(crate) struct Member {
    pub(crate) job: usize,
    pub(crate) recorder: Arc<Recorder>,
    /// What ended during the ramp, where that is counted: of jobs in a pool.
    pub(crate) warm: Option<Arc<Recorder>>,
    pub(crate) stopper: Arc<Stopper>,
    /// How it ended; nothing while it works, or when it had to be left behind.
    pub(crate) ended: Option<Stopped>,
}

/// All workers of a run, and what was found out while they were made.
#[derive(Default)]
pub(crate) struct Roster {
    pub(crate) members: Vec<Member>,
    /// By job: whether O_DIRECT is in force.
    pub(crate) direct: Vec<bool>,
    pub(crate) notes: Vec<Note>,
}
