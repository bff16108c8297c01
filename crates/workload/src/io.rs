//! An operation on its way to a target and back.

use crate::{Direction, Request};

/// The right to use one buffer: a number that cannot be copied.
///
/// Whoever holds it may touch the buffer. Submitting an operation gives it to the target, and the
/// completion gives it back, so a buffer is never touched while the kernel owns it.
#[derive(Debug, PartialEq, Eq)]
pub struct Slot(u32);

impl Slot {
    /// The number of the buffer, from 0.
    #[inline]
    pub const fn index(&self) -> usize {
        self.0 as usize
    }

    /// The slot that the kernel names in a completion.
    ///
    /// Only targets call this, with a number that they were given in a [`Slot`] and have not yet
    /// given back.
    #[inline]
    pub const fn returned(index: u32) -> Self {
        Self(index)
    }
}

/// One operation on its way to a target, with the right to its buffer.
#[derive(Debug)]
pub struct Io {
    /// The buffer.
    pub slot: Slot,
    /// What to do.
    pub direction: Direction,
    /// The kind of a sync.
    pub sync: SyncKind,
    /// Index of the file in the target.
    pub file: u32,
    /// Bytes. Of a sync of a range those that it covers, 0 to the end of the file; 0 of any other.
    pub len: u32,
    /// First byte.
    pub offset: u64,
    /// What it carries for the block layer's scheduler, as the kernel takes it; 0: nothing.
    pub priority: u16,
}

impl Io {
    /// A request on its way.
    #[inline]
    pub const fn of(slot: Slot, request: &Request) -> Self {
        Self {
            slot,
            direction: request.direction,
            sync: SyncKind::Whole,
            file: request.target,
            len: request.len,
            offset: request.offset,
            priority: 0,
        }
    }

    /// What a target gives back: the right to the buffer, with the kernel's answer.
    ///
    /// Only the target that the operation was submitted to calls this, and once.
    #[inline]
    pub const fn returned(&self, result: i32) -> Completion {
        Completion {
            slot: Slot::returned(self.slot.0),
            result,
        }
    }
}

/// The kinds of flush.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SyncKind {
    /// fsync.
    Whole,
    /// fdatasync.
    DataOnly,
    /// sync_file_range over the range of the operation, with these flags.
    Range(u32),
}

/// An operation that came back, with its buffer.
#[derive(Debug)]
pub struct Completion {
    /// The buffer.
    pub slot: Slot,
    /// Bytes moved, or a negated errno. A trim or sync that worked gives its `len`.
    pub result: i32,
}
