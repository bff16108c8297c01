//! In: operations in order of time. Out: a file in blocklab's own format; and the operations from it.
//!
//! ```text
//!   file    "BLTRACE\n"  u32 version  u64 beginning, nanoseconds since 1970, 0: not known   then blocks
//!   block   u8 kind  u32 operations  u32 bytes  u32 bytes as stored  u32 CRC-32C of those   then those,
//!           deflated
//!   kinds   T  names of devices, one a line, to be added to those before
//!           R  a remark about the recording, as text
//!           O  operations
//!           E  the end: the number of operations in the file; a file without it was cut off
//! ```
//!
//! Numbers are little-endian. A block of operations has its values column by column. Values are LEB128
//! numbers, unless something else is said:
//!
//! ```text
//!   head      time of the first operation; units of times, latencies, lengths and offsets: the
//!             largest number that divides all of the block's
//!   times     since the operation before
//!   flags     a byte each: 3 direction  4 has a latency  8 begins where one of its device ended
//!             16 as long as the one before  32 on the device of the one before
//!   devices, lengths, offsets, latencies       of the operations whose byte does not spare them
//! ```
//!
//! An offset is the difference from the end of the previous operation on the same device, in zigzag
//! encoding. These ends begin at 0 in each block, so that a block can be read without those before.

use std::io::{BufRead, Read, Write};

use blocklab_units::Nanos;
use blocklab_workload::Direction;
use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;

use crate::bytes::fill;
use crate::operation::{MAX_OFFSET, MAX_TARGETS};
use crate::{Clock, Operation, Source, TraceError};

/// The first bytes of a file.
pub const MAGIC: [u8; 8] = *b"BLTRACE\n";
/// The version that is written, and the newest that is read.
pub const VERSION: u32 = 1;

/// Bytes of the file's header.
const HEAD: usize = 20;
/// Bytes of a block's header.
const BLOCK_HEAD: usize = 17;
/// Most operations of a block.
const BLOCK: usize = 1 << 15;
/// Most bytes of a block, unpacked or not; the writer makes none that is larger.
const MAX_BLOCK_BYTES: usize = 4 << 20;
/// Most bytes of the names or the remark in a block.
const MAX_TEXT_BYTES: usize = 1 << 20;

// Bits of the byte with the flags of an operation.
const HAS_LATENCY: u8 = 4;
const FOLLOWS: u8 = 8;
const SAME_LEN: u8 = 16;
const SAME_TARGET: u8 = 32;

/// Writes a file in blocklab's own format.
pub struct Writer<W: Write> {
    output: W,
    /// The operations of the next block.
    block: Vec<Operation>,
    /// A buffer for the encoded block, kept between blocks like `ends`.
    raw: Vec<u8>,
    /// The end of the last operation on each device.
    ends: Vec<u64>,
    /// Number of devices whose names are written.
    named: usize,
    /// Number of operations so far.
    operations: u64,
    /// Number of bytes written so far.
    bytes: u64,
    /// The time of the last operation.
    last: Nanos,
}

impl<W: Write> Writer<W> {
    /// Begins a file. `begins`: the beginning of the recording in ns since 1970, if it is known.
    ///
    /// # Errors
    /// Those of the output.
    pub fn new(mut output: W, begins: Option<u64>) -> std::io::Result<Self> {
        output.write_all(&MAGIC)?;
        output.write_all(&VERSION.to_le_bytes())?;
        output.write_all(&begins.unwrap_or(0).to_le_bytes())?;
        Ok(Self {
            output,
            block: Vec::with_capacity(BLOCK),
            raw: Vec::new(),
            ends: Vec::new(),
            named: 0,
            operations: 0,
            bytes: HEAD as u64,
            last: Nanos::ZERO,
        })
    }

    /// Adds an operation; `targets` are the names of all devices so far.
    ///
    /// # Errors
    /// Those of the output.
    ///
    /// # Panics
    /// When it is earlier than the last operation.
    pub fn add(&mut self, operation: Operation, targets: &[String]) -> std::io::Result<()> {
        assert!(
            operation.at >= self.last,
            "operations come in order of time"
        );
        self.last = operation.at;
        // Names must be in the file before the first operation that uses them.
        if targets.len() > self.named {
            self.flush()?;
            self.put_names(&targets[self.named..])?;
            self.named = targets.len();
        }
        self.block.push(operation);
        self.operations += 1;
        if self.block.len() == BLOCK {
            self.flush()?;
        }
        Ok(())
    }

