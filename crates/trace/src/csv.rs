//! In: a text of columns, and a description of what each column means. Out: its operations.
//!
//! ```text
//!   Timestamp,Response,IOType,LUN,Offset,Size         a header, which names columns
//!   1456200000.250000000,0.000412,R,3,4294967296,65536
//! ```
//!
//! The descriptions of public trace collections are in [`PRESETS`]; a user describes any other table.

use std::io::BufRead;
use std::ops::Range;

use blocklab_units::{Nanos, agreeing, plural};
use blocklab_workload::Direction;

use crate::decimal::{time, whole};
use crate::lines::{Lines, shown};
use crate::operation::{Names, Raw, RawSource, Split};
use crate::{Clock, SECOND, TraceError};

mod columns;
mod presets;

pub use columns::{Column, Columns, Separator, Words};
pub use presets::{PRESETS, Preset};

/// The indices of the columns, from 0.
#[derive(Debug, Clone)]
struct Places {
    time: usize,
    took: Option<usize>,
    operation: usize,
    offset: usize,
    len: usize,
    device: Vec<usize>,
    /// The highest of them all.
    highest: usize,
}

/// Reads a table of operations.
pub struct Csv<R> {
    lines: Lines<R>,
    columns: Columns,
    /// Known once the header is read.
    places: Option<Places>,
    /// Begin and end of each value in the current line. It is a field, like `device`, so that lines
    /// need no allocation.
    fields: Vec<(u32, u32)>,
    names: Names,
    /// The name of the current line's device.
    device: String,
    spread: Spread,
    /// Number of lines whose kind of operation is empty.
    without_response: u64,
    /// Number of completions without a latency.
    without_issue: u64,
}

/// The operations of one second, which get evenly spread times.
#[derive(Debug, Default)]
struct Spread {
    held: Vec<Raw>,
    /// How many of them were given out.
    given: usize,
    /// The part of their second over which they are spread, in ns.
    part: Range<u64>,
    /// The operation behind them: of the next second, or one for which there was no room.
    next: Option<Raw>,
}

/// Most operations that are spread together; it limits memory. If a second has more, these are spread
/// over the first half of what is left of it.
const MAX_PER_SECOND: usize = 1 << 20;

impl<R: BufRead> Csv<R> {
    /// A table with these columns.
    pub fn new(input: R, columns: Columns) -> Split<Self> {
        Split::new(Self {
            lines: Lines::new(input),
            columns,
            places: None,
            fields: Vec::new(),
            names: Names::default(),
            device: String::new(),
            spread: Spread::default(),
            without_response: 0,
            without_issue: 0,
        })
    }

    /// Reads the beginning of the file and finds the columns. True, if the line that was read last is
    /// already an operation.
    fn begin(&mut self) -> Result<bool, TraceError> {
        if let Some(start) = self.columns.begins_with {
            if !self.skip_preamble()? {
                let why = format!("no line begins with `{start}`, after which operations follow");
                return Err(TraceError::Ask(why));
            }
        } else if !self.next_filled_line()? {
            return Ok(false);
        }
        let columns = &self.columns;
        split(self.lines.line(), columns.separator, &mut self.fields);
        let line = self.lines.line();
        let field = |(from, to): &(u32, u32)| &line[*from as usize..*to as usize];
        let titles = self
            .fields
            .iter()
            .map(|at| String::from_utf8_lossy(field(at)).into_owned());
        let titles: Vec<String> = titles.collect();
        let places = places(columns, &titles).map_err(|why| self.lines.wrong(why))?;
        let is_number = self
            .fields
            .get(places.time)
            .is_some_and(|at| time(field(at), columns.time.1, "time").is_ok());
        self.places = Some(places);
        Ok(!columns.header.unwrap_or(!is_number))
    }

