//! What a plan needs to know besides the jobs.

/// What the caller knows of the machine.
pub struct Terms<'a> {
    /// Size of an existing file or device.
    pub size_of: &'a dyn Fn(&str) -> Option<u64>,
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
    /// Where files lie that a run leaves for a later one; nothing: where it runs.
    pub aux: Option<&'a str>,
    /// The seed of jobs that do not want the same offsets in every run.
    pub seed: u64,
}
