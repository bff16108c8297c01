//! In: names of trace files, and which of their operations are wanted. Out: one source of operations in
//! order of time, which holds a bounded part of them in memory.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use blocklab_console::ShownReading;
use blocklab_trace::csv::Columns;
use blocklab_trace::format::{Format, LOOKED_AT, unpacker};
use blocklab_trace::rates::is_rate_table;
use blocklab_trace::{Merged, Moment, Selected, Selection, Source, TraceError};
use blocklab_units::{Nanos, plural};

use blocklab_args::{EventArg, TraceInput};

/// An opened trace, with the name that its errors have.
pub struct Opened {
    pub source: Selected<'static>,
    /// Names of the files.
    pub name: String,
}

impl Opened {
    /// An error of the source with the name of its file.
    pub fn named(&self, error: TraceError) -> anyhow::Error {
        anyhow!("{}: {error}", self.name)
    }

    /// The error where a whole trace was read and gave no operation.
    pub fn empty(&self) -> anyhow::Error {
        match self.source.left_out() {
            0 => anyhow!("{}: no operations in it", self.name),
            all => anyhow!(
                "{}: --from, --until and --device leave out all of its {}",
                self.name,
                plural(all as usize, "operation")
            ),
        }
    }
}

/// Of how many devices the operations may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Devices {
    /// Of one: those of several are an error.
    One,
    /// Of any number.
    Any,
}

/// Opens the files as one source.
pub fn open(files: &[PathBuf], wanted: &TraceInput, devices: Devices) -> Result<Opened> {
    let parsed = wanted.columns.as_deref().map(Columns::parse).transpose();
    let columns = parsed.map_err(|why| anyhow!("--columns: {why}"))?;
    let moment = match wanted.event {
        EventArg::Issue => Moment::Issue,
        EventArg::Queue => Moment::Queue,
    };
    let (from, until) = (
        wanted.from.unwrap_or(Nanos::ZERO),
        wanted.until.unwrap_or(Nanos::MAX),
    );
    if from >= until {
        bail!("--from {from} is not before --until {until}: nothing lies between them");
    }
    let mut sources = Vec::new();
    for file in files {
        let name = file.display();
        let input = input(file).with_context(|| format!("cannot read {name}"))?;
        let source = source(input, wanted.input.as_deref(), columns.as_ref(), moment);
        let source = source.map_err(|why| anyhow!("{name}: {why}"))?;
        sources.push((name.to_string(), source));
    }
    if wanted.every.is_some() {
        bail!("--every is about a table of rates, and this is a trace of operations");
    }
    let merged = match sources.len() {
        1 => sources.swap_remove(0).1,
        _ => Box::new(Merged::new(sources)),
    };
    let selection = Selection {
        device: wanted.device.clone(),
        from,
        until,
        refuses_several: devices == Devices::One,
    };
    Ok(Opened {
        source: Selected::new(merged, selection),
        name: names(files),
    })
}

/// The names of the files, as titles and errors have them.
pub fn names(files: &[PathBuf]) -> String {
    let names = files.iter().map(|file| file.display().to_string());
    names.collect::<Vec<_>>().join(", ")
}

/// The first bytes of a file.
pub fn first_bytes(file: &Path) -> io::Result<Vec<u8>> {
    let mut first = Vec::new();
    let limit = LOOKED_AT as u64;
    input(file)?.take(limit).read_to_end(&mut first)?;
    Ok(first)
}

/// The bytes of a file or of standard input (`-`), still packed.
fn input(file: &Path) -> io::Result<Box<dyn Read>> {
    if file.as_os_str() == "-" {
        return Ok(Box::new(io::stdin().lock()));
    }
    let opened = File::open(file)?;
    let kind = opened.metadata()?.file_type();
    // A device can be read, but its content is no trace; a pipe is fine.
    if kind.is_block_device() || kind.is_char_device() {
        let why = "it is a device, not a recorded trace; `blocklab trace record` records one";
        return Err(io::Error::other(why));
    }
    if kind.is_dir() {
        return Err(io::Error::other("it is a directory: name the files in it"));
    }
    let length = Some(opened.metadata()?.len()).filter(|_| kind.is_file());
    let name = file.display().to_string();
    Ok(Box::new(ShownReading::new(opened, name, length)))
}

/// Recognizes the format of a file, packed or not, and opens it. `named`: the format that the user
/// names; `columns`: those of a table.
fn source(
    input: Box<dyn Read>,
    named: Option<&str>,
    columns: Option<&Columns>,
    moment: Moment,
) -> Result<Box<dyn Source>, TraceError> {
    let (first, input) = peek(BufReader::with_capacity(1 << 18, input))?;
    // The format of a packed file shows only in its unpacked bytes.
    let (first, input) = match unpacker(&first) {
        None => (first, input),
        Some(unpack) => peek(unpack(input))?,
    };
    let format = match (columns, named) {
        (Some(columns), _) => Format::Table(columns.clone()),
        (None, Some(name)) => Format::named(name, &first).map_err(TraceError::Ask)?,
        (None, None) if is_rate_table(&first) => {
            let why = "it is a table of rates, not of operations: only `trace show` and `trace fit` read \
                       it, from a file";
            return Err(TraceError::Ask(why.to_owned()));
        }
        (None, None) => Format::detect(&first)?,
    };
    format.open(input, moment)
}

/// The first bytes, and a reader of all bytes, the first included: a pipe cannot be rewound.
fn peek(mut input: impl BufRead + 'static) -> Result<(Vec<u8>, Box<dyn BufRead>), TraceError> {
    let mut first = Vec::new();
    let limit = LOOKED_AT as u64;
    let read = input.by_ref().take(limit).read_to_end(&mut first);
    read.map_err(|why| TraceError::Read(why.to_string()))?;
    let all = Cursor::new(first.clone()).chain(input);
    Ok((first, Box::new(all)))
}

/// Formats a moment in nanoseconds since 1970 as RFC 3339; `None` where no calendar has it.
pub fn rfc_3339(nanos: u64) -> Option<String> {
    let moment = jiff::Timestamp::from_nanosecond(nanos.into()).ok()?;
    Some(moment.to_string())
}
