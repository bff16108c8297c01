//! Which operations continue one another.
//!
//! ```text
//!   ends of recent operations, by a hash of the end
//!   set 0  [ 81920 · · · ]
//!   set 1  [ 4096  917504 · · ]        an operation that begins where one ended follows it
//! ```
//!
//! A fixed table, so that a random load costs one miss and one entry, however many streams there
//! are. A set holds four; when it is full they are forgotten in turn, and begin anew.

use crate::Direction;

use super::Follows;

const SETS: usize = 256;
const WAYS: usize = 4;
const NOWHERE: u64 = u64::MAX;
/// Ends of operations whose order is known: of the last one, and of three before it.
pub(crate) const RECENT: usize = 4;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Tail {
    /// Bytes since the last unit was full, all in one direction.
    pub filled: u32,
    pub direction: Direction,
    /// It changed its direction, and no whole unit has passed since.
    pub mixed: bool,
}

impl Tail {
    /// A whole number of units in one direction.
    pub(crate) const fn new(direction: Direction) -> Self {
        Self {
            filled: 0,
            direction,
            mixed: false,
        }
    }
}

/// The direction of a stream, as in [`Tail`].
#[derive(Debug, Clone, Copy)]
struct Turn {
    direction: Direction,
    mixed: bool,
}

/// Ends and tails side by side: a set is one line of the processor's cache.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
struct Set {
    ends: [u64; WAYS],
    filled: [u32; WAYS],
    turns: [Turn; WAYS],
    /// The way that is taken next: after the one that was taken last.
    next: u8,
}

const EMPTY: Set = Set {
    ends: [NOWHERE; WAYS],
    filled: [0; WAYS],
    turns: [Turn {
        direction: Direction::Read,
        mixed: false,
    }; WAYS],
    next: 0,
};

impl Set {
    /// The first way with this end. All are compared without a branch: which of them it is cannot
    /// be predicted, and a misprediction costs more than four comparisons.
    #[inline(always)]
    fn way_of(&self, end: u64) -> Option<usize> {
        let equal = |way: usize| u32::from(self.ends[way] == end) << way;
        let ways = equal(0) | equal(1) | equal(2) | equal(3);
        (ways != 0).then(|| ways.trailing_zeros() as usize % WAYS)
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Streams {
    sets: Box<[Set; SETS]>,
    /// The last one first.
    recent: [u64; RECENT],
}

impl Streams {
    pub(crate) fn new() -> Self {
        Self {
            sets: Box::new([EMPTY; SETS]),
            recent: [NOWHERE; RECENT],
        }
    }

    /// Takes the stream that `offset` continues out of the table. Returns how the operation follows it,
    /// and its tail; `None` if it continues none.
    #[inline]
    pub(crate) fn take(&mut self, offset: u64) -> (Follows, Option<Tail>) {
        let set = &mut self.sets[set_of(offset)];
        let Some(way) = set.way_of(offset) else {
            return (Follows::Nothing, None);
        };
        // It comes back with its new end, in the set of that.
        set.ends[way] = NOWHERE;
        let Turn { direction, mixed } = set.turns[way];
        let tail = Tail {
            filled: set.filled[way],
            direction,
            mixed,
        };
        let follows = match self.recent.iter().position(|end| *end == offset) {
            Some(0) => Follows::Last,
            Some(between) => Follows::Recent(between as u8),
            None => Follows::Interleaved,
        };
        (follows, Some(tail))
    }

    /// Remembers a stream by its new end.
    #[inline]
    pub(crate) fn put(&mut self, end: u64, tail: Tail) {
        self.recent.copy_within(..RECENT - 1, 1);
        self.recent[0] = end;
        let set = &mut self.sets[set_of(end)];
        // A free way, or the one that has been there longest.
        let way = set.way_of(NOWHERE).unwrap_or(usize::from(set.next) % WAYS);
        set.next = way as u8 + 1;
        set.ends[way] = end;
        set.filled[way] = tail.filled;
        set.turns[way] = Turn {
            direction: tail.direction,
            mixed: tail.mixed,
        };
    }
}

/// Jobs begin at even distances, and one multiplication alone would throw those together.
#[inline]
fn set_of(offset: u64) -> usize {
    let mixed = (offset >> 9).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (mixed >> (64 - SETS.ilog2())) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_stream_two_streams_none() {
        let mut streams = Streams::new();
        let mut check = |offset: u64, wanted: Follows| {
            let (follows, _) = streams.take(offset);
            streams.put(offset + 4096, Tail::new(Direction::Read));
            assert_eq!(follows, wanted, "at {offset}");
        };
        check(0, Follows::Nothing);
        check(4096, Follows::Last);
        check(1 << 30, Follows::Nothing);
        check(8192, Follows::Recent(1));
        check((1 << 30) + 4096, Follows::Recent(1));
        check((1 << 30) + 8192, Follows::Last);
        check(0, Follows::Nothing);
        check(1 << 20, Follows::Nothing);
        check(1 << 21, Follows::Nothing);
        check((1 << 30) + 12_288, Follows::Recent(3));
        check(12_288, Follows::Interleaved);
    }

    /// Of `count` streams in turn, with `noise` random operations after each step, how many
    /// operations in a thousand are not seen to follow.
    fn lost(count: u64, noise: u64) -> u64 {
        let mut streams = Streams::new();
        let mut lost = 0;
        for step in 0..1000u64 {
            for stream in 0..count {
                let offset = stream * 100_000_000 * 512 + step * 4096;
                let (follows, _) = streams.take(offset);
                lost += u64::from(follows == Follows::Nothing);
                streams.put(offset + 4096, Tail::new(Direction::Read));
            }
            for index in 0..noise {
                let offset = (step * noise + index).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20 << 12;
                streams.put(offset, Tail::new(Direction::Read));
            }
        }
        lost / count
    }

    #[test]
    fn interleaved_streams_are_kept_apart() {
        // The first operation of each follows nothing.
        for (count, noise, most) in [(2, 0, 1), (32, 0, 1), (128, 0, 5), (8, 32, 5)] {
            let lost = lost(count, noise);
            assert!(lost <= most, "{count} streams: {lost} of 1000 lost");
        }
    }

    /// A set is one line of the processor's cache, and all of them are half of what a core has next to
    /// it: of 512 streams six in seven operations are seen to follow, of 1,024 fewer than half.
    #[test]
    fn the_table_is_small_and_forgets_beyond_its_places() {
        assert_eq!(size_of::<[Set; SETS]>(), 16 << 10);
        let lost = [512, 1024].map(|count| lost(count, 0));
        assert!(lost[0] < 200 && lost[1] > 500, "{lost:?} of 1000 lost");
    }
}
