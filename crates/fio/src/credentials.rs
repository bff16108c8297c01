//! `uid`, `gid` and `cgroup`: as whom a job works.

use blocklab_workload::Credentials;

use super::spec::Spec;
use super::terms::Terms;

/// A control group that must be there before the run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ControlGroup {
    /// Its directory.
    pub path: String,
    /// What its `blkio.weight` becomes.
    pub weight: Option<u32>,
    /// Whether it stays after the run.
    pub keep: bool,
}

/// The group that a job asks for; nothing, as with fio, where no block I/O controller of version 1
/// is mounted.
pub(super) fn control_group(spec: &Spec, terms: &Terms<'_>) -> Option<ControlGroup> {
    let name = spec.values.text("cgroup").filter(|name| !name.is_empty())?;
    let weight = spec.values.number("cgroup_weight");
    Some(ControlGroup {
        path: format!("{}/{name}", terms.control_groups?),
        weight: weight.and_then(|weight| u32::try_from(weight).ok()),
        keep: spec.values.flag("cgroup_nodelete"),
    })
}

pub(super) fn credentials(spec: &Spec, terms: &Terms<'_>) -> Credentials {
    let id = |option| u32::try_from(spec.values.number(option)?).ok();
    Credentials {
        user: id("uid"),
        group: id("gid"),
        control_group: control_group(spec, terms).map(|group| group.path),
    }
}
