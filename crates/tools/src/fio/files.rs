//! The files and control groups of the jobs: made before the run, as fio makes them, and left behind as it leaves
//! them.

use std::collections::HashSet;
use std::fs::{self, File, Metadata};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use anyhow::{Context, Result, anyhow, bail};
use blocklab_console::terminal;
use blocklab_driver::FileFiller;
use blocklab_fio::{CloneFacts, ControlGroup, Layout, Planned, Prepared};
use blocklab_host::Handle;
use blocklab_host::guard::{Guard, Refusal, mark};
use blocklab_units::Bytes;
use blocklab_workload::Job;
use rustix::fs::{Advice, FallocateFlags, fadvise, fallocate};

use blocklab_results::output::{self, Over};

/// Makes the missing files; returns false when that was interrupted. Jobs may overwrite the content
/// of regular files that they name, as with fio. Where a file cannot be made, only its jobs fail.
pub fn make(prepared: &mut Prepared, interrupted: &AtomicBool, guard: &Guard) -> Result<bool> {
    for directory in &prepared.directories {
        if !Path::new(directory).is_dir() {
            bail!("{directory} is not a directory; `mkdir -p {directory}` would make it");
        }
    }
    permit_devices(prepared, guard)?;
    make_groups(&prepared.control_groups)?;
    let is_used = !prepared.clones.iter().all(|clone| clone.create_only);
    let mut maker = Maker {
        guard,
        interrupted,
        may_create: prepared.clones.iter().all(|clone| clone.may_create),
        marks: prepared.files.len() <= MARKED,
        filler: FileFiller::new(0),
    };
    let mut parent = None;
    let mut failed: Vec<(String, i32)> = Vec::new();
    for file in &mut prepared.files {
        if interrupted.load(Relaxed) {
            return Ok(false);
        }
        // Most files lie where the one before lies.
        let path = Path::new(&file.path);
        let own = path.parent().map(Path::to_owned);
        let is_elsewhere = parent.as_ref() != Some(&own);
        parent = Some(own);
        let is_filled = file.layout == Layout::Filled;
        let before = is_filled.then(|| fs::metadata(path).ok()).flatten();
        match maker.make(file, is_used && file.is_opened, is_elsewhere) {
            Ok(true) if is_filled => {
                file.cut_to = Some(Bytes(before.map_or(0, |metadata| metadata.len())));
            }
            Ok(true) => {}
            Ok(false) => return Ok(false),
            Err(error) => match kernel_answer(&error) {
                Some(number) => {
                    terminal::complain(&error);
                    failed.push((file.path.clone(), number));
                }
                None => return Err(error),
            },
        }
    }
    leave_out(prepared, &failed);
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
pub fn permit_devices(prepared: &Prepared, guard: &Guard) -> Result<()> {
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

/// The number of the error with which the kernel answered; nothing where it was not asked, as a rule
/// forbids it.
fn kernel_answer(error: &anyhow::Error) -> Option<i32> {
    let causes = error.chain();
    let mut answers = causes.filter_map(|cause| cause.downcast_ref::<io::Error>()?.raw_os_error());
    answers.next().filter(|_| !error.is::<Refusal>())
}

/// Takes the jobs of these files out of the plan; they have failed.
fn leave_out(prepared: &mut Prepared, failed: &[(String, i32)]) {
    if failed.is_empty() {
        return;
    }
    let cases = prepared.plan.cases.iter_mut();
    for job in cases.flat_map(|case| &case.workload.jobs) {
        let failure = failed.iter().find(|(path, _)| job.targets.contains(path));
        let mut clones = prepared.clones.iter_mut();
        if let Some((_, number)) = failure
            && let Some(clone) = clones.find(|clone| clone.job == job.name)
        {
            clone.failed = Some(*number);
        }
    }
}

/// This many files get a mark, which takes a descriptor and a look at what is in each: a study that comes
/// of a job file works on few. With more, the layout is to be as quick as fio's.
const MARKED: usize = 16;

/// Makes files, one after the other. Its methods return whether they were not interrupted.
struct Maker<'a> {
    guard: &'a Guard,
    interrupted: &'a AtomicBool,
    may_create: bool,
    /// Whether files get the mark of ours.
    marks: bool,
    filler: FileFiller,
}

impl Maker<'_> {
    /// Makes what is missing of a file. `is_held`: what no job opens is not held open, as there may
    /// be more of it than descriptors. `is_elsewhere`: its directory may be missing, too.
    fn make(&mut self, file: &Planned, is_held: bool, is_elsewhere: bool) -> Result<bool> {
        let path = Path::new(&file.path);
        if file.layout == Layout::Name {
            if is_elsewhere {
                make_directories(path, self.guard)?;
            }
            return if self.may_create || path.exists() {
                Ok(true)
            } else {
                Err(forbidden(file))
            };
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
            Ok(handle) => self.fit(&handle, file),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                if !self.may_create {
                    return Err(forbidden(file));
                }
                if is_elsewhere {
                    make_directories(path, self.guard)?;
                }
                self.create(file, is_held)
            }
            Err(error) => Err(error).with_context(|| format!("cannot use {}", file.path)),
        }
    }

    fn create(&mut self, file: &Planned, is_held: bool) -> Result<bool> {
        let path = Path::new(&file.path);
        let new = self.guard.free_path(path)?;
        let failed = || format!("cannot make {}", file.path);
        if file.layout == Layout::Directory {
            new.create_directory(0o755).with_context(failed)?;
            return Ok(true);
        }
        // Files that stay are for other jobs and users, too, as fio's are.
        let created = new.create(0o644);
        if created.is_err() {
            // The reason may be a link that leads nowhere.
            self.guard.new_path(path)?;
        }
        let handle = created.with_context(failed)?;
        if file.layout != Layout::Written {
            reserve(&handle.file(), file).with_context(failed)?;
        } else {
            let filled = self.fill(&handle.file(), path, file.length);
            if !matches!(filled, Ok(true)) {
                if handle.is_at(path) {
                    // A half-made file is of no use; a second failure would add nothing.
                    let _ = fs::remove_file(path);
                }
                return filled;
            }
        }
        if is_held && self.marks {
            // Another command may overwrite it, as a file that `run` has made.
            mark(&handle);
            self.guard.adopt(&handle);
        } else if is_held {
            self.guard.made(&handle);
        }
        Ok(true)
    }

    /// Makes a file longer that is too short, unless it is in use or a job forbids that.
    fn fit(&mut self, handle: &Handle, file: &Planned) -> Result<bool> {
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
        if !self.may_create {
            bail!(
                "{} has {}, and allow_file_create=0 forbids to make it {} long",
                file.path,
                Bytes(length),
                file.length
            );
        }
        self.guard.give_up_content(handle);
        self.guard.may_write(handle)?;
        let failed = || format!("cannot make {} longer", file.path);
        let opened = handle.reopen(File::options().write(true));
        let mut open = opened.with_context(failed)?;
        if file.layout != Layout::Written {
            reserve(&open, file).with_context(failed)?;
            return Ok(true);
        }
        open.seek(SeekFrom::Start(length)).with_context(failed)?;
        self.fill(&open, handle.path(), Bytes(file.length.0 - length))
    }

    fn fill(&mut self, file: &File, path: &Path, size: Bytes) -> Result<bool> {
        let layout = blocklab_driver::Layout { file, path, size };
        Ok(self.filler.fill(layout, self.interrupted, |_| {})?)
    }
}