    /// Adds a remark about the recording.
    ///
    /// # Errors
    /// Those of the output.
    pub fn remark(&mut self, text: &str) -> std::io::Result<()> {
        self.flush()?;
        self.put(b'R', 0, cut(text).as_bytes())
    }

    /// Ends the file and gives its number of operations and of bytes.
    ///
    /// # Errors
    /// Those of the output.
    pub fn end(mut self) -> std::io::Result<(u64, u64)> {
        self.flush()?;
        let mut total = Vec::new();
        put(&mut total, self.operations);
        self.put(b'E', 0, &total)?;
        self.output.flush()?;
        Ok((self.operations, self.bytes))
    }

    /// Writes the operations that were added as a block, even if it is not full.
    ///
    /// # Errors
    /// Those of the output.
    pub fn flush(&mut self) -> std::io::Result<()> {
        if self.block.is_empty() {
            return Ok(());
        }
        let mut raw = std::mem::take(&mut self.raw);
        raw.clear();
        encode(&self.block, &mut self.ends, &mut raw);
        let count = self.block.len();
        self.block.clear();
        let done = self.put(b'O', count, &raw);
        self.raw = raw;
        done
    }

    /// Writes the names of devices, in as many blocks as they need.
    fn put_names(&mut self, targets: &[String]) -> std::io::Result<()> {
        let (mut count, mut text) = (0, String::new());
        for name in targets {
            let name = cut(name);
            if text.len() + name.len() > MAX_TEXT_BYTES && count > 0 {
                self.put(b'T', count, text.as_bytes())?;
                (count, text) = (0, String::new());
            }
            if count > 0 {
                text.push('\n');
            }
            text.push_str(&name.replace('\n', " "));
            count += 1;
        }
        self.put(b'T', count, text.as_bytes())
    }

    /// Writes a block.
    fn put(&mut self, kind: u8, count: usize, raw: &[u8]) -> std::io::Result<()> {
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::new(5));
        encoder.write_all(raw)?;
        let stored = encoder.finish()?;
        assert!(
            raw.len().max(stored.len()) <= MAX_BLOCK_BYTES,
            "a reader would refuse this block"
        );
        let crc = crc32c::crc32c(&stored);
        self.output.write_all(&[kind])?;
        for field in [count as u32, raw.len() as u32, stored.len() as u32, crc] {
            self.output.write_all(&field.to_le_bytes())?;
        }
        self.bytes += (BLOCK_HEAD + stored.len()) as u64;
        self.output.write_all(&stored)
    }
}

/// As much of a text as a block may have.
fn cut(text: &str) -> &str {
    &text[..text.floor_char_boundary(MAX_TEXT_BYTES)]
}

/// Appends a number in LEB128.
fn put(raw: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        raw.push(number as u8 | 0x80);
        number >>= 7;
    }
    raw.push(number as u8);
}

/// Maps small negative numbers to small positive ones: 0, -1, 1, -2 become 0, 1, 2, 3.
const fn zigzag(number: i64) -> u64 {
    ((number << 1) ^ (number >> 63)) as u64
}

const fn unzigzag(number: u64) -> i64 {
    (number >> 1) as i64 ^ -((number & 1) as i64)
}

const fn gcd(mut one: u64, mut other: u64) -> u64 {
    while other > 0 {
        (one, other) = (other, one % other);
    }
    one
}

const fn direction_bits(direction: Direction) -> u8 {
    match direction {
        Direction::Read => 0,
        Direction::Write => 1,
        Direction::Trim => 2,
        Direction::Sync => 3,
    }
}

/// The end of the last operation on a device; 0 if there was none in this block.
fn end_of(ends: &mut Vec<u64>, target: u32) -> &mut u64 {
    let index = target as usize;
    if ends.len() <= index {
        ends.resize(index + 1, 0);
    }
    &mut ends[index]
}

