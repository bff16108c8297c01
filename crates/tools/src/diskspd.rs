//! `blocklab diskspd`: a command line of DiskSpd, run here.

mod house;
mod watch;

use std::io::Read;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::{fs, io};

use anyhow::{Context, Result, bail};
use blocklab_diskspd::{
    self as dialect, Asked, Buffers, Format, Mistake, Overrides, Parsed, Prepared, Profile, System,
    Terms,
};
use blocklab_driver::{Layout, lay_out};
use blocklab_host::guard::{Guard, mark};
use blocklab_host::{Handle, facts_of};
use blocklab_record::{Note, NoteLevel, TargetKind};
use blocklab_store::Store;
use blocklab_syntax::encoding;
use blocklab_units::Bytes;
use blocklab_workload::Content;

use self::house::House;
use self::watch::Watcher;
use crate::args::DiskspdArgs;
use crate::keeping;
use crate::processors::Ticks;
use crate::tool_run::{ToolRun, code_of, exit_code, hold, keep, with_keeping};
use blocklab_console::chance;
use blocklab_console::listen;
use blocklab_console::{keeper, place, status, terminal};

/// As the original: the command line cannot be understood.
const NOT_UNDERSTOOD: u8 = 3;

/// Runs what the arguments ask for.
pub fn run(args: &DiskspdArgs, store: &Store) -> Result<ExitCode> {
    keeper::keep(|| {
        attempt(&args.args, store).unwrap_or_else(|error| {
            terminal::complain(&error);
            if error.is::<Mistake>() {
                NOT_UNDERSTOOD
            } else {
                code_of(&error, status::FAILED)
            }
        })
    })
}

fn attempt(arguments: &[String], store: &Store) -> Result<u8> {
    let house = House::split(arguments)?;
    if house.help {
        terminal::print(dialect::usage())?;
        return Ok(status::DONE);
    }
    if house.rest.is_empty() {
        terminal::print(dialect::usage())?;
    }
    let Parsed { asked, mut notes } = dialect::parse(&house.rest)?;
    let mut profile = match asked {
        Asked::Usage => {
            terminal::print(dialect::usage())?;
            return Ok(status::DONE);
        }
        Asked::Event(name) => {
            terminal::warn(&format!(
                "-ye{name}: Linux has no named events; nothing was done"
            ));
            return Ok(status::DONE);
        }
        Asked::Xml(overrides) => from_xml(&overrides)?,
        Asked::Load(profile) => profile,
    };
    if house.read_only {
        notes.extend(only_reads(&mut profile));
    }
    dialect::warnings(&profile)
        .iter()
        .for_each(|text| terminal::warn(text));
    if profile.profile_only {
        print_profile(&profile, &house)?;
        return Ok(status::DONE);
    }
    measure(&profile, notes, &house, store)
}

fn from_xml(overrides: &Overrides) -> Result<Profile> {
    let path = &overrides.path;
    let mistake = |message: String| Mistake {
        about: format!("-X{path}"),
        message,
    };
    let bytes = fs::read(path).map_err(|error| mistake(format!("it cannot be read: {error}")))?;
    let text = encoding::text(&bytes).ok_or_else(|| {
        mistake("it is neither UTF-8 nor UTF-16; `iconv -t UTF-8` would make it so".to_owned())
    })?;
    Ok(dialect::read_xml(&text, overrides)?)
}

fn only_reads(profile: &mut Profile) -> Vec<Note> {
    let mut notes = Vec::new();
    let targets = profile
        .timespans
        .iter_mut()
        .flat_map(|span| &mut span.targets);
    for target in targets.filter(|target| target.write_ratio > 0) {
        notes.push(Note {
            level: NoteLevel::Approximated,
            subject: format!("-w{}", target.write_ratio),
            text: format!("{} is only read, as --read-only says", target.path),
        });
        target.write_ratio = 0;
    }
    notes
}

fn print_profile(profile: &Profile, house: &House) -> Result<()> {
    terminal::print(match profile.format {
        Format::Text => dialect::profile_text(profile, &command_line(&house.rest), house.layout),
        Format::Xml => dialect::profile_xml(profile),
    })
}

fn measure(profile: &Profile, mut notes: Vec<Note>, house: &House, store: &Store) -> Result<u8> {
    let guard = place::guard(&house.destroy, store);
    let terms = Terms {
        mappings: house.mappings.clone(),
        clock_seed: (chance()? & 0xffff_ffff) as u32,
        size: house.size,
        sources: sources(profile, house)?,
        sizes: sizes(profile, house, &guard),
        processors: Ticks::now().numbers(),
    };
    let mut prepared = dialect::prepare(profile, &terms)?;
    notes.append(&mut prepared.notes);
    prepared.plan.description = command_line(&house.rest);
    keeping::try_out(store, house.no_save)?;
    let interrupted = listen()?;
    if !make_files(&prepared, house, &interrupted, &guard)? {
        terminal::warn("interrupted before anything was measured; nothing is kept");
        return Ok(status::INTERRUPTED);
    }
    let tool_run = ToolRun {
        plan: prepared.plan.clone(),
        notes,
        targets: &[],
        guard: &guard,
        create: true,
    };
    let mut watcher = Watcher::new(house, profile, &prepared.plan, store);
    let held = hold(tool_run, &interrupted, store, &mut watcher);
    watcher.screen.finished();
    let Some(mut record) = held? else {
        return Ok(status::INTERRUPTED);
    };
    let system = System {
        computer: computer(),
        command_line: command_line(&house.rest),
        processors: watcher.processors,
        buckets: watcher.buckets,
    };
    // Printed first, so that a run that cannot be kept is seen.
    let printed = terminal::print(match profile.format {
        Format::Text => dialect::text(&record, profile, &prepared, &system, house.layout),
        Format::Xml => dialect::xml(&record, profile, &prepared, &system),
    });
    let is_kept = house.no_save || keep(&mut record, store);
    watch::tell(house, &record, is_kept);
    printed?;
    Ok(with_keeping(exit_code(&record), is_kept))
}

