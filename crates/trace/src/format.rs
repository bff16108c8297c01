//! In: the first bytes of a file, or the name of a format. Out: the reader for it, or an error that asks
//! the user to name the format.

use std::io::BufRead;

use crate::blktrace::{Blktrace, is_blktrace};
use crate::completions::{CompletionText, Completions};
use crate::csv::{Columns, Csv, PRESETS, Preset};
use crate::iolog::Iolog;
use crate::kernel_text::{Events, KernelText, Moment};
use crate::vscsi::{self, Vscsi};
use crate::{Sorted, Source, TraceError, stored};

/// A format of traces.
#[derive(Debug, Clone, PartialEq, Eq)]
// There is only one value for each file, so its size does not matter.
#[allow(clippy::large_enum_variant)]
pub enum Format {
    /// blocklab's own format.
    Own,
    /// fio's iolog, version 2 or 3.
    Iolog,
    /// blktrace, binary.
    Blktrace,
    /// Lines of blkparse, `perf script` or tracefs.
    Kernel(KernelText),
    /// Lines of biosnoop or xperf.
    Completions(CompletionText),
    /// vscsiStats, binary, of this version.
    Vscsi(u16),
    /// A table.
    Table(Columns),
}

/// The formats that are no tables: name on the command line, and meaning.
pub const NAMED: [(&str, &str); 8] = [
    ("blocklab", "blocklab's own format"),
    ("iolog", "fio's iolog, version 2 or 3"),
    ("blktrace", "blktrace, binary"),
    ("blkparse", "the text of blkparse"),
    ("perf", "perf script, or trace and trace_pipe of tracefs"),
    ("biosnoop", "biosnoop of bcc"),
    ("xperf", "xperf -a diskio"),
    ("cloudphysics", "vscsiStats, binary"),
];

/// Wraps a reader of a compressed file into one of its contents.
pub type Unpack = fn(Box<dyn BufRead>) -> Box<dyn BufRead>;

/// How to unpack a file that begins with these bytes; `None`: it is not compressed.
pub fn unpacker(first: &[u8]) -> Option<Unpack> {
    first.starts_with(&[0x1f, 0x8b]).then_some(|input| {
        let unpacked = flate2::bufread::MultiGzDecoder::new(input);
        Box::new(std::io::BufReader::with_capacity(LOOKED_AT, unpacked))
    })
}

/// Bytes of a file from which its format is detected.
pub const LOOKED_AT: usize = 64 << 10;

impl Format {
    /// The format of this name. `first` is the beginning of the file, by which the versions of
    /// vscsiStats are told apart.
    ///
    /// # Errors
    /// When there is no such format; the text has the known names.
    pub fn named(name: &str, first: &[u8]) -> Result<Self, String> {
        Ok(match name.to_ascii_lowercase().as_str() {
            "blocklab" => Self::Own,
            "iolog" | "fio" => Self::Iolog,
            "blktrace" => Self::Blktrace,
            "blkparse" => Self::Kernel(KernelText::Blkparse),
            "perf" | "tracefs" => Self::Kernel(KernelText::Events),
            "biosnoop" => Self::Completions(CompletionText::Biosnoop),
            "xperf" | "etw" => Self::Completions(CompletionText::Xperf),
            "cloudphysics" | "vscsi" => {
                let version = vscsi::detect(first);
                Self::Vscsi(version.ok_or("no record of vscsiStats begins at byte 0")?)
            }
            "iostat" | "sar" | "sadf" | "cloudwatch" => {
                let why = "a table of rates is recognised without --input, and only by `trace show` and \
                           `trace fit`: leave --input out";
                return Err(why.to_owned());
            }
            other => {
                let preset = Preset::find(other).map_err(|_| {
                    let sets = PRESETS.iter().map(|preset| preset.name);
                    let names = NAMED.iter().map(|(name, _)| *name).chain(sets);
                    let names: Vec<&str> = names.collect();
                    format!("no format is called {name}; there are {}", names.join(", "))
                })?;
                Self::Table(preset.columns())
            }
        })
    }

