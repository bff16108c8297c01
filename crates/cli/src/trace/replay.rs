//! `blocklab run --trace`: a recorded load as a plan.
//!
//! Operations are issued at the moments at which they were recorded, whatever is in flight (`--as
//! open`), or each as soon as there is room for it (`--as fast`).

use std::collections::HashMap;
use std::fs::File;
use std::io::{Seek, SeekFrom};
use std::sync::Arc;

use anyhow::{Context, Result, anyhow, bail};
use blocklab_catalog::resolve;
use blocklab_console::place;
use blocklab_host::{LARGEST_REPORT, read_input};
use blocklab_record::{Note, NoteLevel};
use blocklab_trace::format::Format;
use blocklab_trace::{Operation, Source};
use blocklab_units::{Bytes, count};
use blocklab_workload::{
    Adapted, BlockSizes, Case, Direction, Job, Plan, Region, Replay, Replayed, SizeMix, Stop,
    Target, TraceChanges, TraceFile, Workload,
};

use super::opened;
use crate::args::{ReplayArgs, ReplayPace};

/// Most operations in flight where the command line does not say. Virtual time needs no buffers, so
/// that all operations of most traces may be.
const IN_FLIGHT_VIRTUAL: usize = 4 << 20;
const IN_FLIGHT_REAL: u32 = 1024;
/// IORING_MAX_ENTRIES of Linux.
const MOST_REAL: u32 = 32_768;
/// The same without moments, where as many are in flight as may be.
const IN_FLIGHT_FAST: u32 = 32;
/// What buffers of a real run may take.
const BUFFERS: u64 = 256 << 20;
/// An operation takes 32 bytes of memory.
const MOST: usize = 50_000_000;
/// Extents that keep their neighbourhood with `--compact`.
const EXTENT: u64 = 1 << 20;
const SECTOR: u64 = 512;

/// A recorded load, and what is to be said of it.
pub struct Planned {
    pub plan: Plan,
    pub notes: Vec<Note>,
}

/// The load of the arguments, for these targets.
pub fn plan(args: &ReplayArgs, targets: &[String]) -> Result<Planned> {
    let [target] = targets else {
        bail!("--trace replays the operations of one device on one --target");
    };
    let mut opened = opened::open(&args.trace, &args.read, true)?;
    let mut operations: Vec<Operation> = Vec::new();
    while let Some(operation) = opened.source.next().map_err(|error| opened.named(error))? {
        if operations.len() == MOST {
            bail!(
                "{}: more than {} operations, which would take more than 1.6 GB of memory: replay a \
                 part of it with --from and --until",
                opened.name,
                count(MOST as f64)
            );
        }
        operations.push(operation);
    }
    if operations.is_empty() {
        bail!("{}: no operations in it", opened.name);
    }
    let end = operations.iter().map(Operation::end).max().unwrap_or(0);
    let moved = placed(args, &mut operations, end, size_of(target)?)?;
    let end = operations.iter().map(Operation::end).max().unwrap_or(0);
    let mut notes: Vec<Note> = opened
        .source
        .remarks()
        .iter()
        .map(|text| note(text))
        .collect();
    if moved > 0 {
        notes.push(note(&format!(
            "{} operations were moved into the target: their distances and rewrites are not those of \
             the recording",
            count(moved as f64)
        )));
    }
    if args.speed != 100 {
        notes.push(note(&format!(
            "replayed at {} % of the recorded speed, which is a load that nobody recorded",
            args.speed
        )));
    }
    let is_virtual = target.starts_with("sim:");
    let adapted = Adapted {
        folded: moved,
        ..Adapted::default()
    };
    let job = job(args, &operations, end, is_virtual, adapted)?;
    let name = "trace".to_owned();
    let case = Case {
        name: name.clone(),
        settings: Vec::new(),
        workload: Workload {
            seed: 0,
            jobs: vec![Job { name, ..job }],
        },
    };
    let description = format!("a recorded load: {}", opened.name);
    Ok(Planned {
        plan: Plan::once("trace", &description, vec![case]),
        notes,
    })
}

fn note(text: &str) -> Note {
    Note::new(NoteLevel::Approximated, "--trace", text)
}