    /// Goes on to the next line that is not blank. False at the end of the text.
    fn next_filled_line(&mut self) -> Result<bool, TraceError> {
        while let Some(line) = self.lines.next()? {
            if !line.trim_ascii().is_empty() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The operation of the next line that has one.
    fn raw(&mut self) -> Result<Option<Raw>, TraceError> {
        // The first line of a table without a header is read already.
        let mut is_read = self.places.is_none() && self.begin()?;
        loop {
            if !is_read && !self.next_filled_line()? {
                return Ok(None);
            }
            is_read = false;
            match self.line() {
                Ok(Some(raw)) => return Ok(Some(raw)),
                Ok(None) => self.without_response += 1,
                Err(why) => {
                    // The error has the number of this line, so it is made before lines are skipped.
                    let wrong = self.lines.wrong(why);
                    if !self.is_preamble() || !self.skip_preamble()? {
                        return Err(wrong);
                    }
                }
            }
        }
    }

    /// Whether an invalid line may be the preamble of another file that was appended to this one.
    fn is_preamble(&self) -> bool {
        let first = self.lines.line().trim_ascii_start().first();
        self.columns.begins_with.is_some() && !first.is_some_and(u8::is_ascii_digit)
    }

    /// Skips lines up to the header. False, if there is none.
    fn skip_preamble(&mut self) -> Result<bool, TraceError> {
        let start = self.columns.begins_with.unwrap_or_default().as_bytes();
        while let Some(line) = self.lines.next()? {
            if line.trim_ascii_start().starts_with(start) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Reads the operation of the current line; `None` if its kind is empty, because the recorder saw
    /// no response.
    fn line(&mut self) -> Result<Option<Raw>, String> {
        let Self {
            columns, fields, ..
        } = self;
        let Some(places) = &self.places else {
            return Ok(None);
        };
        let line = self.lines.line();
        split(line, columns.separator, fields);
        if fields.len() <= places.highest {
            return Err(format!(
                "{} columns, and column {} is needed",
                fields.len(),
                places.highest + 1
            ));
        }
        let field = |at: usize| {
            let (from, to) = fields[at];
            &line[from as usize..to as usize]
        };
        let kind = field(places.operation);
        if kind.is_empty() {
            return Ok(None);
        }
        let direction = direction(kind, columns.words)?;
        let at = moment(field(places.time), columns)?;
        let took = match (places.took, columns.took.as_ref()) {
            (Some(place), Some((_, unit))) => match field(place) {
                b"" => None,
                text => Some(Nanos(time(text, *unit, "latency")?)),
            },
            _ => None,
        };
        let bytes = |place: usize, unit: u64, what: &str| {
            let number = whole(field(place), what)?;
            let bytes = number.checked_mul(unit);
            bytes.ok_or_else(|| format!("the {what} {number} is beyond the end of any device"))
        };
        let (offset, len) = match direction {
            Direction::Sync => (0, 0),
            _ => (
                bytes(places.offset, columns.offset.1, "offset")?,
                bytes(places.len, columns.len.1, "length")?,
            ),
        };
        join_names(
            &mut self.device,
            places.device.iter().map(|place| field(*place)),
        );
        let target = self.names.number(&self.device)?;
        let mut issued = at;
        if columns.is_completion {
            issued = at.saturating_sub(took.map_or(0, |took| took.0));
            self.without_issue += u64::from(took.is_none());
        }
        let raw = Raw {
            at: Nanos(issued),
            took,
            direction,
            offset,
            len,
            target,
        };
        raw.checked().map(Some)
    }

    /// The next operation of a table with whole seconds. All operations of a second are read before
    /// the first is given, because their number decides their times.
    fn spread(&mut self) -> Result<Option<Raw>, TraceError> {
        if self.spread.given == self.spread.held.len() {
            self.spread.held.clear();
            self.spread.given = 0;
            let first = match self.spread.next.take() {
                Some(first) => Some(first),
                None => self.raw()?,
            };
            let Some(first) = first else {
                return Ok(None);
            };
            self.spread.held.push(first);
            self.spread.next = loop {
                match self.raw()? {
                    Some(raw) if raw.at == first.at && self.spread.held.len() < MAX_PER_SECOND => {
                        self.spread.held.push(raw);
                    }
                    other => break other,
                }
            };
            // A part that did not reach the end of its second was followed by more of the same second.
            let begin = self.spread.part.end % SECOND;
            let goes_on = self.spread.next.is_some_and(|next| next.at == first.at);
            let end = if goes_on {
                u64::midpoint(begin, SECOND)
            } else {
                SECOND
            };
            self.spread.part = begin..end;
        }
        let Spread {
            held, given, part, ..
        } = &mut self.spread;
        let mut raw = held[*given];
        let shift = (part.end - part.start) * *given as u64 / held.len() as u64;
        raw.at = raw.at.saturating_add(Nanos(part.start + shift));
        *given += 1;
        Ok(Some(raw))
    }
}

/// Writes the name of a device that several columns make: `5_0` of a disk and its volume.
fn join_names<'a>(device: &mut String, parts: impl Iterator<Item = &'a [u8]>) {
    device.clear();
    for (index, part) in parts.enumerate() {
        if index > 0 {
            device.push('_');
        }
        device.push_str(&String::from_utf8_lossy(part));
    }
}

/// A time in ns since 1970. With a clock that begins earlier, times are whole numbers in the unit of the
/// column.
fn moment(text: &[u8], columns: &Columns) -> Result<u64, String> {
    if columns.since == 0 {
        return time(text, columns.time.1, "time");
    }
    let given = whole(text, "time")?;
    let units = given
        .checked_sub(columns.since)
        .ok_or_else(|| format!("the time {given} lies before 1970: is it another unit?"))?;
    let at = units.checked_mul(columns.time.1);
    at.ok_or_else(|| format!("the time {given} is beyond any clock"))
}

/// Reads a word of the operation's column.
pub(crate) fn direction(word: &[u8], words: Words) -> Result<Direction, String> {
    match (words, word) {
        (Words::ReadIsZero, b"0") | (Words::WriteIsZero, b"1") => return Ok(Direction::Read),
        (Words::ReadIsZero, b"1") | (Words::WriteIsZero, b"0") => return Ok(Direction::Write),
        (Words::Letters, _) => {}
        (words, other) => {
            let which = if words == Words::ReadIsZero {
                "0 for a read and 1 for a write"
            } else {
                "0 for a write and 1 for a read"
            };
            return Err(format!("the operation `{}` is not {which}", shown(other)));
        }
    }
    let lower = word.to_ascii_lowercase();
    match lower.as_slice() {
        b"r" | b"rs" | b"ra" | b"read" | b"rd" => Ok(Direction::Read),
        b"w" | b"ws" | b"write" | b"wr" => Ok(Direction::Write),
        b"d" | b"trim" | b"discard" | b"unmap" => Ok(Direction::Trim),
        b"f" | b"ff" | b"flush" | b"sync" | b"fsync" => Ok(Direction::Sync),
        _ => letters(word).ok_or_else(|| {
            let word = shown(word);
            let what = "is none of R, W, D, F, read, write, trim, flush";
            let is_number = !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
            let hint = if is_number {
                ": if numbers stand for them, add `:read0` or `:write0` to the column"
            } else {
                ""
            };
            format!("the operation `{word}` {what}{hint}")
        }),
    }
}

/// Reads blktrace's letters, such as `FWFS` for a write with a flush before it; `None` for a request
/// that neither moves data nor flushes. The order of the kinds matters: a discard may have other
/// letters, too, and the first `F` is a flush only if nothing is written.
pub(crate) fn letters(rwbs: &[u8]) -> Option<Direction> {
    // Of the commands of a zone, an append (`ZA`) alone moves data. Writing zeros is `WZ`.
    if let Some(zone) = rwbs.strip_prefix(b"Z") {
        return zone.starts_with(b"A").then_some(Direction::Write);
    }
    if rwbs.is_empty() || !rwbs.iter().all(|letter| b"RWDFSAMNEBUZ".contains(letter)) {
        return None;
    }
    const KINDS: [(u8, Direction); 5] = [
        (b'D', Direction::Trim),
        (b'E', Direction::Trim),
        (b'W', Direction::Write),
        (b'R', Direction::Read),
        (b'F', Direction::Sync),
    ];
    let mut kinds = KINDS.into_iter();
    let (_, direction) = kinds.find(|(letter, _)| rwbs.contains(letter))?;
    Some(direction)
}

/// Finds the columns in the header.
fn places(columns: &Columns, titles: &[String]) -> Result<Places, String> {
    let device = columns.device.iter().map(|column| place(column, titles));
    let took = columns
        .took
        .as_ref()
        .map(|(column, _)| place(column, titles));
    let mut places = Places {
        time: place(&columns.time.0, titles)?,
        took: took.transpose()?,
        operation: place(&columns.operation, titles)?,
        offset: place(&columns.offset.0, titles)?,
        len: place(&columns.len.0, titles)?,
        device: device.collect::<Result<_, _>>()?,
        highest: 0,
    };
    let all = [places.time, places.operation, places.offset, places.len];
    let others = places.device.iter().chain(&places.took).copied();
    places.highest = all.into_iter().chain(others).max().unwrap_or(0);
    Ok(places)
}

/// The index of a column, from 0.
fn place(column: &Column, titles: &[String]) -> Result<usize, String> {
    match column {
        Column::Number(number) => Ok(number - 1),
        Column::Named(name) => titles
            .iter()
            .position(|title| title.eq_ignore_ascii_case(name))
            .ok_or_else(|| {
                let titles = titles.iter().map(|title| shown(title.as_bytes()));
                let titles = titles.collect::<Vec<_>>().join(", ");
                format!("no column is called `{name}`; the header has {titles}")
            }),
    }
}

/// Finds begin and end of each value of a line, without the blanks and the quotes around it. A separator
/// within quotes belongs to the value.
pub(crate) fn split(line: &[u8], separator: Separator, fields: &mut Vec<(u32, u32)>) {
    fields.clear();
    match separator {
        Separator::Blanks => {
            let mut from = None;
            for (at, byte) in line.iter().enumerate() {
                match (byte.is_ascii_whitespace(), from) {
                    (false, None) => from = Some(at),
                    (true, Some(begin)) => {
                        fields.push((begin as u32, at as u32));
                        from = None;
                    }
                    _ => {}
                }
            }
            if let Some(begin) = from {
                fields.push((begin as u32, line.len() as u32));
            }
        }
        Separator::Char(separator) => {
            let (mut from, mut quoted) = (0, false);
            for (at, byte) in line.iter().enumerate() {
                if *byte == b'"' {
                    quoted = !quoted;
                } else if *byte == separator && !quoted {
                    fields.push(bare(line, from, at));
                    from = at + 1;
                }
            }
            fields.push(bare(line, from, line.len()));
        }
    }
}

/// Begin and end of what is left between two places without blanks and quotes around it.
fn bare(line: &[u8], from: usize, to: usize) -> (u32, u32) {
    let value = line[from..to].trim_ascii_start();
    let mut from = to - value.len();
    let mut to = from + value.trim_ascii_end().len();
    if to - from >= 2 && line[from] == b'"' && line[to - 1] == b'"' {
        (from, to) = (from + 1, to - 1);
    }
    // A line has at most 64 KiB (`LONGEST_LINE`).
    (from as u32, to as u32)
}

impl<R: BufRead> RawSource for Csv<R> {
    fn next_raw(&mut self) -> Result<Option<Raw>, TraceError> {
        if self.columns.spreads {
            self.spread()
        } else {
            self.raw()
        }
    }

    fn targets(&self) -> &[String] {
        self.names.all()
    }

    fn clock(&self) -> Clock {
        self.columns.clock
    }

    fn remarks(&self) -> Vec<String> {
        let mut remarks = Vec::new();
        if self.without_response > 0 {
            remarks.push(format!(
                "{} without a kind, of which no response was seen, {} left out",
                plural(self.without_response as usize, "operation"),
                agreeing(self.without_response as usize, "is", "are")
            ));
        }
        if self.without_issue > 0 {
            remarks.push(format!(
                "{} without a latency {verb} taken as issued at the time of completion",
                plural(self.without_issue as usize, "completion"),
                verb = agreeing(self.without_issue as usize, "is", "are")
            ));
        }
        if self.columns.spreads {
            remarks.push(
                "times are whole seconds: the operations of a second are spread evenly over it, so \
                 bursts within a second are not known"
                    .to_owned(),
            );
        }
        remarks
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{all, fault};
    use crate::{Operation, Source};

    fn preset(name: &str, text: &str) -> Vec<Operation> {
        all(&mut of_set(name, text))
    }

    fn of_set<'a>(name: &str, text: &'a str) -> Split<Csv<&'a [u8]>> {
        let columns = Preset::find(name).expect("known").columns();
        Csv::new(text.as_bytes(), columns)
    }

    fn described<'a>(columns: &str, text: &'a str) -> Split<Csv<&'a [u8]>> {
        let columns = Columns::parse(columns).expect("a sound description");
        Csv::new(text.as_bytes(), columns)
    }

