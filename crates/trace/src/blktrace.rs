//! In: the binary file that blktrace writes. Out: the requests in it. One record:
//!
//! ```text
//!    0 u32  magic and version      16 u64  sector      32 u32  process     44 u16  error
//!    4 u32  number                 24 u32  bytes       36 u32  device      46 u16  bytes that follow
//!    8 u64  nanoseconds            28 u32  category << 16 | action
//!                                                      40 u32  processor
//! ```
//!
//! Numbers are in the byte order of the machine that wrote them; the magic shows which one.

use std::collections::HashMap;
use std::io::BufRead;

use blocklab_units::{Nanos, SECTOR};
use blocklab_workload::Direction;

use super::{Clock, Moment, Trace, TraceError};
use crate::bytes::fill;
use crate::operation::{Names, Raw, RawSource, Split};
use crate::paired::{Paired, Request};

const MAGIC: u32 = 0x6561_7400;
const VERSION: u32 = 7;
const RECORD: usize = 48;

/// The action of a record about a new request; records with other actions follow its progress.
const QUEUED: u32 = 1;
/// The driver gives the request back, to be issued again.
const REQUEUED: u32 = 6;
/// The request is handed to the driver.
const ISSUED: u32 = 7;
/// The request is complete.
const COMPLETED: u32 = 8;
/// A bit of the action: the number of a control group is the first part of the data that follows.
const IN_CGROUP: u32 = 1 << 8;
/// Bits of the category.
const WRITE: u32 = 1 << 1;
const FLUSH: u32 = 1 << 2;
/// A command that is passed through to the device, such as those of smartctl.
const COMMAND: u32 = 1 << 9;
/// A note, such as the name of a process.
const NOTIFY: u32 = 1 << 10;
const DISCARD: u32 = 1 << 13;

/// Whether a file begins with a record of blktrace.
pub(super) fn is_blktrace(bytes: &[u8]) -> bool {
    Order::detect(bytes).is_some()
}

/// The byte order of a trace's numbers.
#[derive(Clone, Copy)]
enum Order {
    Little,
    Big,
}

impl Order {
    /// The byte order in which the magic number is right; `None`: no record begins here.
    fn detect(record: &[u8]) -> Option<Self> {
        let magic = *record.first_chunk()?;
        if u32::from_le_bytes(magic) & !0xff == MAGIC {
            Some(Self::Little)
        } else if u32::from_be_bytes(magic) & !0xff == MAGIC {
            Some(Self::Big)
        } else {
            None
        }
    }

    /// The bytes of a number, the least significant first.
    fn number<const N: usize>(self, record: &[u8; RECORD], at: usize) -> [u8; N] {
        let mut bytes = std::array::from_fn(|index| record[at + index]);
        if let Self::Big = self {
            bytes.reverse();
        }
        bytes
    }

    fn u32(self, record: &[u8; RECORD], at: usize) -> u32 {
        u32::from_le_bytes(self.number(record, at))
    }

    fn u64(self, record: &[u8; RECORD], at: usize) -> u64 {
        u64::from_le_bytes(self.number(record, at))
    }
}

struct Record {
    version: u32,
    at: u64,
    sector: u64,
    bytes: u32,
    action: u32,
    category: u32,
    device: u32,
    /// Length of the data that follows the record.
    data_len: u16,
}

impl Record {
    /// The fields of a record, by the drawing above.
    fn from_bytes(record: &[u8; RECORD], order: Order) -> Self {
        let category_and_action = order.u32(record, 28);
        Self {
            version: order.u32(record, 0) & 0xff,
            at: order.u64(record, 8),
            sector: order.u64(record, 16),
            bytes: order.u32(record, 24),
            action: category_and_action & 0xffff & !IN_CGROUP,
            category: category_and_action >> 16,
            device: order.u32(record, 36),
            data_len: u16::from_le_bytes(order.number(record, 46)),
        }
    }

    /// The request that a record is about; `None` for one that is on no blocks and flushes none, and for
    /// the end of a write with a flush, whose data was completed before.
    fn request(&self) -> Option<Request> {
        if self.category & (NOTIFY | COMMAND) > 0 {
            None
        } else if self.bytes > 0 {
            Some(Request::Data(self.sector))
        } else if self.category & FLUSH == 0 {
            None
        } else if self.category & WRITE > 0 {
            Some(Request::EmptyWrite)
        } else {
            Some(Request::Flush)
        }
    }

