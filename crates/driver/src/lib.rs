//! In: a Workload and opened targets, or a device and virtual time.
//! Out: a Measurement, and intervals while it runs.
//! Never: prints, parses a script, judges a figure.
//!
//! The real driver: threads, one loop, one clock.
//!
//! ```text
//!   run() ──▶ threads: a thread each, opens its files, fills its buffers, reports ready
//!        ──▶ gate opens: all begin at the same moment
//!        ──▶ supervisor: intervals, steady state, interruption, deadlines, hung threads
//!        ──▶ results: the recorders' counts, added up by job
//! ```

mod credentials;
mod drop_cache;
mod entry;
mod error;
mod event;
mod failures;
mod fidelity;
mod interval_ticker;
mod journal;
mod layout;
mod min_rate;
mod open_set;
mod overhead;
mod prompt;
mod real;
mod results;
mod room;
mod samples;
mod series;
mod sim;
mod steady;
mod supervisor;
mod thread;
mod thread_groups;
mod threads;
mod usage;
mod watch;
mod workers;

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::SystemTime;

use blocklab_record::{Measurement, Note, NoteLevel};
use blocklab_targets::{Clock, Model, OpenFile, Opening, open};
use blocklab_units::Nanos;
use blocklab_worker::{JobLog, KeptMiscompare, Progress};
use blocklab_workload::Workload;

use crate::journal::{Journals, RunKeys};
use crate::results::RunSpan;

pub use error::Error;
pub use event::{Event, Observer, Questions};
pub use journal::{journal_path, map_path};
pub use layout::{FileFiller, Layout};
pub use overhead::measure as measure_overhead;
pub use sim::simulate;

/// What a target consists of: files and devices of the machine, or a model of a device.
#[derive(Debug, Clone)]
pub enum Backing {
    /// A file or device of this machine.
    File,
    /// The device model, paced in real time.
    Emulated(Model),
    /// The device model, in virtual time.
    Simulated(Model),
}

/// How workers find the file of a target, so that a name that changes meanwhile has no effect.
#[derive(Debug, Clone)]
pub enum Reopen {
    /// By its name.
    Name,
    /// Through this descriptor.
    Held(Arc<File>),
    /// By its name, if it still leads to this device and inode, and the inode's number was not given to
    /// another file meanwhile. For more files than there are descriptors.
    Identity {
        /// Device and inode.
        id: (u64, u64),
        /// When the file was created, if its file system reports that.
        born: Option<SystemTime>,
    },
}

/// A path that leads to an open file, whatever its name leads to now.
fn descriptor_path(file: &File) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()))
}

/// A file or device that a job works on.
#[derive(Debug, Clone)]
pub struct TargetFile {
    /// Its name, for messages, and for engines that work on names.
    pub path: PathBuf,
    /// How all other engines open it.
    pub reopen: Reopen,
    /// Bytes that may be used.
    pub size: u64,
    /// Whether the caller has established that it may be written to.
    pub may_write: bool,
    /// Files of the machine, or a model.
    pub backing: Backing,
}

impl TargetFile {
    /// A file or device of this machine.
    pub const fn file(path: PathBuf, size: u64, may_write: bool) -> Self {
        Self {
            path,
            reopen: Reopen::Name,
            size,
            may_write,
            backing: Backing::File,
        }
    }

    /// Opens it for a worker.
    ///
    /// # Errors
    /// The kernel's error, also if its name leads to another file by now.
    pub(crate) fn open(&self, opening: Opening) -> io::Result<OpenFile> {
        self.with_safe_path(|path| open(path, opening, self.size))
    }

    /// Calls `open` with a path that leads to this file, as [`Reopen`] defines it.
    ///
    /// # Errors
    /// As [`TargetFile::open`].
    pub(crate) fn with_safe_path<T>(
        &self,
        open: impl FnOnce(&Path) -> io::Result<T>,
    ) -> io::Result<T> {
        match &self.reopen {
            Reopen::Name => open(&self.path),
            Reopen::Held(file) => open(&descriptor_path(file)),
            Reopen::Identity { id, born } => {
                open(&descriptor_path(&self.checked_handle(*id, *born)?))
            }
        }
    }

