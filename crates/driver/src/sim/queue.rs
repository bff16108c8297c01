//! In: events of any moment. Out: the earliest one, in a time that hardly depends on their number.
//!
//! ```text
//!           present
//!   wheel    │ · │   │ ·· │   │ · │   │ ··· │ · │   │      a list for each slot of 1 µs
//!   far                                             ··     a heap: events beyond the wheel
//! ```
//!
//! Most events are less than the wheel's span ahead, and are compared only with the few of their own
//! slot: a queue of a thousand events costs as much as a queue of two. A slot with many events is
//! sorted by a heap when its time has come.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use blocklab_units::Nanos;
use blocklab_workload::{Completion, Slot};

/// An event: an operation of a worker comes back, or a worker is due to be called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Event {
    pub(super) worker: u32,
    slot: u32,
    result: i32,
}

/// In place of a slot, for an event that is not a completion.
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

    /// The worker is called.
    pub(super) const fn wake(worker: u32) -> Self {
        Self {
            worker,
            slot: NO_SLOT,
            result: 0,
        }
    }

    /// The completion; `None` for a call of the worker.
    #[inline]
    pub(super) fn returned(self) -> Option<Completion> {
        (self.slot != NO_SLOT).then(|| Completion::new(self.slot, self.result))
    }
}

/// An event, its moment, and its number: entries are ordered by moment, and those of the same moment
/// by number. No two have the same number, so events are never compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    at: u64,
    number: u64,
    event: Event,
}

/// Nanoseconds of a slot, as a power of two.
const WIDTH: u32 = 10;
/// Slots of the wheel: together 17 ms, longer than most operations of a cloud volume or a disk take.
const SLOTS: usize = 16384;
const WORDS: usize = SLOTS / 64;
/// The most entries of one slot among which the first is searched linearly.
const CROWD: usize = 8;
/// The end of a list.
const NONE: u32 = u32::MAX;

/// An entry in the list of its slot, or a place that is free.
#[derive(Debug, Clone, Copy)]
struct Node {
    entry: Entry,
    next: u32,
}

/// Events by moment and number.
pub(super) struct Queue {
    /// The present slot; the wheel holds it and the slots after it.
    present: u64,
    /// First node of every slot's list.
    heads: Box<[u32; SLOTS]>,
    /// Bits of the slots that are not empty.
    used: [u64; WORDS],
    nodes: Vec<Node>,
    /// First of the nodes that hold no entry.
    free: u32,
    /// All entries of the present slot, if it has more than those.
    crowd: BinaryHeap<Reverse<Entry>>,
    /// Events beyond the wheel.
    far: BinaryHeap<Reverse<Entry>>,
    /// Slot of the first far entry; `u64::MAX` without one.
    far_from: u64,
    /// Number of the event that was pushed last.
    pushed: u64,
}

impl Queue {
    /// An empty queue for events at `start` or later.
    pub(super) fn new(start: Nanos) -> Self {
        Self {
            present: start.0 >> WIDTH,
            heads: Box::new([NONE; SLOTS]),
            used: [0; WORDS],
            nodes: Vec::new(),
            free: NONE,
            crowd: BinaryHeap::new(),
            far: BinaryHeap::new(),
            far_from: u64::MAX,
            pushed: 0,
        }
    }

    /// Adds an event at a moment, which must not be before that of the event that was popped last.
    #[inline(always)]
    pub(super) fn push(&mut self, at: Nanos, event: Event) {
        self.pushed += 1;
        debug_assert!(
            at.0 >> WIDTH >= self.present,
            "an event at {at}, which is past"
        );
        // In a release build a past event is the next one, instead of one after a turn of the wheel.
        let ahead = (at.0 >> WIDTH).saturating_sub(self.present);
        if ahead >= SLOTS as u64 {
            self.put_far(at, event);
        } else {
            self.put(self.present + ahead, at, self.pushed, event);
        }
    }

    #[cold]
    fn put_far(&mut self, at: Nanos, event: Event) {
        self.far_from = self.far_from.min(at.0 >> WIDTH);
        self.far.push(Reverse(Entry {
            at: at.0,
            number: self.pushed,
            event,
        }));
    }

    /// Puts an event into the list of its slot of the wheel.
    #[inline(always)]
    fn put(&mut self, slot: u64, at: Nanos, number: u64, event: Event) {
        let place = slot as usize % SLOTS;
        let index = self.free;
        let head = &mut self.heads[place];
        if let Some(node) = self.nodes.get_mut(index as usize) {
            self.free = node.next;
            node.next = *head;
            // One by one: a whole entry would be put together on the stack first.
            node.entry.at = at.0;
            node.entry.number = number;
            node.entry.event.worker = event.worker;
            node.entry.event.slot = event.slot;
            node.entry.event.result = event.result;
            *head = index;
        } else {
            let entry = Entry {
                at: at.0,
                number,
                event,
            };
            self.grow(place, entry);
        }
        self.used[place / 64] |= 1 << (place % 64);
    }

    #[cold]
    fn grow(&mut self, place: usize, entry: Entry) {
        let next = self.heads[place];
        self.heads[place] = self.nodes.len() as u32;
        self.nodes.push(Node { entry, next });
    }

    /// Takes the earliest event, with its moment.
    #[inline(always)]
    pub(super) fn pop(&mut self) -> Option<(Nanos, Event)> {
        let entry = match self.next_used() {
            // The common case. A far entry may belong to this slot too, and come first in it.
            Some(slot) if slot < self.far_from && self.crowd.is_empty() => self.take_first(slot)?,
            slot => self.pop_rarely(slot)?,
        };
        Some((Nanos(entry.at), entry.event))
    }

