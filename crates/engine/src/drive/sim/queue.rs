//! What is to come, in order.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use blocklab_units::Nanos;

use crate::buffers::Slot;
use crate::worker::Completion;

/// What happens at a moment: an operation of a worker comes back, or it wanted to be asked again.
#[derive(Debug, Clone, Copy)]
pub(super) struct Event {
    pub(super) worker: u32,
    slot: u32,
    result: i32,
}

/// In place of a slot: nothing comes back.
const NO_SLOT: u32 = u32::MAX;

impl Event {
    /// An operation comes back.
    #[inline]
    pub(super) const fn completion(worker: u32, slot: &Slot, result: i32) -> Self {
        Self {
            worker,
            slot: slot.index() as u32,
            result,
        }
    }

    /// The worker is asked again.
    pub(super) const fn wake(worker: u32) -> Self {
        Self {
            worker,
            slot: NO_SLOT,
            result: 0,
        }
    }

    /// What comes back.
    #[inline]
    pub(super) fn returned(self) -> Option<Completion> {
        (self.slot != NO_SLOT).then(|| Completion {
            slot: Slot::returned(self.slot),
            result: self.result,
        })
    }
}

/// An event with its key: its moment, and below it its number.
#[derive(Debug, Clone, Copy)]
struct Entry {
    key: u128,
    event: Event,
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl Eq for Entry {}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The earliest is the greatest: that one stands on top of the heap.
impl Ord for Entry {
    fn cmp(&self, other: &Self) -> Ordering {
        other.key.cmp(&self.key)
    }
}

/// Events by moment and number. What was popped stays on top until it is known whether another
/// event takes its place: most operations are followed by the next one, and a place that is taken
/// over is sifted once instead of twice.
#[derive(Default)]
pub(super) struct Queue {
    heap: BinaryHeap<Entry>,
    popped: bool,
    made: u64,
}

impl Queue {
    #[inline]
    pub(super) fn push(&mut self, at: Nanos, event: Event) {
        self.made += 1;
        let entry = Entry {
            key: u128::from(at.0) << 64 | u128::from(self.made),
            event,
        };
        if std::mem::take(&mut self.popped)
            && let Some(mut top) = self.heap.peek_mut()
        {
            *top = entry;
        } else {
            self.heap.push(entry);
        }
    }

    #[inline]
    pub(super) fn pop(&mut self) -> Option<(Nanos, Event)> {
        if self.popped {
            self.heap.pop();
        }
        let top = self.heap.peek()?;
        self.popped = true;
        Some((Nanos((top.key >> 64) as u64), top.event))
    }
}
