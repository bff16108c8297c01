//! A trace of operations, whoever wrote it.

use blocklab_units::Nanos;
use blocklab_workload::{Direction, Replayed, TraceFile};

/// A trace as it was read.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Trace {
    /// The files, in the order in which they were added.
    pub files: Vec<String>,
    /// The operations, in order.
    pub operations: Vec<Replayed>,
    /// Whether its operations have no times of their own, as in version 2.
    pub is_untimed: bool,
    /// Waits of version 2 that lack their fourth word: fio 3.33 passes over them.
    pub passed_over: u32,
    /// Where it was read; nothing of one that no file holds yet.
    pub source: Option<TraceFile>,
}

/// Operations that a trace may hold: they lie in memory.
const MOST: usize = 50_000_000;

/// Adds an operation: its direction, first byte and bytes.
pub(super) fn operation(
    trace: &mut Trace,
    at: Nanos,
    target: u32,
    (direction, offset, len): (Direction, u64, u64),
) -> Result<(), String> {
    let (offset, len) = match direction {
        Direction::Sync => (0, 0),
        _ => (offset, len),
    };
    let is_sound = direction == Direction::Sync || (1..=1 << 30).contains(&len);
    let len = u32::try_from(len).ok().filter(|_| is_sound);
    let len = len.ok_or("an operation moves from 1 byte to 1 GiB")?;
    if offset
        .checked_add(len.into())
        .is_none_or(|end| end > 1 << 62)
    {
        return Err(format!("no file has a byte {offset}"));
    }
    if trace.operations.len() == MOST {
        return Err(format!("the trace has more than {MOST} operations"));
    }
    trace.operations.push(Replayed {
        at,
        target,
        direction,
        len,
        offset,
    });
    Ok(())
}
