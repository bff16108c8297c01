//! `blocklab diskspd`: a command line of DiskSpd, run here.

mod own_options;
mod watch;

use std::io::Read;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::{fs, io};

use anyhow::{Context, Result, bail};
use blocklab_diskspd::{
    self as dialect, Buffers, Format, Inputs, Mistake, Overrides, Parsed, Prepared, Profile,
    Requested, System,
};
use blocklab_driver::{FileFiller, Layout};
use blocklab_host::guard::{Guard, mark};
use blocklab_host::{Handle, LARGEST_SCRIPT, facts_of, read_input};
use blocklab_record::{Note, NoteLevel, TargetKind};
use blocklab_runner::Missing;
use blocklab_store::Store;
use blocklab_syntax::encoding;
use blocklab_units::Bytes;

use self::own_options::OwnOptions;
use self::watch::Watcher;
use crate::args::DiskspdArgs;
use crate::processors::Ticks;
use crate::tool_run::{code_of, exit_code, print_outcome, run_tool, tool_request, with_keeping};
use blocklab_console::{chance, listen, place, status, supervisor, terminal};
use blocklab_results::keep;
use blocklab_results::keeping;

/// DiskSpd's exit code for an invalid command line.
const NOT_UNDERSTOOD: u8 = 3;

/// Runs what the arguments request.
pub fn run(args: &DiskspdArgs, store: &Store) -> Result<ExitCode> {
    supervisor::supervise(
        || attempt(&args.args, store),
        |error| {
            if error.is::<Mistake>() {
                NOT_UNDERSTOOD
            } else {
                code_of(error)
            }
        },
    )
}

fn attempt(arguments: &[String], store: &Store) -> Result<u8> {
    let own = OwnOptions::split(arguments)?;
    if own.help || own.rest.is_empty() {
        terminal::print(dialect::usage())?;
    }
    if own.help {
        return Ok(status::DONE);
    }
    let Parsed {
        requested,
        mut notes,
    } = dialect::parse(&own.rest)?;
    let mut profile = match requested {
        Requested::Usage => {
            terminal::print(dialect::usage())?;
            return Ok(status::DONE);
        }
        Requested::Event(name) => {
            let nothing = "Linux has no named events; nothing was done";
            terminal::warn(&format!("-ye{name}: {nothing}"));
            return Ok(status::DONE);
        }
        Requested::Xml(overrides) => from_xml(&overrides)?,
        Requested::Load(profile) => profile,
    };
    if own.read_only {
        notes.extend(only_reads(&mut profile));
    }
    let warnings = dialect::warnings(&profile);
    warnings.iter().for_each(|text| terminal::warn(text));
    if profile.profile_only {
        terminal::print(match profile.format {
            Format::Text => dialect::profile_text(&profile, &command_line(&own.rest), own.layout),
            Format::Xml => dialect::profile_xml(&profile),
        })?;
        return Ok(status::DONE);
    }
    let profile = profile.with_clock_seed((chance()? & 0xffff_ffff) as u32);
    measure(&profile, notes, &own, store)
}

/// Reads the profile that `-X` names, with what the command line overrides in it.
fn from_xml(overrides: &Overrides) -> Result<Profile> {
    let path = &overrides.path;
    let mistake = |message: String| Mistake::new(format!("-X{path}"), message);
    let bytes = read_input(Path::new(path), LARGEST_SCRIPT)
        .map_err(|error| mistake(format!("it cannot be read: {error}")))?;
    let text = encoding::text(bytes).ok_or_else(|| {
        mistake(
            "it is neither UTF-8 nor UTF-16; `iconv -f WINDOWS-1252 -t UTF-8` would make it so"
                .to_owned(),
        )
    })?;
    Ok(dialect::read_xml(&text, overrides)?)
}

/// Turns all writes into reads for `--read-only`, and gives a note for each target that had some.
fn only_reads(profile: &mut Profile) -> Vec<Note> {
    let spans = profile.timespans.iter_mut();
    let targets = spans.flat_map(|span| &mut span.targets);
    let mut notes = Vec::new();
    for target in targets.filter(|target| target.write_ratio > 0) {
        let subject = format!("-w{}", std::mem::take(&mut target.write_ratio));
        let text = format!("{} is only read, because of --read-only", target.path);
        notes.push(Note::new(NoteLevel::Approximated, subject, text));
    }
    notes
}

