//! Who takes part in a run, as the results see it.

use std::sync::Arc;

use blocklab_record::{Note, Stopped};
use blocklab_workload::EndsOthers;

use blocklab_worker::Recorder;
use blocklab_worker::Stopper;

/// One worker, seen from outside.
pub(crate) struct WorkerStatus {
    pub(crate) job: usize,
    pub(crate) recorder: Arc<Recorder>,
    pub(crate) stopper: Arc<Stopper>,
    /// How it ended; nothing while it works, or when it had to be left behind.
    pub(crate) ended: Option<Stopped>,
}

impl Workers {
    /// Ends the jobs beside one that has ended and takes them with it.
    pub(crate) fn end_others(&self) {
        let takes = |member: &WorkerStatus| match (member.ended, self.ends_others[member.job]) {
            (None, _) | (_, EndsOthers::Never) => false,
            (Some(stopped), EndsOthers::OnError) => {
                matches!(stopped, Stopped::Error | Stopped::Stalled)
            }
            (Some(_), EndsOthers::Always) => true,
        };
        if self.members.iter().any(takes) {
            let others = self.members.iter().filter(|member| member.ended.is_none());
            others.for_each(|member| member.stopper.request(Stopped::Runtime));
        }
    }
}

/// All workers of a run, and what was found out while they were made.
#[derive(Default)]
pub(crate) struct Workers {
    pub(crate) members: Vec<WorkerStatus>,
    /// By job: whether O_DIRECT is in force.
    pub(crate) direct: Vec<bool>,
    /// By job: what its end means for the others.
    pub(crate) ends_others: Vec<EndsOthers>,
    pub(crate) notes: Vec<Note>,
}
