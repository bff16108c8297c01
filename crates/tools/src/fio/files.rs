//! The files and control groups of the jobs: created before the run as fio creates them, and removed
//! or left after it as fio does.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::fs::{self, File, Metadata};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::Path;
use std::process::{Child, Command};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use anyhow::{Context, Result, bail};
use blocklab_console::place::shell_word;
use blocklab_console::terminal;
use blocklab_driver::FileFiller;
use blocklab_fio::{CloneFacts, ControlGroup, Layout, Planned, Prepared};
use blocklab_host::Handle;
use blocklab_host::guard::{Guard, Refusal, file_use, mark};
use blocklab_units::Bytes;
use blocklab_workload::Job;
use rustix::fs::{Advice, FallocateFlags, fadvise, fallocate, fstatvfs};

use super::environment::nearest_directory;
use blocklab_results::output::{self, Over};

/// Creates the missing files and control groups; false, when a signal interrupts that. As with fio, jobs
/// may overwrite the content of regular files that they name, and if a file cannot be created, only its
/// jobs fail.
pub fn make(prepared: &mut Prepared, interrupted: &AtomicBool, guard: &Guard) -> Result<bool> {
    for directory in &prepared.directories {
        let path = Path::new(directory);
        if path.exists() && !path.is_dir() {
            bail!("{directory} is a file; directory= names a directory");
        }
        if !path.is_dir() {
            let word = shell_word(directory);
            bail!("{directory} is not a directory; `mkdir -p {word}` would make it");
        }
    }
    // Refusals come first: nothing may be created for a run that will not take place.
    check_devices(prepared, guard)?;
    let made = make_groups(&prepared.control_groups)
        .and_then(|()| make_files(prepared, interrupted, guard));
    if !matches!(made, Ok(true)) {
        // No job runs, so nothing else cleans up after them.
        cut_files(prepared, guard);
        remove_groups(&prepared.control_groups);
    }
    made
}

/// Creates the missing files, as [`make`] does.
fn make_files(prepared: &mut Prepared, interrupted: &AtomicBool, guard: &Guard) -> Result<bool> {
    let is_used = !prepared.clones.iter().all(|clone| clone.create_only);
    let mut maker = Maker {
        guard,
        interrupted,
        may_create: prepared.clones.iter().all(|clone| clone.may_create),
        kept_as_they_are: kept_as_they_are(prepared),
        marks: prepared.files.len() <= MARKED,
        fillers: Fillers::new(prepared),
    };
    let mut parent = None;
    let mut failed: Vec<(String, i32)> = Vec::new();
    for file in &mut prepared.files {
        if interrupted.load(Relaxed) {
            return Ok(false);
        }
        // Most files are in the directory of the one before, which needs no second check then.
        let path = Path::new(&file.path);
        let own = path.parent().map(Path::to_owned);
        let is_elsewhere = parent.as_ref() != Some(&own);
        let is_cut = matches!(file.layout, Layout::Filled | Layout::Grown);
        let before = is_cut.then(|| fs::metadata(path).ok()).flatten();
        let made = maker.make(file, is_used && file.is_opened, is_elsewhere);
        // If the directory could not be made, the next file in it fails for the same reason.
        parent = made.is_ok().then_some(own);
        match made {
            Ok(true) if is_cut => {
                file.cut_to = Some(Bytes(before.map_or(0, |metadata| metadata.len())));
            }
            Ok(true) => {}
            Ok(false) => return Ok(false),
            Err(error) => match failure_number(&error) {
                Some(number) => {
                    terminal::complain(&error);
                    failed.push((file.path.clone(), number));
                }
                None => return Err(error),
            },
        }
    }
    mark_failed(prepared, &failed);
    // Jobs may overwrite what they name.
    for job in prepared.jobs().filter(|job| is_used && job.changes()) {
        if prepared.failed().any(|clone| clone.job == job.name) {
            continue;
        }
        for path in &job.targets {
            guard.give_up_content_at(Path::new(path));
        }
    }
    Ok(true)
}

