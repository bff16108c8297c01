//! In: recorded operations in any known format, as bytes or a reader; tables of rates.
//! Out: the operations in order of time, statistics of the load, and a study with a load like it; the
//! rates of a volume.
//! Never: opens files or devices; it reads and writes only through what it is given.
//!
//! ```text
//!   iolog, blktrace, blkparse, perf, ─▶ Source ─▶ Sorted ─▶ Merged ─┬─▶ Stored    the own format
//!   biosnoop, xperf, vscsi, tables     one operation after another  ├─▶ Character what the load is like
//!                                                                   └─▶ Model     a study like it
//!   iolog, blktrace ─▶ read ─▶ Trace: all operations, for a replay
//!   operations as they were issued ─▶ iolog::render
//! ```

#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_macros))]

mod bytes;
mod decimal;
mod lines;
mod operation;

pub mod blktrace;
pub mod completions;
pub mod csv;
pub mod iolog;
pub mod kernel_text;
mod paired;
mod vscsi;

pub mod character;
mod dependent;
pub mod format;
mod merged;
pub mod model;
pub mod prepared;
pub mod rates;
mod selected;
mod sorted;
pub mod stored;

#[cfg(test)]
mod testing;

pub use kernel_text::Moment;
pub use merged::Merged;
pub use operation::{Clock, Operation, Source};
pub use selected::{Selected, Selection};
pub use sorted::Sorted;

use blocklab_units::Nanos;
use blocklab_workload::{Adapted, Direction, Replayed, TraceChanges, TraceFile};

/// A trace that is in memory as a whole, for a replay.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Trace {
    /// The files, in the order in which they were added.
    pub files: Vec<String>,
    /// The operations, in order.
    pub operations: Vec<Replayed>,
    /// Whether the operations have no times of their own, as in version 2 of fio's format.
    pub is_untimed: bool,
    /// Number of `wait` lines of version 2 without their fourth word, which fio 3.33 skips, too.
    pub passed_over: u32,
    /// The file from which it was read; `None` for a trace that is not in a file yet.
    pub source: Option<TraceFile>,
    /// How many operations were changed, and how.
    pub adapted: Adapted,
}

/// How far into a file the operations of a trace reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Extent {
    /// End of the last byte of any operation; `None` without operations.
    pub used: Option<u64>,
    /// End of the last byte that is written.
    pub written: Option<u64>,
}

/// What is wrong with a trace, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TraceError {
    /// A line, counted from 1, is invalid.
    #[error("line {0}: {1}")]
    Line(usize, String),
    /// The record that begins at this byte is invalid.
    #[error("byte {0}: {1}")]
    Byte(usize, String),
    /// The file is neither text nor a trace of blktrace or in blocklab's own format.
    #[error("neither an iolog, which is text, nor a trace of blktrace or of blocklab")]
    NoText,
    /// Operations are further out of order than can be sorted in memory.
    #[error(
        "operation {number} was issued {late} before one that is in its place already: only {window} \
         operations are sorted in memory; sort the file by its time first (a table with commas whose \
         first column is the time: `sort -t, -k1,1n`)"
    )]
    Unsorted {
        /// The operation, counted from 1.
        number: u64,
        /// How much earlier it was issued than the last one that was given out in order.
        late: Nanos,
        /// Operations that are sorted in memory.
        window: usize,
    },
    /// Reading has failed.
    #[error("cannot be read: {0}")]
    Read(String),
    /// The user must decide something or fix the file; the text says what.
    #[error("{0}")]
    Ask(String),
}

impl TraceError {
    /// An error of the operating system while reading.
    pub(crate) fn read(why: &std::io::Error) -> Self {
        Self::Read(why.to_string())
    }
}

/// Reads a whole trace of blktrace, of blocklab's own format or of fio's iolog. `name_of` gives the
/// path of a device by its major and minor number.
///
/// # Errors
/// When something in the trace is invalid; the error has the line or byte.
pub fn read(bytes: &[u8], name_of: &dyn Fn(u32, u32) -> String) -> Result<Trace, TraceError> {
    if blktrace::is_blktrace(bytes) {
        return blktrace::parse(bytes, name_of);
    }
    if bytes.starts_with(&stored::MAGIC) {
        return Trace::from_source(&mut stored::Reader::new(bytes)?);
    }
    // An iolog has no magic number, so any other text is taken for one.
    iolog::parse(std::str::from_utf8(bytes).map_err(|_| TraceError::NoText)?)
}

/// Reads a trace again that was read and changed before, and changes it in the same way. The names of
/// devices are not looked up; they are known from the first reading.
///
/// # Errors
/// When something in the trace is invalid; the error has the line or byte.
pub fn read_again(source: &TraceFile, bytes: &[u8]) -> Result<Trace, TraceError> {
    let mut trace = read(bytes, &|_, _| String::new())?;
    trace.change(&source.changes);
    Ok(trace)
}

/// Whether these operations are the ones that [`read_again`] gives. It neither sorts them by time nor
/// knows other formats, as [`format::Format::open`] does.
pub fn gives_again(source: &TraceFile, bytes: &[u8], operations: &[Replayed]) -> bool {
    read_again(source, bytes).is_ok_and(|trace| trace.operations == operations)
}