    /// What the request of a record does; `None` for a record about something else.
    fn direction(&self) -> Option<Direction> {
        Some(match self.request()? {
            Request::Flush | Request::EmptyWrite => Direction::Sync,
            // A discard has the bit of a write as well, so it is checked first.
            Request::Data(_) if self.category & DISCARD > 0 => Direction::Trim,
            Request::Data(_) if self.category & WRITE > 0 => Direction::Write,
            Request::Data(_) => Direction::Read,
        })
    }

    /// The operation of its request, whose direction is known; `target` is the number of its device.
    fn raw(&self, at: Nanos, direction: Direction, target: u32) -> Raw {
        Raw {
            at,
            took: None,
            direction,
            offset: self.sector.saturating_mul(SECTOR),
            len: self.bytes.into(),
            target,
        }
    }

    /// Major and minor number of its device.
    const fn device_numbers(&self) -> (u32, u32) {
        (self.device >> 20, self.device & 0xf_ffff)
    }
}

/// Reads a whole trace for a replay as fio does; `name_of` gives the path of a device by its major and minor
/// number. A truncated record ends the trace, as in fio: blktrace was stopped while it wrote.
///
/// # Errors
/// When a record is invalid; the error has its byte.
pub fn parse(bytes: &[u8], name_of: &dyn Fn(u32, u32) -> String) -> Result<Trace, TraceError> {
    if Order::detect(bytes).is_none() {
        return Err(no_record(0));
    }
    let mut records = Records::new(bytes);
    let mut trace = Trace::default();
    let mut known: HashMap<u32, u32> = HashMap::new();
    let mut began = None;
    while let Some((place, mut record)) = records.next()? {
        if record.action != QUEUED {
            continue;
        }
        // fio replays a command that was passed through as a read or write of its bytes.
        record.category &= !COMMAND;
        let Some(direction) = record.direction() else {
            continue;
        };
        let target = *known.entry(record.device).or_insert_with(|| {
            let (major, minor) = record.device_numbers();
            trace.files.push(name_of(major, minor));
            trace.files.len() as u32 - 1
        });
        // Records of several processors may be slightly out of order.
        let since = record.at.saturating_sub(*began.get_or_insert(record.at));
        // Whole microseconds, as fio reads them.
        let at = Nanos(since / 1000 * 1000);
        let raw = record.raw(at, direction, target).checked();
        let mut rest = Some(raw.map_err(|why| TraceError::Byte(place, why))?);
        while let Some(raw) = rest.take() {
            trace.push(&raw.first_part(&mut rest))?;
        }
    }
    trace.operations.sort_by_key(|operation| operation.at);
    Ok(trace)
}

/// Reads records one by one.
struct Records<R> {
    input: R,
    /// The byte order, once the first record is read.
    order: Option<Order>,
    /// The byte where the next record begins.
    place: usize,
    /// Whether the last record was truncated.
    cut: bool,
}

impl<R: BufRead> Records<R> {
    const fn new(input: R) -> Self {
        Self {
            input,
            order: None,
            place: 0,
            cut: false,
        }
    }

    /// The next record, with the byte where it begins.
    fn next(&mut self) -> Result<Option<(usize, Record)>, TraceError> {
        let mut bytes = [0; RECORD];
        let read = fill(&mut self.input, &mut bytes)?;
        if read < RECORD {
            self.cut = read > 0;
            return Ok(None);
        }
        let place = self.place;
        let Some(found) = Order::detect(&bytes) else {
            return Err(no_record(place));
        };
        let order = *self.order.get_or_insert(found);
        let record = Record::from_bytes(&bytes, order);
        if record.version != VERSION {
            let version = record.version;
            let why = format!("version {version} is not supported, only 7");
            return Err(TraceError::Byte(place, why));
        }
        // The data behind a record is skipped piece by piece. Where it is cut off, no record follows,
        // which the next call finds out.
        let mut skipped = [0; 256];
        let mut left = usize::from(record.data_len);
        while left > 0 {
            let part = left.min(skipped.len());
            let read = fill(&mut self.input, &mut skipped[..part])?;
            left = if read < part { 0 } else { left - part };
        }
        self.place += RECORD + usize::from(record.data_len);
        Ok(Some((place, record)))
    }
}

