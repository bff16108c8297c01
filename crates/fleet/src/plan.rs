//! The plan of a load on many hosts, as one value. The launcher makes it, and every host gets its part.

use std::path::PathBuf;

use blocklab_record::Note;
use blocklab_runner::{Missing, Request, Study};
use blocklab_units::Nanos;
use blocklab_workload::{PLAN_FORMAT, Plan};
use serde::{Deserialize, Serialize};

/// The version of the program, which must be the same on all hosts.
pub const VERSION: &str = concat!("blocklab ", env!("CARGO_PKG_VERSION"));

/// One load on many hosts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FleetPlan {
    /// The version of the launcher.
    pub version: String,
    /// The version of the load's format, which may change during the development of one version of the
    /// program.
    pub plan_format: u32,
    /// The load that all hosts run.
    pub load: Load,
    /// Each host, in the order in which the user named them; the first one coordinates.
    pub hosts: Vec<HostTask>,
    /// The longest time for opening and laying out targets.
    pub prepare_within: Nanos,
}

/// The load that all hosts run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Load {
    /// The cases and passes.
    pub plan: Plan,
    /// Notes on settings that were approximated, ignored or refused.
    pub notes: Vec<Note>,
    /// Whether another engine may replace io_uring.
    pub may_replace_engine: bool,
    /// Whether targets that do not exist are created.
    pub creates_targets: bool,
}

/// The settings of one host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostTask {
    /// As the user named it. A host that is named a second time has the suffix `#2`, and so on.
    pub name: String,
    /// The id of its run.
    pub run: String,
    /// Its targets.
    pub targets: Vec<String>,
    /// What it may overwrite, by name.
    pub destroy_data: Vec<String>,
    /// The store for its run; `None`: the usual one of its user.
    pub store: Option<PathBuf>,
    /// A load in the language of another tool, which it runs instead of the common one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub foreign: Option<ForeignLoad>,
}

/// A load in the language of another tool, which the host parses.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForeignLoad {
    /// The name of the tool.
    pub tool: String,
    /// The load as the crate `tools` writes and reads it.
    pub text: String,
    /// Whether the host sends each interval and measurement when it ends.
    pub is_followed: bool,
}

impl FleetPlan {
    /// A plan with the version of this program.
    pub fn new(load: Load, hosts: Vec<HostTask>, prepare_within: Nanos) -> Self {
        Self {
            version: VERSION.to_owned(),
            plan_format: PLAN_FORMAT,
            load,
            hosts,
            prepare_within,
        }
    }

    /// The plan with only the host of this index, which draws its own random numbers. A load of another
    /// tool is drawn as that tool does.
    pub fn of_host(&self, place: usize) -> Self {
        let mut plan = Self {
            hosts: vec![self.hosts[place].clone()],
            ..self.clone()
        };
        for case in &mut plan.load.plan.cases {
            case.workload.seed = case.workload.seed_on_host(place as u64);
        }
        plan
    }
}

impl Load {
    /// The load as a request for one host.
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

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use blocklab_workload::{Case, Job};

    /// These cases on the hosts h1, h2 and h3.
    pub(crate) fn of_three_hosts(cases: Vec<Case>) -> FleetPlan {
        let load = Load {
            plan: Plan::once("a", "", cases),
            notes: Vec::new(),
            may_replace_engine: false,
            creates_targets: false,
        };
        let hosts = ["h1", "h2", "h3"].map(|name| HostTask {
            name: name.to_owned(),
            run: String::new(),
            targets: Vec::new(),
            destroy_data: Vec::new(),
            store: None,
            foreign: None,
        });
        FleetPlan::new(load, hosts.to_vec(), Nanos::from_secs(20))
    }

    /// The story: two hosts of `fleet run --rate 300` issued the same number of operations at the same
    /// moments, to the same offsets. On a volume that they share, each read came from a cache but the
    /// first, and arrivals "as those of many users" came in pairs.
    #[test]
    fn every_host_draws_for_itself_and_the_first_from_the_root() {
        let case = Case::new("a", 7, vec![Job::new("a")]);
        let plan = of_three_hosts(vec![case]);
        let seeds = [0, 1, 2].map(|place| plan.of_host(place).load.plan.cases[0].workload.seed);
        assert_eq!(seeds[0], 7);
        assert!(
            seeds[1] != 7 && seeds[2] != 7 && seeds[1] != seeds[2],
            "{seeds:?}"
        );
    }
}
