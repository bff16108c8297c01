//! In: operations as a format has them. Out: the operation that all of this crate works on, and what
//! every reader of a trace is: an iterator that holds one block of its input at most.

use std::collections::HashMap;

use blocklab_units::Nanos;
use blocklab_workload::Direction;

use crate::TraceError;

/// One recorded operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Operation {
    /// When it was issued, since the beginning of the trace, or since 1970 ([`Clock`]).
    pub at: Nanos,
    /// How long it took, where the format knows.
    pub took: Option<Nanos>,
    /// First byte.
    pub offset: u64,
    /// Bytes; 0 for a flush.
    pub len: u32,
    /// Index among the names of the devices.
    pub target: u32,
    /// What it does; a sync is a flush.
    pub direction: Direction,
}

impl Operation {
    /// End of its last byte.
    pub const fn end(&self) -> u64 {
        self.offset + self.len as u64
    }
}

/// What the moments of a reader count from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Clock {
    /// From the beginning of the recording.
    #[default]
    Recording,
    /// From some moment that the format does not name, such as the boot of a machine: the first
    /// operation becomes the beginning.
    Unknown,
    /// From 1970-01-01, in UTC: the first operation becomes the beginning, and its time is kept.
    Unix,
}

/// A reader of a trace, which gives operation after operation.
pub trait Source {
    /// The next operation; `None` at the end.
    ///
    /// # Errors
    /// What is wrong, with its line or byte. Nothing follows an error.
    fn next(&mut self) -> Result<Option<Operation>, TraceError>;

    /// The devices that have come so far.
    fn targets(&self) -> &[String];

    /// What moments count from. Known once an operation has come.
    fn clock(&self) -> Clock;

    /// When the recording began, in nanoseconds since 1970, where it is known.
    fn begins(&self) -> Option<u64> {
        None
    }

    /// What the reader left out or assumed, one sentence each. Complete at the end.
    fn remarks(&self) -> Vec<String>;
}

/// Names with their numbers, in the order in which they come.
#[derive(Debug, Default)]
pub(crate) struct Names {
    names: Vec<String>,
    index: HashMap<String, u32>,
    last: u32,
}

/// More devices than this in one trace are a column that was taken for a device.
const MOST_TARGETS: usize = 100_000;

impl Names {
    pub(crate) fn number(&mut self, name: &str) -> Result<u32, String> {
        // Operations of one device come in long rows.
        if self
            .names
            .get(self.last as usize)
            .is_some_and(|last| last == name)
        {
            return Ok(self.last);
        }
        if let Some(known) = self.index.get(name) {
            self.last = *known;
            return Ok(*known);
        }
        if self.names.len() == MOST_TARGETS {
            return Err(format!(
                "more than {MOST_TARGETS} devices: is `{name}` the name of one?"
            ));
        }
        self.last = self.names.len() as u32;
        self.names.push(name.to_owned());
        self.index.insert(name.to_owned(), self.last);
        Ok(self.last)
    }

    pub(crate) fn all(&self) -> &[String] {
        &self.names
    }
}

/// A longer trim becomes several: the length of an operation has 32 bits.
const LONGEST: u64 = 3 << 30;
/// No file or device has an offset beyond it.
const FARTHEST: u64 = 1 << 62;
/// Parts of one trim.
const MOST_PARTS: u64 = 1 << 20;

/// What a line or record gives before it is checked.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Raw {
    pub(crate) at: Nanos,
    pub(crate) took: Option<Nanos>,
    pub(crate) direction: Direction,
    pub(crate) offset: u64,
    pub(crate) len: u64,
    pub(crate) target: u32,
}

/// The operation, checked; `rest` takes what of a long trim is left, which follows it.
pub(crate) fn checked(
    raw: Option<Raw>,
    rest: &mut Option<Raw>,
) -> Result<Option<Operation>, String> {
    let Some(raw) = raw else {
        return Ok(None);
    };
    let Raw { direction, .. } = raw;
    let (offset, len) = match direction {
        Direction::Sync => (0, 0),
        _ => (raw.offset, raw.len),
    };
    if offset.checked_add(len).is_none_or(|end| end > FARTHEST) {
        return Err(format!("offset {offset} is beyond the end of any device"));
    }
    let most = match direction {
        Direction::Trim => LONGEST * MOST_PARTS,
        _ => 1 << 30,
    };
    if direction != Direction::Sync && !(1..=most).contains(&len) {
        return Err(format!(
            "{len} bytes: a read or write moves from 1 byte to 1 GiB, a trim at least 1 byte"
        ));
    }
    let part = len.min(LONGEST);
    *rest = (len > part).then(|| Raw {
        offset: offset + part,
        len: len - part,
        ..raw
    });
    Ok(Some(Operation {
        at: raw.at,
        took: raw.took,
        offset,
        len: part as u32,
        target: raw.target,
        direction,
    }))
}
