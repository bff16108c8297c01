//! What a plan needs to know of the machine besides the jobs: sizes of files, processors, control groups.

use super::options::Options;

/// What the caller knows of the machine, and what a plan needs to know besides the jobs.
pub struct PlanContext<'a> {
    /// Size of an existing file or device.
    pub size_of: &'a dyn Fn(&str) -> Option<u64>,
    /// Whether a path is that of a device.
    pub is_device: &'a dyn Fn(&str) -> bool,
    /// Bytes that are free on the file system of a file, which need not be there.
    pub room_at: &'a dyn Fn(&str) -> Option<u64>,
    /// All files below a directory.
    pub files_below: &'a dyn Fn(&str) -> Vec<String>,
    /// How many processors there are.
    pub processors: u32,
    /// Processors of a NUMA node.
    pub node_processors: &'a dyn Fn(u32) -> Vec<u32>,
    /// What a file holds, or why it cannot be read.
    pub bytes_of: &'a dyn Fn(&str) -> Result<Vec<u8>, String>,
    /// The path of a block device by its numbers.
    pub device_of: &'a dyn Fn(u32, u32) -> String,
    /// Where the block I/O controller of version 1 is mounted.
    pub control_groups: Option<&'a str>,
    /// The directory of the files that a run leaves for a later one; `None`: the current one.
    pub aux: Option<&'a str>,
    /// This host, as `--client` names it; `None`: there are no clients.
    pub client: Option<&'a str>,
    /// Whether nothing will be run: then options that would be refused are accepted.
    pub only_parsed: bool,
    /// The random seed of jobs whose offsets differ from run to run.
    pub seed: u64,
}

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

/// The group that a job requests; `None`, as with fio, where no block I/O controller of version 1 is
/// mounted.
pub(super) fn control_group(options: &Options, context: &PlanContext<'_>) -> Option<ControlGroup> {
    let name = options.cgroup.as_ref().filter(|name| !name.is_empty())?;
    Some(ControlGroup {
        path: format!("{}/{name}", context.control_groups?),
        weight: options.cgroup_weight,
        keep: options.cgroup_nodelete,
    })
}