/// Reads a trace as a stream of operations.
pub struct Blktrace<R> {
    records: Records<R>,
    moment: Moment,
    names: Names,
    /// Operations that wait for their completion.
    paired: Paired,
}

impl<R: BufRead> Blktrace<R> {
    /// `moment`: which step of a request counts as its arrival.
    pub fn new(input: R, moment: Moment) -> Split<Self> {
        Split::new(Self {
            records: Records::new(input),
            moment,
            names: Names::default(),
            paired: Paired::default(),
        })
    }
}

impl<R: BufRead> RawSource for Blktrace<R> {
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
            let Some((place, record)) = self.records.next()? else {
                self.paired.is_over = true;
                continue;
            };
            // What an application queues is queued once, however often it is issued.
            let actions: &[u32] = match self.moment {
                Moment::Issue => &[ISSUED, REQUEUED, COMPLETED],
                Moment::Queue => &[QUEUED, COMPLETED],
            };
            if !actions.contains(&record.action) {
                continue;
            }
            let (Some(request), Some(direction)) = (record.request(), record.direction()) else {
                continue;
            };
            let wrong = |why| TraceError::Byte(place, why);
            let (major, minor) = record.device_numbers();
            let target = self.names.number(&format!("{major},{minor}"));
            let target = target.map_err(wrong)?;
            let at = Nanos(record.at);
            match record.action {
                COMPLETED => self.paired.complete(target, request, at),
                REQUEUED => self.paired.requeue(target, request),
                _ => {
                    let raw = record.raw(at, direction, target).checked();
                    self.paired.issue(request, raw.map_err(wrong)?);
                }
            }
        }
    }

    fn targets(&self) -> &[String] {
        self.names.all()
    }

    fn clock(&self) -> Clock {
        Clock::Unknown
    }

    fn remarks(&self) -> Vec<String> {
        let mut remarks = self.paired.remarks();
        if self.records.cut {
            remarks.push("the last record is cut off and left out".to_owned());
        }
        remarks
    }
}

