//! One thread: prepares, waits at the gate, drives its worker, reports how it ended.

use std::io;
use std::sync::mpsc::Sender;
use std::sync::{Arc, OnceLock};

use blocklab_record::{Note, NoteLevel, Stopped};
use blocklab_targets::{
    Buffers, Clock, EngineSetup, ModelTarget, OpenFile, TargetVisitor, hint, precise_timers,
};
use blocklab_units::Nanos;
use blocklab_verify::{BlockHeaders, DataCheck, KeyMap};
use blocklab_worker::{Failure, JobParts, Parts, Recorder, Shared, Stopper, Worker};
use blocklab_workload::{ContentMaker, Direction, Job, Priority};
use rustix::thread::{CpuSet, sched_setaffinity};

use super::TargetFile;
use super::credentials;
use super::drop_cache::DropCache;
use super::entry::{Entry, emulated};
use super::open_set::OpenSet;
use super::prompt::Prompt;
use super::real::{BufferFiller, DrivenTarget, Grouping, ToDrive};
use super::usage::ThreadUsage;
use crate::Error;
use crate::journal::{Journalled, OpenJournal};

/// The gate that all threads of a run pass at the same moment, once all are ready. It is set once.
pub(super) type Gate = OnceLock<Order>;

#[derive(Debug, Clone, Copy)]
pub(super) enum Order {
    Begin(Nanos),
    Abort,
}

/// What a thread reports before the gate: notes on settings that it could not keep, or why it fails.
pub(super) type Ready = Result<Vec<Note>, Error>;

/// Reports that a member of a thread has ended, how, and why if the counters do not show that.
pub(super) struct Ended {
    pub(super) number: usize,
    pub(super) stopped: Stopped,
    pub(super) note: Option<Note>,
}

/// The task of one thread.
pub(super) struct ThreadSpec {
    /// Index of its first member among all members of the run.
    pub(super) number: usize,
    /// Its number among the threads of its job.
    pub(super) thread: u32,
    pub(super) job: Job,
    pub(super) seed: u64,
    pub(super) files: Vec<TargetFile>,
    pub(super) entry: Entry,
    /// How long an emulated device busy-waits before a completion.
    pub(super) busy_wait: Nanos,
    pub(super) clock: Clock,
    pub(super) recorder: Arc<Recorder>,
    pub(super) stopper: Arc<Stopper>,
    pub(super) shared: Arc<Shared>,
    /// Where writes are logged, if they are.
    pub(super) journal: Option<Arc<OpenJournal>>,
    /// The keys by which its data is compared, if it is.
    pub(super) keys: Option<Arc<KeyMap>>,
    /// Its job, or all jobs of a pool.
    pub(super) parts: Vec<JobParts>,
    /// Whether it fails alone if it cannot be prepared.
    pub(super) fails_alone: bool,
    /// Whether others begin at the same moment.
    pub(super) is_awaited: bool,
}

/// Everything a thread needs, prepared before the gate.
struct ThreadState {
    worker: Worker,
    target: Box<dyn DrivenTarget>,
    filler: BufferFiller,
    note: Option<Note>,
}