/// Appends the operations of a block to `raw`, column by column.
fn encode(block: &[Operation], ends: &mut Vec<u64>, raw: &mut Vec<u8>) {
    let first = block.first().map_or(0, |operation| operation.at.0);
    // The unit of a column is the greatest common divisor of its numbers.
    let (mut time_unit, mut latency_unit, mut len_unit, mut offset_unit) = (0, 0, 0, 0);
    let mut last = first;
    for operation in block {
        time_unit = gcd(time_unit, operation.at.0 - last);
        last = operation.at.0;
        latency_unit = gcd(latency_unit, operation.took.map_or(0, |took| took.0));
        len_unit = gcd(len_unit, operation.len.into());
        offset_unit = gcd(offset_unit, operation.offset);
    }
    // Offsets are stored as differences from ends, so the unit must divide the lengths, too.
    offset_unit = gcd(offset_unit, len_unit);
    // A column of zeros has the divisor 0, by which nothing can be divided.
    let units = [time_unit, latency_unit, len_unit, offset_unit].map(|unit| unit.max(1));
    put(raw, first);
    units.iter().for_each(|unit| put(raw, *unit));
    let [time_unit, latency_unit, len_unit, offset_unit] = units;
    let mut last = first;
    for operation in block {
        put(raw, (operation.at.0 - last) / time_unit);
        last = operation.at.0;
    }
    ends.clear();
    let (mut targets, mut lens, mut offsets, mut tooks) = (vec![], vec![], vec![], vec![]);
    let (mut target, mut length) = (0, 0);
    for operation in block {
        let mut flags = direction_bits(operation.direction);
        if operation.target == target {
            flags |= SAME_TARGET;
        } else {
            put(&mut targets, operation.target.into());
            target = operation.target;
        }
        if operation.len == length {
            flags |= SAME_LEN;
        } else {
            put(&mut lens, u64::from(operation.len) / len_unit);
            length = operation.len;
        }
        let end = end_of(ends, target);
        if operation.offset == *end {
            flags |= FOLLOWS;
        } else {
            let distance = (operation.offset / offset_unit) as i64 - (*end / offset_unit) as i64;
            put(&mut offsets, zigzag(distance));
        }
        *end = operation.end();
        if let Some(took) = operation.took {
            flags |= HAS_LATENCY;
            put(&mut tooks, took.0 / latency_unit);
        }
        raw.push(flags);
    }
    for column in [targets, lens, offsets, tooks] {
        put(raw, column.len() as u64);
        raw.extend_from_slice(&column);
    }
}

/// The bytes of a column that were not read yet.
struct Column<'a> {
    bytes: &'a [u8],
}

const DAMAGED: &str = "the block's numbers do not add up: the file is damaged";

impl<'a> Column<'a> {
    /// The next LEB128 number.
    #[inline]
    fn number(&mut self) -> Result<u64, &'static str> {
        let mut number = 0_u64;
        // Ten groups of seven bits hold any number of 64 bits.
        for (index, byte) in self.bytes.iter().enumerate().take(10) {
            number |= u64::from(byte & 0x7f) << (7 * index);
            if *byte < 0x80 {
                self.bytes = &self.bytes[index + 1..];
                return Ok(number);
            }
        }
        Err(DAMAGED)
    }

    /// The next `len` bytes.
    fn part(&mut self, len: usize) -> Result<Column<'a>, &'static str> {
        let (part, rest) = self.bytes.split_at_checked(len).ok_or(DAMAGED)?;
        self.bytes = rest;
        Ok(Column { bytes: part })
    }

    /// The next column, which has its length before it.
    fn column(&mut self) -> Result<Column<'a>, &'static str> {
        let len = self.number()?;
        self.part(len as usize)
    }
}

