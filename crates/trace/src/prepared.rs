//! In: the operations of a trace, the options of a replay, and the target's size and block size. Out: a
//! replay, with the number of operations that had to be changed.
//!
//! ```text
//!   operations ─▶ without trims ─▶ copies ─▶ into the target ─▶ to its blocks ─▶ speed ─▶ Replay
//!                                     └──▶ Dependencies, by completions of the recording
//! ```

use std::collections::HashMap;

use blocklab_units::{Bytes, Nanos, SECTOR, count, with_defaults};
use blocklab_workload::{Adapted, Direction, Replay, ReplayPace, ReplayPlace, Replayed};

use crate::dependent::dependencies;
use crate::{Operation, at_speed};

/// Bytes of an extent, within which [`ReplayPlace::Compact`] keeps offsets as they are.
const EXTENT: u64 = 1 << 20;

with_defaults! {
    /// The options of a replay.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct ReplayOptions {
        /// When operations are issued.
        pub pace: ReplayPace = ReplayPace::Open,
        /// Speed in per cent of the recorded one, at least 1.
        pub speed_percent: u64 = 100,
        /// How many copies of the trace are replayed at once, at least 1.
        pub copies: u32 = 1,
        /// How much later each copy begins than the one before.
        pub shift: Nanos = Nanos::ZERO,
        /// How offsets are changed for a target of another size.
        pub place: ReplayPlace = ReplayPlace::AsRecorded,
        /// Whether trims are issued.
        pub trims: bool = true,
    }
}

/// What must be known of the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TargetLimits {
    /// Its size in bytes; `None`: it will be created as large as needed.
    pub size: Option<u64>,
    /// Operations must be whole blocks of this size, a power of two; with 0 or 1 they need not.
    pub block: u64,
}

/// The replay of operations, which must be on one device and in order of time.
///
/// # Errors
/// When they cannot be replayed with these options; the text tells what would work.
pub fn prepared(
    mut operations: Vec<Operation>,
    options: &ReplayOptions,
    limits: TargetLimits,
) -> Result<Replay, String> {
    let all = operations.len();
    if !options.trims {
        operations.retain(|operation| operation.direction != Direction::Trim);
    }
    let mut adapted = Adapted {
        dropped: (all - operations.len()) as u64,
        ..Adapted::default()
    };
    let mut operations = copied(operations, options);
    // Completions are in recorded time, so this comes before the speed is changed.
    let dependencies = match options.pace {
        ReplayPace::Dependent => dependencies(&operations)?,
        ReplayPace::Open | ReplayPace::Fast => Vec::new(),
    };
    if let Some(size) = limits.size {
        adapted.folded = placed(&mut operations, options.place, size)?;
    }
    rounded(&mut operations, limits, &mut adapted);
    let replayed = operations.into_iter().map(|operation| {
        let at = at_speed(operation.at, options.speed_percent);
        Replayed::new(at, operation.direction, operation.offset, operation.len)
    });
    Ok(Replay {
        operations: replayed.collect(),
        keeps_time: options.pace != ReplayPace::Fast,
        dependencies,
        source: None,
        adapted,
    })
}

/// All copies in order of time. With several, the target of an operation becomes the number of its
/// copy, by which [`dependencies`] tells copies apart.
fn copied(operations: Vec<Operation>, options: &ReplayOptions) -> Vec<Operation> {
    if options.copies <= 1 {
        return operations;
    }
    let mut all = Vec::new();
    for copy in 0..options.copies {
        let shift = Nanos(options.shift.0.saturating_mul(copy.into()));
        all.extend(operations.iter().map(|operation| Operation {
            target: copy,
            ..operation.later(shift)
        }));
    }
    all.sort_by_key(|operation| operation.at);
    all
}