/// Refuses a device that a job may not write to, before anything is made for the others.
pub fn check_devices(prepared: &Prepared, guard: &Guard) -> Result<()> {
    let made: HashSet<&String> = prepared.files.iter().map(|file| &file.path).collect();
    let jobs = prepared.jobs().filter(|job| job.changes());
    for path in jobs
        .filter(|job| job.engine.opens_files())
        .flat_map(|job| &job.targets)
    {
        if !made.contains(path)
            && let Ok(metadata) = fs::metadata(path)
            && !metadata.is_file()
            && !metadata.is_dir()
        {
            guard.may_write(&guard.open(Path::new(path))?)?;
        }
    }
    Ok(())
}

/// Files that only jobs with `allow_file_create=0` name, which are neither made nor lengthened.
fn kept_as_they_are(prepared: &Prepared) -> HashSet<String> {
    let mut kept = HashSet::new();
    let clones = || prepared.jobs().zip(&prepared.clones);
    for (job, _) in clones().filter(|(_, clone)| !clone.may_create) {
        kept.extend(job.targets.iter().cloned());
    }
    for (job, _) in clones().filter(|(_, clone)| clone.may_create) {
        for path in &job.targets {
            kept.remove(path);
        }
    }
    kept
}

/// The number of the error with which the jobs of a file fail that could not be made. `None`: the
/// whole run is refused.
fn failure_number(error: &anyhow::Error) -> Option<i32> {
    // fio has no number for this one.
    if error.is::<Kept>() {
        Some(0)
    } else {
        errno(error)
    }
}

/// The errno in an error, if the kernel failed the call. `None` if a rule of blocklab forbids it: that
/// refuses the whole run and not only a job.
fn errno(error: &anyhow::Error) -> Option<i32> {
    let causes = error.chain();
    let mut numbers = causes.filter_map(|cause| cause.downcast_ref::<io::Error>()?.raw_os_error());
    numbers.next().filter(|_| !error.is::<Refusal>())
}

/// Marks the jobs that use a file that could not be created as failed, so that they do not run. `failed`:
/// the path of each such file, and the errno.
fn mark_failed(prepared: &mut Prepared, failed: &[(String, i32)]) {
    for (job, clone) in prepared.plan.jobs().zip(&mut prepared.clones) {
        let failure = failed.iter().find(|(path, _)| job.targets.contains(path));
        if let Some((_, errno)) = failure {
            clone.failed = Some(*errno);
        }
    }
}

/// Most files that get the mark of blocklab's files. Each mark needs a descriptor and a look into the
/// file; a plan with more files must be laid out as fast as fio does it.
const MARKED: usize = 16;

/// Creates files one after the other. Its methods return false when a signal interrupts them.
struct Maker<'a> {
    guard: &'a Guard,
    interrupted: &'a AtomicBool,
    /// Whether every job may make files.
    may_create: bool,
    /// Files that are neither made nor lengthened.
    kept_as_they_are: HashSet<String>,
    /// Whether files are marked as blocklab's, so that later commands may overwrite them.
    marks: bool,
    fillers: Fillers,
}

/// What files are laid out with: as with fio, what the first job that names them writes.
struct Fillers {
    random: FileFiller,
    /// One for each job that writes something else.
    shaped: Vec<FileFiller>,
    /// Which of these fills a file; `None`: none of them.
    by_path: HashMap<String, Option<usize>>,
}

impl Fillers {
    fn new(prepared: &Prepared) -> Self {
        let mut shaped = Vec::new();
        let mut by_path = HashMap::new();
        for job in prepared.jobs() {
            let filler = FileFiller::for_job(job, shaped.len() as u64);
            let index = filler.is_some().then_some(shaped.len());
            shaped.extend(filler);
            for path in &job.targets {
                by_path.entry(path.clone()).or_insert(index);
            }
        }
        // Then all files are filled alike, and there may be a million of them.
        if shaped.is_empty() {
            by_path.clear();
        }
        Self {
            random: FileFiller::new(0),
            shaped,
            by_path,
        }
    }