/// Reads the operations of a block. The input may be damaged or hostile, so every calculation is
/// checked.
fn decode(
    raw: &[u8],
    count: usize,
    targets: usize,
    ends: &mut Vec<u64>,
    block: &mut Vec<Operation>,
) -> Result<(), &'static str> {
    block.clear();
    ends.clear();
    let mut all = Column { bytes: raw };
    let mut at = all.number()?;
    let units = [all.number()?, all.number()?, all.number()?, all.number()?];
    let [time_unit, latency_unit, len_unit, offset_unit] = units;
    for _ in 0..count {
        let since = all.number()?.checked_mul(time_unit).ok_or(DAMAGED)?;
        at = at.checked_add(since).ok_or(DAMAGED)?;
        block.push(Operation::new(Nanos(at), Direction::Read, 0, 0));
    }
    let all_flags = all.part(count)?.bytes;
    let (mut numbers, mut lens) = (all.column()?, all.column()?);
    let (mut offsets, mut tooks) = (all.column()?, all.column()?);
    let (mut target, mut length) = (0_u32, 0_u32);
    for (operation, flags) in block.iter_mut().zip(all_flags) {
        operation.direction = match flags & 3 {
            0 => Direction::Read,
            1 => Direction::Write,
            2 => Direction::Trim,
            _ => Direction::Sync,
        };
        if flags & SAME_TARGET == 0 {
            target = u32::try_from(numbers.number()?).map_err(|_| DAMAGED)?;
        }
        if target as usize >= targets {
            return Err(DAMAGED);
        }
        if flags & SAME_LEN == 0 {
            let found = lens.number()?.checked_mul(len_unit).ok_or(DAMAGED)?;
            length = u32::try_from(found).map_err(|_| DAMAGED)?;
        }
        let end = end_of(ends, target);
        operation.offset = if flags & FOLLOWS > 0 {
            *end
        } else {
            let distance = unzigzag(offsets.number()?);
            let steps = ((*end / offset_unit.max(1)) as i64).checked_add(distance);
            let steps = u64::try_from(steps.ok_or(DAMAGED)?).map_err(|_| DAMAGED)?;
            steps.checked_mul(offset_unit).ok_or(DAMAGED)?
        };
        operation.len = length;
        operation.target = target;
        if operation.offset > MAX_OFFSET || !operation.has_possible_len() {
            return Err(DAMAGED);
        }
        *end = operation.end();
        if flags & HAS_LATENCY > 0 {
            let took = tooks.number()?.checked_mul(latency_unit).ok_or(DAMAGED)?;
            operation.took = Some(Nanos(took));
        }
    }
    Ok(())
}

/// Reads a file in blocklab's own format.
pub struct Reader<R> {
    input: R,
    /// The beginning of the recording in ns since 1970; 0: unknown.
    begins: u64,
    /// The byte where the current block begins.
    place: usize,
    targets: Vec<String>,
    /// Remarks of the file, and one if it is cut off.
    noted: Vec<String>,
    /// The operations of the current block.
    block: Vec<Operation>,
    /// The index of the next one of them.
    next: usize,
    /// The current block as it is stored.
    stored: Vec<u8>,
    /// The current block unpacked.
    raw: Vec<u8>,
    /// The end of the last operation on each device.
    ends: Vec<u64>,
    /// Number of operations read.
    read: u64,
    /// The time of the last operation of the block.
    last: Nanos,
    is_over: bool,
}

/// The header of a block.
struct Head {
    kind: u8,
    /// Number of operations or names.
    count: usize,
    /// Bytes of the block unpacked.
    raw: usize,
    crc: u32,
}

impl<R: BufRead> Reader<R> {
    /// Reads the header of a file.
    ///
    /// # Errors
    /// When it is in another format or of another version.
    pub fn new(mut input: R) -> Result<Self, TraceError> {
        let mut head = [0; HEAD];
        let read = fill(&mut input, &mut head)?;
        if read < HEAD || head[..8] != MAGIC {
            let why = "not a trace of blocklab, which begins with BLTRACE";
            return Err(TraceError::Byte(0, why.to_owned()));
        }
        let version = u32::from_le_bytes(std::array::from_fn(|index| head[8 + index]));
        if version != VERSION {
            let why = format!(
                "version {version} of the format; this program reads version {VERSION}: use the \
                 program that wrote it, or import the original again"
            );
            return Err(TraceError::Byte(8, why));
        }
        Ok(Self {
            input,
            begins: u64::from_le_bytes(std::array::from_fn(|index| head[12 + index])),
            place: HEAD,
            targets: Vec::new(),
            noted: Vec::new(),
            block: Vec::new(),
            next: 0,
            stored: Vec::new(),
            raw: Vec::new(),
            ends: Vec::new(),
            read: 0,
            last: Nanos::ZERO,
            is_over: false,
        })
    }

    /// Ends the trace with a remark. A recording that was killed is still of use.
    fn cut_off(&mut self) -> Option<Head> {
        self.is_over = true;
        self.noted.push(format!(
            "the file ends at byte {} without its end mark: the recording was cut off, and the {} \
             operations before are all there is",
            self.place, self.read
        ));
        None
    }