impl ThreadSpec {
    /// Does the whole task on the calling thread: prepares, reports to `ready`, waits at the gate,
    /// drives the worker and reports to `ends`.
    pub(super) fn serve(mut self, gate: &Gate, ready: Sender<Ready>, ends: &Sender<Ended>) {
        // Before the buffers are made: the kernel takes their pages from the node of the processor
        // that touches them first.
        pin(&self.job, self.thread);
        // Before the thread changes its user, who may not raise a priority.
        let refused = set_priorities(&self.job);
        precise_timers();
        let members = self.parts.len();
        let credentials = credentials::take(&self.job);
        let mut state = match credentials.and_then(|()| self.prepare()) {
            Ok(state) => state,
            Err(error) if self.fails_alone => {
                // To the others this thread is ready: an error here would abort them.
                let _ = ready.send(Ok(vec![self.cannot_begin(&error)]));
                self.report_ends(ends, members, Stopped::Error, None);
                return;
            }
            Err(error) => {
                let _ = ready.send(Err(error));
                return;
            }
        };
        let notes = state.note.take().into_iter().chain(refused).collect();
        let _ = ready.send(Ok(notes));
        // While threads wait at the gate, the channel of those that have yet to report must be able to close.
        drop(ready);
        let prompt = self.is_awaited.then(Prompt::ask);
        let Order::Begin(start) = *gate.wait() else {
            return;
        };
        state.worker.begin(start);
        let begun = self.clock.now();
        // From here on it is measured, and competes for a processor as any other thread does.
        drop(prompt);
        self.recorder.first_issue.set(begun.0);
        let before = ThreadUsage::now();
        let driven = state
            .target
            .drive(&mut state.worker, &mut state.filler, self.grouping());
        let failure = driven.err();
        let note = failure.map(|error| self.interface_failed(&error, start));
        let running = self.clock.now().since(begun);
        let used = ThreadUsage::now().since(&before, running.0);
        self.recorder.set_thread_use(used);
        state.worker.leave();
        let stopped = state.worker.stopped();
        let members = state.worker.members();
        // Before the report: the supervisor then joins the thread, and would wait without a limit for a
        // target that hangs while it is closed.
        drop(state);
        self.report_ends(ends, members, stopped, note);
    }

    /// Reports the end of each job of the thread; the note goes with the first one only.
    fn report_ends(
        &self,
        ends: &Sender<Ended>,
        members: usize,
        stopped: Stopped,
        mut note: Option<Note>,
    ) {
        for member in 0..members {
            let _ = ends.send(Ended {
                number: self.number + member,
                stopped,
                note: note.take(),
            });
        }
    }

    /// How the loop groups the operations of the job.
    fn grouping(&self) -> Grouping {
        Grouping {
            submit: match self.job.batch.submit {
                0 => (self.job.effective_depth() / 4).clamp(1, 16),
                submit => submit,
            },
            complete: self.job.batch.complete.min(self.job.effective_depth()),
            take: match self.job.batch.take {
                0 => usize::MAX,
                // Completions that are waited for together are handled together.
                take => take.max(self.job.batch.complete) as usize,
            },
            measure_submit: self.job.submit_latency && self.job.engine.is_asynchronous(),
        }
    }

    /// The submitting or waiting call itself failed, or a file could not be opened: recorded as one
    /// failure of the job.
    fn interface_failed(&self, error: &io::Error, start: Nanos) -> Note {
        // The opener of `within_limit` wraps its error in one of I/O.
        let inner = error.get_ref().and_then(|inner| inner.downcast_ref());
        let elapsed = self.clock.now().since(start);
        match inner.and_then(Error::cause) {
            // A file that was replaced after the check is not a failure of the device.
            Some(cause) if cause.raw_os_error().is_none() => {
                self.failed(&io::Error::from_raw_os_error(libc::ESTALE), elapsed);
            }
            Some(cause) => self.failed(cause, elapsed),
            None => self.failed(error, elapsed),
        }
        let text = format!("it did not run to its end: {error}");
        Note::new(NoteLevel::Ignored, &*self.job.name, text)
    }

    /// Recorded as one failure of the job, which has done nothing.
    fn cannot_begin(&self, error: &Error) -> Note {
        let unknown = io::Error::from_raw_os_error(libc::EIO);
        self.failed(error.cause().unwrap_or(&unknown), Nanos::ZERO);
        Note::new(
            NoteLevel::Ignored,
            &*self.job.name,
            format!("it did not run: {error}"),
        )
    }

    /// Records a failure of the thread as that of one operation, and ends the job.
    fn failed(&self, error: &io::Error, at: Nanos) {
        self.recorder.fail(Failure {
            errno: error.raw_os_error().unwrap_or(libc::EIO),
            direction: if self.job.goes(Direction::Write) {
                Direction::Write
            } else {
                Direction::Read
            },
            count: 1,
            first_at: at,
            first_offset: 0,
        });
        // Issued operations must equal completed, failed and those in flight.
        self.recorder.issued.add(1);
        self.stopper.request(Stopped::Error);
    }