    fn for_file(&mut self, path: &str) -> &mut FileFiller {
        match self.by_path.get(path) {
            Some(Some(index)) => &mut self.shaped[*index],
            _ => &mut self.random,
        }
    }
}

impl Maker<'_> {
    /// Creates a file or directory, or lengthens a file that is too short. Of a name that its job makes,
    /// only the directory is created. `is_held`: whether it is kept open for the jobs; files that no job
    /// opens are not, because there may be more of them than descriptors. `is_elsewhere`: whether its
    /// directory is another one than that of the file before.
    fn make(&mut self, file: &Planned, is_held: bool, is_elsewhere: bool) -> Result<bool> {
        let path = Path::new(&file.path);
        if file.layout == Layout::Name {
            // Before its directories are made: nothing may be created for a run that is refused.
            if !self.may_create && !path.exists() {
                bail!(forbidden(file));
            }
            if is_elsewhere {
                make_directories(path, self.guard)?;
            }
            return Ok(true);
        }
        let opened = match (is_held, file.layout) {
            (true, _) => self.guard.open(path),
            (false, Layout::Directory) => Handle::open_directory(path),
            (false, _) => Handle::open(path),
        };
        match opened {
            Ok(handle) if file.layout == Layout::Directory => {
                if handle.kind().is_dir() {
                    Ok(true)
                } else {
                    bail!(
                        "{} is no directory, and its jobs make directories",
                        file.path
                    )
                }
            }
            Ok(handle) => self.lengthen(&handle, file),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                if self.kept_as_they_are.contains(&file.path) {
                    bail!(Kept(forbidden(file)));
                }
                if is_elsewhere {
                    make_directories(path, self.guard)?;
                }
                self.create(file, is_held)
            }
            Err(error) => Err(error).with_context(|| format!("cannot use {}", file.path)),
        }
    }

    /// Creates a file or directory that does not exist. False, when a signal interrupts it.
    fn create(&mut self, file: &Planned, is_held: bool) -> Result<bool> {
        let path = Path::new(&file.path);
        let new = self.guard.free_path(path)?;
        let failed = || format!("cannot make {}", file.path);
        if file.layout == Layout::Directory {
            new.create_directory(0o755).with_context(failed)?;
            return Ok(true);
        }
        // Files that stay can be read by other users, as those of fio can.
        let created = new.create(0o644);
        if created.is_err() {
            // If the reason is a dangling link, the guard has the better message.
            self.guard.new_path(path)?;
        }
        let handle = created.with_context(failed)?;
        let filled = if is_written(file) {
            self.fill(&handle.file(), file, path, file.length)
        } else {
            let reserved = reserve(&handle.file(), file).with_context(failed);
            reserved.map(|()| true)
        };
        if !matches!(filled, Ok(true)) {
            if handle.is_at(path) {
                // The next run would take a half-filled file for a whole one. The first error is
                // reported; that the removal fails, too, would tell nothing new.
                let _ = fs::remove_file(path);
            }
            return filled;
        }
        if is_held && self.marks {
            // With the mark, other commands may overwrite it, like a file that `run` has created.
            mark(&handle);
            self.guard.adopt(&handle);
        } else if is_held {
            self.guard.made(&handle);
        }
        Ok(true)
    }

    /// Lengthens an existing file that is too short, unless the guard or a job forbids that. False, when
    /// a signal interrupts it.
    fn lengthen(&mut self, handle: &Handle, file: &Planned) -> Result<bool> {
        let metadata = handle.metadata()?;
        if metadata.is_dir() {
            let path = &file.path;
            return Err(io::Error::from_raw_os_error(libc::EISDIR)).with_context(|| {
                format!("{path}: filename= names files; directory={path} makes them in it")
            });
        }
        let length = metadata.len();
        if !metadata.is_file() || length >= file.length.0 {
            return Ok(true);
        }
        if self.kept_as_they_are.contains(&file.path) && !file.is_appended {
            bail!(Kept(format!(
                "{} has {}, and allow_file_create=0 forbids to make it {} long",
                file.path,
                Bytes(length),
                file.length
            )));
        }
        // As with fio, whoever names a file in a job gives up its content. The guard still refuses
        // a file in use.
        self.guard.give_up_content(handle);
        self.guard.may_write(handle)?;
        // A file that blocklab made stays one, although its jobs may only read it.
        self.guard.mark_written(handle.path());
        let failed = || format!("cannot make {} longer", file.path);
        let opened = handle.reopen(File::options().write(true));
        let mut open = opened.with_context(failed)?;
        if !is_written(file) {
            reserve(&open, file).with_context(failed)?;
            return Ok(true);
        }
        open.seek(SeekFrom::Start(length)).with_context(failed)?;
        self.fill(&open, file, handle.path(), Bytes(file.length.0 - length))
    }

    /// Fills `size` bytes from the current position of the open file on. False, when a signal
    /// interrupts it.
    fn fill(&mut self, open: &File, file: &Planned, path: &Path, size: Bytes) -> Result<bool> {
        let layout = blocklab_driver::Layout {
            file: open,
            path,
            size,
        };
        if file.layout == Layout::Written && !has_room(open, size) {
            return Err(blocklab_driver::Error::LayOut {
                path: path.to_owned(),
                size: size.to_string(),
                cause: io::Error::from_raw_os_error(libc::ENOSPC),
            }
            .into());
        }
        let filler = self.fillers.for_file(&file.path);
        match filler.fill(layout, self.interrupted, |_| {}) {
            // What was written until then stays, and is what its jobs work on.
            Err(blocklab_driver::Error::LayOut { cause, .. })
                if file.layout == Layout::WrittenUntilFull && is_full(&cause) =>
            {
                Ok(true)
            }
            filled => Ok(filled?),
        }
    }
}

