//! The settings of a job's priorities in the kernel, as plain data, for threads and single operations.

use blocklab_units::Bytes;
use serde::{Deserialize, Serialize};

use super::Direction;

/// Priority of a thread in the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Priority {
    /// Added to the nice value of the program, as nice(2) does: -20 (first) to 19 (last); 0 changes nothing.
    pub nice: i32,
    /// Priority of the block layer's scheduler.
    pub io: Option<IoPriority>,
}

/// Class and level of the block layer's scheduler; most devices ignore it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IoPriority {
    /// 1 real time, 2 best effort, 3 idle.
    pub class: u8,
    /// 0 (first) to 7 (last) within the class.
    pub level: u8,
}

impl IoPriority {
    /// The kernel's encoding: the class above thirteen bits of level. Never 0, which means no
    /// priority.
    pub const fn encoded(self) -> u16 {
        (self.class as u16) << 13 | self.level as u16
    }
}

/// A share of the operations with a priority of their own instead of their thread's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PriorityShare {
    /// The direction, reads or writes.
    pub direction: Direction,
    /// Only operations of this size.
    pub size: Option<Bytes>,
    /// Share of these operations, in per cent. Shares of the same operations add up to 100 at most;
    /// the rest has the priority of the thread.
    pub percent: u8,
    /// Their priority.
    pub priority: IoPriority,
}

impl PriorityShare {
    /// Whether the share is one of this kind of operation.
    pub fn covers(&self, direction: Direction, len: u64) -> bool {
        self.direction == direction && self.size.is_none_or(|size| size.0 == len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn priorities_are_those_of_ioprio_set() {
        let first = IoPriority { class: 1, level: 0 };
        let last = IoPriority { class: 3, level: 7 };
        assert_eq!((first.encoded(), last.encoded()), (0x2000, 0x6007));
    }
}
