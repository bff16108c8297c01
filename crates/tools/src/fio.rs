//! `blocklab fio`: a command line or job file of fio, run here.

mod artifacts;
mod clients;
mod debug;
mod environment;
mod files;
mod help;
mod idle;
mod output;
mod program;
pub(crate) mod share;
mod trigger;
mod watch;

use std::cell::RefCell;
use std::env;
use std::path::Path;
use std::process::{self, ExitCode};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicUsize};

use anyhow::{Context, Result, anyhow};
use blocklab_fio::{
    self as dialect, General, Input, Mistake, Place, Prepared, Profiled, Resolved, Section, Setting,
};
use blocklab_host::guard::Guard;
use blocklab_record::{ErrorKind, JobResult, Note, NoteLevel, Record, Status, Stopped};
use blocklab_runner::{Missing, Observer, Request};
use blocklab_store::Store;
use blocklab_units::Nanos;

use self::artifacts::Aggregate;
use self::debug::Debug;
use self::environment::{Presence, Texts};
use self::idle::Profiler;
use self::trigger::Trigger;
use self::watch::Watcher;
use crate::args::FioArgs;
use crate::hosts::ManyHosts;
use crate::own_options;
use crate::tool_run::{code_of, run_tool, tool_request, with_keeping};
use blocklab_console::{listen, place, status, supervisor, terminal};
use blocklab_results::{View, keep, keeping};

/// Fio's code for termination by a signal.
const INTERRUPTED: u8 = 128;

/// The environment variable that does what `--destroy-data` does, for scripts that run fio again on a
/// used disk.
const DESTROY_DATA_VARIABLE: &str = "BLOCKLAB_FIO_DESTROY_DATA";

/// What fio prints when a job writes in spite of `--readonly`.
const WRITES_IN_READ_ONLY: &str =
    "trim and write operations are not allowed with the --readonly parameter";

/// Options of blocklab among those of fio.
#[derive(Debug, Default)]
struct OwnOptions {
    /// Devices and files that may be overwritten.
    destroy: Vec<String>,
    /// Those of `destroy` that come from the environment variable.
    by_environment: Vec<String>,
    no_save: bool,
    /// Everything else, in its order.
    rest: Vec<String>,
}

impl OwnOptions {
    /// Takes the options of blocklab out of the arguments. Unknown ones are left to fio's parser,
    /// because its own options have two hyphens, too.
    fn split(arguments: &[String]) -> Result<Self> {
        let mut own = Self::default();
        let rest = own_options::split(arguments, |name, value| -> Result<bool> {
            match name {
                "no-save" => own.no_save = true,
                "destroy-data" => {
                    let name = value().context("--destroy-data: a name must follow")?;
                    own.destroy.push(name);
                }
                _ => return Ok(false),
            }
            Ok(true)
        })?;
        Ok(Self { rest, ..own })
    }

    /// Adds the devices that the environment variable names, separated by commas.
    ///
    /// A variable may stay set for days, so it takes only serial numbers and names under
    /// /dev/disk/by-id. A name such as `/dev/sdb`, which another disk can have after a reboot, is
    /// refused.
    fn add_from_environment(&mut self, text: Option<&str>) -> Result<()> {
        let names = text.unwrap_or_default().split(',').map(str::trim);
        for name in names.filter(|name| !name.is_empty()) {
            let id = name.strip_prefix("/dev/disk/by-id/").unwrap_or(name);
            if id.contains('/') || Path::new("/sys/class/block").join(id).exists() {
                return Err(anyhow!(
                    "{DESTROY_DATA_VARIABLE}={name}: it names a disk by its serial number or by its name under \
                     /dev/disk/by-id; {name} may be another disk tomorrow"
                ));
            }
            self.destroy.push(id.to_owned());
            self.by_environment.push(id.to_owned());
        }
        Ok(())
    }

