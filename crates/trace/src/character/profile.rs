//! In: when operations come, and how many bytes they move. Out: the load over time, in at most 24 slots
//! of a round length such as 10 s or 1 h.

use serde::Serialize;

use crate::SECOND;

/// Widths in seconds; each is a multiple of the one before.
const WIDTHS: [u64; 14] = [
    1, 5, 10, 30, 60, 300, 600, 1800, 3600, 10_800, 21_600, 43_200, 86_400, 604_800,
];
/// Most slots in memory; with more, each becomes wider.
const MAX_SLOTS: usize = 2048;
/// Most slots of the result.
const MAX_RESULT_SLOTS: u64 = 24;

/// A slot of time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Slot {
    /// Where it begins.
    pub from_ns: u64,
    /// Its length; the last one may be shorter, or longer by less than a tenth.
    pub length_ns: u64,
    /// Number of operations.
    pub operations: u64,
    /// Operations a second. The second in which the trace ends counts as a whole one.
    pub iops: f64,
    /// Operations in its busiest second.
    pub iops_max: u64,
    /// Bytes a second, in the same way.
    pub bytes_per_s: f64,
    /// Size of the pages that were touched from the beginning of the trace to the end of the slot.
    pub working_set_bytes: u64,
}

/// The counts of one slot.
#[derive(Debug, Clone, Copy, Default)]
struct SlotCounts {
    operations: u64,
    bytes: u64,
    /// Operations in the busiest second.
    busiest: u64,
    /// Pages touched since the beginning of the trace.
    touched: u64,
}

impl SlotCounts {
    fn join(&mut self, next: &Self) {
        self.operations += next.operations;
        self.bytes += next.bytes;
        self.busiest = self.busiest.max(next.busiest);
        self.touched = self.touched.max(next.touched);
    }
}

/// Counts the load over time.
#[derive(Debug, Default)]
pub(super) struct Profile {
    /// Index of the current width in [`WIDTHS`].
    width: usize,
    /// Slots of the current width, from the beginning of the trace.
    held: Vec<SlotCounts>,
    /// The current second.
    second: u64,
    /// Number of operations in it.
    count: u64,
}

impl Profile {
    /// Adds an operation to its slot; `touched` is the number of pages that were touched up to it.
    /// A longer trace makes the slots wider instead of more.
    #[inline]
    pub(super) fn add(&mut self, at_ns: u64, bytes: u64, touched: u64) {
        if at_ns - self.second * SECOND >= SECOND {
            self.second = at_ns / SECOND;
            self.count = 0;
        }
        self.count += 1;
        let mut index = (self.second / WIDTHS[self.width]) as usize;
        while index >= MAX_SLOTS && self.width + 1 < WIDTHS.len() {
            self.widen();
            index = (self.second / WIDTHS[self.width]) as usize;
        }
        // At the largest width this is after 39 years; everything later is in the last slot.
        let index = index.min(MAX_SLOTS - 1);
        if self.held.len() <= index {
            // Slots without operations keep the working set of the one before.
            let before = self.held.last().map_or(0, |last| last.touched);
            let empty = SlotCounts {
                touched: before,
                ..SlotCounts::default()
            };
            self.held.resize(index + 1, empty);
        }
        self.held[index].join(&SlotCounts {
            operations: 1,
            bytes,
            busiest: self.count,
            touched,
        });
    }

    /// Goes on to the next width and adds up the slots.
    fn widen(&mut self) {
        self.held = joined(&self.held, WIDTHS[self.width + 1] / WIDTHS[self.width]);
        self.width += 1;
    }

    /// The result for a trace whose last operation comes at `last_ns`.
    pub(super) fn slots(&self, last_ns: u64) -> Vec<Slot> {
        let seconds = last_ns / SECOND + 1;
        let held_width = WIDTHS[self.width];
        let fitting = WIDTHS
            .into_iter()
            .find(|width| seconds.div_ceil(*width) <= MAX_RESULT_SLOTS)
            .unwrap_or(WIDTHS[WIDTHS.len() - 1]);
        // Slots that were already widened cannot be split again.
        let width = fitting.max(held_width);
        let width_ns = width * SECOND;
        let mut slots = joined(&self.held, width / held_width);
        let tail_ns =
            (last_ns + 1).saturating_sub((slots.len() as u64).saturating_sub(1) * width_ns);
        // A rate over a moment says nothing: one operation in 1 ns would be a billion a second.
        if tail_ns < width_ns / 10 && slots.len() > 1 {
            let tail = slots.pop().unwrap_or_default();
            if let Some(slot) = slots.last_mut() {
                slot.join(&tail);
            }
        }
        let last = slots.len().saturating_sub(1);
        let slots = slots.iter().enumerate().map(|(index, counts)| {
            let from_ns = index as u64 * width_ns;
            let length_ns = if index == last {
                (last_ns + 1).saturating_sub(from_ns).max(1)
            } else {
                width_ns
            };
            // The end of the trace cuts the last second short. Divided by that rest, the rate would be
            // above the busiest second of its own slot.
            let seconds = length_ns.div_ceil(SECOND) as f64;
            Slot {
                from_ns,
                length_ns,
                operations: counts.operations,
                iops: counts.operations as f64 / seconds,
                iops_max: counts.busiest,
                bytes_per_s: counts.bytes as f64 / seconds,
                working_set_bytes: counts.touched * super::PAGE,
            }
        });
        slots.collect()
    }
}

/// Adds up each `factor` slots to one.
fn joined(held: &[SlotCounts], factor: u64) -> Vec<SlotCounts> {
    let chunks = held.chunks(factor as usize);
    chunks
        .map(|chunk| {
            let mut sum = SlotCounts::default();
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

    /// The last operation of a trace of 60 s came exactly where a slot of 5 s began, and `trace show`
    /// printed 1,000,000,000 IOPS for it: one operation in the nanosecond that was left.
    #[test]
    fn a_last_moment_has_no_rate_of_its_own() {
        let mut profile = Profile::default();
        for second in 0..=60 {
            profile.add(second * SECOND, 4096, 1);
        }
        let slots = profile.slots(60 * SECOND);
        let last = slots[slots.len() - 1];
        assert_eq!((slots.len(), last.from_ns), (12, 55 * SECOND));
        assert_eq!((last.operations, last.length_ns), (6, 5 * SECOND + 1));
        assert!(slots.iter().all(|slot| slot.iops < 1.3), "{slots:?}");
    }

    /// A copy ended a recording of a database 0.26 s into a second: the last row had 1,074 IOPS beside a
    /// busiest second of 277.
    #[test]
    fn a_slot_is_not_busier_than_its_busiest_second() {
        let mut profile = Profile::default();
        profile.add(0, 4096, 1);
        for operation in 0..277 {
            profile.add(3 * SECOND + operation * 900_000, 4096, 1);
        }
        let slots = profile.slots(3 * SECOND + 276 * 900_000);
        let last = slots[slots.len() - 1];
        assert_eq!(
            (last.operations, last.iops, last.iops_max),
            (277, 277.0, 277)
        );
    }

    /// A trace of one operation, too, showed 1,000,000,000 IOPS.
    #[test]
    fn a_trace_of_one_moment_is_rated_over_a_second() {
        let mut profile = Profile::default();
        profile.add(0, 4096, 1);
        let slots = profile.slots(0);
        assert_eq!((slots[0].iops, slots[0].bytes_per_s), (1.0, 4096.0));
    }
}
