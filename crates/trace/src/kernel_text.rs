//! In: what `perf script`, tracefs and `blkparse` print of the kernel's block events. Out: operations.
//!
//! ```text
//!   postgres 2211 [001] 5120.250137: block:block_rq_issue: 259,0 WS 8192 () 4194304 + 16 [postgres]
//!   postgres-2211 [001] d..1. 5120.250137: block_rq_issue: 259,0 WS 8192 () 4194304 + 16 be,0,4 [postgres]
//!   8,0 1 142 0.000412350 2211 D WS 2459160 + 16 [postgres]
//! ```
//!
//! Names of processes may contain blanks. So a line is read from the name of the event on, and the time
//! is the last word before that.

use std::io::BufRead;

use blocklab_units::{Nanos, SECTOR};
use blocklab_workload::Direction;

use crate::csv::letters;
use crate::decimal::{time, whole};
use crate::lines::{Lines, shown, words};
use crate::operation::{LONGEST_TRANSFER, Names, Raw, RawSource, Split};
use crate::paired::{Paired, Request, remark_on_lost};
use crate::{Clock, SECOND, TraceError};

/// The program that wrote a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KernelText {
    /// `perf script`, or `trace` and `trace_pipe` of tracefs.
    Events,
    /// `blkparse` with its own columns.
    Blkparse,
}

/// Which moment of a request counts as its arrival. Its latency is counted from there, too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Moment {
    /// When the kernel handed it to the driver.
    #[default]
    Issue,
    /// When the application queued it.
    Queue,
}

/// Reads a text of block events.
pub struct Events<R> {
    lines: Lines<R>,
    kind: KernelText,
    moment: Moment,
    names: Names,
    /// Operations that wait for their completion.
    paired: Paired,
    /// Number of events that the recorder has lost.
    lost: u64,
}

/// What a line reports about a request.
#[derive(Debug, Clone, Copy)]
enum Event {
    Arrives,
    /// The driver has no room for it, and gives it back to be issued again.
    IsRequeued,
    Completes,
}

/// A line about a request.
struct Line<'a> {
    event: Event,
    /// Time in ns.
    at: u64,
    device: &'a [u8],
    /// The kernel's letters for the kind of request.
    rwbs: &'a [u8],
    sector: u64,
    bytes: u64,
}

impl Line<'_> {
    /// The request that the line is about; `None` for one that neither moves data nor flushes, and for
    /// the end of a write with a flush, whose data was completed before.
    fn request(&self) -> Option<Request> {
        if self.bytes > 0 {
            // A command that is passed through completes with its bytes at the sector -1.
            (self.sector < u64::MAX).then_some(Request::Data(self.sector))
        } else if !self.rwbs.contains(&b'F') || self.rwbs.starts_with(b"Z") {
            // The `F` behind a `Z` finishes a zone.
            None
        } else if self.rwbs.contains(&b'W') {
            Some(Request::EmptyWrite)
        } else {
            Some(Request::Flush)
        }
    }
}

impl<R: BufRead> Events<R> {
    /// A text of this kind.
    pub fn new(input: R, kind: KernelText, moment: Moment) -> Split<Self> {
        Split::new(Self {
            lines: Lines::new(input),
            kind,
            moment,
            names: Names::default(),
            paired: Paired::default(),
            lost: 0,
        })
    }
}

/// Adds a line to the requests that wait for their completion, or completes one of them.
fn pair(names: &mut Names, paired: &mut Paired, line: &Line<'_>) -> Result<(), String> {
    let target = match std::str::from_utf8(line.device) {
        Ok(name) => names.number(name)?,
        Err(_) => return Err("the device is no text".to_owned()),
    };
    let Some(request) = line.request() else {
        return Ok(());
    };
    match line.event {
        Event::Completes => {
            paired.complete(target, request, Nanos(line.at));
            return Ok(());
        }
        Event::IsRequeued => {
            paired.requeue(target, request);
            return Ok(());
        }
        Event::Arrives => {}
    }
    let direction = match request {
        // Older kernels have no letter but `N` for zone appends and for writes of zeros, and the same for
        // commands that are passed through, which have no sectors. Only zeros can be longer than a
        // transfer: those are left out.
        Request::Data(_) if line.rwbs.starts_with(b"N") || line.rwbs.starts_with(b"WZ") => {
            (line.bytes <= LONGEST_TRANSFER).then_some(Direction::Write)
        }
        Request::Data(_) => letters(line.rwbs),
        Request::Flush | Request::EmptyWrite => Some(Direction::Sync),
    };
    let Some(direction) = direction else {
        return Ok(());
    };
    let raw = Raw {
        at: Nanos(line.at),
        took: None,
        direction,
        offset: line.sector.saturating_mul(SECTOR),
        len: line.bytes,
        target,
    };
    paired.issue(request, raw.checked()?);
    Ok(())
}

