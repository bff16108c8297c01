//! As how many operations and bytes an operation counts.
//!
//! ```text
//!   1 x 1024 KiB            ▓▓▓▓▓▓▓▓│▓▓▓▓▓▓▓▓│▓▓▓▓▓▓▓▓│▓▓▓▓▓▓▓▓     4 operations of 256 KiB
//!   8 x   32 KiB in a row   ▓│▒│▒│▒│▒│▒│▒│▒                       1: the others are merged into it
//!   8 x   32 KiB at random  ▓   ▓   ▓   ▓   ▓   ▓   ▓   ▓         8
//! ```
//!
//! EC2 user guide (I/O characteristics), 2023-01-19, in our words: SSD volumes count up to 256 KiB
//! as one, split what is larger and merge small sequential I/O up to that size; HDD volumes do so
//! with 1,024 KiB, and a random operation of 1 MiB or less costs 1 MiB of throughput credit.
//!
//! Its guide of 2018 counts each operation below 32 KiB as one, and its knowledge centre says the same of
//! both kinds of volume: on an HDD volume, each of them spends a whole token of 1 MiB. Smaller ones
//! that a kernel has joined while its queue was full arrive here as large ones.
//!
//! Azure's managed disks split operations of more than 256 KiB as well (disks-types.md, 2026-08-11);
//! no page says that small ones are merged, so each counts by itself.
//!
//! A stream that changes its direction is not merged until a whole unit has passed in one
//! direction: half reads and half writes in sequence stayed at the 3,000 IOPS of a gp3 volume
//! (r5d-vs-gp3, rows 51 to 56) although each second one continued its like.

use crate::{Accounting, Direction, Io, Service};

use super::streams::{Streams, Tail};
use super::{ChargedIo, Follows};

/// As how much a row of operations counts, without a device.
#[derive(Debug, Clone)]
pub struct Charges(ChargeCounter);

impl Charges {
    /// A counter for an accounting, whose units must be powers of two.
    pub fn new(accounting: Accounting) -> Self {
        Self(ChargeCounter::with_order(accounting, false))
    }

    /// The number of operations and bytes that an operation is charged as.
    #[inline]
    pub fn count(&mut self, io: Io) -> (u64, u64) {
        let counted = self.0.enter(io);
        (counted.ops, counted.charged)
    }
}

/// An [`Accounting`] at work.
#[derive(Debug, Clone)]
pub(crate) struct ChargeCounter {
    accounting: Accounting,
    /// The unit has 2^shift bytes.
    shift: u32,
    /// `None` when nothing depends on the order of offsets.
    streams: Option<Streams>,
}

impl ChargeCounter {
    /// Units must be powers of two.
    pub(crate) fn new(accounting: Accounting, service: &Service) -> Self {
        Self::with_order(accounting, service.depends_on_order())
    }

    /// `depends_on_order`: the time of an operation depends on which operations came before it.
    fn with_order(accounting: Accounting, depends_on_order: bool) -> Self {
        let streams = accounting.merges() || depends_on_order;
        Self {
            accounting,
            shift: accounting.unit().map_or(31, |unit| unit.0.ilog2()),
            streams: streams.then(Streams::new),
        }
    }

    /// The operation with its count.
    #[inline]
    pub(crate) fn enter(&mut self, io: Io) -> ChargedIo {
        match io.direction {
            Direction::Flush => without_data(io, 0),
            Direction::Trim => without_data(io, 1),
            Direction::Read | Direction::Write => self.enter_data(io),
        }
    }