/// Whether the file system of a file may have room for `more` bytes. If not, a layout would fill it, and
/// everything else on it would fail meanwhile. One that reports no size, as some of FUSE do, may have room.
fn has_room(file: &File, more: Bytes) -> bool {
    let Ok(found) = fstatvfs(file) else {
        return true;
    };
    let free = found.f_bfree.saturating_mul(found.f_frsize);
    found.f_blocks == 0 || more.0 <= free
}

/// Whether a file is laid out by writing it.
const fn is_written(file: &Planned) -> bool {
    matches!(file.layout, Layout::Written | Layout::WrittenUntilFull)
}

/// Whether a write failed because the file system, or the quota of its owner, has no more room.
fn is_full(cause: &io::Error) -> bool {
    matches!(cause.raw_os_error(), Some(libc::ENOSPC | libc::EDQUOT))
}

/// A file that is kept as it is, which fails its jobs alone.
#[derive(Debug)]
struct Kept(String);

impl fmt::Display for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Kept {}

/// What is wrong with a file that does not exist and may not be created.
fn forbidden(file: &Planned) -> String {
    let path = &file.path;
    format!("{path} is not there, and allow_file_create=0 forbids to make it")
}

/// Refuses, for a read-only run, jobs that need a file to be created or lengthened. Fio prints the same
/// message, measures what is there and fails at the end of the file; here nothing is run.
pub fn refuse_changes(prepared: &Prepared) -> Result<()> {
    const REFUSED: &str = "refusing extend of file due to read-only";
    for job in prepared.jobs() {
        let (engine, name) = (job.engine, &job.name);
        let what = if engine.is_of_directories() {
            "directories"
        } else {
            "files"
        };
        if engine.makes_names() {
            bail!(
                "{REFUSED}: the ioengine={} of job {name} makes {what}",
                engine.name()
            );
        }
        // Fio allows it, but a user who wants to read only expects his files to stay.
        if engine.removes_names() {
            bail!(
                "the ioengine={} of job {name} removes {what}, and the run is read-only",
                engine.name()
            );
        }
    }
    for file in &prepared.files {
        let path = &file.path;
        match fs::metadata(path) {
            Ok(metadata) if metadata.is_file() && metadata.len() < file.length.0 => bail!(
                "{REFUSED}: {path} has {}, and the jobs read {} of it; a smaller size=, or a run \
                 that may write, would work",
                Bytes(metadata.len()),
                file.length
            ),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                bail!("{REFUSED}: {path} does not exist")
            }
            _ => {}
        }
    }
    Ok(())
}