/// The number in a line such as `CPU:1 [LOST 126000 EVENTS]`.
fn lost_events(line: &[u8]) -> Option<u64> {
    let place = find(line, b"[LOST ")?;
    let rest = &line[place + 6..];
    let end = rest.iter().position(|byte| *byte == b' ')?;
    whole(&rest[..end], "count").ok()
}

/// Where `what` begins in a line.
fn find(line: &[u8], what: &[u8]) -> Option<usize> {
    line.windows(what.len()).position(|window| window == what)
}

/// Reads a line of `perf script` or tracefs; `None` for another event or a comment.
fn event_line(line: &[u8]) -> Result<Option<Line<'_>>, String> {
    let known = [
        (&b"block_rq_issue: "[..], Event::Arrives),
        (b"block_rq_requeue: ", Event::IsRequeued),
        (b"block_rq_complete: ", Event::Completes),
    ];
    let mut found = known.iter().filter_map(|(name, event)| {
        let place = find(line, name)?;
        Some((place, &line[place + name.len()..], *event))
    });
    let Some((place, rest, event)) = found.next() else {
        return Ok(None);
    };
    let before = line[..place]
        .strip_suffix(b"block:")
        .unwrap_or(&line[..place]);
    let stamp = before
        .rsplit(u8::is_ascii_whitespace)
        .find(|word| !word.is_empty())
        .and_then(|word| word.strip_suffix(b":"))
        .ok_or("the time before the event is missing")?;
    let at = time(stamp, SECOND, "time")?;
    // The command in parentheses has blanks and digits. The byte count before it is not read: the number
    // of sectors says the same, and is right for discards, too, whose byte count is not their length.
    let (Some(open), Some(close)) = (find(rest, b"("), find(rest, b")")) else {
        return Err("the command in parentheses is missing".to_owned());
    };
    let mut kind = words(&rest[..open]);
    let device = kind.next().ok_or("the device is missing")?;
    let rwbs = kind.next().ok_or("the kind of operation is missing")?;
    let mut place = words(&rest[close + 1..]);
    let mut word = |what: &str| place.next().ok_or_else(|| format!("the {what} is missing"));
    let sector = whole(word("sector")?, "sector")?;
    let sectors = match word("`+`")? {
        b"+" => whole(word("number of sectors")?, "number of sectors")?,
        other => return Err(format!("`{}` is where a `+` should be", shown(other))),
    };
    Ok(Some(Line {
        event,
        at,
        device,
        rwbs,
        sector,
        bytes: sectors.saturating_mul(SECTOR),
    }))
}

/// Reads a line of `blkparse`: device, processor, number, time, process, action, kind, sector +
/// sectors. `None` for an action that is none of an [`Event`].
fn blkparse_line(line: &[u8], moment: Moment) -> Result<Option<Line<'_>>, String> {
    let mut words = words(line);
    let Some(device) = words.next() else {
        return Ok(None);
    };
    if !device.contains(&b',') {
        return Err(format!(
            "`{}` is no device such as 8,0: only the columns that blkparse prints by itself are \
             known, not those of -f",
            shown(device)
        ));
    }
    let mut word = |what: &str| words.next().ok_or_else(|| format!("the {what} is missing"));
    word("processor")?;
    word("number")?;
    let at = time(word("time")?, SECOND, "time")?;
    word("process")?;
    let arrival: &[u8] = match moment {
        Moment::Issue => b"D",
        Moment::Queue => b"Q",
    };
    let event = match word("action")? {
        action if action == arrival => Event::Arrives,
        b"C" => Event::Completes,
        // What an application queues is queued once, however often it is issued.
        b"R" if moment == Moment::Issue => Event::IsRequeued,
        _ => return Ok(None),
    };
    let rwbs = word("kind of operation")?;
    let Some(sector) = words
        .next()
        .filter(|word| word.iter().all(u8::is_ascii_digit))
    else {
        // A flush may have no sector.
        return Ok(Some(Line {
            event,
            at,
            device,
            rwbs,
            sector: 0,
            bytes: 0,
        }));
    };
    let sector = whole(sector, "sector")?;
    let sectors = match words.next() {
        Some(b"+") => {
            let count = words.next().ok_or("the number of sectors is missing")?;
            whole(count, "number of sectors")?
        }
        _ => 0,
    };
    Ok(Some(Line {
        event,
        at,
        device,
        rwbs,
        sector,
        bytes: sectors.saturating_mul(SECTOR),
    }))
}