    /// The warning for a run that writes, if the environment variable permits something.
    fn warning(&self) -> Option<String> {
        let names = self.by_environment.join(", ");
        (!names.is_empty())
            .then(|| format!("fio: {DESTROY_DATA_VARIABLE} gives up all data on {names}\n"))
    }
}

/// Runs what the arguments request.
pub fn run(args: &FioArgs, store: &Store, hosts: &dyn ManyHosts) -> Result<ExitCode> {
    supervisor::supervise(|| attempt(&args.args, store, hosts), code_of)
}

/// Does what the arguments request, and gives the exit code. Requests that run no jobs on this machine
/// return early.
fn attempt(arguments: &[String], store: &Store, hosts: &dyn ManyHosts) -> Result<u8> {
    let mut own = OwnOptions::split(arguments)?;
    own.add_from_environment(env::var(DESTROY_DATA_VARIABLE).ok().as_deref())?;
    let command = dialect::parse_command(&own.rest)?;
    let general = &command.general;
    if let Some(text) = answer_without_run(general)? {
        terminal::print(text)?;
        return Ok(status::DONE);
    }
    if let Some(path) = &general.inflate_log {
        return artifacts::print_inflated(path);
    }
    if !command.clients.is_empty() {
        return clients::run(&command, &own, store, hosts);
    }
    let sections = sections(&command.inputs, &mut Texts::default())?;
    let resolved = dialect::resolve(&sections, &general.sections)?;
    if resolved.specs.is_empty() && !general.parse_only {
        terminal::print(help::usage())?;
        return Err(anyhow!("No job(s) defined"));
    }
    if general.show_command {
        let chosen = sections.into_iter();
        let chosen = chosen.filter(|section| section.is_chosen(&general.sections));
        terminal::print(help::command_line(&chosen.collect::<Vec<_>>()))?;
        return Ok(status::DONE);
    }
    let name = name(&command.inputs);
    let presence = if general.parse_only {
        Presence::Supposed
    } else {
        Presence::Looked
    };
    let interrupted = listen()?;
    let aux = general.aux_path.as_deref();
    let prepare = || environment::prepare(&resolved, &name, aux, None, presence);
    let mut prepared = prepare()?;
    print_remarks(&prepared);
    if general.read_only && prepared.plan.writes() {
        return Err(anyhow!(WRITES_IN_READ_ONLY));
    }
    let debug = Debug::new(general);
    let opening = debug.opening(&sections) + &debug.seeds(&prepared.plan.cases);
    if general.parse_only {
        terminal::print(&opening)?;
        return Ok(status::DONE);
    }
    if general.read_only {
        files::refuse_changes(&prepared)?;
    }
    for (option, why) in &general.ignored {
        let note = Note::new(NoteLevel::Ignored, &**option, *why);
        prepared.notes.push(note);
    }
    debug.prepare(&mut prepared.plan);
    let debugging = Debugging {
        debug,
        opening: &opening,
    };
    measure(
        &mut prepared,
        &prepare,
        general,
        &own,
        store,
        debugging,
        &interrupted,
    )
}

/// The answer to a command line that requests no run: help, or the calibration of `--idle-prof`; `None`
/// for any other.
fn answer_without_run(general: &General) -> Result<Option<String>> {
    if let Some(text) = help::requested(general)? {
        return Ok(Some(text));
    }
    let is_calibration = general.idle == Some(Profiled::Calibration);
    Ok(is_calibration.then(|| Profiler::start(Profiled::Calibration).finish().normal()))
}

/// The name of the run in the store: that of the first job file or job on the command line, whichever
/// comes first; `fio` if it has none or is the standard input.
fn name(inputs: &[Input]) -> String {
    let first = inputs.iter().find_map(|input| match input {
        Input::File(path) => {
            let file = path.rsplit('/').next().unwrap_or(path);
            Some(file.strip_suffix(".fio").unwrap_or(file).to_owned())
        }
        Input::Job(section) => (!section.is_global()).then(|| section.name.clone()),
    });
    first
        .filter(|name| !["", "-"].contains(&name.as_str()))
        .unwrap_or_else(|| "fio".to_owned())
}