/// Fio's lines about files that will be laid out: one line for each job, a file with the first job
/// that names it.
pub fn layout_lines(prepared: &Prepared) -> Vec<String> {
    let mut missing = Vec::new();
    for file in &prepared.files {
        // An engine that creates its files itself needs no layout.
        let is_short = file.layout != Layout::Name
            && fs::metadata(&file.path).map_or(true, |metadata| {
                metadata.is_file() && metadata.len() < file.length.0
            });
        if is_short {
            missing.push(file);
        }
    }
    let jobs = prepared.jobs();
    let mut lines = Vec::new();
    for (clone, job) in prepared.clones.iter().zip(jobs) {
        if job.engine.makes_names() {
            continue;
        }
        let targets: HashSet<&String> = job.targets.iter().collect();
        let (its, others): (Vec<_>, Vec<_>) = missing
            .into_iter()
            .partition(|file| targets.contains(&file.path));
        missing = others;
        let lengths = its.iter().map(|file| u128::from(file.length.0));
        let mib = lengths.sum::<u128>() >> 20;
        let name = &clone.name;
        lines.extend(match its.len() {
            0 => None,
            1 => Some(format!("{name}: Laying out IO file (1 file / {mib}MiB)\n")),
            count => Some(format!(
                "{name}: Laying out IO files ({count} files / total {mib}MiB)\n"
            )),
        });
    }
    lines
}

/// Creates the missing directories of a file, if the guard permits it in the nearest existing one.
fn make_directories(path: &Path, guard: &Guard) -> Result<()> {
    let Some(parent) = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty())
    else {
        return Ok(());
    };
    if parent.is_dir() {
        return Ok(());
    }
    if let Some(nearest) = nearest_directory(path) {
        guard.may_write(&Handle::open(nearest)?)?;
    }
    fs::create_dir_all(parent).with_context(|| format!("cannot make {}", parent.display()))
}

/// Sets the length of a file, and allocates its space if that is requested and the file system can.
fn reserve(open: &File, file: &Planned) -> io::Result<()> {
    let length = file.length.0;
    if file.layout == Layout::Space && fallocate(open, FallocateFlags::empty(), 0, length).is_ok() {
        return Ok(());
    }
    open.set_len(length)
}

/// Prepares the files of a case: reads them into the page cache or drops them from it, and removes
/// those that jobs will create.
pub fn prepare_case<'a>(clones: impl Iterator<Item = &'a CloneFacts>, jobs: &[Job]) {
    for clone in clones {
        let job = jobs.iter().find(|job| job.name == clone.job);
        for path in job.into_iter().flat_map(|job| &job.targets) {
            if job.is_some_and(|job| job.engine.makes_names()) {
                make_room(Path::new(path));
            }
            if job.is_some_and(|job| job.engine.is_of_names()) {
                continue;
            }
            let Ok(file) = File::open(path) else { continue };
            if clone.pre_read {
                // A read error will come up in the run, where it is counted.
                let _ = io::copy(&mut &file, &mut io::sink());
            } else if clone.invalidate {
                // The kernel may ignore this advice in any case.
                let _ = fadvise(&file, 0, None, Advice::DontNeed);
            }
        }
    }
}