    /// The format of a file that begins with these bytes.
    ///
    /// # Errors
    /// When it is not recognized; the text tells what to specify.
    pub fn detect(first: &[u8]) -> Result<Self, TraceError> {
        if first.is_empty() {
            return Err(TraceError::Ask("the file is empty".to_owned()));
        }
        if first.starts_with(&stored::MAGIC) {
            return Ok(Self::Own);
        }
        if is_blktrace(first) {
            return Ok(Self::Blktrace);
        }
        if let Some(version) = vscsi::detect(first) {
            return Ok(Self::Vscsi(version));
        }
        if first.starts_with(&[0xff, 0xfe]) || first.starts_with(&[0xfe, 0xff]) {
            let why = "text in UTF-16, as PowerShell writes with `>`: save it as UTF-8";
            return Err(TraceError::Ask(why.to_owned()));
        }
        let text = match std::str::from_utf8(first) {
            Ok(text) => text,
            // The bytes end in the middle of a UTF-8 character, which has up to four.
            Err(error) if error.valid_up_to() + 4 > first.len() => {
                std::str::from_utf8(&first[..error.valid_up_to()]).unwrap_or_default()
            }
            Err(_) => {
                let why = "neither a text nor a binary trace that blocklab knows (its own, blktrace, \
                           vscsiStats): see `blocklab trace import --help` for what can be read";
                return Err(TraceError::Ask(why.to_owned()));
            }
        };
        detect_text(text.trim_start_matches('\u{feff}'))
    }

    /// A reader of this format that gives operations in order of time. `moment`: which step of a request
    /// counts as its arrival, in formats that have several.
    ///
    /// # Errors
    /// When the header of the file is invalid.
    pub fn open<'a>(
        &self,
        input: impl BufRead + 'a,
        moment: Moment,
    ) -> Result<Box<dyn Source + 'a>, TraceError> {
        Ok(match self {
            Self::Own => Box::new(stored::Reader::new(input)?),
            Self::Iolog => Box::new(Sorted::new(Iolog::new(input))),
            Self::Blktrace => Box::new(Sorted::new(Blktrace::new(input, moment))),
            Self::Kernel(kind) => Box::new(Sorted::new(Events::new(input, *kind, moment))),
            Self::Completions(kind) => Box::new(Sorted::new(Completions::new(input, *kind))),
            Self::Vscsi(version) => Box::new(Sorted::new(Vscsi::new(input, *version))),
            Self::Table(columns) => Box::new(Sorted::new(Csv::new(input, columns.clone()))),
        })
    }
}

/// The format of a text. Formats with unmistakable words come first; tables without a header, which
/// can only be told by the look of their values, come last.
fn detect_text(text: &str) -> Result<Format, TraceError> {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.clone().next().unwrap_or_default();
    if first.starts_with("fio version ") {
        return Ok(Format::Iolog);
    }
    if first.starts_with("# tracer:")
        || text.contains("block_rq_issue: ")
        || text.contains("block_rq_complete: ")
    {
        return Ok(Format::Kernel(KernelText::Events));
    }
    if first.starts_with("TIME") && first.contains("LAT") {
        return Ok(Format::Completions(CompletionText::Biosnoop));
    }
    if text.contains("BeginHeader") && text.contains("Disk") {
        return Ok(Format::Completions(CompletionText::Xperf));
    }
    let preset = |name: &str| Preset::find(name).map(|preset| Format::Table(preset.columns()));
    if lines.any(|line| {
        let mut columns = line.split(';').map(str::trim);
        columns.next() == Some("start") && columns.next() == Some("sector")
    }) {
        return preset("blkreplay").map_err(TraceError::Ask);
    }
    let blanks: Vec<&str> = first.split_whitespace().collect();
    if let [device, cpu, number, time, ..] = blanks[..]
        && device
            .split_once(',')
            .is_some_and(|(major, minor)| is_whole(major) && is_whole(minor))
        && is_whole(cpu)
        && is_whole(number)
        && is_decimal(time)
    {
        return Ok(Format::Kernel(KernelText::Blkparse));
    }
    match preset_for_row(first, &blanks) {
        Some(name) => preset(name).map_err(TraceError::Ask),
        None => Err(unknown(first)),
    }
}