/// Changes offsets so that operations fit into the target, and gives the number of changed ones.
fn placed(operations: &mut [Operation], place: ReplayPlace, size: u64) -> Result<u64, String> {
    let end = operations.iter().map(Operation::end).max().unwrap_or(0);
    match place {
        ReplayPlace::AsRecorded if end > size => {
            return Err(format!(
                "the trace reaches {}, and the target has {}, {} less: take a larger one, or --wrap \
                 (modulo its size), --scale (offsets by the ratio of the sizes) or --compact (used \
                 extents of 1 MiB next to one another)",
                Bytes(end),
                Bytes(size),
                Bytes(end - size)
            ));
        }
        ReplayPlace::AsRecorded => return Ok(0),
        ReplayPlace::Wrap if end <= size => return Ok(0),
        ReplayPlace::Wrap | ReplayPlace::Scale | ReplayPlace::Compact => {}
    }
    let mut extents: HashMap<u64, u64> = HashMap::new();
    let mut moved = 0;
    for operation in operations {
        // A flush is of the whole device and has no place in it.
        if operation.direction == Direction::Sync {
            continue;
        }
        let (offset, len) = (operation.offset, u64::from(operation.len));
        let moved_to = match place {
            ReplayPlace::Compact => {
                let next = extents.len() as u64;
                let extent = *extents.entry(offset / EXTENT).or_insert(next);
                extent * EXTENT + offset % EXTENT
            }
            ReplayPlace::Scale => {
                let scaled = u128::from(offset) * u128::from(size) / u128::from(end.max(1));
                scaled as u64 / SECTOR * SECTOR
            }
            ReplayPlace::Wrap | ReplayPlace::AsRecorded => offset % size.max(1),
        };
        let last = size
            .checked_sub(len)
            .ok_or_else(|| format!("an operation of {} is larger than the target", Bytes(len)))?;
        if place == ReplayPlace::Compact && moved_to >= size {
            return Err(format!(
                "the trace uses more than {} extents of 1 MiB, and the target has {}: take a larger \
                 one, or --wrap",
                count((size / EXTENT) as f64),
                Bytes(size)
            ));
        }
        // An operation that would reach beyond the end is moved back, to a whole sector.
        operation.offset = moved_to.min(last / SECTOR * SECTOR);
        moved += u64::from(operation.offset != offset);
    }
    Ok(moved)
}