    /// Takes the first entry where [`Queue::take_first`] alone does not: the present slot has a heap,
    /// far entries may come first, or the queue is empty (`None`). `slot` is the first one of the wheel
    /// that holds anything.
    #[cold]
    fn pop_rarely(&mut self, slot: Option<u64>) -> Option<Entry> {
        if self.crowd.is_empty() {
            let slot = slot.map_or(self.far_from, |slot| slot.min(self.far_from));
            if slot == u64::MAX {
                return None;
            }
            self.approach(slot);
            return self.take_first(slot);
        }
        // What was pushed to the present slot since it was sorted.
        while let Some(entry) = self.take(self.present) {
            self.crowd.push(Reverse(entry));
        }
        self.crowd.pop().map(|Reverse(entry)| entry)
    }

    /// Far entries of this slot, which becomes the present one, get to the wheel.
    fn approach(&mut self, slot: u64) {
        self.present = slot;
        while let Some(Reverse(entry)) = self.far.peek().copied()
            && entry.at >> WIDTH == slot
        {
            self.far.pop();
            self.put(slot, Nanos(entry.at), entry.number, entry.event);
        }
        self.far_from = self
            .far
            .peek()
            .map_or(u64::MAX, |Reverse(entry)| entry.at >> WIDTH);
    }

    /// The first entry of the first slot that holds anything.
    #[inline(always)]
    fn take_first(&mut self, slot: u64) -> Option<Entry> {
        self.present = slot;
        let head = self.heads[slot as usize % SLOTS];
        if self.nodes.get(head as usize)?.next == NONE {
            return self.take(slot);
        }
        self.take_of_several(slot)
    }

    /// The first entry of a slot that holds more than one. Beyond [`CROWD`] of them a heap sorts them.
    fn take_of_several(&mut self, slot: u64) -> Option<Entry> {
        let place = slot as usize % SLOTS;
        let mut first = self.heads[place];
        let mut node = first;
        for _ in 0..CROWD {
            if self.nodes[node as usize].entry < self.nodes[first as usize].entry {
                first = node;
            }
            node = self.nodes[node as usize].next;
            if node == NONE {
                // A list with one link a node can only give up its head: the two entries swap.
                let head = self.heads[place] as usize;
                let earliest = self.nodes[first as usize].entry;
                self.nodes[first as usize].entry = self.nodes[head].entry;
                self.nodes[head].entry = earliest;
                return self.take(slot);
            }
        }
        while let Some(entry) = self.take(slot) {
            self.crowd.push(Reverse(entry));
        }
        self.crowd.pop().map(|Reverse(entry)| entry)
    }

    /// An entry of this slot, whose place in the wheel becomes free with the last one; `None` if it is
    /// empty.
    #[inline(always)]
    fn take(&mut self, slot: u64) -> Option<Entry> {
        let place = slot as usize % SLOTS;
        let index = self.heads[place];
        let node = self.nodes.get_mut(index as usize)?;
        let entry = node.entry;
        self.heads[place] = std::mem::replace(&mut node.next, self.free);
        self.free = index;
        if self.heads[place] == NONE {
            self.used[place / 64] &= !(1 << (place % 64));
        }
        Some(entry)
    }

    /// The first slot of the wheel that holds anything; `None` if none does.
    #[inline(always)]
    fn next_used(&self) -> Option<u64> {
        let first = self.present as usize % SLOTS;
        let mut word = first / 64;
        let mut bits = self.used[word] & (!0 << (first % 64));
        // Once around: the first word is looked at twice, as its lower slots are the last ones.
        for _ in 0..WORDS {
            if bits != 0 {
                break;
            }
            word = (word + 1) % WORDS;
            bits = self.used[word];
        }
        let place = word * 64 + bits.trailing_zeros() as usize;
        let ahead = place.wrapping_sub(first) % SLOTS;
        (bits != 0).then_some(self.present + ahead as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use blocklab_random::Stream;

    /// Against a list that is sorted: thousands of pushes and pops, of which each one lies at most
    /// `span` nanoseconds ahead of the last one popped.
    #[track_caller]
    fn check(start: u64, span: u64, held: usize) {
        let mut chance = Stream::new(span, "queue", held as u64);
        let mut queue = Queue::new(Nanos(start));
        let mut known: Vec<(u64, u32)> = Vec::new();
        let mut now = start;
        for number in 0..20_000 {
            let at = now + chance.below(span);
            queue.push(Nanos(at), Event::wake(number));
            known.push((at, number));
            while known.len() > chance.below(2 * held as u64) as usize {
                let next = *known.iter().min().unwrap();
                known.retain(|entry| *entry != next);
                let (at, event) = queue.pop().unwrap();
                assert_eq!((at.0, event.worker), next);
                now = at.0;
            }
        }
    }

    #[test]
    fn events_come_in_the_order_of_moment_and_number() {
        for span in [1, 300, 5000, 1 << 20, 1 << 22, 1 << 23, 1 << 34] {
            check(0, span, 3);
            check(987_654_321_012, span, 40);
        }
    }

    #[test]
    fn an_empty_one_gives_nothing_and_goes_on() {
        let mut queue = Queue::new(Nanos(5));
        assert!(queue.pop().is_none());
        queue.push(Nanos::MAX, Event::wake(1));
        queue.push(Nanos(5), Event::wake(2));
        let order: Vec<u32> = std::iter::from_fn(|| queue.pop())
            .map(|(_, event)| event.worker)
            .collect();
        assert_eq!(order, [2, 1]);
        assert!(queue.pop().is_none());
    }
}
