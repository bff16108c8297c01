//! The operation that this crate works with, the trait of all readers, and the check of what they read.
//!
//! In: operations as a format has them. Out: valid [`Operation`]s, one after the other.

use std::collections::HashMap;

use blocklab_units::Nanos;
use blocklab_workload::Direction;

use crate::TraceError;

/// One recorded operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Operation {
    /// When it was issued, counted from the moment that [`Clock`] tells.
    pub at: Nanos,
    /// Its latency, if the format has it.
    pub took: Option<Nanos>,
    /// Offset in bytes.
    pub offset: u64,
    /// Length in bytes; 0 for a flush.
    pub len: u32,
    /// Index of its device in [`Source::targets`].
    pub target: u32,
    /// The kind of operation; a sync is a flush.
    pub direction: Direction,
}

impl Operation {
    /// An operation on the first device, of which no latency is known.
    pub const fn new(at: Nanos, direction: Direction, offset: u64, len: u32) -> Self {
        Self {
            at,
            took: None,
            offset,
            len,
            target: 0,
            direction,
        }
    }

    /// The offset of the first byte after it.
    pub const fn end(&self) -> u64 {
        self.offset + self.len as u64
    }

    /// The same, issued later by this time.
    pub(crate) const fn later(self, by: Nanos) -> Self {
        Self {
            at: self.at.saturating_add(by),
            ..self
        }
    }

    /// Whether its length is one that [`Raw::checked`] and [`Raw::first_part`] give.
    pub(crate) fn has_possible_len(&self) -> bool {
        let len = u64::from(self.len);
        match self.direction {
            Direction::Sync => len == 0,
            Direction::Trim => (1..=LONGEST_TRIM).contains(&len),
            Direction::Read | Direction::Write => (1..=LONGEST_TRANSFER).contains(&len),
        }
    }
}

/// The moment from which the times of a trace are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Clock {
    /// The beginning of the recording.
    #[default]
    Recording,
    /// A moment that the format does not tell, such as the boot of a machine. The first operation is
    /// taken as the beginning.
    Unknown,
    /// 1970-01-01 UTC. The first operation is taken as the beginning, and its date is kept.
    Unix,
}

/// A reader of a trace, which gives one operation after the other and never holds the whole trace.
pub trait Source {
    /// The next operation; `None` at the end.
    ///
    /// # Errors
    /// When the trace is invalid; the error has the line or byte. Do not call it again after that.
    fn next(&mut self) -> Result<Option<Operation>, TraceError>;

    /// The names of the devices in the operations so far.
    fn targets(&self) -> &[String];

    /// The moment from which times are counted. It is right once an operation was read.
    fn clock(&self) -> Clock;

    /// When the recording began, in ns since 1970, if that is known.
    fn begins(&self) -> Option<u64> {
        None
    }

    /// What the reader has left out or assumed, one sentence each. It is complete at the end.
    fn remarks(&self) -> Vec<String>;
}

/// A reader of operations as its format has them, of which some may be longer than an [`Operation`].
pub(crate) trait RawSource {
    /// The next of them, [checked](Raw::checked), as [`Source::next`] gives operations.
    fn next_raw(&mut self) -> Result<Option<Raw>, TraceError>;

    /// As [`Source::targets`].
    fn targets(&self) -> &[String];

    /// As [`Source::clock`].
    fn clock(&self) -> Clock;

    /// As [`Source::remarks`].
    fn remarks(&self) -> Vec<String>;
}

/// The operations of such a reader, with those that are too long in parts.
pub struct Split<S> {
    pub(crate) source: S,
    /// What is left of one that is given in parts.
    rest: Option<Raw>,
}

impl<S> Split<S> {
    pub(crate) const fn new(source: S) -> Self {
        Self { source, rest: None }
    }
}

impl<S: RawSource> Source for Split<S> {
    fn next(&mut self) -> Result<Option<Operation>, TraceError> {
        let raw = match self.rest.take() {
            Some(rest) => Some(rest),
            None => self.source.next_raw()?,
        };
        Ok(raw.map(|raw| raw.first_part(&mut self.rest)))
    }

    fn targets(&self) -> &[String] {
        self.source.targets()
    }

    fn clock(&self) -> Clock {
        self.source.clock()
    }

    fn remarks(&self) -> Vec<String> {
        self.source.remarks()
    }
}

/// Numbers the names of devices in the order in which they first come.
#[derive(Debug, Default)]
pub(crate) struct Names {
    names: Vec<String>,
    index: HashMap<String, u32>,
    /// The number that was given last.
    last: u32,
}

/// Most devices of a trace. With more, another column was taken for the device.
pub(crate) const MAX_TARGETS: usize = 100_000;

impl Names {
    /// The number of a name, which is added if it is new.
    pub(crate) fn number(&mut self, name: &str) -> Result<u32, String> {
        // Most operations are on the same device as the one before, which spares them the map.
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
        if self.names.len() == MAX_TARGETS {
            return Err(format!(
                "more than {MAX_TARGETS} devices: is `{name}` the name of one?"
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

/// Most bytes of one read or write, because a replay has a buffer for each operation in flight.
pub(crate) const LONGEST_TRANSFER: u64 = 1 << 30;
/// Most bytes of one trim, because a length has 32 bits; a longer one is split.
const LONGEST_TRIM: u64 = 3 << 30;
/// No file or device has a larger offset.
pub(crate) const MAX_OFFSET: u64 = 1 << 62;
/// Most parts of one trim; a longer one is an error in the trace.
const MAX_PARTS: u64 = 1 << 20;

/// An operation as a line or record has it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Raw {
    pub(crate) at: Nanos,
    pub(crate) took: Option<Nanos>,
    pub(crate) direction: Direction,
    pub(crate) offset: u64,
    /// Length in bytes; a trim may be longer than an [`Operation`] can be.
    pub(crate) len: u64,
    pub(crate) target: u32,
}

impl Raw {
    /// The same, if a device can have such an operation. A flush loses its offset and length: it is of
    /// the whole device, whatever numbers the trace has for it.
    ///
    /// # Errors
    /// When its length or end is impossible.
    pub(crate) fn checked(mut self) -> Result<Self, String> {
        // A trim transfers no bytes, so no buffer limits its length.
        let longest = match self.direction {
            Direction::Sync => {
                (self.offset, self.len) = (0, 0);
                return Ok(self);
            }
            Direction::Trim => LONGEST_TRIM * MAX_PARTS,
            Direction::Read | Direction::Write => LONGEST_TRANSFER,
        };
        let Self { offset, len, .. } = self;
        if offset.checked_add(len).is_none_or(|end| end > MAX_OFFSET) {
            return Err(format!("offset {offset} is beyond the end of any device"));
        }
        if !(1..=longest).contains(&len) {
            return Err(format!(
                "{len} bytes: a read or write moves from 1 byte to 1 GiB, a trim at least 1 byte"
            ));
        }
        Ok(self)
    }

    /// The operation of something that was [checked](Raw::checked). A trim that is too long is split: this
    /// is its first part, and `rest` gets what comes after it.
    pub(crate) fn first_part(self, rest: &mut Option<Self>) -> Operation {
        let part = self.len.min(LONGEST_TRIM);
        *rest = (self.len > part).then(|| Self {
            offset: self.offset + part,
            len: self.len - part,
            ..self
        });
        Operation {
            at: self.at,
            took: self.took,
            offset: self.offset,
            len: part as u32,
            target: self.target,
            direction: self.direction,
        }
    }
}