    #[track_caller]
    fn check(got: Operation, at: u64, took: Option<u64>, direction: Direction, range: (u64, u32)) {
        let expected = Operation {
            at: Nanos(at),
            took: took.map(Nanos),
            direction,
            offset: range.0,
            len: range.1,
            target: got.target,
        };
        assert_eq!(got, expected);
    }

    use Direction::{Read, Sync, Trim, Write};

    #[test]
    fn every_public_set_is_read() {
        let systor = preset(
            "systor",
            "Timestamp,Response,IOType,LUN,Offset,Size\r\n\
             1456200000.250000000,0.000412,R,3,4294967296,65536\r\n\
             1456200000.260000000,0.1,,3,0,512\r\n\
             1456200000.270000000,,W,4,512,512\r\n",
        );
        assert_eq!(systor.len(), 2);
        check(
            systor[0],
            1_456_200_000_250_000_000,
            Some(412_000),
            Read,
            (4_294_967_296, 65_536),
        );
        check(
            systor[1],
            1_456_200_000_270_000_000,
            None,
            Write,
            (512, 512),
        );
        let msr = preset("msr", "128166400000000000,srv,0,Write,4096000,8192,51234\n");
        check(
            msr[0],
            1_172_166_400_000_000_000,
            Some(5_123_400),
            Write,
            (4_096_000, 8192),
        );
        let fiu = preset("fiu", "12345678901234 4711 tar 1048576 8 W 8 1 0123\n");
        check(fiu[0], 12_345_678_901_234, None, Write, (536_870_912, 4096));
        let alibaba = preset("alibaba", "17,W,1073741824,16384,1577900000000123\n");
        check(
            alibaba[0],
            1_577_900_000_000_123_000,
            None,
            Write,
            (1 << 30, 16_384),
        );
        let tencent = preset(
            "tencent",
            "1538400000,2097152,16,1,77\n1538400000,0,16,0,77\n",
        );
        check(
            tencent[0],
            1_538_400_000_000_000_000,
            None,
            Write,
            (1 << 30, 8192),
        );
        check(tencent[1], 1_538_400_000_500_000_000, None, Read, (0, 8192));
        let load =
            "notice\nstart ; sector; length ; op ; x\n 0.25 ; 4194304 ; 16 ; RA ; 0.0 ; 0.0\n";
        check(
            preset("blkreplay", load)[0],
            250_000_000,
            None,
            Read,
            (1 << 31, 8192),
        );
    }