/// Extends operations to whole blocks of the target. One that would reach beyond the target or the
/// largest length stays as it is.
fn rounded(operations: &mut [Operation], limits: TargetLimits, adapted: &mut Adapted) {
    let block = limits.block.max(1);
    // The last block of a target may be incomplete; operations in it are not extended.
    let whole = limits.size.map_or(u64::MAX, |size| size / block * block);
    for operation in operations {
        let (begin, end) = (operation.offset, operation.end());
        let is_whole = begin.is_multiple_of(block) && end.is_multiple_of(block);
        if operation.direction == Direction::Sync || is_whole {
            continue;
        }
        let from = begin / block * block;
        let to = end.div_ceil(block) * block;
        let Ok(len) = u32::try_from(to - from) else {
            continue;
        };
        if to <= whole {
            adapted.rounded += 1;
            adapted.rounded_bytes += to - from - (end - begin);
            (operation.offset, operation.len) = (from, len);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::at;

    fn on(offset: u64, len: u32) -> Operation {
        Operation {
            offset,
            len,
            ..at(0)
        }
    }

    #[track_caller]
    fn check(
        operations: &[Operation],
        options: ReplayOptions,
        limits: TargetLimits,
        expected: &[(u64, u32)],
    ) -> Adapted {
        let replay = prepared(operations.to_vec(), &options, limits).expect("a sound wish");
        let ranges = replay.operations.iter().map(|op| (op.offset, op.len));
        assert_eq!(ranges.collect::<Vec<_>>(), expected);
        replay.adapted
    }

    /// The same with `--compact`, on a target of two extents.
    #[track_caller]
    fn check_compact(operations: &[Operation], expected: &[(u64, u32)]) -> Adapted {
        let options = ReplayOptions {
            place: ReplayPlace::Compact,
            ..ReplayOptions::default()
        };
        let limits = TargetLimits {
            size: Some(2 << 20),
            block: 512,
        };
        check(operations, options, limits, expected)
    }

    /// The story: operations of a disk with sectors of 512 bytes failed on one with sectors of 4 KiB.
    #[test]
    fn operations_are_rounded_outwards_and_the_bytes_are_counted() {
        let four_kib = TargetLimits {
            size: Some(1 << 20),
            block: 4096,
        };
        let operations = [on(512, 512), on(4096, 8192), on(4095, 2), on(12_288, 4097)];
        let expected = [(0, 4096), (4096, 8192), (0, 8192), (12_288, 8192)];
        let adapted = check(&operations, ReplayOptions::default(), four_kib, &expected);
        assert_eq!(adapted.rounded, 3);
        assert_eq!(adapted.rounded_bytes, 3584 + 8190 + 4095);
        let any = TargetLimits {
            block: 1,
            ..four_kib
        };
        let adapted = check(
            &operations[..1],
            ReplayOptions::default(),
            any,
            &[(512, 512)],
        );
        assert_eq!(adapted, Adapted::default());
    }

    #[test]
    fn operations_are_put_into_a_smaller_target_in_three_ways() {
        let limits = TargetLimits {
            size: Some(4 << 20),
            block: 512,
        };
        let far = [on(0, 4096), on(7 << 20, 4096), on(9 << 20, 4096)];
        let wish = |place| ReplayOptions {
            place,
            ..ReplayOptions::default()
        };
        let refused =
            prepared(far.to_vec(), &wish(ReplayPlace::AsRecorded), limits).expect_err("too small");
        assert!(
            refused.contains("has 4 MiB, 5.0 MiB less") && refused.contains("--wrap"),
            "{refused}"
        );
        let wrapped = [(0, 4096), (3 << 20, 4096), (1 << 20, 4096)];
        assert_eq!(
            check(&far, wish(ReplayPlace::Wrap), limits, &wrapped).folded,
            2
        );
        let compact = [(0, 4096), (1 << 20, 4096), (2 << 20, 4096)];
        assert_eq!(
            check(&far, wish(ReplayPlace::Compact), limits, &compact).folded,
            2
        );
        // By 4 MiB / (9 MiB + 4 KiB), to whole sectors; the last one is moved back to end with the target.
        let scaled = [(0, 4096), (3_260_416, 4096), (4_190_208, 4096)];
        assert_eq!(
            check(&far, wish(ReplayPlace::Scale), limits, &scaled).folded,
            2
        );
    }

    /// The story: `--compact` kept an extent of 1 MiB for a flush, and a trace that fills the target was
    /// refused. In a larger target the flush was counted as moved.
    #[test]
    fn a_flush_takes_no_place_in_the_target() {
        let flush = Operation {
            direction: Direction::Sync,
            ..on(0, 0)
        };
        let trace = [flush, on(5 << 20, 4096), flush, on(9 << 20, 4096), flush];
        let expected = [(0, 0), (0, 4096), (0, 0), (1 << 20, 4096), (0, 0)];
        assert_eq!(check_compact(&trace, &expected).folded, 2);
    }

    /// The story: an operation that goes on beyond the last extent of the target was refused, with more
    /// extents than the trace uses as the reason; --wrap and --scale move it back.
    #[test]
    fn an_operation_beyond_the_last_extent_is_moved_back() {
        let trace = [on(0, 4096), on((7 << 20) - 4096, 8192)];
        let expected = [(0, 4096), ((2 << 20) - 8192, 8192)];
        check_compact(&trace, &expected);
    }

    #[test]
    fn copies_come_later_and_trims_may_stay_away() {
        let trim = Operation {
            direction: Direction::Trim,
            ..at(10)
        };
        let options = ReplayOptions {
            copies: 2,
            shift: Nanos(25_000),
            speed_percent: 200,
            trims: false,
            ..ReplayOptions::default()
        };
        let recorded = vec![at(0), trim, at(30)];
        let replay = prepared(recorded, &options, TargetLimits::default()).expect("a sound wish");
        let moments = replay.operations.iter().map(|op| op.at.0);
        assert_eq!(moments.collect::<Vec<_>>(), [0, 12_500, 15_000, 27_500]);
        assert_eq!(replay.adapted.dropped, 1);
    }
}