fn measure(profile: &Profile, mut notes: Vec<Note>, own: &OwnOptions, store: &Store) -> Result<u8> {
    let guard = place::guard(&own.destroy, store);
    let inputs = Inputs {
        mappings: own.mappings.clone(),
        size: own.size,
        sources: sources(profile, own)?,
        sizes: sizes(profile, own, &guard),
        processors: Ticks::now().numbers(),
    };
    let mut prepared = dialect::prepare(profile, &inputs)?;
    notes.append(&mut prepared.notes);
    prepared.plan.description = command_line(&own.rest);
    keeping::try_out(store, own.no_save)?;
    let interrupted = listen()?;
    if !make_files(&prepared, own, &interrupted, &guard)? {
        terminal::warn("interrupted before anything was measured; nothing is kept");
        return Ok(status::INTERRUPTED);
    }
    let request = tool_request(prepared.plan.clone(), notes, Missing::Scratch);
    let mut watcher = Watcher::new(own, profile, &prepared.plan, store);
    let outcome = run_tool(&request, &guard, &interrupted, store, &mut watcher);
    watcher.view.finished();
    let Some(mut record) = outcome? else {
        return Ok(status::INTERRUPTED);
    };
    let system = System {
        computer: computer(),
        command_line: command_line(&own.rest),
        processors: watcher.processors,
        buckets: watcher.buckets,
    };
    // Printed before it is stored, so that a run that cannot be stored has been seen.
    let printed = terminal::print(match profile.format {
        Format::Text => dialect::text(&record, profile, &prepared, &system, own.layout),
        Format::Xml => dialect::xml(&record, profile, &prepared, &system),
    });
    let is_kept = own.no_save || keep(&mut record, store);
    // The note about affinity (-ag is the default) would follow every run; `blocklab show` has it.
    let notes = record.notes.iter().filter(|note| note.subject != "-ag");
    let kept_in = Some(store).filter(|_| is_kept && !own.no_save);
    print_outcome(&record, notes, own.quiet, kept_in);
    printed?;
    Ok(with_keeping(exit_code(&record), is_kept))
}

/// The sizes of the targets that exist already: files and block devices.
fn sizes(profile: &Profile, own: &OwnOptions, guard: &Guard) -> Vec<(String, Bytes)> {
    let targets = profile.timespans.iter().flat_map(|span| &span.targets);
    let paths = targets.filter_map(|target| dialect::local_name(&target.path, &own.mappings).ok());
    let mut sizes = Vec::new();
    for path in paths.filter(|path| blocklab_workload::Target::is_path(path)) {
        if let Ok(handle) = guard.open(Path::new(&path))
            && let Ok(facts) = facts_of(&handle)
            && matches!(facts.kind, TargetKind::File | TargetKind::BlockDevice)
        {
            sizes.push((path, facts.size_bytes));
        }
    }
    sizes
}

/// The first bytes of the files from which writes take their data (`-Z`), as many as the buffer of
/// the target has and the plan uses at most, by the name of the file.
fn sources(profile: &Profile, own: &OwnOptions) -> Result<Vec<(String, Arc<[u8]>)>> {
    let targets = profile.timespans.iter().flat_map(|span| &span.targets);
    let named = targets.filter_map(|target| match &target.buffers {
        Buffers::Source { size, file } => Some((*size, file.as_ref()?)),
        _ => None,
    });
    let read = named.map(|(size, name)| {
        let path = dialect::local_name(name, &own.mappings)?;
        let mut bytes = Vec::new();
        let file = fs::File::open(&path);
        let used = size.min(Bytes::GIB.0);
        let read = file.and_then(|file| file.take(used).read_to_end(&mut bytes));
        read.with_context(|| format!("cannot read {path} (-Z)"))?;
        Ok((name.clone(), bytes.into()))
    });
    read.collect()
}