/// The sections of all inputs, in order. A job file after the first one begins anew.
fn sections(inputs: &[Input], texts: &mut Texts) -> Result<Vec<Section>> {
    let mut all = Vec::new();
    let mut had_file = false;
    for input in inputs {
        match input {
            Input::Job(section) => all.push(section.clone()),
            Input::File(path) => {
                let text = texts.text(path)?;
                let mut read = dialect::parse_jobs(path, &text, texts)?;
                if std::mem::replace(&mut had_file, true) {
                    begin_anew(&mut read);
                }
                all.extend(read);
            }
        }
    }
    Ok(all)
}

/// Separates a job file from the ones before it: its jobs begin when theirs have ended, and their
/// `[global]` settings do not apply to it.
fn begin_anew(sections: &mut [Section]) {
    if let Some(first) = sections.first_mut() {
        first.begins_anew = true;
    }
    if let Some(first) = sections.iter_mut().find(|section| !section.is_global()) {
        first.settings.push(Setting {
            key: "stonewall".to_owned(),
            value: None,
            unset: Vec::new(),
            at: first.at.clone(),
        });
    }
}

/// What `--debug` adds.
struct Debugging<'a> {
    debug: Debug,
    /// The lines before all others.
    opening: &'a str,
}

/// Runs the jobs and gives fio's exit code. `replan` makes the plan anew, for jobs that depend on what
/// earlier ones have written.
fn measure(
    prepared: &mut Prepared,
    replan: &dyn Fn() -> Result<Prepared>,
    general: &General,
    own: &OwnOptions,
    store: &Store,
    debugging: Debugging<'_>,
    interrupted: &AtomicBool,
) -> Result<u8> {
    keeping::try_out(store, own.no_save)?;
    artifacts::try_out(prepared)?;
    let requested = Arc::new(AtomicBool::new(false));
    signal_hook::flag::register(libc::SIGUSR1, Arc::clone(&requested))?;
    let signal = ending_signal()?;
    // Before files are laid out: an error here must leave none of them behind.
    let aggregate = general.bandwidth_log.then(Aggregate::open).transpose()?;
    let out = RefCell::new(output::Out::open(general)?);
    print_beginning(&mut out.borrow_mut(), prepared, own, debugging.opening)?;
    let guard = place::guard(&own.destroy, store);
    if !files::make(prepared, interrupted, &guard)? {
        return Ok(INTERRUPTED);
    }
    let prepared = &*prepared;
    // Fio's exit code counts failed jobs; more than 255 do not fit into one.
    let failed = u8::try_from(prepared.failed().count()).unwrap_or(u8::MAX);
    let mut clones = prepared.clones.iter();
    if !clones.any(|clone| clone.is_run()) {
        // Files were created, or could not be, or hold no block; there is nothing to measure.
        files::remove(prepared, &guard);
        out.borrow_mut().end(&[], prepared, Nanos::ZERO)?;
        return Ok(failed);
    }
    let kept = (!own.no_save).then_some(store);
    let mut watcher = Watcher::new(prepared, general, kept, &out);
    watcher.debug = debugging.debug;
    watcher.replan = Some(replan);
    watcher.requested = requested;
    watcher.trigger = Trigger::new(general, interrupted);
    watcher.aggregate = aggregate;
    let profiler = general.idle.map(Profiler::start);
    let record = run_plan(prepared, &guard, interrupted, store, None, &mut watcher);
    watcher.finished();
    // The state files are written by now; the command of a trigger may switch the machine off.
    let trigger = watcher.trigger.take().filter(Trigger::is_pulled);
    if let Some(trigger) = &trigger {
        trigger.run(prepared);
    }
    out.borrow_mut().idleness = profiler.map(Profiler::finish);
    files::remove(prepared, &guard);
    let Some(mut record) = record? else {
        return Ok(INTERRUPTED);
    };
    if let signal @ 1.. = signal.load(Relaxed) {
        let line = format!("\nfio: terminating on signal {signal}\n");
        out.borrow_mut().print(&line)?;
    }
    // Printed before it is stored, so that a run that cannot be stored has been seen.
    let elapsed = watcher.elapsed();
    let printed = out
        .borrow_mut()
        .end(&record.measurements, prepared, elapsed);
    let is_kept = own.no_save || keep(&mut record, store);
    printed?;
    print_failures(&record);
    let late = u8::try_from(watcher.failed_late.len()).unwrap_or(u8::MAX);
    let failed = failed.saturating_add(late);
    let code = code_with(failed, &record, trigger.is_some());
    Ok(with_keeping(code, is_kept))
}