    /// Reads the header of a block, and its bytes into `stored`; `None` if the file ends in it.
    fn head(&mut self) -> Result<Option<Head>, TraceError> {
        let mut head = [0; BLOCK_HEAD];
        if fill(&mut self.input, &mut head)? < BLOCK_HEAD {
            return Ok(self.cut_off());
        }
        let field = |at: usize| u32::from_le_bytes(std::array::from_fn(|index| head[at + index]));
        let (raw, stored) = (field(5) as usize, field(9) as usize);
        let found = Head {
            kind: head[0],
            count: field(1) as usize,
            raw,
            crc: field(13),
        };
        let is_known = b"TROE".contains(&found.kind);
        if !is_known || found.count > BLOCK.max(MAX_TARGETS) || raw.max(stored) > MAX_BLOCK_BYTES {
            return Err(self.damaged("no block begins here: the file is damaged"));
        }
        self.stored.resize(stored, 0);
        if fill(&mut self.input, &mut self.stored)? < stored {
            return Ok(self.cut_off());
        }
        Ok(Some(found))
    }

    /// An error in the current block.
    fn damaged(&self, why: &str) -> TraceError {
        TraceError::Byte(self.place, why.to_owned())
    }

    /// Reads a block of any kind.
    fn block(&mut self) -> Result<(), TraceError> {
        let Some(head) = self.head()? else {
            return Ok(());
        };
        if crc32c::crc32c(&self.stored) != head.crc {
            return Err(self.damaged("the checksum of this block is wrong: the file is damaged"));
        }
        self.raw.clear();
        // One byte more than expected is enough to see that a block is too long; without a limit, a
        // small file could unpack to any size.
        let limit = head.raw as u64 + 1;
        let mut inflated = DeflateDecoder::new(self.stored.as_slice()).take(limit);
        let read = inflated.read_to_end(&mut self.raw);
        if read.is_err() || self.raw.len() != head.raw {
            return Err(self.damaged("this block cannot be unpacked: the file is damaged"));
        }
        match head.kind {
            b'T' => {
                let text = String::from_utf8_lossy(&self.raw);
                self.targets.extend(text.split('\n').map(str::to_owned));
                if self.targets.len() > MAX_TARGETS {
                    return Err(self.damaged("too many devices: the file is damaged"));
                }
            }
            b'R' => {
                // A damaged file must not fill memory with remarks.
                if self.noted.len() < 1000 {
                    let text = String::from_utf8_lossy(&self.raw).into_owned();
                    self.noted.push(text);
                }
            }
            b'E' => {
                self.is_over = true;
                let total = Column { bytes: &self.raw }.number();
                if total != Ok(self.read) {
                    return Err(self.damaged("the end mark counts other operations than came"));
                }
                if fill(&mut self.input, &mut [0])? > 0 {
                    return Err(self.damaged(
                        "more follows the end mark; files of several traces are merged when all are \
                         named, not when they are joined to one file",
                    ));
                }
            }
            _ => self.operations(head.count)?,
        }
        self.place += BLOCK_HEAD + self.stored.len();
        Ok(())
    }

    /// Decodes a block of operations.
    fn operations(&mut self, count: usize) -> Result<(), TraceError> {
        let (targets, ends) = (self.targets.len(), &mut self.ends);
        let decoded = decode(&self.raw, count, targets, ends, &mut self.block);
        decoded.map_err(|why| TraceError::Byte(self.place, why.to_owned()))?;
        if self.block.first().is_some_and(|first| first.at < self.last) {
            return Err(self.damaged("the block lies before the one before: the file is damaged"));
        }
        self.last = self.block.last().map_or(self.last, |last| last.at);
        self.next = 0;
        self.read += count as u64;
        Ok(())
    }
}

impl<R: BufRead> Source for Reader<R> {
    #[inline]
    fn next(&mut self) -> Result<Option<Operation>, TraceError> {
        loop {
            if let Some(operation) = self.block.get(self.next) {
                self.next += 1;
                return Ok(Some(*operation));
            }
            if self.is_over {
                return Ok(None);
            }
            self.block()?;
        }
    }

    fn targets(&self) -> &[String] {
        &self.targets
    }

    fn clock(&self) -> Clock {
        Clock::Recording
    }

    fn begins(&self) -> Option<u64> {
        (self.begins > 0).then_some(self.begins)
    }