    #[test]
    fn a_table_is_described_by_its_header() {
        let text = "Disk;When;Type;LBA;Size;Took\n a ; 12.5 ; flush ; ; ; 1\nb;13;D;8;0x200;2\n";
        let columns = "time=when:ms,op=Type,offset=LBA:sectors,length=Size,device=Disk,\
                       latency=Took:us,separator=semicolon";
        let mut csv = described(columns, text);
        let got = all(&mut csv);
        check(got[0], 12_500_000, Some(1000), Sync, (0, 0));
        check(got[1], 13_000_000, Some(2000), Trim, (4096, 512));
        assert_eq!(csv.targets(), ["a", "b"]);
    }

    /// The story: titles were cut after 60 bytes, so a longer one was in the header and could not be named.
    #[test]
    fn a_long_title_names_its_column() {
        let title = "offset ".repeat(10);
        let columns = format!("time=1:s,op=2,offset={title},length=4");
        let text = format!("Time,Op,{title},Size\n1,R,512,4096\n");
        let got = all(&mut described(&columns, &text));
        check(got[0], SECOND, None, Read, (512, 4096));
        // Where no title is the one, a line that is no header is not repeated as a whole.
        let other = "x".repeat(1000);
        let error = fault(&mut described("time=T:s,op=2,offset=3,length=4", &other));
        assert!(error.contains("no column") && error.len() < 200, "{error}");
    }

