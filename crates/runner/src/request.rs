//! What is run, on which targets, how often, and how it continues after an interruption, as one
//! value. It knows no command line, so that a page or a file can make one as well.

use std::sync::atomic::AtomicBool;

use blocklab_catalog::Catalog;
use blocklab_host::guard::Guard;
use blocklab_native::Overrides;
use blocklab_record::{Note, Record};
use blocklab_store::Store;
use blocklab_workload::Plan;
use blocklab_workload::publication::Publication;
use jiff::Timestamp;

use crate::{Missing, Until};

/// A study to run.
#[derive(Debug, Clone)]
pub struct Study {
    /// Its name on a command line.
    pub name: String,
    /// Identifies it when it is resumed: its text, or the id of the run that it repeats.
    pub source: String,
    /// The load, with the overrides of the request.
    pub plan: Plan,
    /// Notes on settings that were approximated, ignored or refused.
    pub notes: Vec<Note>,
    /// Its systems, and the tables and charts that it shows of them.
    pub publication: Publication,
    /// Whether another engine may replace io_uring if that is not available, with a Note: for plans
    /// whose author did not choose an engine.
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

/// A study, and how to run it.
#[derive(Debug, Clone)]
pub struct Request {
    /// The study.
    pub study: Study,
    /// The settings that replaced those of the study. They are in its plan already; a study with
    /// other overrides is another one and is not resumed.
    pub overrides: Overrides,
    /// Targets of the jobs that name none, as the user wrote them: records and errors repeat the
    /// text, which is parsed where the target is opened. In a study of several systems: the targets
    /// of those in `systems`, or `sim` or `emu` for the models of all.
    pub targets: Vec<String>,
    /// In a study of several systems: those that the targets stand for; the others are simulated.
    pub systems: Vec<String>,
    /// Earlier runs to use for a system instead of measuring it, by its name.
    pub earlier: Vec<(String, Record)>,
    /// What to do about a target that does not exist.
    pub missing: Missing,
    /// Whether a job that cannot open its targets or set up its engine fails alone, and the others run.
    pub fails_alone: bool,
    /// The moment at which the first pass begins, so that hosts begin together; `None`: at once.
    pub start_at: Option<Timestamp>,
    /// The precision until which passes are added.
    pub until: Option<Until>,
    /// The id of the run; `None`: a new one.
    pub id: Option<String>,
    /// Whether the progress of a study of several systems is saved, so that it can be resumed.
    pub is_resumable: bool,
    /// Whether such a study starts again instead of being resumed.
    pub is_fresh: bool,
}

impl Request {
    /// A study on these targets, run once and not resumable.
    pub fn once(study: Study, targets: Vec<String>) -> Self {
        Self {
            study,
            overrides: Overrides::default(),
            targets,
            systems: Vec::new(),
            earlier: Vec::new(),
            missing: Missing::Refused,
            fails_alone: false,
            start_at: None,
            until: None,
            id: None,
            is_resumable: false,
            is_fresh: true,
        }
    }
}

/// The surroundings in which requests run.
#[derive(Debug, Clone, Copy)]
pub struct Setting<'a> {
    /// Keeps the runs, and the progress of studies.
    pub store: &'a Store,
    /// Decides what may be written to. It outlives the runs, and all runs of one command share it.
    pub guard: &'a Guard,
    /// Knows the volumes and instances of `sim:` and `emu:` addresses.
    pub catalog: &'a Catalog,
    /// Set by a signal handler.
    pub interrupted: &'a AtomicBool,
}

/// One of several hosts that run a load together, with the settings of its part.
#[derive(Debug, Clone, Copy)]
pub struct HostSetting<'a> {
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
