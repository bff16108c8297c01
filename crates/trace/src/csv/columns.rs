//! In: a user's description of a table. Out: what each of its columns means, and in which unit.

use blocklab_units::{SECTOR, did_you_mean};

use crate::{Clock, SECOND};

/// A column of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Column {
    /// By its number, counted from 1.
    Number(usize),
    /// By its name in the header.
    Named(String),
}

/// What separates columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Separator {
    /// This character; blanks around values are ignored.
    Char(u8),
    /// Any number of blanks.
    Blanks,
}

/// How the column of the operation's kind is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Words {
    /// `R`, `read`, `W`, `Write`, `D`, `trim`, `F`, `flush`, `RA`, and letters as blktrace has them.
    Letters,
    /// 0 is a read, 1 a write.
    ReadIsZero,
    /// 0 is a write, 1 a read.
    WriteIsZero,
}

/// What each column of a table means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Columns {
    /// What separates columns.
    pub separator: Separator,
    /// The time: its column, and its unit in ns.
    pub time: (Column, u64),
    /// The moment from which times are counted.
    pub clock: Clock,
    /// A number that is subtracted from each time, in the unit of times, for a clock that does not
    /// begin in 1970.
    pub since: u64,
    /// Whether the time is that of the completion instead of the issue.
    pub is_completion: bool,
    /// The latency: its column, and its unit in ns.
    pub took: Option<(Column, u64)>,
    /// The kind of operation.
    pub operation: Column,
    /// How that kind is written.
    pub words: Words,
    /// The offset: its column, and its unit in bytes.
    pub offset: (Column, u64),
    /// The length: its column, and its unit in bytes.
    pub len: (Column, u64),
    /// The columns that together name the device; none: all operations are of one.
    pub device: Vec<Column>,
    /// Whether the first line is a header; `None`: it is one if its time is no number.
    pub header: Option<bool>,
    /// The lines up to the one that begins with this text, the header, are skipped.
    pub begins_with: Option<&'static str>,
    /// Whether times are whole seconds, so that the operations of a second are spread evenly over it.
    pub spreads: bool,
}

use Column::Number;

/// Columns with the values that most tables have: commas, and times since 1970. Each column but that of
/// the operation has its unit.
pub(super) const fn plain(
    time: (Column, u64),
    operation: Column,
    offset: (Column, u64),
    len: (Column, u64),
) -> Columns {
    Columns {
        separator: Separator::Char(b','),
        time,
        clock: Clock::Unix,
        since: 0,
        is_completion: false,
        took: None,
        operation,
        words: Words::Letters,
        offset,
        len,
        device: Vec::new(),
        header: None,
        begins_with: None,
        spreads: false,
    }
}

impl Columns {
    /// Reads a user's description: `time=Timestamp:us,offset=Offset:sectors,length=Size,op=Type`.
    ///
    /// # Errors
    /// When the description is invalid; the text tells what would work.
    pub fn parse(text: &str) -> Result<Self, String> {
        // Columns are counted from 1, so 0 marks one that was not given.
        const UNSET: Column = Number(0);
        let mut columns = Self {
            clock: Clock::Unknown,
            ..plain((UNSET, 0), UNSET, (UNSET, 0), (UNSET, 0))
        };
        for part in text
            .split(',')
            .map(str::trim)
            .filter(|part| !part.is_empty())
        {
            columns.set(part)?;
        }
        for (what, column) in [
            ("time", &columns.time.0),
            ("offset", &columns.offset.0),
            ("length", &columns.len.0),
            ("op", &columns.operation),
        ] {
            if *column == UNSET {
                return Err(format!("`{what}` is missing; {EXAMPLE}"));
            }
        }
        Ok(columns)
    }

    /// Applies one `key=column:unit`.
    fn set(&mut self, part: &str) -> Result<(), String> {
        let (key, value) = part
            .split_once('=')
            .ok_or_else(|| format!("`{part}` has no `=`; {EXAMPLE}"))?;
        let (name, unit) = match value.rsplit_once(':') {
            Some((name, unit)) => (name, Some(unit)),
            None => (value, None),
        };
        match key {
            "time" | "completed" => {
                self.time = (column(name)?, time_unit(unit)?);
                self.is_completion = key == "completed";
            }
            "latency" => self.took = Some((column(name)?, time_unit(unit)?)),
            "offset" => self.offset = (column(name)?, size_unit(unit)?),
            "length" => self.len = (column(name)?, size_unit(unit)?),
            // It has no unit, so a colon belongs to the name.
            "device" => self.device.push(column(value)?),
            "op" => {
                self.operation = column(name)?;
                self.words = match unit {
                    None => Words::Letters,
                    Some("read0") => Words::ReadIsZero,
                    Some("write0") => Words::WriteIsZero,
                    Some(other) => {
                        return Err(format!("`{other}` is neither read0 nor write0"));
                    }
                };
            }
            "separator" => {
                self.separator = match value {
                    "blanks" => Separator::Blanks,
                    "comma" => Separator::Char(b','),
                    "semicolon" => Separator::Char(b';'),
                    "tab" => Separator::Char(b'\t'),
                    other => {
                        let why = "is none of comma, semicolon, tab, blanks";
                        return Err(format!("the separator `{other}` {why}"));
                    }
                };
            }
            other => {
                let keys = [
                    "time",
                    "completed",
                    "latency",
                    "offset",
                    "length",
                    "op",
                    "device",
                    "separator",
                ];
                let hint =
                    did_you_mean(other, keys, || format!("the keys are {}", keys.join(", ")));
                return Err(format!("no key is called `{other}`; {hint}"));
            }
        }
        Ok(())
    }
}

const EXAMPLE: &str = "for example time=Timestamp:us,op=Type,offset=LBA:sectors,length=Size:bytes,device=Disk, \
                       with the names of the header or the numbers of the columns";

/// The column of a number or a name.
fn column(name: &str) -> Result<Column, String> {
    match name.parse() {
        Ok(0) => Err(format!("column `{name}`: columns are counted from 1")),
        Ok(number) => Ok(Number(number)),
        Err(_) => Ok(Column::Named(name.to_owned())),
    }
}

/// Length of a unit of time in ns. A time has to name its unit, since traces use all of them.
fn time_unit(unit: Option<&str>) -> Result<u64, String> {
    match unit {
        Some("ns") => Ok(1),
        Some("100ns") => Ok(100),
        Some("us" | "µs") => Ok(1000),
        Some("ms") => Ok(1_000_000),
        Some("s") => Ok(SECOND),
        Some(other) => Err(format!(
            "the unit `{other}` is none of s, ms, us, 100ns, ns"
        )),
        None => Err("a time needs its unit: `:s`, `:ms`, `:us`, `:100ns` or `:ns`".to_owned()),
    }
}

/// Bytes of a unit of size; without a unit, sizes are bytes.
fn size_unit(unit: Option<&str>) -> Result<u64, String> {
    match unit {
        None | Some("bytes" | "b") => Ok(1),
        Some("sectors") => Ok(SECTOR),
        Some("kib") => Ok(1024),
        Some(other) => Err(format!("the unit `{other}` is none of bytes, sectors, kib")),
    }
}
