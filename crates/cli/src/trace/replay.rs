//! `blocklab run --trace`, and the key `trace` of a study: a recorded load as a job.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, anyhow, bail};
use blocklab_catalog::resolve;
use blocklab_console::place;
use blocklab_host::{LARGEST_REPORT, read_input, target_facts};
use blocklab_native::{CaseTrace, WantedTrace};
use blocklab_record::{Note, NoteLevel, TargetKind};
use blocklab_trace::prepared::{ReplayOptions, TargetLimits, prepared};
use blocklab_trace::{Operation, Source, gives_again};
use blocklab_units::{Bytes, SECTOR, agreeing, count, plural};
use blocklab_workload::{
    BlockSizes, Case, Direction, Job, Plan, Region, Replay, ReplayPace, SizeMix, Stop, Target,
    TraceChanges, TraceFile,
};

use super::opened::{self, Devices};
use blocklab_args::{EventArg, ReplayArgs, TraceInput};

/// Default limit of operations in flight in virtual time, which needs no buffers: most traces never
/// reach it, so the limit does not change them.
const IN_FLIGHT_VIRTUAL: usize = 4 << 20;
/// Default limit on a real target.
const IN_FLIGHT_REAL: u32 = 1024;
/// Default with `--as fast`, which keeps as many in flight as it may: here it is the depth.
const IN_FLIGHT_FAST: u32 = 32;
/// IORING_MAX_ENTRIES of Linux.
const MOST_REAL: u32 = 32_768;
/// Memory for the buffers of a real run, one for each operation in flight.
const BUFFERS: u64 = 256 << 20;
/// The most operations of a replay. All are in memory, in 32 bytes each.
const MOST_OPERATIONS: usize = 50_000_000;
/// A scratch file consists of whole pages.
const PAGE: u64 = 4096;

/// A recorded load, and notes on how it differs from the recording.
pub struct Planned {
    pub plan: Plan,
    pub notes: Vec<Note>,
}

/// The plan of `--trace`: one case with one job.
pub fn plan(args: &ReplayArgs, targets: &[String]) -> Result<Planned> {
    let [target] = targets else {
        bail!("--trace replays the operations of one device on one --target");
    };
    let mut replayed = replayed(&args.trace, &args.read, &args.wanted(), target)?;
    replayed.job.name = "trace".to_owned();
    for note in &mut replayed.notes {
        note.subject = "--trace".to_owned();
    }
    let case = Case::new("trace", 0, vec![replayed.job]);
    let description = format!("a recorded load: {}", replayed.name);
    Ok(Planned {
        plan: Plan::once("trace", &description, vec![case]),
        notes: replayed.notes,
    })
}

/// Reads the traces that cases of a study name, and puts them into the jobs. `targets` are those of the
/// jobs that name none.
pub fn put_into(plan: &mut Plan, traces: &[CaseTrace], targets: &[String]) -> Result<Vec<Note>> {
    let mut notes = Vec::new();
    for CaseTrace { case, line, wanted } in traces {
        let mut cases = plan.cases.iter_mut();
        let found = cases.find(|found| found.name == *case);
        let jobs = found.map(|found| &mut found.workload.jobs[..]);
        // The parser gives every case with a trace one job.
        let Some([job]) = jobs else {
            continue;
        };
        let own = if job.targets.is_empty() {
            targets
        } else {
            &job.targets
        };
        let of_case = format!("line {line}: the case `{case}`");
        let [target] = own else {
            bail!(
                "{of_case}: a trace is replayed on one target, and there are {}: name one with \
                 --target, or with `targets` in the case",
                own.len()
            );
        };
        let files: Vec<PathBuf> = wanted.files.iter().map(PathBuf::from).collect();
        let replayed = replayed(&files, &input(wanted), wanted, target).context(of_case)?;
        notes.extend(replayed.notes);
        // Only what the trace determines: the study keeps its engine, access and name.
        *job = Job {
            sizes: replayed.job.sizes,
            region: replayed.job.region,
            depth: replayed.job.depth,
            stop: replayed.job.stop,
            no_overlap: replayed.job.no_overlap,
            replay: replayed.job.replay,
            ..job.clone()
        };
    }
    Ok(notes)
}