/// Creates the missing files and permits writing to them. They stay after the run, as DiskSpd leaves
/// them. False, when a signal interrupts that.
fn make_files(
    prepared: &Prepared,
    own: &OwnOptions,
    interrupted: &AtomicBool,
    guard: &Guard,
) -> Result<bool> {
    for path in &prepared.existing {
        if blocklab_workload::Target::is_path(path) && !Path::new(path).exists() {
            if own.read_only {
                bail!("{path} does not exist, and --read-only forbids to make it");
            }
            bail!("{path} does not exist; -c1G before the targets would make a file of 1 GiB");
        }
    }
    for (path, size) in &prepared.files {
        if !blocklab_workload::Target::is_path(path) {
            continue;
        }
        if own.read_only {
            let is_ready = fs::metadata(path)
                .is_ok_and(|metadata| !metadata.is_file() || metadata.len() >= size.0);
            if is_ready {
                continue;
            }
            bail!(
                "{path} is missing or smaller than {size} (-c), and --read-only forbids to write it"
            );
        }
        let (file, is_new) = match guard.open(Path::new(path)) {
            Ok(handle) => match emptied_if_short(&handle, *size, guard)? {
                Some(file) => (file, false),
                None => continue,
            },
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let made = guard.new_path(Path::new(path))?.create(0o600);
                (made.with_context(|| format!("cannot make {path}"))?, true)
            }
            Err(error) => return Err(error).with_context(|| format!("cannot use {path}")),
        };
        if !fill(&file, is_new, *size, own, interrupted)? {
            return Ok(false);
        }
        guard.adopt(&file);
    }
    Ok(true)
}

/// Empties an existing file that is smaller than requested, so that it is filled anew; `None` if it is
/// large enough or no regular file.
///
/// # Errors
/// When the guard does not permit to overwrite it.
fn emptied_if_short(handle: &Handle, size: Bytes, guard: &Guard) -> Result<Option<Handle>> {
    let metadata = handle.metadata()?;
    let have = Bytes(metadata.len());
    // A device has the size that it has: whether the load fits is checked later.
    if !metadata.is_file() || have >= size {
        return Ok(None);
    }
    let path = handle.path();
    let allowed = guard.may_write(handle);
    allowed.with_context(|| format!("{} has {have}, and -c asks for {size}", path.display()))?;
    let file = handle.reopen(fs::File::options().read(true).write(true));
    let emptied = file.and_then(|file| file.set_len(0).map(|()| file));
    let file = emptied.with_context(|| format!("cannot rewrite {}", path.display()))?;
    Ok(Some(Handle::new(file, path)?))
}

/// Fills a file with data and marks it as blocklab's; false, when a signal interrupts that.
fn fill(
    handle: &Handle,
    is_new: bool,
    size: Bytes,
    own: &OwnOptions,
    interrupted: &AtomicBool,
) -> Result<bool> {
    let path = handle.path();
    if !own.quiet {
        terminal::inform(&format!("making {} ({size})", path.display()));
    }
    let layout = Layout {
        file: &handle.file(),
        path,
        size,
    };
    let made = FileFiller::new(0).fill(layout, interrupted, |_| {});
    if matches!(made, Ok(true)) {
        mark(handle);
    } else if !is_new {
        // The file existed before, so it stays, but empty: half filled, it would be taken for whole by
        // the next run. The error of filling is reported below; that of this call adds nothing.
        let _ = handle.file().set_len(0);
    } else if handle.is_at(path) {
        // A half-filled new file would be taken for a whole one by the next run.
        let _ = fs::remove_file(path);
    }
    Ok(made?)
}

/// The host name; empty when the kernel does not tell it.
fn computer() -> String {
    let name = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    name.trim().to_owned()
}

/// The command line as it was typed; arguments with blanks are in quotes.
fn command_line(arguments: &[String]) -> String {
    let mut line = String::from("diskspd");
    for argument in arguments {
        let quote = if argument.contains(' ') { "\"" } else { "" };
        line.push_str(&format!(" {quote}{argument}{quote}"));
    }
    line
}
