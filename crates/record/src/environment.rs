//! In: what `host` found out about the machine, its devices and file systems. Out: the same as a
//! Record keeps it.
//!
//! A file of its own: facts that hold for the whole run, and that no job measures.

use blocklab_device::Limit;
use blocklab_units::Bytes;
use blocklab_workload::Direction;
use serde::{Deserialize, Serialize};

/// The processors of the machine.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Processor {
    /// As the kernel names it.
    pub model: String,
    /// Processors that this process may use.
    pub count: u32,
    /// cpufreq governor of the first processor, where there is one.
    pub governor: Option<String>,
    /// Frequency of the first processor when the run began, where cpufreq reports it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frequency_mhz: Option<u32>,
    /// Hypervisor vendor, where the kernel sees one.
    pub hypervisor: Option<String>,
}

/// The machine as it was when the run began.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Environment {
    /// Kernel release: `6.1.0-18-amd64`.
    pub kernel: String,
    /// Name and version of the distribution.
    pub os: String,
    /// Processors.
    pub processor: Processor,
    /// Memory of the machine.
    pub memory_bytes: Bytes,
    /// Instance type, where the firmware or the environment names it: `m5.large`.
    pub instance: Option<String>,
    /// Clock source of the kernel: `tsc`.
    pub clocksource: String,
    /// Processors that the control groups let this process use at a time, where they have a quota.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processor_quota: Option<f64>,
    /// The name of the host; `None` in older records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host_name: Option<String>,
    /// How far its time of day may be off; `None` in older records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_quality: Option<ClockQuality>,
    /// Memory that the control groups let this process use, page cache included, where they limit it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_limit_bytes: Option<Bytes>,
    /// What the control groups let this process do on block devices: of each kind the least, where they
    /// limit it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub device_limits: Vec<DeviceLimit>,
}

/// A rate that a control group lets a process have on one block device.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceLimit {
    /// Major and minor number of the device, as in [`BlockDevice::number`].
    pub device: String,
    /// [`Direction::Read`] or [`Direction::Write`].
    pub direction: Direction,
    /// What is limited.
    pub counts: DeviceLimitCounts,
    /// Operations or bytes a second.
    pub per_second: u64,
}

/// What a control group limits on a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeviceLimitCounts {
    /// Operations, as the block layer counts them.
    Operations,
    /// Bytes of them.
    Bytes,
}

/// What the kernel knows of its time of day (adjtimex).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClockQuality {
    /// Whether something keeps it in step with other clocks.
    pub is_synchronised: bool,
    /// The most that it is off, as the kernel estimates it.
    pub max_error_ns: u64,
}

/// A block device as the kernel describes it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct BlockDevice {
    /// Kernel name without `/dev/`: `nvme0n1`.
    pub name: String,
    /// Major and minor number: `259:0`.
    pub number: String,
    /// Model text, where the device has one.
    pub model: Option<String>,
    /// Serial number or WWID, where the device has one.
    pub serial: Option<String>,
    /// Capacity.
    pub size_bytes: Bytes,
    /// Smallest unit that can be addressed.
    pub logical_block_bytes: Bytes,
    /// Unit that the medium writes without read-modify-write.
    pub physical_block_bytes: Bytes,
    /// Whether the kernel takes it for a spinning medium.
    pub rotational: bool,
    /// Scheduler in force: `none`, `mq-deadline`.
    pub scheduler: Option<String>,
    /// Requests that the block layer queues.
    pub queue_requests: Option<u32>,
    /// Largest read-ahead.
    pub read_ahead_bytes: Bytes,
    /// `write back` or `write through`.
    pub write_cache: Option<String>,
    /// Largest discard; 0: the device takes none.
    pub discard_max_bytes: Bytes,
    /// `ebs`, `instance-store`, or nothing.
    pub cloud: Option<String>,
    /// Transport, as far as the name shows it: `nvme`, `virtio`, `scsi`, `loop`, `zram`.
    pub transport: String,
    /// Whether a loop device reads and writes its file past the page cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loop_direct: Option<bool>,
    /// Version of its firmware, where it reports one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub firmware: Option<String>,
    /// Its health when the run began, where it reports that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub health: Option<DeviceHealth>,
}

/// The health of a device when the run began. What it does not report is `None`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct DeviceHealth {
    /// Temperature of the device as a whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature_celsius: Option<i32>,
    /// Share of the rated writes that is used up; above 100 beyond the rating, at most 255.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wear_percent: Option<u8>,
    /// Share of the spare blocks that is left.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spare_percent: Option<u8>,
    /// Written in its life.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub written_bytes: Option<u64>,
    /// Under power in its life.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub power_on_hours: Option<u64>,
    /// Data that could not be read back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub media_errors: Option<u64>,
    /// The warnings of the device: bits of the SMART log page of NVMe; 0: nothing.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub critical_warning: u8,
}

// The form that serde wants.
#[allow(clippy::trivially_copy_pass_by_ref)]
const fn is_zero(bits: &u8) -> bool {
    *bits == 0
}

/// A mounted file system.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct FileSystem {
    /// `ext4`, `xfs`, `tmpfs`.
    pub kind: String,
    /// Where it is mounted.
    pub mount_point: String,
    /// Mount options, comma-separated.
    pub options: String,
    /// Capacity.
    pub size_bytes: Bytes,
    /// Free for this user.
    pub free_bytes: Bytes,
}

/// What kind of thing a target is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TargetKind {
    /// A regular file, ours or the user's.
    #[default]
    File,
    /// A file that we made and remove.
    Scratch,
    /// A block device.
    BlockDevice,
    /// A character device.
    CharDevice,
    /// No device at all.
    Null,
    /// The device model.
    Model,
}

/// What the load goes to.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct TargetFacts {
    /// The path that the user gave. A scratch file has no name of its own: its directory and
    /// `blocklab.scratch`.
    pub path: String,
    /// The address as the user typed it, which names the same target again; `None` in older records,
    /// and where none was typed.
    #[serde(default, skip_serializing_if = "Option::is_none", alias = "asked")]
    pub address: Option<String>,
    /// What it is.
    pub kind: TargetKind,
    /// Its size.
    pub size_bytes: Bytes,
    /// The file system it lies on.
    pub file_system: Option<FileSystem>,
    /// The block devices below it, the nearest first.
    pub devices: Vec<BlockDevice>,
    /// Alignment of memory that O_DIRECT needs, where it is offered.
    pub direct_memory_align: Option<u32>,
    /// Alignment of offsets and sizes that O_DIRECT needs, where it is offered.
    pub direct_offset_align: Option<u32>,
    /// Every limit of a modelled device that was in force, and the bounds of what may be bought.
    pub limits: Vec<Limit>,
    /// What the figures of a modelled device assume, one sentence each.
    pub assumptions: Vec<String>,
}

impl TargetFacts {
    /// Whether they are the same but for the path.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        let path = other.path.clone();
        *other
            == Self {
                path,
                ..self.clone()
            }
    }
}