    fn remarks(&self) -> Vec<String> {
        self.noted.clone()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::{all, fault};

    fn written(operations: &[Operation]) -> Vec<u8> {
        let names = ["sda".to_owned(), "sdb".to_owned(), "sdc".to_owned()];
        let mut bytes = Vec::new();
        let mut writer = Writer::new(&mut bytes, Some(7)).expect("memory");
        for operation in operations {
            writer.add(*operation, &names).expect("memory");
        }
        writer.remark("lost 3").expect("memory");
        let (count, size) = writer.end().expect("memory");
        assert_eq!(count, operations.len() as u64);
        assert_eq!(size, bytes.len() as u64);
        bytes
    }

    fn operation() -> impl Strategy<Value = Operation> {
        let direction = prop_oneof![
            Just(Direction::Read),
            Just(Direction::Write),
            Just(Direction::Trim)
        ];
        let took = proptest::option::of(0_u64..1 << 40);
        (
            0_u64..1 << 40,
            took,
            0_u64..1 << 61,
            1_u32..=1 << 30,
            0_u32..3,
            direction,
        )
            .prop_map(|(at, took, offset, len, target, direction)| Operation {
                at: Nanos(at),
                took: took.map(Nanos),
                offset,
                len,
                target,
                direction,
            })
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(mut operations in proptest::collection::vec(operation(), 0..300)) {
            operations.sort_by_key(|operation| operation.at);
            let bytes = written(&operations);
            let mut reader = Reader::new(bytes.as_slice()).expect("own file");
            prop_assert_eq!(all(&mut reader), operations);
            prop_assert_eq!(reader.begins(), Some(7));
            prop_assert_eq!(reader.remarks(), ["lost 3"]);
        }

        #[test]
        fn damage_is_never_a_panic(place in 0_usize..400, value: u8) {
            let operations: Vec<_> = (0..50).map(|at| crate::testing::at(at * at)).collect();
            let mut bytes = written(&operations);
            let place = place % bytes.len();
            bytes[place] = value;
            if let Ok(mut reader) = Reader::new(bytes.as_slice()) {
                while let Ok(Some(_)) = reader.next() {}
            }
        }
    }

    #[test]
    fn a_file_that_is_cut_off_gives_what_it_holds() {
        let operations: Vec<_> = (0..50).map(crate::testing::at).collect();
        let bytes = written(&operations);
        let mut reader = Reader::new(&bytes[..bytes.len() - 1]).expect("own file");
        assert_eq!(all(&mut reader).len(), 50);
        let remarks = reader.remarks();
        assert!(
            remarks[1].contains("cut off, and the 50 operations"),
            "{remarks:?}"
        );
    }

    /// The story: the names of 90,000 volumes were a block of more than 4 MiB, which the reader took for
    /// damage: what `trace import` had written could not be read.
    #[test]
    fn any_number_of_names_can_be_read_again() {
        let names: Vec<String> = (0..90_000).map(|volume| format!("{volume:060}")).collect();
        let mut bytes = Vec::new();
        let mut writer = Writer::new(&mut bytes, None).expect("memory");
        let last = Operation {
            target: 89_999,
            ..crate::testing::at(0)
        };
        writer.add(last, &names).expect("memory");
        writer.end().expect("memory");
        let mut reader = Reader::new(bytes.as_slice()).expect("own file");
        assert_eq!(all(&mut reader), [last]);
        assert_eq!(reader.targets(), names);
    }

    /// A damaged file could ask a replay for a buffer of 4 GiB.
    #[test]
    fn a_read_that_no_recording_has_is_damage() {
        for len in [0, 1 << 31] {
            let read = Operation {
                len,
                ..crate::testing::at(0)
            };
            let bytes = written(&[read]);
            let mut reader = Reader::new(bytes.as_slice()).expect("own file");
            let error = fault(&mut reader);
            assert!(error.contains("the file is damaged"), "{error}");
        }
    }

    /// Of `cat a.trace b.trace`, the second trace was missing without a word.
    #[test]
    fn what_follows_the_end_mark_is_not_left_out_in_silence() {
        let bytes = written(&[crate::testing::at(0)]).repeat(2);
        let mut reader = Reader::new(bytes.as_slice()).expect("own file");
        let error = fault(&mut reader);
        assert!(error.contains("more follows the end mark"), "{error}");
    }

    #[test]
    fn a_damaged_block_is_reported_with_its_byte() {
        let operations: Vec<_> = (0..50).map(crate::testing::at).collect();
        let mut bytes = written(&operations);
        let place = HEAD + BLOCK_HEAD + 3;
        bytes[place] ^= 1;
        let mut reader = Reader::new(bytes.as_slice()).expect("own file");
        let error = fault(&mut reader);
        assert!(error.starts_with("byte 20: the checksum"), "{error}");
        bytes[8] = 9;
        let error = Reader::new(bytes.as_slice())
            .map(|_| ())
            .expect_err("a newer version");
        assert!(error.to_string().contains("version 9"), "{error}");
    }
}
