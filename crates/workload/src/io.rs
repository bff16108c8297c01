//! In: a request and a buffer. Out: the operation on its way to a target, and its completion.

use crate::{Direction, Request};

/// The right to use one buffer: a number that cannot be copied.
///
/// Its owner may touch the buffer. Submitting an operation gives it to the target, and the
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
    /// Only targets call this, with the number of a [`Slot`] that they got and have not yet given
    /// back.
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
    /// Bytes. For a sync of a range, its length, and 0 means to the end of the file; 0 for any other
    /// sync.
    pub len: u32,
    /// First byte.
    pub offset: u64,
    /// Priority for the block layer's scheduler, as the kernel encodes it; 0: none.
    pub priority: u16,
}

impl Io {
    /// The operation of a request, with a buffer.
    #[inline]
    pub const fn new(slot: Slot, request: &Request) -> Self {
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

    /// The operation once more, for a target that passes it on to another one.
    ///
    /// The new one takes its place: only one of both may reach a target that touches the buffer.
    pub const fn handed_on(&self) -> Self {
        Self {
            slot: Slot::returned(self.slot.0),
            ..*self
        }
    }

    /// The result of its completion if all of it is done: its bytes, and 0 for a sync, as from the
    /// kernel. It is negative for a trim of 2 GiB or more, so a result is compared with this one and with
    /// no bound.
    #[inline]
    pub const fn whole_result(&self) -> i32 {
        match self.direction {
            Direction::Sync => 0,
            _ => self.len as i32,
        }
    }

    /// Its completion: the right to the buffer, with the kernel's result.
    ///
    /// Only the target to which the operation was submitted calls this, and once.
    #[inline]
    pub const fn returned(&self, result: i32) -> Completion {
        Completion::new(self.slot.0, result)
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
    /// Bytes moved or trimmed, 0 for a sync that succeeded, or a negated errno. See
    /// [`Io::whole_result`].
    pub result: i32,
}

impl Completion {
    /// That of the operation in this slot, once the target no longer touches the buffer.
    #[inline]
    pub const fn new(slot: u32, result: i32) -> Self {
        Self {
            slot: Slot::returned(slot),
            result,
        }
    }
}
