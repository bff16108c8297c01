//! In: /proc, /sys, /etc/os-release, and the first and last bytes of devices and files.
//! Out: facts about this machine, its block devices and a target; verdicts on what may be written.
//! Never: a write to any device or into a file (except the mark on a file that blocklab made), a line on
//! the screen.

mod environment;
mod mounts;
mod roots;
mod syscall;

mod block;
mod cgroup;
mod claim;
mod ebs;
mod file_id;
mod handle;
mod health;
mod input;
mod machine;
mod memory;
mod nvme;
mod sample;
mod target;
mod usage;
mod xattr;

pub mod signatures;

mod check;
pub mod guard;
mod reason;

mod devices;

pub use block::Node;
pub use cgroup::{MemoryKills, throttled_ns};
pub use claim::programs;
pub use devices::{Device, Verdict, devices};
pub use environment::environment;
pub use handle::{Handle, NewPath, check_proc, through};
pub use input::{LARGEST_REPORT, LARGEST_SCRIPT, read_at_most, read_input};
pub use memory::Memory;
pub use mounts::{Mount, mounts};
pub use reason::{Cause, Reason};
pub use target::{FactsByMount, facts_of, target_facts};
pub use usage::{disk_stats, disk_use_between};
pub use xattr::{set_xattr, xattr};