    /// A read or write with its count: in a stream that is merged, the units of `1 << shift` bytes that
    /// it begins.
    #[inline]
    fn enter_data(&mut self, io: Io) -> ChargedIo {
        let bytes = u64::from(io.len);
        let Some(streams) = &mut self.streams else {
            return self.by_itself(io, Follows::Nothing);
        };
        let (follows, tail) = streams.take(io.offset);
        if !self.accounting.merges() || bytes < Accounting::MERGED_FROM.0 {
            streams.put(io.offset + bytes, Tail::new(io.direction));
            return self.by_itself(io, follows);
        }
        let (filled, mixed) = joined(tail, io.direction);
        let open = if mixed { 0 } else { filled };
        let reached = u64::from(open) + bytes;
        // The unit that is open was paid for by the operation that began it.
        let ops = units(reached, self.shift).max(1) - u64::from(open > 0);
        // Counted on even while mixed: a whole unit in one direction ends that state.
        let run = u64::from(filled) + bytes;
        let mixed = mixed && run >> self.shift == 0;
        let rest = (run & ((1 << self.shift) - 1)) as u32;
        let tail = Tail {
            filled: rest,
            direction: io.direction,
            mixed,
        };
        streams.put(io.offset + bytes, tail);
        self.counted(io, ops, follows)
    }

    /// Whole units, joined with nothing.
    #[inline]
    fn by_itself(&self, io: Io, follows: Follows) -> ChargedIo {
        let ops = match self.accounting {
            Accounting::Plain => 1,
            _ => units(u64::from(io.len), self.shift).max(1),
        };
        self.counted(io, ops, follows)
    }

    /// The operation, charged with its bytes, or with those of whole units.
    #[inline]
    fn counted(&self, io: Io, ops: u64, follows: Follows) -> ChargedIo {
        let moved = u64::from(io.len);
        let charged = match self.accounting {
            Accounting::WholeUnits { .. } => ops << self.shift,
            _ => moved,
        };
        ChargedIo {
            io,
            ops,
            charged,
            moved,
            follows,
        }
    }
}

/// An operation that moves and is charged no bytes, and continues nothing.
fn without_data(io: Io, ops: u64) -> ChargedIo {
    ChargedIo {
        io,
        ops,
        charged: 0,
        moved: 0,
        follows: Follows::Nothing,
    }
}

/// How many bytes of its unit the operations before it have filled, and whether the directions are
/// mixed.
#[inline]
fn joined(tail: Option<Tail>, direction: Direction) -> (u32, bool) {
    match tail {
        None => (0, false),
        Some(tail) if tail.direction == direction => (tail.filled, tail.mixed),
        Some(_) => (0, true),
    }
}

