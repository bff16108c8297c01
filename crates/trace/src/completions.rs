//! In: the output of biosnoop (bcc) or `xperf -a diskio`: a line for each completion. Out: operations,
//! each with the time of its issue.
//!
//! ```text
//!   2.500137 postgres 2211 nvme1n1 W 4194304 8192 0.42        seconds ... sector, bytes, milliseconds
//!   DiskWrite, 25013, sqlservr.exe (1204), 1312, 2, 0x1000, 0x0040000000, 0x00002000, 412, 0, ...
//! ```

use std::io::BufRead;

use blocklab_units::{Nanos, SECTOR};
use blocklab_workload::Direction;

use crate::csv::{Words, direction, letters};
use crate::decimal::{time, whole};
use crate::lines::{Lines, shown, words};
use crate::operation::{Names, Raw, RawSource, Split};
use crate::paired::remark_on_lost;
use crate::{Clock, SECOND, TraceError};

/// In ns, the units of columns: biosnoop has TIME in seconds and LAT in milliseconds, xperf has all times
/// in microseconds.
const MILLISECOND: u64 = 1_000_000;
const MICROSECOND: u64 = 1_000;

/// The program that wrote a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CompletionText {
    /// biosnoop of bcc or libbpf-tools.
    Biosnoop,
    /// `xperf -a diskio`, or its dump as CSV.
    Xperf,
}

/// Reads a text of completions.
pub struct Completions<R> {
    lines: Lines<R>,
    kind: CompletionText,
    /// The titles of xperf's columns: of reads and writes, and of flushes.
    titles: [Vec<String>; 2],
    names: Names,
    /// Whether biosnoop's table has the column QUE.
    has_queue: bool,
    /// Number of events that biosnoop has lost.
    lost: u64,
}

impl<R: BufRead> Completions<R> {
    /// A text of this kind.
    pub fn new(input: R, kind: CompletionText) -> Split<Self> {
        Split::new(Self {
            lines: Lines::new(input),
            kind,
            titles: Default::default(),
            names: Names::default(),
            has_queue: false,
            lost: 0,
        })
    }
}

/// Reads a line of biosnoop; `None` for a heading, a message and a command on no blocks. The columns are
/// counted from the right (LAT, \[QUE\], BYTES, SECTOR, T, DISK, PID), because names of processes contain
/// blanks. What was issued before the first completion counts as issued with it, at 0.
fn biosnoop(
    line: &[u8],
    has_queue: &mut bool,
    lost: &mut u64,
    names: &mut Names,
) -> Result<Option<Raw>, String> {
    let words: Vec<&[u8]> = words(line).collect();
    if words.first().is_some_and(|word| word.starts_with(b"TIME")) {
        if !words.contains(&&b"SECTOR"[..]) {
            return Err(
                "this biosnoop prints no sectors (bpftrace's does not): there are rates and \
                 latencies in it, but nothing to replay; record with `blocklab trace record`"
                    .to_owned(),
            );
        }
        *has_queue = words.iter().any(|word| word.starts_with(b"QUE"));
        return Ok(None);
    }
    if words.first() == Some(&&b"lost"[..]) || words.first() == Some(&&b"Possibly"[..]) {
        let number = words.iter().find_map(|word| whole(word, "count").ok());
        *lost += number.unwrap_or(1);
        return Ok(None);
    }
    let time_columns = 1 + usize::from(*has_queue);
    let end = words.len().saturating_sub(time_columns);
    // TIME, the parts of COMM, PID, DISK, T, SECTOR, BYTES.
    let ([at, _, _, .., disk, kind, sector, bytes], Some(latency)) = (&words[..end], words.last())
    else {
        return Err(format!(
            "{} columns, and biosnoop prints {} or more",
            words.len(),
            7 + time_columns
        ));
    };
    let at = time(at, SECOND, "TIME")?;
    let took = time(latency, MILLISECOND, "LAT")?;
    // A command such as those of smartctl, or one that resets a zone, which is on no blocks.
    if kind.starts_with(b"N") || kind.starts_with(b"Z") && letters(kind).is_none() {
        return Ok(None);
    }
    let disk = std::str::from_utf8(disk).map_err(|_| "the disk is no text".to_owned())?;
    let len = whole(bytes, "BYTES")?;
    // What moves no data is a flush. Its sector is -1 in some versions.
    let (direction, offset) = if len == 0 {
        (Direction::Sync, 0)
    } else {
        let sector = whole(sector, "SECTOR")?;
        let offset = sector
            .checked_mul(SECTOR)
            .ok_or("the SECTOR is beyond the end of any device")?;
        (direction(kind, Words::Letters)?, offset)
    };
    let raw = Raw {
        at: Nanos(at.saturating_sub(took)),
        took: Some(Nanos(took)),
        direction,
        offset,
        len,
        target: names.number(disk)?,
    };
    raw.checked().map(Some)
}