/// A recorded time at this speed in per cent of the recorded one; 0 is taken for 1 %.
pub(crate) fn at_speed(at: Nanos, percent: u64) -> Nanos {
    let at = u128::from(at.0) * 100 / u128::from(percent.max(1));
    Nanos(u64::try_from(at).unwrap_or(u64::MAX))
}

/// In nanoseconds.
const SECOND: u64 = 1_000_000_000;

/// Most operations of a trace, because all of them are held in memory.
const MAX_OPERATIONS: usize = 50_000_000;

impl Trace {
    /// Applies changes to the operations. It must be called only once: speed and scale would multiply.
    pub fn change(&mut self, changes: &TraceChanges) {
        let all = self.operations.len();
        self.operations
            .retain(|operation| !changes.skip.contains(&operation.direction));
        self.adapted.dropped += (all - self.operations.len()) as u64;
        for operation in &mut self.operations {
            if !self.is_untimed {
                operation.at = at_speed(operation.at, changes.speed_percent);
            }
            let scaled = operation.offset / changes.scale.max(1);
            self.adapted.folded += u64::from(scaled != operation.offset);
            operation.offset = match changes.align {
                0 => scaled,
                align => scaled & !(align - 1),
            };
            self.adapted.rounded += u64::from(operation.offset != scaled);
            if changes.to_one_target {
                operation.target = 0;
            }
        }
    }

    /// All operations of a source, and the names of its devices.
    fn from_source(source: &mut dyn Source) -> Result<Self, TraceError> {
        let mut trace = Self::default();
        while let Some(operation) = source.next()? {
            trace.push(&operation)?;
        }
        trace.files = source.targets().to_vec();
        Ok(trace)
    }

    /// Adds an operation behind the others.
    fn push(&mut self, operation: &Operation) -> Result<(), TraceError> {
        if self.operations.len() == MAX_OPERATIONS {
            let why = format!("the trace has more than {MAX_OPERATIONS} operations");
            return Err(TraceError::Ask(why));
        }
        self.operations.push(Replayed {
            at: operation.at,
            target: operation.target,
            direction: operation.direction,
            len: operation.len,
            offset: operation.offset,
        });
        Ok(())
    }

    /// How far the operations reach into each file, in the order of [`Trace::files`].
    pub fn extents(&self) -> Vec<Extent> {
        let mut extents = vec![Extent::default(); self.files.len()];
        for operation in &self.operations {
            let Some(extent) = extents.get_mut(operation.target as usize) else {
                continue;
            };
            let end = Some(operation.offset + u64::from(operation.len));
            extent.used = extent.used.max(end);
            if operation.direction == Direction::Write {
                extent.written = extent.written.max(end);
            }
        }
        extents
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_format_is_read_and_tells_how_far_it_reaches() {
        let text = "fio version 2 iolog\na add\nb add\na write 4096 4096\na read 65536 512\n";
        let trace = read(text.as_bytes(), &|_, _| String::new()).expect("a sound trace");
        let written = Extent {
            used: Some(66_048),
            written: Some(8192),
        };
        assert_eq!(trace.extents(), [written, Extent::default()]);
        let foreign = read(&[0xff, 0xfe], &|_, _| String::new());
        assert_eq!(foreign, Err(TraceError::NoText));
    }

    /// The story: the trace of two jobs was replayed in order of time, and `--again` issued the operations of
    /// one after those of the other, 1.5 s late.
    #[test]
    fn a_trace_that_was_sorted_is_not_read_again_in_the_same_order() {
        let source = TraceFile {
            path: "a.iolog".to_owned(),
            sha256: String::new(),
            changes: TraceChanges {
                skip: Vec::new(),
                scale: 1,
                align: 0,
                speed_percent: 100,
                to_one_target: true,
            },
        };
        let check = |text: &str, expected: bool| {
            let mut sorted = Sorted::new(iolog::Iolog::new(text.as_bytes()));
            let trace = Trace::from_source(&mut sorted).expect("a sound trace");
            let is_same = gives_again(&source, text.as_bytes(), &trace.operations);
            assert_eq!(is_same, expected, "{text}");
        };
        let one = "fio version 3 iolog\n0 a add\n1 a read 0 512\n9 a read 512 512\n";
        check(one, true);
        check(&one.repeat(2), false);
    }

    /// A trim of more than 1 GiB was refused, and traces of real machines have them.
    #[test]
    fn a_trim_may_be_long_and_is_then_several() {
        let read = |line: &str| {
            let text = format!("fio version 2 iolog\na add\na {line}\n");
            super::read(text.as_bytes(), &|_, _| String::new())
        };
        let parts = |line: &str| {
            let trace = read(line).expect(line);
            let parts = trace.operations.iter();
            parts.map(|op| (op.offset, op.len)).collect::<Vec<_>>()
        };
        let (two, three) = (2 << 30, 3 << 30);
        assert_eq!(parts("trim 4096 2147483648"), [(4096, two)]);
        let long = parts("trim 0 7516192768");
        assert_eq!(long, [(0, three), (3 << 30, three), (6 << 30, 1 << 30)]);
        assert!(read("read 0 2147483648").is_err());
        // Each part called for the next one, until the stack was full.
        let longest = parts("trim 0 300000000000000");
        assert_eq!(longest.len(), 93_133);
        assert!(read("trim 0 1000000000000000000").is_err());
        assert!(read("trim 0 0").is_err());
    }
}