/// The exit code of a run, where `failed` jobs failed before it began or after it ended.
fn code_with(failed: u8, record: &Record, is_triggered: bool) -> u8 {
    match exit_code(record) {
        INTERRUPTED if !is_triggered => INTERRUPTED,
        // A trigger ends the jobs as a signal does, but that is what the user asked for.
        INTERRUPTED => failed_jobs(record).saturating_add(failed),
        code => code.saturating_add(failed),
    }
}

/// The number of the last signal that requested the end; 0: none did.
fn ending_signal() -> Result<Arc<AtomicUsize>> {
    let signal = Arc::new(AtomicUsize::new(0));
    for number in [libc::SIGINT, libc::SIGTERM] {
        signal_hook::flag::register_usize(number, Arc::clone(&signal), number as usize)?;
    }
    Ok(signal)
}

/// Prints remarks on unusual settings, such as variables that are not set.
pub fn print_remarks(prepared: &Prepared) {
    for remark in &prepared.remarks {
        terminal::inform(&format!("fio: {remark}"));
    }
}

/// Prints what comes before the results: warnings, the jobs, and the files that will be laid out for
/// them.
fn print_beginning(
    out: &mut output::Out,
    prepared: &Prepared,
    own: &OwnOptions,
    opening: &str,
) -> Result<()> {
    for why in &prepared.unfit {
        terminal::inform(&format!("fio: {why}"));
    }
    out.put(opening)?;
    if let Some(warning) = own.warning().filter(|_| prepared.plan.writes()) {
        out.warn(&warning)?;
    }
    out.begin(prepared)?;
    for line in files::layout_lines(prepared) {
        out.print(&line)?;
    }
    out.print(&dialect::capped(prepared))
}

/// Runs the jobs that have not failed yet; `None` if a signal came before the first measurement.
fn run_plan(
    prepared: &Prepared,
    guard: &Guard,
    interrupted: &AtomicBool,
    store: &Store,
    id: Option<String>,
    observer: &mut dyn Observer,
) -> Result<Option<Record>> {
    let mut plan = prepared.plan.clone();
    for case in &mut plan.cases {
        let jobs = &mut case.workload.jobs;
        jobs.retain(|job| !prepared.failed().any(|clone| clone.job == job.name));
    }
    let request = Request {
        fails_alone: true,
        id,
        ..tool_request(plan, prepared.notes.clone(), Missing::ScratchOrName)
    };
    run_tool(&request, guard, interrupted, store, observer)
}

/// Prints why jobs failed.
fn print_failures(record: &Record) {
    let mut complained = false;
    for job in record.jobs() {
        if let Some(line) = not_begun(record, job).or_else(|| complaint(job)) {
            terminal::inform(&line);
            complained = true;
        }
    }
    // The failure of the run repeats that of a job.
    if let Some(failure) = record.failure.as_ref().filter(|_| !complained) {
        terminal::inform(&format!("fio: {failure}"));
    }
}