/// Reads a line of xperf; `None` for lines about something else. The heading of the file names the
/// columns for each kind of line.
fn xperf(
    line: &[u8],
    titles: &mut [Vec<String>; 2],
    names: &mut Names,
) -> Result<Option<Raw>, String> {
    let fields: Vec<&[u8]> = line
        .split(|byte| *byte == b',')
        .map(<[u8]>::trim_ascii)
        .collect();
    let first = fields.first().copied().unwrap_or_default();
    let direction = match first {
        b"DiskRead" => Direction::Read,
        b"DiskWrite" => Direction::Write,
        b"DiskFlush" => Direction::Sync,
        _ => return Ok(None),
    };
    let is_flush = direction == Direction::Sync;
    let titles = &mut titles[usize::from(is_flush)];
    if fields.contains(&&b"TimeStamp"[..]) {
        *titles = fields.iter().map(|title| shown(title)).collect();
        return Ok(None);
    }
    if titles.is_empty() && !is_flush {
        return Err(
            "no head (BeginHeader) names the columns before the first operation".to_owned(),
        );
    }
    let field = |names: &[&str]| {
        let place = titles
            .iter()
            .position(|title| names.contains(&title.as_str()))
            .ok_or_else(|| format!("the head has no column {}", names[0]))?;
        let field = fields.get(place).copied();
        field.ok_or_else(|| format!("column {}, {}, is missing", place + 1, names[0]))
    };
    let disk = field(&["DiskNum", "Disk"]).map_or_else(
        |_| "disk".to_owned(),
        |disk| format!("disk {}", shown(disk)),
    );
    let target = names.number(&disk)?;
    let elapsed = field(&["ElapsedTime"]).and_then(|text| time(text, MICROSECOND, "ElapsedTime"));
    // A line of a flush has no place, and in some files neither a heading nor more than its time.
    let (at, took, offset, len) = if is_flush {
        let at = fields.get(1).copied().unwrap_or_default();
        (at, elapsed.ok(), 0, 0)
    } else {
        let offset = whole(field(&["ByteOffset"])?, "ByteOffset")?;
        let len = whole(field(&["IOSize", "Size"])?, "IOSize")?;
        (field(&["TimeStamp"])?, Some(elapsed?), offset, len)
    };
    let at = time(at, MICROSECOND, "TimeStamp")?;
    let raw = Raw {
        at: Nanos(at.saturating_sub(took.unwrap_or(0))),
        took: took.map(Nanos),
        direction,
        offset,
        len,
        target,
    };
    raw.checked().map(Some)
}

impl<R: BufRead> RawSource for Completions<R> {
    /// The operation of the next line that has one.
    fn next_raw(&mut self) -> Result<Option<Raw>, TraceError> {
        loop {
            if self.lines.next()?.is_none() {
                return Ok(None);
            }
            let line = self.lines.line();
            if line.trim_ascii().is_empty() {
                continue;
            }
            let read = match self.kind {
                CompletionText::Biosnoop => {
                    biosnoop(line, &mut self.has_queue, &mut self.lost, &mut self.names)
                }
                CompletionText::Xperf => xperf(line, &mut self.titles, &mut self.names),
            };
            let read = read.map_err(|why| TraceError::Line(self.lines.number(), why))?;
            if let Some(raw) = read {
                return Ok(Some(raw));
            }
        }
    }

    fn targets(&self) -> &[String] {
        self.names.all()
    }

    fn clock(&self) -> Clock {
        Clock::Recording
    }

