//! In: moments and bytes. Out: how a load goes over time, in at most two dozen slots of a width that
//! people count in.

use serde::Serialize;

/// Widths in seconds; each is a multiple of the one before.
const WIDTHS: [u64; 14] = [
    1, 5, 10, 30, 60, 300, 600, 1800, 3600, 10_800, 21_600, 43_200, 86_400, 604_800,
];
/// Slots that are held; with more, each becomes wider.
const MOST_HELD: usize = 2048;
/// Slots that are given.
const MOST_GIVEN: u64 = 24;
const SECOND: u64 = 1_000_000_000;

/// A slot of time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Slot {
    /// Where it begins.
    pub from_ns: u64,
    /// Its length; the last one may be cut.
    pub length_ns: u64,
    /// Operations.
    pub operations: u64,
    /// Operations a second.
    pub iops: f64,
    /// Operations in its busiest second.
    pub iops_max: u64,
    /// Bytes a second.
    pub bytes_per_s: f64,
    /// Pages touched since the beginning of the trace.
    pub working_set_bytes: u64,
}

#[derive(Debug, Clone, Copy, Default)]
struct Held {
    operations: u64,
    bytes: u64,
    busiest: u64,
    touched: u64,
}

impl Held {
    fn join(&mut self, next: &Self) {
        self.operations += next.operations;
        self.bytes += next.bytes;
        self.busiest = self.busiest.max(next.busiest);
        self.touched = self.touched.max(next.touched);
    }
}

#[derive(Debug, Default)]
pub(super) struct Profile {
    /// Index among the widths.
    width: usize,
    held: Vec<Held>,
    /// The current second and its operations.
    second: u64,
    count: u64,
}

impl Profile {
    #[inline]
    pub(super) fn add(&mut self, at_ns: u64, bytes: u64, touched: u64) {
        if at_ns - self.second * SECOND >= SECOND {
            self.second = at_ns / SECOND;
            self.count = 0;
        }
        self.count += 1;
        let mut index = (self.second / WIDTHS[self.width]) as usize;
        while index >= MOST_HELD && self.width + 1 < WIDTHS.len() {
            self.widen();
            index = (self.second / WIDTHS[self.width]) as usize;
        }
        // Beyond 39 years, all is one slot.
        let index = index.min(MOST_HELD - 1);
        if self.held.len() <= index {
            let before = self.held.last().map_or(0, |last| last.touched);
            let empty = Held {
                touched: before,
                ..Held::default()
            };
            self.held.resize(index + 1, empty);
        }
        self.held[index].join(&Held {
            operations: 1,
            bytes,
            busiest: self.count,
            touched,
        });
    }

    fn widen(&mut self) {
        self.held = joined(&self.held, WIDTHS[self.width + 1] / WIDTHS[self.width]);
        self.width += 1;
    }

    pub(super) fn slots(&self, last_ns: u64) -> Vec<Slot> {
        let seconds = last_ns / SECOND + 1;
        let held = WIDTHS[self.width];
        let fitting = WIDTHS
            .into_iter()
            .find(|width| seconds.div_ceil(*width) <= MOST_GIVEN)
            .unwrap_or(WIDTHS[WIDTHS.len() - 1]);
        let width = fitting.max(held);
        let joined = joined(&self.held, width / held);
        let slots = joined.iter().enumerate().map(|(index, held)| {
            let from_ns = index as u64 * width * SECOND;
            let length_ns = (width * SECOND)
                .min((last_ns + 1).saturating_sub(from_ns))
                .max(1);
            let length = length_ns as f64 / 1e9;
            Slot {
                from_ns,
                length_ns,
                operations: held.operations,
                iops: held.operations as f64 / length,
                iops_max: held.busiest,
                bytes_per_s: held.bytes as f64 / length,
                working_set_bytes: held.touched * super::PAGE,
            }
        });
        slots.collect()
    }
}

fn joined(held: &[Held], factor: u64) -> Vec<Held> {
    let chunks = held.chunks(factor as usize);
    chunks
        .map(|chunk| {
            let mut sum = Held::default();
            chunk.iter().for_each(|next| sum.join(next));
            sum
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_have_a_width_that_people_count_in() {
        let mut profile = Profile::default();
        for second in 0..7200 {
            profile.add(second * SECOND, 10, second);
        }
        let slots = profile.slots(7199 * SECOND);
        assert_eq!((slots.len(), slots[0].length_ns), (24, 300 * SECOND));
        assert_eq!(slots.iter().map(|slot| slot.operations).sum::<u64>(), 7200);
        assert_eq!((slots[1].iops, slots[1].iops_max), (1.0, 1));
        assert_eq!(slots[23].working_set_bytes, 7199 * 4096);
    }
}