    /// Makes everything that the thread needs to drive its worker: buffers with content, the worker,
    /// the target with its open files, and what fills and checks the buffers.
    fn prepare(&mut self) -> Result<ThreadState, Error> {
        let parts = std::mem::take(&mut self.parts);
        let job = &self.job;
        let depth = job.effective_depth();
        let (mut buffers, slots) = Buffers::new(depth, job.sizes.largest_moved().0 as usize)
            .map_err(|source| {
                engine_error(&self.job, source, "; a smaller depth or block would work")
            })?;
        let mut content = ContentMaker::for_job(job, self.seed, self.thread);
        // The buffers are filled before the start; the loop only changes a few bytes of each.
        if job.goes(Direction::Write) {
            for slot in &slots {
                content.prepare(buffers.bytes_mut(slot, job.sizes.write.largest().0 as usize));
            }
        }
        let sizes: Vec<u64> = self.files.iter().map(|file| file.size).collect();
        let common = Parts {
            thread: self.thread,
            seed: self.seed,
            sizes: &sizes,
            slots,
            stopper: Arc::clone(&self.stopper),
            shared: &self.shared,
            keys: self.keys.clone(),
        };
        let worker = Worker::new(parts, common).map_err(|invalid| Error::Job {
            job: job.name.clone(),
            invalid,
        })?;
        let (target, keeps_data) = self.target(&buffers)?;
        let note = target
            .note()
            .map(|text| Note::new(NoteLevel::Approximated, &*job.name, text));
        let target = match self.journal.take() {
            Some(journal) => ToDrive.visit(Journalled::new(target, journal, depth)),
            None => target,
        };
        let check = self.data_check().filter(|_| keeps_data).map(Box::new);
        // Direct operations leave nothing in the page cache.
        let every = job
            .drop_cache_every
            .filter(|_| keeps_data && !self.entry.direct);
        let drop_cache = every.map(|every| Box::new(DropCache::new(&self.files, every.0)));
        Ok(ThreadState {
            worker,
            target,
            filler: BufferFiller {
                buffers,
                content,
                check,
                clock: self.clock,
                epoch_micros: self.shared.epoch_micros,
                drop_cache,
            },
            note,
        })
    }

    /// How written data is verified, if it is.
    fn data_check(&self) -> Option<DataCheck> {
        let verify = self.job.verify.as_ref();
        self.keys
            .clone()
            .map(DataCheck::Keys)
            .or_else(|| Some(DataCheck::Headers(BlockHeaders::new(verify?, self.seed))))
    }

    /// The target that the thread drives, and whether it keeps data: with a model, and with engines that
    /// transfer none, there is nothing to compare.
    fn target(&self, buffers: &Buffers) -> Result<(Box<dyn DrivenTarget>, bool), Error> {
        let (engine, depth) = (self.job.engine, self.job.effective_depth());
        if let Some(models) = emulated(&self.job, &self.files)? {
            let target = ModelTarget::new(self.clock, models, depth, self.busy_wait);
            return Ok((ToDrive.visit(target), false));
        }
        let setup = EngineSetup {
            engine,
            clock: self.clock,
            depth,
            buffers,
            files: if engine.opens_files() {
                self.open_files()?
            } else {
                Vec::new()
            },
            paths: self.files.iter().map(|file| file.path.as_path()).collect(),
            writes: self.job.writes(),
            flags: self.job.operation_flags,
        };
        let target = setup
            .build(ToDrive)
            .map_err(|cause| engine_error(&self.job, cause, hint(engine)))?;
        Ok((self.within_limit(target)?, engine.keeps_data()))
    }

    /// Opens as many of the files as may be open at a time.
    fn open_files(&self) -> Result<Vec<OpenFile>, Error> {
        let most = self.most_open().unwrap_or(self.files.len());
        let files = self.files.iter().take(most);
        let opened = files.map(|file| open_file(&self.job, self.entry, file));
        opened.collect()
    }