impl<R: BufRead> RawSource for Events<R> {
    /// The next operation with its completion, if that is known.
    fn next_raw(&mut self) -> Result<Option<Raw>, TraceError> {
        loop {
            // Operations come out in the order of their arrival, each when its completion is known.
            if let Some(raw) = self.paired.ready() {
                return Ok(Some(raw));
            }
            if self.paired.is_over {
                return Ok(None);
            }
            if self.lines.next()?.is_none() {
                self.paired.is_over = true;
                continue;
            }
            let line = self.lines.line();
            if line.starts_with(b"CPU") && self.kind == KernelText::Blkparse {
                // The summary of blkparse follows, and no operation.
                self.paired.is_over = true;
                continue;
            }
            if let Some(lost) = lost_events(line) {
                self.lost += lost;
                continue;
            }
            let read = match self.kind {
                KernelText::Events => event_line(line),
                KernelText::Blkparse => blkparse_line(line, self.moment),
            };
            let read = read.map_err(|why| TraceError::Line(self.lines.number(), why))?;
            if let Some(read) = read {
                pair(&mut self.names, &mut self.paired, &read)
                    .map_err(|why| TraceError::Line(self.lines.number(), why))?;
            }
        }
    }

    fn targets(&self) -> &[String] {
        self.names.all()
    }

    fn clock(&self) -> Clock {
        match self.kind {
            KernelText::Events => Clock::Unknown,
            KernelText::Blkparse => Clock::Recording,
        }
    }

