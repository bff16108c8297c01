//! In: operations that are issued and complete. Out: whether one that is issued touches bytes of
//! another in flight, where one of both writes: nothing says which of them the target does first.

use std::collections::BTreeMap;

use blocklab_workload::{Direction, Request};

use crate::in_flight::InFlight;

/// Target, first byte and slot of an operation in flight, and its end.
type Ranges = BTreeMap<(u32, u64, u32), u64>;

/// The ranges in flight. To look one up takes logarithmic time, as a replay may have tens of
/// thousands of operations in flight.
#[derive(Debug, Default)]
pub(crate) struct Overlaps {
    reads: Ranges,
    writes: Ranges,
    /// The longest operation so far: no range that begins further before another reaches into it.
    longest: u64,
}

impl Overlaps {
    /// Adds an operation. Returns whether its order with another one is open.
    pub(crate) fn begins(&mut self, request: &Request, slot: usize) -> bool {
        let (target, offset, len) = (request.target, request.offset, u64::from(request.len));
        if request.direction == Direction::Sync || len == 0 {
            return false;
        }
        let end = offset.saturating_add(len);
        self.longest = self.longest.max(len);
        // Ranges are in the order of their beginnings: one that begins further back than the longest
        // is long cannot reach this one.
        let from = offset.saturating_sub(self.longest);
        let touched = |ranges: &Ranges| {
            let mut near = ranges.range((target, from, 0)..(target, end, 0));
            near.any(|(_, other_end)| *other_end > offset)
        };
        let reads = request.direction == Direction::Read;
        // Two reads of the same bytes may come in either order.
        let is_open = touched(&self.writes) || !reads && touched(&self.reads);
        let own = if reads {
            &mut self.reads
        } else {
            &mut self.writes
        };
        own.insert((target, offset, slot as u32), end);
        is_open
    }

    /// Removes an operation that completed.
    pub(crate) fn ends(&mut self, io: &InFlight, slot: usize) {
        let own = match io.direction {
            Direction::Read => &mut self.reads,
            _ => &mut self.writes,
        };
        own.remove(&(io.file, io.offset, slot as u32));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use blocklab_units::Nanos;

    fn request(direction: Direction, offset: u64, len: u32) -> Request {
        Request {
            target: 0,
            direction,
            len,
            offset,
        }
    }

    #[test]
    fn two_reads_have_no_order_and_need_none() {
        use Direction::{Read, Sync, Trim, Write};
        let mut overlaps = Overlaps::default();
        let read = request(Read, 8192, 8192);
        assert!(!overlaps.begins(&read, 0));
        assert!(!overlaps.begins(&request(Read, 12_288, 4096), 1));
        assert!(!overlaps.begins(&request(Write, 16_384, 4096), 2));
        assert!(!overlaps.begins(&request(Write, 4096, 4096), 3));
        assert!(overlaps.begins(&request(Write, 16_383, 512), 4));
        assert!(overlaps.begins(&request(Read, 0, 4097), 5));
        assert!(overlaps.begins(&request(Trim, 0, 1 << 20), 6));
        assert!(!overlaps.begins(&request(Sync, 0, 0), 7));
        let now = Nanos::ZERO;
        overlaps.ends(&InFlight::new(&read, now, now), 0);
        let other = Request {
            target: 1,
            ..request(Write, 8192, 4096)
        };
        assert!(!overlaps.begins(&other, 0));
    }
}