    /// How many files may be open at a time; `None`: all.
    fn most_open(&self) -> Option<usize> {
        let most = self.job.open_targets? as usize;
        (self.job.engine.opens_files() && most < self.files.len()).then_some(most)
    }

    /// Wraps a target to open and close files while it works, if not all may be open.
    fn within_limit(&self, target: Box<dyn DrivenTarget>) -> Result<Box<dyn DrivenTarget>, Error> {
        let Some(most) = self.most_open() else {
            return Ok(target);
        };
        let (job, entry, files) = (self.job.clone(), self.entry, self.files.clone());
        let count = files.len();
        let set = OpenSet::new(
            target,
            Box::new(move |file| {
                let opened = open_file(&job, entry, &files[file]);
                // `interface_failed` takes the cause out again.
                opened.map_err(io::Error::other)
            }),
            most,
            count,
            self.job.effective_depth(),
        );
        let set = set.map_err(|cause| engine_error(&self.job, cause, hint(self.job.engine)))?;
        Ok(ToDrive.visit(set))
    }
}

fn open_file(job: &Job, entry: Entry, file: &TargetFile) -> Result<OpenFile, Error> {
    let opened = file
        .open(entry.opening(job, file))
        .map_err(|source| entry.cannot_open(job, file, source))?;
    let random = !job.pattern.is_sequential();
    let hinted = opened.hint(job.hints, random, entry.direct);
    hinted.map_err(|error| engine_error(job, error, LIFETIME))?;
    Ok(opened)
}

fn engine_error(job: &Job, cause: io::Error, hint: &str) -> Error {
    Error::Engine {
        job: job.name.clone(),
        engine: job.engine.name(),
        cause,
        hint: hint.to_owned(),
    }
}

/// What would work where the kernel refuses a hint: the end of an error's sentence.
const LIFETIME: &str = "; the kernel takes no lifetime of written data here: leave out `lifetime` \
                        (fio: `write_hint`)";

/// Puts the calling thread on its processor; a number that the machine lacks leaves it anywhere.
fn pin(job: &Job, thread: u32) {
    if job.pin.is_empty() {
        return;
    }
    let cpu = job.pin[thread as usize % job.pin.len()] as usize;
    // The kernel refuses a number that the machine lacks; one beyond the set would be a panic.
    if cpu < CpuSet::MAX_CPU {
        let mut set = CpuSet::new();
        set.set(cpu);
        let _ = sched_setaffinity(None, &set);
    }
}

/// Gives the calling thread its priorities. Returns a note if the kernel refused one.
fn set_priorities(job: &Job) -> Option<Note> {
    const WHO_PROCESS: libc::c_int = 1;
    let Priority { nice, io } = job.priority;
    // SAFETY: only numbers are passed; 0 names the calling thread.
    let failed = unsafe {
        // The value is added to that of the program, as nice(2) does.
        let own = libc::getpriority(libc::PRIO_PROCESS, 0);
        let nice = nice != 0 && libc::setpriority(libc::PRIO_PROCESS, 0, own + nice) != 0;
        let io = io.is_some_and(|io| {
            let value = libc::c_int::from(io.encoded());
            libc::syscall(libc::SYS_ioprio_set, WHO_PROCESS, 0, value) != 0
        });
        nice || io
    };
    failed.then(|| {
        let error = io::Error::last_os_error();
        let text = format!("the kernel refused it ({error}); its threads ran as others do");
        Note::new(
            NoteLevel::Ignored,
            format!("priority of job {}", job.name),
            text,
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The story: the remedy was joined to the kernel's words, `Invalid argument (os error 22)the kernel`.
    #[test]
    fn a_refused_lifetime_has_its_remedy_behind_the_cause() {
        let cause = io::Error::from_raw_os_error(libc::EINVAL);
        let error = engine_error(&Job::new("hinted"), cause, LIFETIME).to_string();
        assert!(error.contains("(os error 22); the kernel"), "{error}");
    }
}