fn forbidden(file: &Planned) -> anyhow::Error {
    let path = &file.path;
    anyhow!("{path} is not there, and allow_file_create=0 forbids to make it")
}

/// Refuses, in a run that only reads, jobs for which a file would have to be made or to grow. Fio
/// prints these words, measures what there is, and fails at the end of the file; here nothing
/// is run.
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

/// What is about to be made, a line for each job that names it first.
pub fn plans(prepared: &Prepared) -> Vec<String> {
    let mut missing = Vec::new();
    for file in &prepared.files {
        // Nothing is laid out for an engine that makes its files itself: they are not looked at.
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
        let mib = its.iter().map(|file| file.length.0).sum::<u64>() >> 20;
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

/// The missing directories of a file, where the nearest that exists may get any.
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
    if let Some(nearest) = parent.ancestors().find(|ancestor| ancestor.is_dir()) {
        guard.may_write(&Handle::open(nearest)?)?;
    }
    fs::create_dir_all(parent).with_context(|| format!("cannot make {}", parent.display()))
}

/// Sets the length of the file, and allocates its space where the file system can.
fn reserve(open: &File, file: &Planned) -> io::Result<()> {
    let length = file.length.0;
    if file.layout == Layout::Space && fallocate(open, FallocateFlags::empty(), 0, length).is_ok() {
        return Ok(());
    }
    open.set_len(length)
}

/// Before the jobs of a case: cached pages are read or dropped.
pub fn before<'a>(clones: impl Iterator<Item = &'a CloneFacts>, jobs: &[Job]) {
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
                // What cannot be read fails in the run, as data.
                let _ = io::copy(&mut &file, &mut io::sink());
            } else if clone.invalidate {
                // It is advice, so failure does not matter.
                let _ = fadvise(&file, 0, None, Advice::DontNeed);
            }
        }
    }
}

