//! Requests in flight, by the moment at which they are due.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use blocklab_units::Nanos;

/// A queue by due time; first in, first out among equal ones.
#[derive(Debug)]
pub(crate) struct Schedule<T> {
    heap: BinaryHeap<Entry<T>>,
    made: u64,
}

#[derive(Debug)]
struct Entry<T> {
    due: Nanos,
    number: u64,
    thing: T,
}

impl<T> PartialEq for Entry<T> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl<T> Eq for Entry<T> {}

impl<T> PartialOrd for Entry<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The earliest is the greatest: the heap gives the greatest first.
impl<T> Ord for Entry<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        (other.due, other.number).cmp(&(self.due, self.number))
    }
}

impl<T> Default for Schedule<T> {
    fn default() -> Self {
        Self {
            heap: BinaryHeap::new(),
            made: 0,
        }
    }
}

impl<T> Schedule<T> {
    /// Adds one.
    pub(crate) fn push(&mut self, due: Nanos, thing: T) {
        let number = self.made;
        self.made += 1;
        self.heap.push(Entry { due, number, thing });
    }

    /// When the next one is due.
    pub(crate) fn next(&self) -> Option<Nanos> {
        self.heap.peek().map(|entry| entry.due)
    }

    /// When the next one is due, and the one after it.
    pub(crate) fn next_two(&self) -> [Option<Nanos>; 2] {
        // The heap keeps the second earliest behind the earliest, in the second or the third place.
        let heap = self.heap.as_slice();
        let second = heap.iter().skip(1).take(2).max();
        [self.next(), second.map(|entry| entry.due)]
    }

    /// Takes one that is due at `now` or before.
    pub(crate) fn pop(&mut self, now: Nanos) -> Option<(Nanos, T)> {
        let is_due = self.heap.peek().is_some_and(|entry| entry.due <= now);
        let entry = is_due.then(|| self.heap.pop()).flatten()?;
        Some((entry.due, entry.thing))
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.heap.len()
    }

    /// Whether there is none.
    pub(crate) fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }

    /// Takes all of them, in no order.
    pub(crate) fn drain(&mut self) -> impl Iterator<Item = T> {
        self.heap.drain().map(|entry| entry.thing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_earliest_comes_first_and_of_equals_the_first_one_in() {
        let mut schedule = Schedule::default();
        for (due, name) in [(30, 'c'), (10, 'a'), (30, 'd'), (20, 'b')] {
            schedule.push(Nanos(due), name);
        }
        assert_eq!(schedule.next(), Some(Nanos(10)));
        assert_eq!(schedule.pop(Nanos(9)), None);
        let order = std::iter::from_fn(|| schedule.pop(Nanos(30)));
        let order: String = order.map(|(_, name)| name).collect();
        assert_eq!(order, "abcd");
    }
}