    /// The story: `completed` and then `time` took the times of `time` for completions.
    #[test]
    fn of_two_times_the_last_one_counts() {
        for (columns, issued) in [
            ("completed=2:us,time=1:us", 100_000),
            ("time=1:us,completed=2:us", 140_000),
        ] {
            let columns = format!("{columns},op=3,offset=4,length=5,latency=6:us");
            let got = all(&mut described(&columns, "100,150,R,0,512,10\n"));
            check(got[0], issued, Some(10_000), Read, (0, 512));
        }
    }

    /// The story: the times of completions without latencies were taken as those of the issue, without a word.
    #[test]
    fn completions_without_latencies_are_remarked() {
        let columns = "completed=1:us,op=2,offset=3,length=4,latency=5:us";
        let mut csv = described(columns, "100,R,0,512,10\n150,R,0,512,\n");
        let got = all(&mut csv);
        assert_eq!((got[0].at.0, got[1].at.0), (90_000, 150_000));
        let remark = "1 completion without a latency is taken as issued at the time of completion";
        assert_eq!(csv.remarks(), [remark]);
    }

    /// The story: all operations of a second are read before the first is given, and an error had the line
    /// that was read last.
    #[test]
    fn an_impossible_operation_of_a_second_is_reported_with_its_own_line() {
        let text = "1538400000,0,8,0,77\n1538400000,0,0,0,77\n1538400001,0,8,0,77\n";
        let error = fault(&mut of_set("tencent", text));
        assert!(error.starts_with("line 2: 0 bytes"), "{error}");
    }

