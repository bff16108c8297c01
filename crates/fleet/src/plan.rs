//! What a fleet is to do, as one value: the launcher makes it, and every host gets its part.

use std::path::PathBuf;

use blocklab_record::Note;
use blocklab_runner::{Missing, Request, Study};
use blocklab_units::Nanos;
use blocklab_workload::{PLAN_FORMAT, Plan};
use serde::{Deserialize, Serialize};

/// What programs must agree on: all hosts and the launcher run the same.
pub const VERSION: &str = concat!("blocklab ", env!("CARGO_PKG_VERSION"));

/// One load on many hosts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FleetPlan {
    /// The version of the launcher.
    pub version: String,
    /// The form of the load: it may change while a version is in the making.
    pub plan_format: u32,
    /// What is measured.
    pub load: Load,
    /// Each host, in the order in which the user named them; the first one coordinates.
    pub hosts: Vec<HostTask>,
    /// The longest time for opening and laying out targets.
    pub prepare_within: Nanos,
}

/// What every host does alike.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Load {
    /// The cases and passes.
    pub plan: Plan,
    /// What a language said of the text.
    pub notes: Vec<Note>,
    /// Whether another engine may replace io_uring.
    pub may_replace_engine: bool,
    /// Whether targets that do not exist are created.
    pub creates_targets: bool,
}

/// What one host does by itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostTask {
    /// As the user named it; a host that is named twice has a number behind its name.
    pub name: String,
    /// The id of its run.
    pub run: String,
    /// Its targets.
    pub targets: Vec<String>,
    /// What it may overwrite, by name.
    pub destroy_data: Vec<String>,
    /// Where it keeps its run; `None`: where its user keeps runs.
    pub store: Option<PathBuf>,
    /// What it runs in place of the common load, where another tool's language says that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub foreign: Option<ForeignLoad>,
}

/// A load in the language of another tool: the host reads it as that tool would.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForeignLoad {
    /// Whose language.
    pub tool: String,
    /// What the host needs of it, as the crate of the tools writes it.
    pub text: String,
    /// Whether the launcher is told each interval and each measurement at once.
    pub is_followed: bool,
}

impl FleetPlan {
    /// A plan of this version.
    pub fn new(load: Load, hosts: Vec<HostTask>, prepare_within: Nanos) -> Self {
        Self {
            version: VERSION.to_owned(),
            plan_format: PLAN_FORMAT,
            load,
            hosts,
            prepare_within,
        }
    }

    /// The part of one host.
    pub fn of_host(&self, place: usize) -> Self {
        Self {
            hosts: vec![self.hosts[place].clone()],
            ..self.clone()
        }
    }
}

impl Load {
    /// The load as a request of one host.
    pub fn request(&self, task: &HostTask) -> Request {
        let study = Study {
            notes: self.notes.clone(),
            may_replace_engine: self.may_replace_engine,
            ..Study::of_plan(self.plan.clone())
        };
        Request {
            missing: Missing::scratch_if(self.creates_targets),
            id: Some(task.run.clone()),
            ..Request::once(study, task.targets.clone())
        }
    }
}