/// What will be created must not be there: an empty directory goes, and an empty file. Whether a longer one holds
/// anything, its number of blocks does not show: some file systems count none, and a disk image
/// without content is one all the same.
fn make_room(path: &Path) {
    let Ok(metadata) = fs::symlink_metadata(path) else {
        return;
    };
    // Where it cannot go, creating a file opens it, and creating a directory fails.
    if metadata.is_dir() {
        let _ = fs::remove_dir(path);
    } else if metadata.is_file() && metadata.len() == 0 {
        let _ = fs::remove_file(path);
    }
}

/// When a command of a job is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Around {
    /// Before the job.
    Before,
    /// After it.
    After,
}

/// Runs the commands of these clones, once for each job. Returns the lines to print about them,
/// and which jobs' commands failed.
pub fn commands<'a>(
    clones: impl Iterator<Item = &'a CloneFacts>,
    around: Around,
) -> (Vec<String>, Vec<usize>) {
    let (mut lines, mut failed, mut commanded) = (Vec::new(), Vec::new(), None);
    for clone in clones {
        if commanded == Some(clone.spec) {
            continue;
        }
        let Some(text) = &clone.commands[around as usize] else {
            continue;
        };
        commanded = Some(clone.spec);
        let suffix = match around {
            Around::Before => "prerun",
            Around::After => "postrun",
        };
        let path = format!("{}.{suffix}.txt", clone.name.replace('/', "_"));
        lines.push(format!(
            "{} : Saving output of {suffix} in {path}\n",
            clone.name
        ));
        if !command(text, &path, suffix) {
            failed.push(clone.spec);
        }
    }
    (lines, failed)
}

/// The output of the command goes to `JOB.prerun.txt`. As in fio that is a redirection behind its
/// text: one within the text comes first, and of several commands the last is meant. Returns
/// whether it succeeded.
fn command(text: &str, path: &str, suffix: &str) -> bool {
    let ran = output::create(Path::new(path), Over::Files).and_then(|_| {
        let redirected = format!("{text} >\"$0\" 2>&1");
        let status = Command::new("sh")
            .args(["-c", &redirected, path])
            .status()?;
        Ok(status)
    });
    match ran {
        Ok(status) => status.success(),
        Err(error) => {
            terminal::warn(&format!("exec_{suffix}={text}: {error:#}"));
            false
        }
    }
}

/// What was not written of a file that was to be filled is cut off.
fn cut(file: &Planned, guard: &Guard) -> io::Result<()> {
    let (Some(before), path) = (file.cut_to, Path::new(&file.path)) else {
        return Ok(());
    };
    let open = File::options().read(true).write(true).open(path)?;
    let metadata = open.metadata()?;
    if !metadata.is_file() || !guard.is_unchanged(path, &metadata) {
        return Ok(());
    }
    let mut end = before.0;
    let mut data = rustix::fs::seek(&open, rustix::fs::SeekFrom::Data(end));
    while let Ok(begin) = data {
        end = rustix::fs::seek(&open, rustix::fs::SeekFrom::Hole(begin))?;
        data = rustix::fs::seek(&open, rustix::fs::SeekFrom::Data(end));
    }
    open.set_len(end.min(metadata.len()))
}

/// After the run: what is not wanted any longer.
pub fn remove(prepared: &Prepared, guard: &Guard) {
    for file in &prepared.files {
        if let Err(error) = cut(file, guard) {
            terminal::warn(&format!("{} keeps its length: {error}", file.path));
        }
    }
    remove_groups(&prepared.control_groups);
    let jobs = prepared.jobs().filter(|job| job.engine.is_of_names());
    let of_names: HashSet<&String> = jobs.flat_map(|job| &job.targets).collect();
    for file in prepared.files.iter().filter(|file| file.unlink) {
        let path = Path::new(&file.path);
        // The name of a device, or a link to one, is not ours to take away; fio leaves it, too.
        let Some(metadata) = fs::metadata(path).ok().filter(Metadata::is_file) else {
            continue;
        };
        // An engine of names may have made it anew.
        if of_names.contains(&file.path) || guard.is_unchanged(path, &metadata) {
            // It may be gone already; nobody misses it then.
            let _ = fs::remove_file(path);
        }
    }
}

/// Makes the control groups that are missing, and gives the weights.
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
            let written = set_weight(Path::new(&file), weight);
            if written.is_err() {
                remove_groups(groups);
            }
            written.with_context(|| format!("cgroup_weight: cannot write {file}"))?;
        }
    }
    Ok(())
}

/// Without making the file: a kernel that weighs nothing has none.
fn set_weight(file: &Path, weight: u32) -> io::Result<()> {
    let mut open = File::options().write(true).open(file)?;
    open.write_all(weight.to_string().as_bytes())
}

/// Removes what need not stay.
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