fn no_record(place: usize) -> TraceError {
    TraceError::Byte(place, "no record of blktrace begins here".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Source;
    use crate::testing::all;
    use blocklab_workload::Replayed;

    /// Time in microseconds, sector, bytes, category, action, device.
    type Fields = (u64, u64, u32, u32, u32, u32);

    const DISK: u32 = 254 << 20;
    const QUEUE: u32 = 1 << 4;

    fn record((us, sector, bytes, category, action, device): Fields, big: bool) -> Vec<u8> {
        let mut record = Vec::new();
        let words = [MAGIC | VERSION, 0];
        let action = category << 16 | action;
        let tail = [bytes, action, 100, device, 0, 0];
        let mut put = |bytes: &mut [u8]| {
            if big {
                bytes.reverse();
            }
            record.extend_from_slice(bytes);
        };
        words.iter().for_each(|word| put(&mut word.to_le_bytes()));
        put(&mut (us * 1000).to_le_bytes());
        put(&mut sector.to_le_bytes());
        tail.iter().for_each(|word| put(&mut word.to_le_bytes()));
        record
    }

    fn trace(records: &[Fields], big: bool) -> Vec<u8> {
        records
            .iter()
            .flat_map(|fields| record(*fields, big))
            .collect()
    }

    fn named(major: u32, minor: u32) -> String {
        format!("/dev/{major}-{minor}")
    }

    fn operations(trace: &Trace) -> Vec<(u64, u32, Direction, u64, u32)> {
        let fields = |op: &Replayed| (op.at.0 / 1000, op.target, op.direction, op.offset, op.len);
        trace.operations.iter().map(fields).collect()
    }

    const STORY: [Fields; 7] = [
        (900, 0, 0, NOTIFY, 0, 0),
        (1000, 0, 4096, QUEUE | 1, QUEUED, DISK),
        (1100, 0, 4096, 1 << 6 | 1, 7, DISK),
        (3000, 8, 8192, QUEUE | WRITE, QUEUED, DISK),
        (3500, 0, 0, QUEUE | WRITE | FLUSH, QUEUED, DISK),
        (4000, 64, 4096, QUEUE | WRITE | DISCARD, QUEUED, DISK),
        (5000, 256, 512, QUEUE | 1, QUEUED, DISK | 1),
    ];

    /// As Debian's fio printed with `--debug=blktrace` for the same records.
    #[test]
    fn what_was_queued_is_replayed_from_the_first_on() {
        for big in [false, true] {
            let trace = parse(&trace(&STORY, big), &named).expect("a sound trace");
            assert_eq!(trace.files, ["/dev/254-0", "/dev/254-1"]);
            assert_eq!(
                operations(&trace),
                [
                    (0, 0, Direction::Read, 0, 4096),
                    (2000, 0, Direction::Write, 4096, 8192),
                    (2500, 0, Direction::Sync, 0, 0),
                    (3000, 0, Direction::Trim, 32_768, 4096),
                    (4000, 1, Direction::Read, 131_072, 512),
                ]
            );
        }
    }

    /// A kernel with the trace option blk_cgroup sets a bit beside each action, which made a trace without
    /// any operation of all its records.
    #[test]
    fn the_control_group_of_a_record_does_not_hide_its_action() {
        let in_groups = STORY.map(|(us, sector, bytes, category, action, device)| {
            (us, sector, bytes, category, action | IN_CGROUP, device)
        });
        let [with, without] = [in_groups, STORY].map(|records| {
            let parsed = parse(&trace(&records, false), &named);
            operations(&parsed.expect("a sound trace"))
        });
        assert_eq!(with, without);
        assert_eq!(with.len(), 5);
    }

    /// The story: the end of an empty write that asked for a flush found no issue, or that of the next flush,
    /// whose latency was then far too short; a command of smartctl was a read at offset 0; and a request that
    /// was issued again was two: at first always, and then because the number of the action was wrong. So it
    /// is here as `linux/blktrace_api.h` has it.
    #[test]
    fn flushes_end_with_themselves_and_commands_are_none() {
        let (issue, complete) = (1 << 6, 1 << 7);
        let records = trace(
            &[
                (0, 0, 512, issue | COMMAND | 1, ISSUED, DISK),
                (100, 0, 0, issue | FLUSH | 1, ISSUED, DISK),
                (200, 0, 4096, issue | WRITE, ISSUED, DISK),
                (210, 0, 4096, 1 << 5 | WRITE, 6, DISK),
                (220, 0, 4096, issue | WRITE, ISSUED, DISK),
                (300, 0, 4096, complete | WRITE, COMPLETED, DISK),
                (500, 0, 0, complete | FLUSH | 1, COMPLETED, DISK),
                (600, 0, 0, issue | FLUSH | 1, ISSUED, DISK),
                (610, 0, 0, complete | FLUSH | WRITE, COMPLETED, DISK),
                (620, 0, 0, complete | WRITE, COMPLETED, DISK),
                (900, 0, 0, complete | FLUSH | 1, COMPLETED, DISK),
            ],
            false,
        );
        let mut source = Blktrace::new(records.as_slice(), Moment::Issue);
        let found = all(&mut source);
        let found: Vec<_> = found.iter().map(|op| (op.direction, op.took)).collect();
        let took = |us: u64| Some(Nanos(us * 1000));
        assert_eq!(
            found,
            [
                (Direction::Sync, took(400)),
                (Direction::Write, took(100)),
                (Direction::Sync, took(300))
            ]
        );
        assert_eq!(source.remarks(), [""; 0]);
    }

    #[test]
    fn a_trace_that_is_cut_off_gives_what_it_holds() {
        let whole = trace(&STORY, false);
        let cut = parse(&whole[..whole.len() - 10], &named).expect("a sound trace");
        assert_eq!(cut.operations.len(), 4);
    }

    #[test]
    fn what_is_no_record_is_reported_with_its_place() {
        let mut bytes = trace(&STORY[..2], false);
        bytes.extend([0; RECORD]);
        let wrong = parse(&bytes, &named).expect_err("zeros are no record");
        assert_eq!(
            wrong.to_string(),
            "byte 96: no record of blktrace begins here"
        );
        bytes[0] = 3;
        let wrong = parse(&bytes, &named).expect_err("an old version");
        assert!(
            wrong.to_string().contains("version 3 is not supported"),
            "{wrong}"
        );
        assert!(!is_blktrace(b"fio version 2 iolog"));
    }
}