/// What the key of a study reads of its trace.
fn input(wanted: &WantedTrace) -> TraceInput {
    TraceInput {
        input: wanted.input.clone(),
        columns: wanted.columns.clone(),
        event: EventArg::default(),
        device: wanted.device.clone(),
        every: None,
        from: wanted.from,
        until: wanted.until,
    }
}

/// A recorded load on a target.
struct Replayed {
    job: Job,
    /// How the load differs from the recording.
    notes: Vec<Note>,
    /// The names of the files of the trace.
    name: String,
}

/// Reads a trace and makes a job of it.
fn replayed(
    files: &[PathBuf],
    read: &TraceInput,
    wanted: &WantedTrace,
    target: &str,
) -> Result<Replayed> {
    let mut opened = opened::open(files, read, Devices::One)?;
    let operations = read_all(&mut opened, wanted.copies)?;
    let is_virtual = Target::is_simulated(target);
    let replay = prepared(operations, &options(wanted, target), limits(target)?)
        .map_err(|why| anyhow!("{}: {why}", opened.name))?;
    if replay.operations.is_empty() {
        bail!("{}: no operations in it that are replayed", opened.name);
    }
    let mut notes = difference_notes(wanted, &replay);
    notes.extend(opened.source.remarks().iter().map(|text| note(text)));
    let source = source(files, read, wanted, &replay)?;
    let replay = Replay { source, ..replay };
    Ok(Replayed {
        job: job(wanted, replay, is_virtual)?,
        notes,
        name: opened.name,
    })
}

/// Reads all operations into memory.
fn read_all(opened: &mut opened::Opened, copies: u32) -> Result<Vec<Operation>> {
    let most = MOST_OPERATIONS / copies as usize;
    let mut operations = Vec::new();
    while let Some(operation) = opened.source.next().map_err(|error| opened.named(error))? {
        if operations.len() == most {
            bail!(
                "{}: with all copies more than {} operations, which would take more than 1.6 GB of \
                 memory: replay a part of it with --from and --until",
                opened.name,
                count(MOST_OPERATIONS as f64)
            );
        }
        operations.push(operation);
    }
    if operations.is_empty() {
        return Err(opened.empty());
    }
    Ok(operations)
}

/// The options of the replay for this target.
fn options(wanted: &WantedTrace, target: &str) -> ReplayOptions {
    ReplayOptions {
        pace: wanted.pace,
        speed_percent: wanted.speed_percent,
        copies: wanted.copies,
        shift: wanted.shift,
        place: wanted.place,
        // A trim of a whole disk in a recording would empty the target.
        trims: wanted.trims
            || Target::parse(target) == Ok(Target::Null)
            || Target::is_model(target),
    }
}

fn note(text: &str) -> Note {
    Note::new(NoteLevel::Approximated, "trace", text)
}

/// Notes on what makes the load differ from the recorded one.
fn difference_notes(wanted: &WantedTrace, replay: &Replay) -> Vec<Note> {
    let mut notes = Vec::new();
    if replay.adapted.folded > 0 {
        let folded = replay.adapted.folded as usize;
        notes.push(note(&format!(
            "{} {} moved into the target: {} distances and rewrites are not those of the recording",
            plural(folded, "operation"),
            agreeing(folded, "was", "were"),
            agreeing(folded, "its", "their")
        )));
    }
    if replay.adapted.dropped > 0 {
        let dropped = replay.adapted.dropped as usize;
        notes.push(note(&format!(
            "{} {} left out; --trims issues {}",
            plural(dropped, "trim"),
            agreeing(dropped, "was", "were"),
            agreeing(dropped, "it", "them")
        )));
    }
    if wanted.speed_percent != 100 {
        notes.push(note(&format!(
            "replayed at {} % of the recorded speed, which is a load that nobody recorded",
            wanted.speed_percent
        )));
    }
    if wanted.copies > 1 {
        notes.push(note(&format!(
            "{} copies, each {} after the one before, on the same places: a load that nobody recorded",
            wanted.copies, wanted.shift
        )));
    }
    notes
}