fn job(
    args: &ReplayArgs,
    operations: &[Operation],
    end: u64,
    is_virtual: bool,
    adapted: Adapted,
) -> Result<Job> {
    let largest = |trims: bool| {
        let same = operations
            .iter()
            .filter(|op| (op.direction == Direction::Trim) == trims);
        let most = same.map(|op| op.len).max().unwrap_or(0);
        SizeMix::fixed(Bytes(u64::from(most).max(SECTOR)))
    };
    let block = largest(false).largest();
    let depth = match args.max_in_flight {
        Some(depth) if !is_virtual && depth.get() > MOST_REAL => {
            bail!("--max-in-flight: the kernel takes at most {MOST_REAL} operations in flight")
        }
        Some(depth) => depth.get(),
        None if args.pace == ReplayPace::Fast => IN_FLIGHT_FAST,
        None if is_virtual => operations.len().min(IN_FLIGHT_VIRTUAL) as u32,
        None => IN_FLIGHT_REAL.min((BUFFERS / block.0).max(1) as u32),
    };
    let speed = u128::from(args.speed);
    let replayed = operations.iter().map(|operation| Replayed {
        at: blocklab_units::Nanos((u128::from(operation.at.0) * 100 / speed) as u64),
        target: 0,
        direction: operation.direction,
        len: operation.len,
        offset: operation.offset,
    });
    let defaults = Job::default();
    let reached = Bytes(end.div_ceil(4096) * 4096);
    let region = Region {
        size: (!is_virtual).then_some(reached),
        ..Region::default()
    };
    Ok(Job {
        sizes: BlockSizes {
            trim: largest(true),
            ..BlockSizes::fixed(block)
        },
        region,
        depth,
        stop: Stop::default(),
        replay: Some(Arc::new(Replay {
            operations: replayed.collect(),
            keeps_time: args.pace == ReplayPace::Open,
            source: source(args)?,
            adapted,
        })),
        ..defaults
    })
}

/// The file from which the same operations can be read again; `None` where they were changed in ways
/// that no record holds.
fn source(args: &ReplayArgs) -> Result<Option<TraceFile>> {
    let read = &args.read;
    let is_changed = args.wrap || args.scale || args.compact || read.device.is_some();
    let is_part = read.from.is_some() || read.until.is_some() || read.columns.is_some();
    let [path] = &args.trace[..] else {
        return Ok(None);
    };
    if is_changed || is_part || path.as_os_str() == "-" {
        return Ok(None);
    }
    let bytes = read_input(path, LARGEST_REPORT);
    let Ok(bytes) = bytes else { return Ok(None) };
    let format = Format::detect(&bytes[..bytes.len().min(4096)]);
    let is_kept = matches!(format, Ok(Format::Own | Format::Iolog));
    Ok(is_kept.then(|| TraceFile {
        path: path.display().to_string(),
        sha256: TraceFile::checksum(&bytes),
        changes: TraceChanges {
            skip: Vec::new(),
            scale: 1,
            align: 0,
            speed_percent: args.speed,
            to_one_target: true,
        },
    }))
}

/// Bytes of a target that is there.
fn size_of(target: &str) -> Result<Option<u64>> {
    let parsed = Target::parse(target)?;
    if let Some(address) = parsed.address() {
        let catalog = place::load_catalog()?;
        let resolved = resolve(address, &catalog);
        let resolved = resolved.map_err(|error| anyhow!("cannot use {target}:\n{error}"))?;
        let sizes = resolved.spec.volumes.iter().map(|volume| volume.capacity.0);
        return Ok(Some(sizes.sum()));
    }
    let mut file = match File::open(target) {
        Ok(file) if !file.metadata()?.is_dir() => file,
        // A scratch file is made as large as it has to be.
        _ => return Ok(None),
    };
    let size = file.seek(SeekFrom::End(0));
    size.map(Some)
        .with_context(|| format!("cannot tell the size of {target}"))
}

/// Puts operations into the target, as it is asked for. Gives how many were moved.
fn placed(
    args: &ReplayArgs,
    operations: &mut [Operation],
    end: u64,
    size: Option<u64>,
) -> Result<u64> {
    let Some(size) = size else { return Ok(0) };
    if end <= size && !args.scale && !args.compact {
        return Ok(0);
    }
    if !args.wrap && !args.scale && !args.compact {
        bail!(
            "the trace reaches {}, and the target has {}: take a larger one, or --wrap (modulo its \
             size), --scale (offsets by the ratio of the sizes) or --compact (used extents of 1 MiB \
             next to one another)",
            Bytes(end),
            Bytes(size)
        );
    }
    let mut extents: HashMap<u64, u64> = HashMap::new();
    let mut moved = 0;
    for operation in operations {
        let (offset, len) = (operation.offset, u64::from(operation.len));
        let wanted = if args.compact {
            let next = extents.len() as u64;
            let extent = *extents.entry(offset / EXTENT).or_insert(next);
            extent * EXTENT + offset % EXTENT
        } else if args.scale {
            let scaled = u128::from(offset) * u128::from(size) / u128::from(end.max(1));
            scaled as u64 / SECTOR * SECTOR
        } else {
            offset % size
        };
        let last = size
            .checked_sub(len)
            .with_context(|| format!("an operation of {} is larger than the target", Bytes(len)))?;
        if args.compact && wanted > last {
            bail!(
                "the trace uses more than {} extents of 1 MiB, and the target has {}: take a larger \
                 one, or --wrap",
                count((size / EXTENT) as f64),
                Bytes(size)
            );
        }
        operation.offset = wanted.min(last / SECTOR * SECTOR);
        moved += u64::from(operation.offset != offset);
    }
    Ok(moved)
}