    fn remarks(&self) -> Vec<String> {
        remark_on_lost(self.lost).into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Source;
    use crate::testing::{all, fault};

    #[test]
    fn biosnoop_is_read_from_the_right() {
        let text = "TIME(s) COMM PID DISK T SECTOR BYTES QUE(ms) LAT(ms)\n\
                    2.500137 my prog 2211 nvme1n1 W 4194304 8192 0.01 0.42\n\
                    lost 7 events\n";
        let mut events = Completions::new(text.as_bytes(), CompletionText::Biosnoop);
        let got = all(&mut events);
        assert_eq!(
            (got[0].at, got[0].took),
            (Nanos(2_499_717_000), Some(Nanos(420_000)))
        );
        assert_eq!((got[0].offset, got[0].len), (1 << 31, 8192));
        assert_eq!(events.targets(), ["nvme1n1"]);
        assert_eq!(events.remarks(), ["7 events were lost while recording"]);
        let own = "TIME(ms) MAJOR MINOR COMM PID LAT(ms)\n";
        let error = fault(&mut Completions::new(
            own.as_bytes(),
            CompletionText::Biosnoop,
        ));
        assert!(error.contains("no sectors"), "{error}");
    }

    /// The story: libbpf's biosnoop prints the sector of a flush as -1, for which the file was refused, as
    /// it was for a command of smartctl.
    #[test]
    fn biosnoop_prints_flushes_and_commands_without_a_place() {
        let text = "TIME(s)     COMM           PID     DISK    T    SECTOR     BYTES   LAT(ms)\n\
                    0.002000    jbd2/sda1-8    300     sda     FF   -1         0       1.200\n\
                    0.003000    smartctl       301     sda     N    0          512     0.100\n\
                    0.010000    jbd2/sda1-8    300     sda     WS   4096       4096    0.200\n";
        let got = all(&mut Completions::new(
            text.as_bytes(),
            CompletionText::Biosnoop,
        ));
        let kinds: Vec<_> = got.iter().map(|op| (op.direction, op.offset)).collect();
        assert_eq!(kinds, [(Direction::Sync, 0), (Direction::Write, 2 << 20)]);
    }

    #[test]
    fn xperf_is_read_by_its_head() {
        let text = "BeginHeader\r\n\
            DiskWrite, TimeStamp, Process Name ( PID), ThreadID, CPU, IrpPtr, ByteOffset, IOSize, ElapsedTime, DiskNum\r\n\
            EndHeader\r\n\
            DiskWrite, 25013, sqlservr.exe (1204), 1312, 2, 0x1000, 0x0040000000, 0x00002000, 412, 0\r\n\
            DiskFlush, 25500, x, 1\r\n";
        let got = all(&mut Completions::new(
            text.as_bytes(),
            CompletionText::Xperf,
        ));
        assert_eq!(
            (got[0].at, got[0].took),
            (Nanos(24_601_000), Some(Nanos(412_000)))
        );
        assert_eq!((got[0].offset, got[0].len), (1 << 30, 8192));
        assert_eq!(got[1].direction, Direction::Sync);
    }

    /// The story: the flushes of a recording of one disk were those of a second device, called `disk`. A
    /// replay refused the recording for having several devices, and with `--device` it lost the flushes.
    #[test]
    fn a_flush_of_xperf_is_of_its_disk() {
        let text = "BeginHeader\r\n\
            DiskRead, TimeStamp, Process Name ( PID), ThreadID, CPU, IrpPtr, ByteOffset, IOSize, ElapsedTime, DiskNum\r\n\
            DiskFlush, TimeStamp, Process Name ( PID), ThreadID, CPU, IrpPtr, ElapsedTime, DiskNum\r\n\
            EndHeader\r\n\
            DiskRead, 25013, sqlservr.exe (1204), 1312, 2, 0x1000, 0x0040000000, 0x00002000, 412, 1\r\n\
            DiskFlush, 25500, sqlservr.exe (1204), 1312, 2, 0x1000, 300, 1\r\n";
        let mut events = Completions::new(text.as_bytes(), CompletionText::Xperf);
        let got = all(&mut events);
        assert_eq!(events.targets(), ["disk 1"]);
        assert_eq!(
            (got[1].direction, got[1].at, got[1].took),
            (Direction::Sync, Nanos(25_200_000), Some(Nanos(300_000)))
        );
    }
}