/// How many units of 2^`shift` bytes hold these bytes, the last one perhaps in part.
#[inline]
fn units(bytes: u64, shift: u32) -> u64 {
    (bytes + ((1 << shift) - 1)) >> shift
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::class::Class;
    use blocklab_units::Bytes;

    const SSD: Accounting = Accounting::Merged {
        unit: Bytes(256 << 10),
    };
    const HDD: Accounting = Accounting::WholeUnits { unit: Bytes::MIB };
    const AZURE: Accounting = Accounting::Split {
        unit: Bytes(256 << 10),
    };

    use Direction::{Flush, Read, Trim, Write};

    /// Operations and bytes counted for operations of this many KiB at that many KiB.
    #[track_caller]
    fn check(accounting: Accounting, ios: &[(Direction, u64, u32)], ops: u64, charged_kib: u64) {
        let mut counter = ChargeCounter::new(accounting, &Class::LocalSsd.service());
        let mut sum = (0, 0);
        for (direction, at, kib) in ios {
            let charged_io = counter.enter(Io {
                direction: *direction,
                offset: at << 10,
                len: kib << 10,
            });
            sum = (sum.0 + charged_io.ops, sum.1 + charged_io.charged);
        }
        assert_eq!(sum, (ops, charged_kib << 10));
    }

    fn in_a_row(count: u64, kib: u32) -> Vec<(Direction, u64, u32)> {
        (0..count)
            .map(|k| (Read, k * u64::from(kib), kib))
            .collect()
    }

    fn scattered(count: u64, kib: u32) -> Vec<(Direction, u64, u32)> {
        (0..count).map(|k| (Read, k * 10_000, kib)).collect()
    }

    #[test]
    fn the_vendors_examples() {
        check(SSD, &in_a_row(1, 1024), 4, 1024);
        check(SSD, &in_a_row(8, 32), 1, 256);
        check(SSD, &scattered(8, 32), 8, 256);
        check(HDD, &in_a_row(1, 1024), 1, 1024);
        check(HDD, &in_a_row(8, 128), 1, 1024);
        check(HDD, &scattered(8, 128), 8, 8 * 1024);
        check(HDD, &scattered(1, 4), 1, 1024);
        check(HDD, &scattered(1, 4096), 4, 4096);
    }

    /// A disk that splits and does not merge: small operations in sequence are as dear as random ones,
    /// which `merged` would have made 1, and `whole` would have charged 256 KiB each.
    #[test]
    fn splitting_merges_nothing() {
        check(AZURE, &in_a_row(1, 1024), 4, 1024);
        check(AZURE, &in_a_row(1, 257), 2, 257);
        check(AZURE, &in_a_row(64, 4), 64, 256);
        check(AZURE, &in_a_row(8, 32), 8, 256);
        check(AZURE, &scattered(8, 256), 8, 2048);
        for (size, ops) in [(524_288.0, 2.0), (32_768.0, 1.0)] {
            let charge = AZURE.charge(size, true);
            let counted = (charge.ops, charge.bytes);
            assert_eq!(counted, (ops, size), "the closed form counts so too");
        }
    }

    #[test]
    fn a_gibibyte_in_a_row_is_its_number_of_units() {
        for kib in [32, 64, 128, 256, 1024] {
            check(
                SSD,
                &in_a_row((1 << 20) / u64::from(kib), kib),
                4096,
                1 << 20,
            );
            check(
                HDD,
                &in_a_row((1 << 20) / u64::from(kib), kib),
                1024,
                1 << 20,
            );
        }
        // 96 KiB fill no whole number of units, and are merged all the same.
        check(SSD, &in_a_row(8, 96), 3, 768);
    }

    #[test]
    fn interleaved_streams_are_merged_each_by_itself() {
        let two: Vec<_> = (0..16)
            .map(|k| (Read, k % 2 * 1_000_000 + k / 2 * 32, 32))
            .collect();
        check(SSD, &two, 2, 512);
    }

    /// Sequential operations of 4 KiB were merged into 256 KiB at any depth: a gp2 volume of 3,000
    /// IOPS gave 6,567 with four in flight where 3,070 were measured, and st1 gave 131 MB/s in
    /// pieces of 16 KiB where the vendor's knowledge centre ends at 8 MiB/s.
    #[test]
    fn below_32_kib_nothing_is_merged() {
        check(SSD, &in_a_row(64, 4), 64, 256);
        check(SSD, &in_a_row(16, 16), 16, 256);
        check(SSD, &in_a_row(8, 31), 8, 248);
        check(SSD, &in_a_row(8, 32), 1, 256);
        check(HDD, &in_a_row(64, 16), 64, 64 * 1024);
        check(HDD, &in_a_row(32, 32), 1, 1024);
        // A large one after small ones opens a unit of its own.
        check(SSD, &[(Read, 0, 16), (Read, 16, 16), (Read, 32, 64)], 3, 96);
    }

    #[test]
    fn a_mixed_stream_is_not_merged() {
        let mixed: Vec<_> = (0..64u64)
            .map(|k| (if k % 4 < 2 { Read } else { Write }, k * 32, 32))
            .collect();
        // All but the second: the stream is taken for a pure one until it turns.
        check(SSD, &mixed, 63, 2048);
        // 2 until it turns back, then 8 alone until a unit is full, then one unit in one piece.
        let mut settled = vec![(Read, 0, 32), (Write, 32, 32)];
        settled.extend((2..18).map(|k| (Read, k * 32, 32)));
        check(SSD, &settled, 2 + 8 + 1, 18 * 32);
    }

    #[test]
    fn flushes_are_free_and_trims_move_nothing() {
        check(SSD, &[(Flush, 0, 0), (Trim, 0, 1024)], 1, 0);
    }

    #[test]
    fn without_a_unit_everything_is_one() {
        check(Accounting::Plain, &in_a_row(8, 32), 8, 256);
        check(Accounting::Plain, &in_a_row(1, 4096), 1, 4096);
    }
}