/// The public trace collection whose rows look like this one. Besides the kinds of values, the number
/// of digits of a time tells collections apart.
fn preset_for_row(first: &str, blanks: &[&str]) -> Option<&'static str> {
    let columns: Vec<&str> = first.split(',').map(str::trim).collect();
    match columns[..] {
        ["Timestamp", "Response", "IOType", "LUN", ..] => Some("systor"),
        [time, took, kind, lun, ..]
            if is_decimal(time)
                && (took.is_empty() || is_decimal(took))
                && (kind.is_empty() || is_kind(kind))
                && is_whole(lun) =>
        {
            Some("systor")
        }
        [time, _, disk, kind, ..]
            if time.len() == 18 && is_whole(time) && is_whole(disk) && is_kind(kind) =>
        {
            Some("msr")
        }
        [device, kind, offset, len, time]
            if is_whole(device)
                && is_kind(kind)
                && is_whole(offset)
                && is_whole(len)
                && time.len() == 16
                && is_whole(time) =>
        {
            Some("alibaba")
        }
        [time, offset, size, kind, device]
            if time.len() == 10
                && [time, offset, size, device].into_iter().all(is_whole)
                && matches!(kind, "0" | "1") =>
        {
            Some("tencent")
        }
        _ if blanks.len() == 9
            && is_whole(blanks[0])
            && is_whole(blanks[3])
            && is_kind(blanks[5]) =>
        {
            Some("fiu")
        }
        _ => None,
    }
}

/// Whether a word names a kind of operation.
fn is_kind(word: &str) -> bool {
    let word = word.to_ascii_lowercase();
    ["r", "w", "read", "write"].contains(&&*word)
}

fn is_whole(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_decimal(word: &str) -> bool {
    word.contains('.') && is_whole(&word.replacen('.', "", 1))
}

fn unknown(first: &str) -> TraceError {
    let shown: String = first.chars().take(80).collect();
    TraceError::Ask(format!(
        "the format is not known by its first line, `{shown}`: name it with --input, or describe the \
         columns of a table, such as --columns time=1:us,op=2,offset=3:sectors,length=4:bytes"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let format = Format::detect(text.as_bytes()).expect(text);
        assert_eq!(
            format,
            Format::named(expected, &[]).expect("known"),
            "{text}"
        );
    }

    /// The story: the help names iostat among the tables of rates, and `--input iostat` was no format, with a
    /// list of fourteen others.
    #[test]
    fn a_table_of_rates_needs_no_name() {
        let why = Format::named("iostat", &[]).expect_err("no format of operations");
        assert!(why.contains("leave --input out"), "{why}");
    }

    #[test]
    fn formats_are_known_by_their_first_lines() {
        check("fio version 3 iolog\n", "iolog");
        check(
            "p 1 [001] 2.5: block:block_rq_issue: 8,0 R 0 () 0 + 8 [p]\n",
            "perf",
        );
        check(
            "  8,0    1      141     0.000401000  2211  Q  WS 1 + 16 [p]\n",
            "blkparse",
        );
        check(
            "TIME(s)     COMM  PID DISK T SECTOR BYTES LAT(ms)\n",
            "biosnoop",
        );
        check("1456200000.25,0.000412,R,3,4294967296,65536\n", "systor");
        check("128166400000000000,srv,0,Write,4096000,8192,51234\n", "msr");
        check("12345678901234 4711 tar 1048576 8 W 8 1 0123\n", "fiu");
        check("17,W,1073741824,16384,1577900000000123\n", "alibaba");
        check("1538400000,2097152,16,1,77\n", "tencent");
        check("Copyright\nstart ; sector; length ; op ;\n", "blkreplay");
    }

    #[test]
    fn every_name_in_the_help_is_known() {
        // A record of vscsiStats, whose version is found by it.
        let first = [[0x28, 0, 0, 2].as_slice(), &[0; 36], &[0x28, 0, 0, 2]].concat();
        for (name, _) in NAMED {
            Format::named(name, &first).expect(name);
        }
    }

    #[test]
    fn what_is_ambiguous_is_asked_for() {
        let ask = |bytes: &[u8]| Format::detect(bytes).expect_err("unknown").to_string();
        assert!(ask(b"a,b,c\n1,2,3\n").contains("--columns"));
        assert!(ask(b"").contains("empty"));
        assert!(ask(&[0xff; 100]).contains("neither a text nor"));
        assert!(ask(b"\xff\xfe{\0").contains("UTF-16"));
        let named = Format::named("word", &[]).expect_err("unknown");
        assert!(named.contains("there are blocklab, iolog"), "{named}");
    }
}