/// Removes an empty file or directory, so that a job can create it. A file with a length stays, even if
/// no block is allocated for it: some file systems report none, and a sparse disk image is worth
/// keeping, too.
fn make_room(path: &Path) {
    let Ok(metadata) = fs::symlink_metadata(path) else {
        return;
    };
    // If it cannot be removed, the job opens the file instead, or fails to create the directory.
    if metadata.is_dir() {
        let _ = fs::remove_dir(path);
    } else if metadata.is_file() && metadata.len() == 0 {
        let _ = fs::remove_file(path);
    }
}

/// When a command of a job runs; its number is the index into the commands of a clone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Around {
    /// Before the job.
    Before,
    /// After it.
    After,
}

/// Runs the commands (`exec_prerun` or `exec_postrun`) of these clones: those of the clones of a job at
/// the same time, and one job after the other. Returns the lines to print about them, and the names
/// in the plan of the clones whose commands failed.
pub fn commands<'a>(
    clones: impl Iterator<Item = &'a CloneFacts>,
    around: Around,
) -> (Vec<String>, Vec<&'a str>) {
    let (mut lines, mut failed) = (Vec::new(), Vec::new());
    let suffix = match around {
        Around::Before => "prerun",
        Around::After => "postrun",
    };
    let clones: Vec<&CloneFacts> = clones.collect();
    for of_job in clones.chunk_by(|one, next| one.spec == next.spec) {
        let mut running = Vec::new();
        for clone in of_job {
            let Some(text) = &clone.commands[around as usize] else {
                continue;
            };
            let path = format!("{}.{suffix}.txt", clone.name.replace('/', "_"));
            lines.push(format!(
                "{} : Saving output of {suffix} in {path}\n",
                clone.name
            ));
            running.push((clone, text, start(text, &path)));
        }
        for (clone, text, started) in running {
            let ended = started.and_then(|mut command| Ok(command.wait()?));
            if let Err(error) = &ended {
                terminal::warn(&format!("exec_{suffix}={text}: {error:#}"));
            }
            if !ended.is_ok_and(|status| status.success()) {
                failed.push(&*clone.job);
            }
        }
    }
    (lines, failed)
}

/// Starts a command with its output in the file `path`.
///
/// As in fio, the redirection is appended to the command's text. So a redirection in the text itself
/// wins, and of several commands only the output of the last one goes to the file.
fn start(text: &str, path: &str) -> Result<Child> {
    output::create(Path::new(path), Over::Files)?;
    // The path is passed as an argument, so that no character of a job's name means something to the
    // shell.
    let redirected = format!("{text} >\"$0\" 2>&1");
    let started = Command::new("sh").args(["-c", &redirected, path]).spawn()?;
    Ok(started)
}

/// Cuts a file that grows as it is written back to the end of what jobs have written.
fn cut(file: &Planned, guard: &Guard) -> io::Result<()> {
    let Some(length_before) = file.cut_to else {
        return Ok(());
    };
    let path = Path::new(&file.path);
    let open = File::options().read(true).write(true).open(path)?;
    let metadata = open.metadata()?;
    if !metadata.is_file() || !guard.is_unchanged(path, &metadata) {
        return Ok(());
    }
    // What was there before stays. Behind it, the file has data where the jobs wrote, and holes; the
    // end is that of the last data.
    let mut end = length_before.0;
    let mut data = rustix::fs::seek(&open, rustix::fs::SeekFrom::Data(end));
    while let Ok(begin) = data {
        end = rustix::fs::seek(&open, rustix::fs::SeekFrom::Hole(begin))?;
        data = rustix::fs::seek(&open, rustix::fs::SeekFrom::Data(end));
    }
    open.set_len(end.min(metadata.len()))
}

/// Cuts the files that grow as they are written, and warns of those that cannot be cut.
fn cut_files(prepared: &Prepared, guard: &Guard) {
    for file in &prepared.files {
        if let Err(error) = cut(file, guard) {
            terminal::warn(&format!("{} keeps its length: {error}", file.path));
        }
    }
}