    /// A handle on the file behind the name, once it is known to be the same file. It does not open it
    /// (O_PATH): it may be a pipe by now, on which an open waits, or a tape, which an open rewinds.
    fn checked_handle(&self, id: (u64, u64), born: Option<SystemTime>) -> io::Result<File> {
        let mut options = File::options();
        options.read(true).custom_flags(libc::O_PATH);
        let found = options.open(&self.path)?;
        let metadata = found.metadata()?;
        // A file system without creation times leaves device and inode to compare.
        let both = metadata.created().ok().zip(born);
        let is_as_old = both.is_none_or(|(now, then)| now == then);
        if (metadata.dev(), metadata.ino()) != id || !is_as_old {
            return Err(io::Error::other(
                "the name leads to another file than when the run began",
            ));
        }
        Ok(found)
    }
}

/// How a run is ended from outside.
#[derive(Debug, Clone, Copy)]
pub struct Control<'a> {
    /// Set by a signal handler: end, and keep what was measured.
    pub interrupted: &'a AtomicBool,
    /// How long operations may stay in flight after the end before they are given up.
    pub drain_limit: Nanos,
    /// The same after an interruption.
    pub drain_limit_interrupted: Nanos,
    /// Whether a job that cannot open its targets or set up its engine fails alone, as data, and the
    /// others run. Otherwise no job runs.
    pub fails_alone: bool,
    /// The threads begin at this moment of the run's clock, or at once where it is over.
    pub begin_at: Nanos,
}

impl<'a> Control<'a> {
    /// Thirty seconds, and three quarters of one after an interruption: most disks answer a full
    /// queue in that time, and half of the promised second and a half is left to keep the run.
    pub const fn new(interrupted: &'a AtomicBool) -> Self {
        Self {
            interrupted,
            drain_limit: Nanos::from_secs(30),
            drain_limit_interrupted: Nanos::from_millis(750),
            fails_alone: false,
            begin_at: Nanos::ZERO,
        }
    }
}

/// A workload and its targets.
#[derive(Debug, Clone, Copy)]
pub struct Run<'a> {
    /// The jobs.
    pub workload: &'a Workload,
    /// The files of each job, in the order of the jobs. For a job with the null engine only their
    /// sizes matter.
    pub targets: &'a [Vec<TargetFile>],
    /// The clock of the whole run.
    pub clock: Clock,
}

/// The results of a workload.
#[derive(Debug)]
pub struct Outcome {
    /// The measurement without name, pass, settings and disks, which the caller knows.
    pub measurement: Measurement,
    /// Notes on settings that could not be kept.
    pub notes: Vec<Note>,
    /// Whether threads were left hanging in the kernel: nothing more should be run.
    pub abandoned: bool,
    /// The first hundred miscompared blocks of each thread, with the name of the job that read them.
    pub miscompares: Vec<(String, KeptMiscompare)>,
    /// The name of the job and the log of each thread that keeps one.
    pub logs: Vec<(String, JobLog)>,
    /// The name of the job and the progress of each thread whose writes are verified.
    pub progress: Vec<(String, Progress)>,
}

/// Runs a workload to its end and returns its results.
///
/// # Errors
/// When it cannot begin; from then on every failure is data.
pub fn run(
    run: Run<'_>,
    control: Control<'_>,
    observer: &mut dyn Observer,
) -> Result<Outcome, Error> {
    let called = run.clock.now();
    let jobs = &run.workload.jobs;
    let keys = RunKeys::new(jobs, run.targets, observer);
    let journals = Journals::begin(jobs, &keys)?;
    let mut threads = threads::Threads::spawn_all(run, control, &keys, &journals)
        // Nothing was written, and a map that stays open is one of a killed run.
        .inspect_err(|_| drop(journals.end()))?;
    let before = usage::Usage::now();
    let span = RunSpan {
        called,
        start: threads.open_gate(run.clock, control),
        before,
        ..RunSpan::default()
    };
    let supervisor = supervisor::Supervisor::new(run, control, span, observer);
    let (span, seen) = supervisor.until_the_end(&mut threads, observer);
    let mut outcome = results::outcome(run, &threads.workers, &span, seen);
    // With operations still in flight, the journal stays as after a kill.
    if !outcome.abandoned
        && let Err(error) = journals.end()
    {
        let text = format!("{error}; what was logged before is still there");
        let note = Note::new(NoteLevel::Approximated, "journal", text);
        outcome.notes.push(note);
    }
    Ok(outcome)
}
