//! In: operations that are issued and complete. Out: those in flight, also for other threads.
//!
//! A worker that hangs in the kernel cannot report what it waits for. It therefore stores the moment
//! of every submission where the supervising thread can read it, at the cost of one store for each
//! operation.

use blocklab_units::Nanos;
use blocklab_workload::{Direction, Request};

use crate::counter::Counter;

/// An operation that was issued and has not come back.
#[derive(Debug, Clone, Copy)]
pub(crate) struct InFlight {
    pub(crate) submitted: Nanos,
    pub(crate) intended: Nanos,
    pub(crate) offset: u64,
    pub(crate) len: u32,
    pub(crate) file: u32,
    /// Index of the job among those of the worker.
    pub(crate) job: u32,
    /// As [`Io::priority`](blocklab_workload::Io::priority).
    pub(crate) priority: u16,
    pub(crate) direction: Direction,
}

impl InFlight {
    /// A slot that was never used.
    pub(crate) const NONE: Self = Self {
        submitted: Nanos::ZERO,
        intended: Nanos::ZERO,
        offset: 0,
        len: 0,
        file: 0,
        job: 0,
        priority: 0,
        direction: Direction::Read,
    };

    #[inline]
    pub(crate) const fn new(request: &Request, submitted: Nanos, intended: Nanos) -> Self {
        Self {
            submitted,
            intended,
            offset: request.offset,
            len: request.len,
            file: request.target,
            job: 0,
            priority: 0,
            direction: request.direction,
        }
    }
}

/// The operations that one worker has in flight, by slot.
#[derive(Debug)]
pub struct Outstanding(Box<[Counter]>);

/// A word has the moment of submission in its upper bits, then two bits of direction, then one bit
/// that marks the slot busy. The 61 bits that are left for the moment last for 73 years.
const BUSY: u64 = 1;
const DIRECTION: u64 = 0b11;

impl Outstanding {
    /// Slots with nothing in flight.
    pub(crate) fn new(depth: usize) -> Self {
        Self((0..depth).map(|_| Counter::default()).collect())
    }

    /// An operation is issued in a free slot.
    #[inline]
    pub(crate) fn begins(&self, slot: usize, direction: Direction, now: Nanos) {
        debug_assert!(!self.is_busy(slot), "slot {slot} is already in flight");
        self.put(slot, direction, now);
    }

    /// The operation of a slot completed, and the next one is issued in it at once.
    #[inline]
    pub(crate) fn goes_on(&self, slot: usize, direction: Direction, now: Nanos) {
        debug_assert!(self.is_busy(slot), "nothing is in flight in slot {slot}");
        self.put(slot, direction, now);
    }

    #[inline]
    fn put(&self, slot: usize, direction: Direction, now: Nanos) {
        self.0[slot].set(now.0 << 3 | (direction as u64) << 1 | BUSY);
    }

    #[inline]
    pub(crate) fn ends(&self, slot: usize) {
        debug_assert!(self.is_busy(slot), "nothing is in flight in slot {slot}");
        self.0[slot].set(0);
    }

    #[inline]
    fn is_busy(&self, slot: usize) -> bool {
        self.0[slot].get() & BUSY > 0
    }

    /// Operations in flight, counted from the slots themselves and not from other counters.
    pub(crate) fn count(&self) -> u64 {
        (0..self.0.len()).filter(|slot| self.is_busy(*slot)).count() as u64
    }

    /// Moves what is in flight to `other`, which takes over from here.
    pub(crate) fn hand_over_to(&self, other: &Self) {
        for (from, to) in self.0.iter().zip(&other.0) {
            to.set(from.get());
            from.set(0);
        }
    }

    /// Direction and age of each operation in flight.
    pub(crate) fn ages(&self, now: Nanos) -> impl Iterator<Item = (Direction, Nanos)> {
        let words = self.0.iter().map(Counter::get);
        words.filter(|word| word & BUSY > 0).map(move |word| {
            let direction = Direction::ALL[(word >> 1 & DIRECTION) as usize];
            (direction, now.since(Nanos(word >> 3)))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_began_and_did_not_end_has_an_age() {
        let outstanding = Outstanding::new(4);
        outstanding.begins(0, Direction::Read, Nanos(1));
        outstanding.begins(1, Direction::Write, Nanos(100));
        outstanding.begins(3, Direction::Sync, Nanos(1_001));
        outstanding.ends(1);
        assert_eq!(outstanding.count(), 2);
        let ages: Vec<_> = outstanding.ages(Nanos(5_000)).collect();
        let expected = [
            (Direction::Read, Nanos(4_999)),
            (Direction::Sync, Nanos(3_999)),
        ];
        assert_eq!(ages, expected);
    }
}