/// Fio's exit code: the number of failed jobs, or 128 after a signal.
fn exit_code(record: &Record) -> u8 {
    match record.status {
        Status::Complete => status::DONE,
        Status::Interrupted | Status::Running => INTERRUPTED,
        Status::Failed | Status::Incomplete => failed_jobs(record).max(status::FAILED),
    }
}

/// The line for a job that could not begin; `None` if it ran.
fn not_begun(record: &Record, job: &JobResult) -> Option<String> {
    let mut notes = record.notes.iter();
    let note = notes.find(|note| note.subject == job.name && job.accounting.failed > 0)?;
    Some(format!("fio: {}", note.text))
}

/// The line of a job that a failed operation ended, in fio's format: what failed and where.
fn complaint(job: &JobResult) -> Option<String> {
    let error = job
        .errors
        .first()
        .filter(|_| job.stopped == Stopped::Error)?;
    let number = match error.kind {
        ErrorKind::Errno(number) => number,
        ErrorKind::Verify => libc::EILSEQ,
        // These have no error number of the kernel, so fio's line cannot be made.
        ErrorKind::Short | ErrorKind::Rate => return None,
    };
    let mut line = format!(
        "fio: pid={}, err={number}/job:{}, func={} at {}, error={}",
        process::id(),
        job.name,
        error.direction,
        error.first_offset,
        error.message
    );
    if number == libc::EINVAL && job.direct == Some(true) {
        line.push_str(UNALIGNED);
    }
    Some(line)
}

/// The usual reason when the kernel answers direct I/O with EINVAL, and what would work.
const UNALIGNED: &str = "; direct I/O wants block sizes and offsets that are multiples of the \
                         device's sector (512 or 4096 bytes), and a file system that has it: \
                         another bs=, blockalign= or offset=, or direct=0, would work";

/// Number of jobs that an error or a hanging target ended, at most 255.
fn failed_jobs(record: &Record) -> u8 {
    let jobs = record.jobs();
    let failed = jobs.filter(|job| matches!(job.stopped, Stopped::Error | Stopped::Stalled));
    u8::try_from(failed.count()).unwrap_or(u8::MAX)
}

/// The plan of a job file.
///
/// # Errors
/// When the file cannot be read, or one of its jobs cannot begin.
pub fn prepared(path: &str) -> Result<Prepared> {
    let inputs = [Input::File(path.to_owned())];
    let resolved: Resolved = dialect::resolve(&sections(&inputs, &mut Texts::default())?, &[])?;
    let prepared = environment::prepare(&resolved, &name(&inputs), None, None, Presence::Looked)?;
    Ok(prepared.whole()?)
}

/// A job file as an argument of `blocklab run`, with that command's options.
#[derive(Debug)]
pub struct JobFile<'a> {
    /// Its path.
    pub path: &'a str,
    /// Whether a target, a size or a time was given, which the file has itself.
    pub is_reshaped: bool,
    /// Whether nothing may be written.
    pub read_only: bool,
    /// Devices and files that may be overwritten.
    pub destroy_data: &'a [String],
    /// Whether the run is not stored.
    pub no_save: bool,
    /// What is shown while it lasts.
    pub view: View,
}