/// The job of a replay, without a name. `is_virtual`: whether the target is in virtual time, where
/// operations in flight need no buffers and no file is created.
fn job(wanted: &WantedTrace, replay: Replay, is_virtual: bool) -> Result<Job> {
    let operations = &replay.operations;
    let (mut largest, mut largest_trim) = (SECTOR, SECTOR);
    for op in operations {
        let largest = match op.direction {
            Direction::Trim => &mut largest_trim,
            _ => &mut largest,
        };
        *largest = (*largest).max(op.len.into());
    }
    let block = Bytes(largest);
    let depth = match wanted.max_in_flight {
        Some(depth) if !is_virtual && depth > MOST_REAL => {
            bail!("--max-in-flight: the kernel takes at most {MOST_REAL} operations in flight")
        }
        Some(depth) => depth,
        None if wanted.pace == ReplayPace::Fast => IN_FLIGHT_FAST,
        None if is_virtual => operations.len().min(IN_FLIGHT_VIRTUAL) as u32,
        None => IN_FLIGHT_REAL.min((BUFFERS / block.0).max(1) as u32),
    };
    // A scratch file is made as large as the replay reaches.
    let ends = operations.iter().map(|op| op.offset + u64::from(op.len));
    let reached = Bytes(ends.max().unwrap_or(0).next_multiple_of(PAGE));
    let region = Region {
        size: (!is_virtual).then_some(reached),
        ..Region::default()
    };
    Ok(Job {
        sizes: BlockSizes {
            trim: SizeMix::fixed(Bytes(largest_trim)),
            ..BlockSizes::fixed(block)
        },
        region,
        depth,
        stop: Stop::default(),
        no_overlap: wanted.in_order,
        replay: Some(Arc::new(replay)),
        ..Job::default()
    })
}

/// The file from which the same operations can be read again, so that the record needs only its name
/// and checksum; `None` where they were changed in ways that a record cannot describe.
fn source(
    files: &[PathBuf],
    read: &TraceInput,
    wanted: &WantedTrace,
    replay: &Replay,
) -> Result<Option<TraceFile>> {
    let is_changed = replay.adapted != blocklab_workload::Adapted::default()
        || !replay.dependencies.is_empty()
        || wanted.copies > 1
        || read.device.is_some();
    let is_part = read.from.is_some() || read.until.is_some() || read.columns.is_some();
    let [path] = files else {
        return Ok(None);
    };
    if is_changed || is_part || path.as_os_str() == "-" {
        return Ok(None);
    }
    let bytes = read_input(path, LARGEST_REPORT);
    // A file that cannot be read at once has no checksum, and so the record has no source.
    let Ok(bytes) = bytes else { return Ok(None) };
    let source = TraceFile {
        path: path.display().to_string(),
        sha256: TraceFile::checksum(&bytes),
        changes: TraceChanges {
            skip: Vec::new(),
            scale: 1,
            align: 0,
            speed_percent: wanted.speed_percent,
            to_one_target: true,
        },
    };
    // A later `--again` reads it by the path alone.
    Ok(Some(source).filter(|source| gives_again(source, &bytes, &replay.operations)))
}

/// The size of a target and the alignment that it needs, as far as both are known.
fn limits(target: &str) -> Result<TargetLimits> {
    let parsed = Target::parse(target)?;
    if let Some(address) = parsed.address() {
        let catalog = place::load_catalog()?;
        let resolved =
            resolve(address, &catalog).map_err(|error| anyhow!("cannot use {target}:\n{error}"))?;
        return Ok(TargetLimits {
            size: Some(resolved.spec.capacity().0),
            // A model takes operations of any size.
            block: 1,
        });
    }
    let path = Path::new(target);
    if parsed == Target::Null || !path.exists() {
        return Ok(TargetLimits::default());
    }
    let facts = target_facts(path).with_context(|| format!("cannot look at {target}"))?;
    let device = facts.devices.first();
    let below = device.map(|device| device.logical_block_bytes.0);
    let direct = facts.direct_offset_align.map(u64::from);
    let is_folder = path.is_dir();
    Ok(TargetLimits {
        // In a directory a scratch file is created as large as needed, and `null` has no size.
        size: (!is_folder && facts.kind != TargetKind::Null).then_some(facts.size_bytes.0),
        block: direct.or(below).unwrap_or(1),
    })
}
