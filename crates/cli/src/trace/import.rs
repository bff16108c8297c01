//! `blocklab trace import`: converts a trace of any known format to blocklab's own.

use std::io::{BufWriter, IsTerminal, Write};

use anyhow::{Context, Result, bail};
use blocklab_console::terminal;
use blocklab_report::fields;
use blocklab_results::output::{Draft, Over, is_same_file};
use blocklab_trace::stored::Writer;
use blocklab_trace::{Operation, Source};
use blocklab_units::{Bytes, Nanos, plural, trimmed};

use super::opened::{self, Devices, Opened};
use crate::answer::json;
use blocklab_args::TraceImportArgs;

/// Converts a trace operation by operation, so that its length does not matter.
pub fn import(args: &TraceImportArgs) -> Result<()> {
    let path = &args.output;
    let is_standard = path.as_os_str() == "-";
    if is_standard && args.json {
        bail!("-o - and JSON would both go to standard output: name a file for the trace");
    }
    let mut files = args.files.iter().filter(|_| !is_standard);
    if let Some(file) = files.find(|file| is_same_file(file, path)) {
        bail!(
            "{} would be overwritten while it is read: name another file with -o",
            file.display()
        );
    }
    let mut opened = opened::open(&args.files, &args.read, Devices::Any)?;
    // Read before the output is created: a file that is not understood leaves no empty trace behind.
    let first = opened.source.next().map_err(|error| opened.named(error))?;
    let Some(first) = first else {
        return Err(opened.empty());
    };
    if is_standard && std::io::stdout().is_terminal() {
        bail!("a trace is no text for a terminal: name a file with -o");
    }
    if is_standard {
        // The trace itself goes there, where a report would break it.
        let file = BufWriter::new(std::io::stdout().lock());
        return write(&mut opened, first, file).map(drop);
    }
    let mut draft = Draft::create(path, Over::forced(args.force))?;
    let written = write(&mut opened, first, BufWriter::new(&mut draft))?;
    draft.keep();
    report(args, &opened, &written)
}

/// What was written.
struct Written {
    operations: u64,
    bytes: u64,
    /// The moment of the last operation.
    last: Nanos,
}

/// Writes all operations. `first`: the one that was read already.
fn write(opened: &mut Opened, first: Operation, file: impl Write) -> Result<Written> {
    let cannot = "cannot write the trace";
    let mut writer = Writer::new(file, opened.source.begins()).context(cannot)?;
    let (mut next, mut last) = (Some(first), Nanos::ZERO);
    while let Some(operation) = next {
        last = operation.at;
        let added = writer.add(operation, opened.source.targets());
        added.context(cannot)?;
        next = opened.source.next().map_err(|error| opened.named(error))?;
    }
    for remark in opened.source.remarks() {
        writer.remark(&remark).context(cannot)?;
    }
    let (operations, bytes) = writer.end().context(cannot)?;
    Ok(Written {
        operations,
        bytes,
        last,
    })
}

/// Prints what was written, in words or JSON.
fn report(args: &TraceImportArgs, opened: &Opened, written: &Written) -> Result<()> {
    let (output, devices) = (args.output.display(), opened.source.targets());
    let remarks = opened.source.remarks();
    if args.json {
        let fields = fields! {
            trace_import_format: 1,
            output: output.to_string(),
            operations: written.operations,
            bytes: written.bytes,
            duration_ns: written.last.0,
            devices: devices,
            remarks: &remarks,
        };
        return terminal::print(json(&fields)?);
    }
    let mut text = format!(
        "{output}: {} of {} over {} in {} ({} bytes an operation)\n",
        plural(written.operations as usize, "operation"),
        plural(devices.len(), "device"),
        written.last,
        Bytes(written.bytes),
        trimmed(written.bytes as f64 / written.operations as f64, 1)
    );
    for remark in &remarks {
        text.push_str(&format!("  - {remark}\n"));
    }
    terminal::print(text)
}