    /// The story: of a second with more operations than are held in memory, those beyond were spread from
    /// its beginning on again, and the table was refused as out of order.
    #[test]
    fn a_second_of_any_number_of_operations_stays_in_order() {
        let second = "1538400000,0,8,0,77\n".repeat(MAX_PER_SECOND + 2);
        let text = format!("{second}1538400001,0,8,0,77\n");
        let got = preset("tencent", &text);
        assert!(got.is_sorted_by_key(|operation| operation.at));
        let last = got[got.len() - 3..].iter();
        let moments: Vec<u64> = last.map(|op| op.at.0 - 1_538_400_000 * SECOND).collect();
        assert_eq!(moments, [SECOND / 2, SECOND / 4 * 3, SECOND]);
    }

    /// The story: a table that PowerShell or a spreadsheet wrote was refused: it begins with a byte order
    /// mark, which was part of the first title, and has quotes around its values.
    #[test]
    fn quotes_blank_lines_and_a_byte_order_mark_are_not_of_the_values() {
        let columns = "time=Time:s,op=Op,offset=Offset,length=Size,device=Disk:Name";
        let text = "\u{feff}\n\"Time\",\"Op\",\"Offset\",\"Size\",\"Disk:Name\"\r\n\
                    \"1.5\",\"W\", \"4096\" ,\"512\",\"a, b\"\r\n";
        let mut csv = described(columns, text);
        let got = all(&mut csv);
        check(got[0], 1_500_000_000, None, Write, (4096, 512));
        assert_eq!(csv.targets(), ["a, b"]);
    }

    #[test]
    fn damage_is_reported_with_its_line_and_what_would_work() {
        let wrong = |text: &str| fault(&mut of_set("alibaba", text));
        let fine = "1,R,0,512,1\n";
        assert_eq!(
            wrong(&format!("{fine}1,R,0,512\n")),
            "line 2: 4 columns, and column 5 is needed"
        );
        assert!(wrong(&format!("{fine}1,7,0,512,2\n")).contains(":read0"));
        assert!(wrong(&format!("{fine}1,R,x,512,2\n")).contains("the offset `x`"));
        assert!(wrong(&format!("{fine}1,R,0,0,2\n")).contains("from 1 byte"));
        let columns = |text: &str| Columns::parse(text).expect_err("unsound");
        assert!(columns("time=1:s,op=2,offset=3").contains("`length` is missing"));
        assert!(columns("time=1,op=2,offset=3,length=4").contains("needs its unit"));
        assert!(columns("tim=1:s").contains("time"));
        let named = "time=T:s,op=2,offset=3,length=4";
        let error = fault(&mut described(named, "a,b,c,d\n"));
        assert!(
            error.contains("no column is called `T`; the header has a, b, c, d"),
            "{error}"
        );
    }
}