    fn remarks(&self) -> Vec<String> {
        let mut remarks = self.paired.remarks();
        remarks.extend(remark_on_lost(self.lost));
        remarks
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{all, fault};
    use crate::{Operation, Source};

    type Short = (u64, Option<u64>, Direction, u64, u32);

    fn short(text: &str, kind: KernelText) -> Vec<Short> {
        let mut events = Events::new(text.as_bytes(), kind, Moment::Issue);
        let short = |op: Operation| {
            (
                op.at.0,
                op.took.map(|took| took.0),
                op.direction,
                op.offset,
                op.len,
            )
        };
        let mut found: Vec<_> = all(&mut events).into_iter().map(short).collect();
        found.sort_by_key(|op| op.0);
        found
    }

    #[test]
    fn perf_and_tracefs_are_read_and_completions_found() {
        let text = "\
# tracer: nop
postgres 2211 [001] 5120.250137: block:block_rq_issue: 259,0 WS 8192 () 4194304 + 16 [postgres]\r
 my prog-12 [000] d..1. 5120.250200: block_rq_issue: 259,0 R 4096 () 8 + 8 0x2,0,4 [my prog]
 <idle>-0 [001] ..s1. 5120.250300: block_rq_complete: 259,0 R () 8 + 8 be,0,4 [0]
CPU:1 [LOST 12 EVENTS]
 <idle>-0 [001] ..s1. 5120.250400: block_rq_complete: 259,0 WS () 4194304 + 16 none,0,0 [0]
 kworker/0:1H-9 [001] ..s1. 5120.250500: block_rq_issue: 259,0 FF 0 () 0 + 0 none,0,0 [kworker]
";
        use Direction::{Read, Sync, Write};
        assert_eq!(
            short(text, KernelText::Events),
            [
                (5_120_250_137_000, Some(263_000), Write, 1 << 31, 8192),
                (5_120_250_200_000, Some(100_000), Read, 4096, 4096),
                (5_120_250_500_000, None, Sync, 0, 0),
            ]
        );
        let mut events = Events::new(text.as_bytes(), KernelText::Events, Moment::Issue);
        all(&mut events);
        assert_eq!(events.source.lost, 12);
        assert_eq!(events.remarks().len(), 2, "{:?}", events.remarks());
    }

    /// A flush before the commit of a journal, the commit, a flush after it, and a flush alone, as
    /// Linux 6.18 prints them. The story: a flush completes at the sector -1, the request that it belongs
    /// to without a byte at its own; the one found no issue, the other that of an earlier flush, whose
    /// latency grew to seconds.
    #[test]
    fn flushes_complete_with_themselves() {
        let text = "\
 kworker/0:1H-58 [000] ..... 1.000100: block_rq_issue: 7,0 FF 0 () 0 + 0 none,0,0 [kworker/0:1H]
 ksoftirqd/0-14 [000] ..s.. 1.000300: block_rq_complete: 7,0 FF () 18446744073709551615 + 0 none,0,0 [0]
 kworker/0:1H-58 [000] ..... 1.000400: block_rq_issue: 7,0 WSM 4096 () 3938376 + 8 be,0,3 [kworker/0:1H]
 ksoftirqd/1-22 [001] ..s.. 1.000900: block_rq_complete: 7,0 WSM () 3938376 + 8 be,0,3 [0]
 kworker/1:0H-24 [001] ..... 1.001000: block_rq_issue: 7,0 FF 0 () 0 + 0 none,0,0 [kworker/1:0H]
 ksoftirqd/0-14 [000] ..s.. 1.001500: block_rq_complete: 7,0 FF () 18446744073709551615 + 0 none,0,0 [0]
 ksoftirqd/0-14 [000] d.s1. 1.001510: block_rq_complete: 7,0 WSM () 3938376 + 0 be,0,3 [0]
 kworker/1:0H-24 [001] ..... 9.000000: block_rq_issue: 7,0 FF 0 () 0 + 0 none,0,0 [kworker/1:0H]
 ksoftirqd/0-14 [000] ..s.. 9.000100: block_rq_complete: 7,0 FF () 18446744073709551615 + 0 none,0,0 [0]
 ksoftirqd/0-14 [000] ..s.. 9.000110: block_rq_complete: 7,0 FWS () 0 + 0 none,0,0 [0]
";
        let took = short(text, KernelText::Events).into_iter().map(|op| op.1);
        let expected = [200_000, 500_000, 500_000, 100_000].map(Some);
        assert_eq!(took.collect::<Vec<_>>(), expected);
        let mut events = Events::new(text.as_bytes(), KernelText::Events, Moment::Issue);
        all(&mut events);
        assert_eq!(events.remarks(), [""; 0]);
    }

    /// The story: the command of smartctl has blanks and digits, and the first number in it was taken for the
    /// sector: the file was refused. Its end was a completion whose issue was lost. Atomic writes (`U`) were
    /// left out without a word.
    #[test]
    fn commands_are_passed_over_and_atomic_writes_are_writes() {
        let text = "\
 smartctl 11 [001] 1.000000: block:block_rq_issue: 8,0 N 36 (12 00 00 00 24 00) 0 + 0 [smartctl]
 smartctl 11 [001] 1.000100: block:block_rq_complete: 8,0 N (12 00 00 00 24 00) 0 + 0 [0]
 smartctl 11 [001] 1.100000: block:block_rq_complete: 8,0 N (85 08 0e 00) 18446744073709551615 + 1 [0]
 db 12 [001] 2.000000: block:block_rq_issue: 8,0 WSU 16384 () 64 + 32 [(db)]
";
        assert_eq!(
            short(text, KernelText::Events),
            [(2_000_000_000, None, Direction::Write, 32_768, 16_384)]
        );
        let mut events = Events::new(text.as_bytes(), KernelText::Events, Moment::Issue);
        all(&mut events);
        let remarks = events.remarks();
        assert!(
            remarks.len() == 1 && remarks[0].contains("no completion"),
            "{remarks:?}"
        );
    }

    /// The story: a log of appends to zones was a trace without a write. The newest kernels have letters
    /// for the commands of a zone, and the `F` that finishes one is no flush.
    #[test]
    fn an_append_to_a_zone_is_a_write_and_its_other_commands_are_none() {
        let text = "\
 db 12 [001] 1.000000: block:block_rq_issue: 8,0 NS 4096 () 64 + 8 [db]
 db 12 [001] 2.000000: block:block_rq_issue: 8,0 ZAS 4096 () 64 + 8 [db]
 db 12 [001] 3.000000: block:block_rq_issue: 8,0 ZFS 0 () 64 + 0 [db]
 db 12 [001] 4.000000: block:block_rq_issue: 8,0 NS 0 () 64 + 4194304 [db]
";
        let found = short(text, KernelText::Events);
        let found: Vec<_> = found.iter().map(|op| (op.0, op.2)).collect();
        let write = |second: u64| (second * SECOND, Direction::Write);
        assert_eq!(found, [write(1), write(2)]);
    }

    /// The story: flushes were paired at sector 0. The end of a write there was taken for that of an open
    /// flush, and the end of the empty write that had asked for a flush for that of the next one.
    #[test]
    fn the_end_of_another_request_is_not_that_of_a_flush() {
        let text = "\
  8,0    1      1     1.000000000  2211  Q FWS [postgres]
  8,0    1      2     1.000100000     9  D  FN [kworker]
  8,0    1      3     1.000200000  2211  D  WS 0 + 8 [postgres]
  8,0    1      4     1.000300000     0  C  WS 0 + 8 [0]
  8,0    1      5     1.000500000     0  C  FN 0 [0]
  8,0    1      6     1.000600000     9  D  FN [kworker]
  8,0    1      7     1.000610000     0  C FWS 0 [0]
  8,0    1      8     1.000900000     0  C  FN 0 [0]
";
        let read = |moment| {
            let mut events = Events::new(text.as_bytes(), KernelText::Blkparse, moment);
            let found = all(&mut events);
            let took: Vec<_> = found.iter().map(|op| (op.direction, op.took)).collect();
            (took, events.remarks())
        };
        let took = |us: u64| Some(Nanos(us * 1000));
        let (issued, remarks) = read(Moment::Issue);
        assert_eq!(
            issued,
            [
                (Direction::Sync, took(400)),
                (Direction::Write, took(100)),
                (Direction::Sync, took(300))
            ]
        );
        assert_eq!(remarks, [""; 0]);
        let (queued, _) = read(Moment::Queue);
        assert_eq!(queued, [(Direction::Sync, took(610))]);
    }

    /// The story: a request that the driver had no room for was counted each time it was issued, and all but
    /// the first had no completion.
    #[test]
    fn a_request_that_is_issued_again_is_one_operation() {
        let text = "\
  8,0    1      1     1.000000000  2211  D   W 64 + 8 [db]
  8,0    1      2     1.000100000     0  R   W 64 + 8 [0]
  8,0    1      3     1.000200000  2211  D   W 64 + 8 [db]
  8,0    1      4     1.000500000     0  C   W 64 + 8 [0]
  8,0    1      5     2.000000000  2211  D   W 64 + 8 [db]
  8,0    1      6     2.000100000     0  C   W 64 + 8 [0]
";
        let took = short(text, KernelText::Blkparse).into_iter().map(|op| op.1);
        assert_eq!(took.collect::<Vec<_>>(), [Some(500_000), Some(100_000)]);
    }

    /// The story: the line of an error was that of the completion, up to a minute later.
    #[test]
    fn an_impossible_operation_is_reported_with_the_line_of_its_issue() {
        let text = "\
 db 12 [001] 2.000000: block:block_rq_issue: 8,0 W 0 () 64 + 4194304 [db]
 db 12 [001] 3.000000: block:block_rq_complete: 8,0 W () 64 + 4194304 [0]
";
        let mut events = Events::new(text.as_bytes(), KernelText::Events, Moment::Issue);
        let error = fault(&mut events);
        assert!(error.starts_with("line 1: 2147483648 bytes"), "{error}");
    }

    #[test]
    fn blkparse_is_read_up_to_its_summary() {
        let text = "\
  8,0    1      141     0.000401000  2211  Q  WS 2459160 + 16 [postgres]
  8,0    1      142     0.000412350  2211  D  WS 2459160 + 16 [postgres]
  8,0    1      143     0.000900000     0  C  WS 2459160 + 16 [0]
  8,0    1      144     0.001000000     9  D  FN [kworker]
CPU0 (8,0):
 Reads Queued:           0,        0KiB
";
        assert_eq!(
            short(text, KernelText::Blkparse),
            [
                (
                    412_350,
                    Some(487_650),
                    Direction::Write,
                    1_259_089_920,
                    8192
                ),
                (1_000_000, None, Direction::Sync, 0, 0),
            ]
        );
        let mut queue = Events::new(text.as_bytes(), KernelText::Blkparse, Moment::Queue);
        assert_eq!(all(&mut queue)[0].at, Nanos(401_000));
    }

    #[test]
    fn damage_is_reported_with_its_line() {
        let wrong =
            |text: &str, kind| fault(&mut Events::new(text.as_bytes(), kind, Moment::Issue));
        let cut = "# x\na 1 [0] 1.5: block:block_rq_issue: 8,0 R 4096 () 8\n";
        assert_eq!(wrong(cut, KernelText::Events), "line 2: the `+` is missing");
        let own = "R 1 2\n";
        assert!(wrong(own, KernelText::Blkparse).contains("not those of -f"));
    }
}
