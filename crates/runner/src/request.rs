//! In: nothing of a command line; a request is made from one, from a page or from a file.
//! Out: what is run, on what, how often, and how it goes on when it is interrupted, as one value.

use std::sync::atomic::AtomicBool;

use blocklab_catalog::Catalog;
use blocklab_host::guard::Guard;
use blocklab_native::Overrides;
use blocklab_record::{Note, Record};
use blocklab_store::Store;
use blocklab_workload::Plan;
use blocklab_workload::publication::Publication;

use crate::{Missing, Until};

/// A study as it is to be run.
#[derive(Debug, Clone)]
pub struct Study {
    /// How a command line names it.
    pub name: String,
    /// What tells it from others when it is resumed: its text, or the id of the run that it repeats.
    pub source: String,
    /// The load, with what the request overrides.
    pub plan: Plan,
    /// What was understood differently from what was written.
    pub notes: Vec<Note>,
    /// Its systems, and what it shows of them in addition.
    pub publication: Publication,
    /// Where the kernel has no io_uring for us, another engine may stand in, with a Note: for plans
    /// whose author did not choose one.
    pub may_replace_engine: bool,
}

impl Study {
    /// A plan whose author chose its engines.
    pub fn of_plan(plan: Plan) -> Self {
        Self {
            name: plan.name.clone(),
            source: String::new(),
            plan,
            notes: Vec::new(),
            publication: Publication::default(),
            may_replace_engine: false,
        }
    }
}

/// A study, and what is to be done with it.
#[derive(Debug, Clone)]
pub struct Request {
    /// What is run.
    pub study: Study,
    /// What replaced settings of the study: they are in its plan already, and a study that is
    /// resumed with others is another one.
    pub overrides: Overrides,
    /// Targets of the jobs that name none, as their user wrote them: records and errors repeat the
    /// text, and it is read where the target is opened. In a study of several systems: what stands
    /// for those in `systems`, or `sim` or `emu` for the models of all.
    pub targets: Vec<String>,
    /// In a study of several systems: those that the targets stand for; the others are simulated.
    pub systems: Vec<String>,
    /// Earlier runs that stand for a system, by its name.
    pub earlier: Vec<(String, Record)>,
    /// What becomes of a target that does not exist.
    pub missing: Missing,
    /// Whether a job that cannot open its targets or set up its engine fails alone, and the others run.
    pub fails_alone: bool,
    /// Passes are added until this holds.
    pub until: Option<Until>,
    /// The id of the run, where it is not to be a new one.
    pub id: Option<String>,
    /// Whether the progress of a study of several systems is kept, so that it can be resumed.
    pub is_resumable: bool,
    /// Whether such a study begins anew.
    pub is_fresh: bool,
}

impl Request {
    /// A study on these targets, once, and not to be resumed.
    pub fn once(study: Study, targets: Vec<String>) -> Self {
        Self {
            study,
            overrides: Overrides::default(),
            targets,
            systems: Vec::new(),
            earlier: Vec::new(),
            missing: Missing::Refused,
            fails_alone: false,
            until: None,
            id: None,
            is_resumable: false,
            is_fresh: true,
        }
    }
}

/// What requests are run with.
#[derive(Debug, Clone, Copy)]
pub struct Setting<'a> {
    /// Where runs are kept, and the progress of studies.
    pub store: &'a Store,
    /// Decides what may be written to. It outlives the runs, and all runs of one command share it.
    pub guard: &'a Guard,
    /// What `sim:` and `emu:` addresses are looked up in.
    pub catalog: &'a Catalog,
    /// Set by a signal handler.
    pub interrupted: &'a AtomicBool,
}