/// `blocklab run JOB.fio`: runs a job file and gives its Record, which blocklab's own report shows;
/// `None` if a signal came before the first measurement.
pub fn run_job_file(file: &JobFile<'_>, store: &Store) -> Result<Option<Record>> {
    if file.is_reshaped {
        let words = "a job file of fio has its own target, size and time: \
                     filename=, size=, runtime= and ramp_time= in its [global] section would change \
                     it";
        return Err(Mistake::here(&Place::COMMAND_LINE, words).into());
    }
    let prepare = || prepared(file.path);
    let mut prepared = prepare()?;
    print_remarks(&prepared);
    if prepared.plan.cases.is_empty() {
        return Err(anyhow!("{}: No job(s) defined", file.path));
    }
    if file.read_only && prepared.plan.writes() {
        return Err(anyhow!(
            "{}: a job writes, and --read-only forbids it",
            file.path
        ));
    }
    if file.read_only {
        files::refuse_changes(&prepared)?;
    }
    artifacts::try_out(&prepared)?;
    let interrupted = listen()?;
    let guard = place::guard(file.destroy_data, store);
    if !files::make(&mut prepared, &interrupted, &guard)? {
        return Ok(None);
    }
    let kept = (!file.no_save).then_some(store);
    let mut watcher = Watcher::for_other_report(&prepared, kept, file.view);
    watcher.replan = Some(&prepare);
    let record = run_plan(&prepared, &guard, &interrupted, store, None, &mut watcher);
    watcher.finished();
    files::remove(&prepared, &guard);
    Ok(record?.map(|record| watcher.judged(record)))
}

#[cfg(test)]
mod tests {
    use blocklab_fio::ControlGroup;

    use super::*;

    /// Set-up of many files went on after a signal, until the process was given up with 130.
    #[test]
    fn a_signal_ends_the_set_up_before_the_next_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let job = folder.path().join("job.fio");
        let text = format!(
            "[a]\ndirectory={}\nnrfiles=3\nsize=12k\nrw=write\n",
            folder.path().display()
        );
        std::fs::write(&job, text).expect("written");
        let mut prepared = prepared(&job.display().to_string()).expect("a sound job");
        let group = folder.path().join("group");
        prepared.control_groups.push(ControlGroup {
            path: group.display().to_string(),
            weight: None,
            keep: false,
        });
        let mut made = |interrupted| {
            let interrupted = AtomicBool::new(interrupted);
            files::make(&mut prepared, &interrupted, &Guard::default()).expect("no mistake")
        };
        assert!(!made(true));
        // Control groups stayed after a set-up that was interrupted or failed.
        assert_eq!(std::fs::read_dir(&folder).expect("listed").count(), 1);
        assert!(made(false));
        assert!(group.exists());
        assert_eq!(std::fs::read_dir(&folder).expect("listed").count(), 5);
    }

    /// The run of a job file called `.fio` had no name.
    #[test]
    fn every_run_has_a_name() {
        for (path, expected) in [
            ("jobs/night.fio", "night"),
            ("night.fio.fio", "night.fio"),
            ("jobs/.fio", "fio"),
            ("-", "fio"),
        ] {
            assert_eq!(name(&[Input::File(path.to_owned())]), expected);
        }
        assert_eq!(name(&[]), "fio");
    }

    #[test]
    fn ours_are_taken_out_wherever_they_stand() {
        let words = ["--name=a", "--no-save", "--destroy-data=sdb", "--size=1m"];
        let own = OwnOptions::split(&words.map(str::to_owned)).expect("a sound line");
        assert_eq!(own.rest, ["--name=a", "--size=1m"]);
        assert_eq!(own.destroy, ["sdb"]);
        assert!(own.no_save);
    }

    #[test]
    fn the_environment_names_disks_by_what_stays_theirs() {
        let mut own = OwnOptions::default();
        let given = "S3Z8NB, /dev/disk/by-id/nvme-Fast_0123,";
        own.add_from_environment(Some(given))
            .expect("serial and by-id name");
        assert_eq!(own.destroy, ["S3Z8NB", "nvme-Fast_0123"]);
        let warning = own.warning().expect("a run warns of it");
        assert!(warning.contains("S3Z8NB, nvme-Fast_0123"), "{warning}");
        for name in ["/dev/sdb", "./image", "/dev/disk/by-path/pci-0000"] {
            let refused = OwnOptions::default().add_from_environment(Some(name));
            let refused = refused.expect_err(name).to_string();
            assert!(refused.contains("by-id"), "{refused}");
        }
        assert_eq!(OwnOptions::default().warning(), None);
    }
}