/// Cleans up after the run: cuts and removes files and removes control groups as the jobs request.
pub fn remove(prepared: &Prepared, guard: &Guard) {
    cut_files(prepared, guard);
    remove_groups(&prepared.control_groups);
    let jobs = prepared.jobs().filter(|job| job.engine.is_of_names());
    let of_names: HashSet<&String> = jobs.flat_map(|job| &job.targets).collect();
    for file in prepared.files.iter().filter(|file| file.unlink) {
        let path = Path::new(&file.path);
        // The name of a device, or a link to one, must not be removed; fio leaves it, too.
        let Some(metadata) = fs::metadata(path).ok().filter(Metadata::is_file) else {
            continue;
        };
        // For a job that only reads, nothing else has asked who uses the file.
        if let Some(used) = file_use(&metadata) {
            terminal::warn(&format!("unlink: {} stays: it {used}", file.path));
            continue;
        }
        // A file that somebody has changed meanwhile stays. With an engine that creates names, the
        // job itself may have made another file of the name.
        if of_names.contains(&file.path) || guard.is_unchanged(path, &metadata) {
            // It may be gone already.
            let _ = fs::remove_file(path);
        }
    }
}

/// Creates the missing control groups and sets their weights.
fn make_groups(groups: &[ControlGroup]) -> Result<()> {
    for group in groups {
        let path = &group.path;
        match fs::create_dir(path) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                return Err(error).with_context(|| format!("cgroup: cannot make {path}"));
            }
            _ => {}
        }
        if let Some(weight) = group.weight {
            let file = format!("{path}/blkio.weight");
            set_weight(Path::new(&file), weight)
                .with_context(|| format!("cgroup_weight: cannot write {file}"))?;
        }
    }
    Ok(())
}

/// Writes a weight into a group's file. The file is not created: a kernel without weights has none,
/// and that must be an error.
fn set_weight(file: &Path, weight: u32) -> io::Result<()> {
    let mut open = File::options().write(true).open(file)?;
    open.write_all(weight.to_string().as_bytes())
}

/// Removes the control groups that were made for the run.
fn remove_groups(groups: &[ControlGroup]) {
    for group in groups.iter().filter(|group| !group.keep) {
        match fs::remove_dir(&group.path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                let path = &group.path;
                terminal::warn(&format!("the control group {path} stays: {error}"));
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The story: where `directory=` named a file, the error recommended `mkdir -p`, which cannot make it.
    #[test]
    fn a_file_is_no_directory() {
        let folder = tempfile::tempdir().expect("a folder");
        let job = folder.path().join("job.fio");
        fs::write(&job, format!("[a]\ndirectory={}\nsize=4k\n", job.display())).expect("written");
        let mut prepared = crate::fio::prepared(&job.display().to_string()).expect("a sound job");
        let made = make(&mut prepared, &AtomicBool::new(false), &Guard::default());
        let wrong = made.expect_err("a file").to_string();
        assert!(
            wrong.ends_with("is a file; directory= names a directory"),
            "{wrong}"
        );
    }

    /// The story: lengths were added up in 64 bits, and four files of 4 EiB were announced as 0 MiB.
    #[test]
    fn lengths_of_any_files_are_added_up() {
        let folder = tempfile::tempdir().expect("a folder");
        let job = folder.path().join("job.fio");
        let directory = folder.path().display();
        let text = format!("[a]\ndirectory={directory}\nnrfiles=4\nfilesize=4096p\nrw=read\n");
        fs::write(&job, text).expect("written");
        let prepared = crate::fio::prepared(&job.display().to_string()).expect("a sound job");
        let expected = "a: Laying out IO files (4 files / total 17592186044416MiB)\n";
        assert_eq!(layout_lines(&prepared), [expected]);
    }

    /// A file larger than the free space was laid out until the disk was full.
    #[test]
    fn what_cannot_fit_is_not_begun() {
        let file = tempfile::tempfile().expect("a file");
        assert!(has_room(&file, Bytes::MIB));
        assert!(!has_room(&file, Bytes(1 << 62)));
    }
}