/// Of the targets that are there already.
fn sizes(profile: &Profile, house: &House, guard: &Guard) -> Vec<(String, Bytes)> {
    let targets = profile.timespans.iter().flat_map(|span| &span.targets);
    let paths = targets.filter_map(|target| dialect::here(&target.path, &house.mappings).ok());
    let there = paths.filter(|path| is_name(path));
    there
        .filter_map(|path| {
            let handle = guard.open(Path::new(&path)).ok()?;
            Some((path, size_of(&handle)?))
        })
        .collect()
}

/// Of a file or a block device.
fn size_of(handle: &Handle) -> Option<Bytes> {
    let facts = facts_of(handle).ok()?;
    let is_sized = matches!(facts.kind, TargetKind::File | TargetKind::BlockDevice);
    is_sized.then_some(facts.size_bytes)
}

/// What the files hold from which writes take their bytes, as far as the buffers go.
fn sources(profile: &Profile, house: &House) -> Result<Vec<(String, Arc<[u8]>)>> {
    let mut sources = Vec::new();
    let targets = profile.timespans.iter().flat_map(|span| &span.targets);
    for target in targets {
        let Buffers::Source {
            size,
            file: Some(name),
        } = &target.buffers
        else {
            continue;
        };
        let path = dialect::here(name, &house.mappings)?;
        let file = fs::File::open(&path).with_context(|| format!("cannot read {path} (-Z)"))?;
        let mut bytes = Vec::new();
        file.take(*size)
            .read_to_end(&mut bytes)
            .with_context(|| format!("cannot read {path} (-Z)"))?;
        sources.push((name.clone(), bytes.into()));
    }
    Ok(sources)
}

/// Makes the files that are not there. They are ours then, and may be written to; they stay, as
/// the original leaves them. Whether that was not interrupted.
fn make_files(
    prepared: &Prepared,
    house: &House,
    interrupted: &AtomicBool,
    guard: &Guard,
) -> Result<bool> {
    for path in &prepared.existing {
        if is_name(path) && !Path::new(path).exists() {
            bail!("{path} does not exist; -c1G before the targets would make a file of 1 GiB");
        }
    }
    for (path, size) in &prepared.files {
        if !is_name(path) {
            continue;
        }
        let file = match guard.open(Path::new(path)) {
            Ok(handle) => match gives_way(&handle, *size, guard)? {
                Some(file) => file,
                None => continue,
            },
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let new = guard.new_path(Path::new(path))?;
                let made = new.create(0o600);
                made.with_context(|| format!("cannot make {path}"))?
            }
            Err(error) => return Err(error).with_context(|| format!("cannot use {path}")),
        };
        if !fill(&file, *size, house, interrupted)? {
            return Ok(false);
        }
        guard.adopt(&file)?;
    }
    Ok(true)
}

/// A file that is there and smaller than what is asked for, emptied: ours, or one that was named
/// for it.
fn gives_way(handle: &Handle, size: Bytes, guard: &Guard) -> Result<Option<Handle>> {
    let metadata = handle.metadata()?;
    let have = Bytes(metadata.len());
    if !metadata.is_file() || have >= size {
        return Ok(None);
    }
    let path = handle.path();
    let allowed = guard.may_write(handle);
    allowed.with_context(|| format!("{} has {have}, and -c asks for {size}", path.display()))?;
    let file = handle.reopen(fs::File::options().read(true).write(true));
    let emptied = file.and_then(|file| file.set_len(0).map(|()| file));
    let file = emptied.with_context(|| format!("cannot make {} anew", path.display()))?;
    Ok(Some(Handle::new(file, path)))
}

/// Whether a target is a path, and no model.
fn is_name(path: &str) -> bool {
    path != "null" && !path.starts_with("sim:") && !path.starts_with("emu:")
}

fn fill(handle: &Handle, size: Bytes, house: &House, interrupted: &AtomicBool) -> Result<bool> {
    let path = handle.path();
    if !house.quiet {
        terminal::tell(&format!("making {} ({size})", path.display()));
    }
    let layout = Layout {
        file: &handle.file(),
        path,
        size,
        content: Content::Random,
        seed: 0,
    };
    let made = lay_out(layout, interrupted, |_| {});
    if matches!(made, Ok(true)) {
        mark(handle);
    } else if handle.is_at(path) {
        // What is half made helps nobody; a second failure would say nothing new.
        let _ = fs::remove_file(path);
    }
    Ok(made?)
}

fn computer() -> String {
    let name = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    name.trim().to_owned()
}

/// As it was typed, in quotes where there are blanks.
fn command_line(arguments: &[String]) -> String {
    let quoted = |argument: &String| match argument.contains(' ') {
        true => format!("\"{argument}\""),
        false => argument.clone(),
    };
    let words: Vec<String> = arguments.iter().map(quoted).collect();
    format!("diskspd {}", words.join(" "))
}
