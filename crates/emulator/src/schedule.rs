//! Requests in flight, by the moment at which they are due.

use std::collections::BTreeMap;

use blocklab_units::Nanos;

/// A queue by due time; first in, first out among equal ones.
#[derive(Debug)]
pub(crate) struct Schedule<T> {
    /// By due time and number, so that entries that are due together keep their order.
    entries: BTreeMap<(Nanos, u64), T>,
    /// The number of the next entry.
    next_number: u64,
}

impl<T> Default for Schedule<T> {
    fn default() -> Self {
        Self {
            entries: BTreeMap::new(),
            next_number: 0,
        }
    }
}

impl<T> Schedule<T> {
    /// Adds an entry.
    pub(crate) fn push(&mut self, due: Nanos, entry: T) {
        self.entries.insert((due, self.next_number), entry);
        self.next_number += 1;
    }

    /// When the next entry is due, and the one after it; `None`: there is none.
    pub(crate) fn next_two(&self) -> [Option<Nanos>; 2] {
        let mut due = self.entries.keys().map(|(due, _)| *due);
        [due.next(), due.next()]
    }

    /// Takes the next entry if it is due at `now` or before.
    pub(crate) fn pop(&mut self, now: Nanos) -> Option<T> {
        let next = self.entries.first_entry()?;
        let (due, _) = *next.key();
        (due <= now).then(|| next.remove())
    }

    /// How many entries there are.
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is no entry.
    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Takes all entries, the one that is due first at the front.
    pub(crate) fn drain(&mut self) -> impl Iterator<Item = T> + use<T> {
        std::mem::take(&mut self.entries).into_values()
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
        assert_eq!(schedule.next_two(), [Some(Nanos(10)), Some(Nanos(20))]);
        assert_eq!(schedule.pop(Nanos(9)), None);
        let order: String = std::iter::from_fn(|| schedule.pop(Nanos(30))).collect();
        assert_eq!(order, "abcd");
    }
}
