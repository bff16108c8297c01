//! In: the tasks of a run's threads. Out: the threads: spawned, prepared, released together, and given
//! up if they hang.

use std::io;
use std::os::unix::thread::JoinHandleExt;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel, sync_channel};
use std::sync::{Arc, Once};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use blocklab_record::{Note, Stopped};
use blocklab_targets::{BUSY_WAIT, Clock};
use blocklab_units::Nanos;
use blocklab_worker::{Shared, Stopper};

use super::entry::{Entry, permitted};
use super::prompt::Prompt;
use super::room;
use super::thread::{Ended, Gate, Order, Ready, ThreadSpec};
use super::thread_groups::{Allowances, ThreadGroup, thread_groups};
use super::workers::{WorkerStatus, Workers};
use super::{Control, Run};
use crate::Error;
use crate::journal::Journals;
use crate::journal::RunKeys;

/// All threads of a run.
pub(crate) struct Threads {
    pub(crate) workers: Workers,
    /// One for each member, in the same order; `None` once it is joined.
    handles: Vec<Option<JoinHandle<()>>>,
    gate: Arc<Gate>,
    endings: Receiver<Ended>,
}

/// The last part of a wait is a busy-wait: a sleep ends late by up to a tick of the kernel.
const AWAKE: Nanos = Nanos::from_millis(2);
/// The same for a real-time thread. It gets a processor at once, and takes one from all ordinary threads
/// while it busy-waits.
const AWAKE_PROMPTLY: Nanos = Nanos(200_000);

/// Sleeps in short pieces, so that a signal ends it.
fn wait_until(moment: Nanos, clock: Clock, interrupted: &AtomicBool, prompt: &Prompt) {
    let awake = if prompt.is_granted() {
        AWAKE_PROMPTLY
    } else {
        AWAKE
    };
    loop {
        let left = moment.since(clock.now());
        if left == Nanos::ZERO || interrupted.load(Ordering::Relaxed) {
            return;
        }
        let asleep = left.since(awake).min(Nanos::from_millis(50));
        if asleep > Nanos::ZERO {
            std::thread::sleep(Duration::from(asleep));
        }
    }
}

impl Threads {
    /// Starts all threads and waits until each is ready to begin.
    pub(crate) fn spawn_all(
        run: Run<'_>,
        control: Control<'_>,
        keys: &RunKeys,
        journals: &Journals,
    ) -> Result<Self, Error> {
        install_interrupt();
        let (end_sender, endings) = channel();
        let (ready_sender, ready) = channel::<Ready>();
        let mut threads = Self {
            workers: Workers::new(&run.workload.jobs),
            handles: Vec::new(),
            gate: Arc::default(),
            endings,
        };
        let failure =
            threads.spawn_groups(run, control, keys, journals, &ready_sender, &end_sender);
        // With the threads' copies alone left, a channel closes when all of them are gone.
        drop((ready_sender, end_sender));
        threads.gather(&ready, failure.err())
    }

    /// Starts the threads of all groups, one after the other; the first error ends that.
    fn spawn_groups(
        &mut self,
        run: Run<'_>,
        control: Control<'_>,
        keys: &RunKeys,
        journals: &Journals,
        ready: &Sender<Ready>,
        ends: &Sender<Ended>,
    ) -> Result<(), Error> {
        let jobs = &run.workload.jobs;
        let total: u32 = jobs.iter().map(|job| job.threads).sum();
        let shared = Arc::new(shared(run));
        let mut allowances = Allowances::new(jobs);
        let groups = thread_groups(jobs, run.targets);
        room::check_room(&groups)?;
        for group in groups {
            let (entry, note) = entry(run, &group, control.fails_alone)?;
            self.workers.notes.extend(note);
            for index in &group.jobs {
                self.workers.direct[*index] = entry.direct;
            }
            let stopper = Arc::new(Stopper::default());
            for thread in 0..group.job.threads {
                let (parts, members) = allowances.take_for_thread(&group, jobs, &stopper, None);
                let thread = ThreadSpec {
                    number: self.workers.members.len(),
                    thread,
                    job: group.job.clone(),
                    seed: run.workload.seed,
                    files: group.files.clone(),
                    entry,
                    busy_wait: busy_wait(total),
                    clock: run.clock,
                    recorder: Arc::clone(&members[0].recorder),
                    stopper: Arc::clone(&stopper),
                    shared: Arc::clone(&shared),
                    keys: keys.of_job(&group.job),
                    journal: journals.journal_for(&group.job),
                    fails_alone: control.fails_alone,
                    is_awaited: control.begin_at > Nanos::ZERO,
                    parts,
                };
                let number = self.workers.members.len() as u32 + 1;
                let spawned = self.spawn(thread, members, ready.clone(), ends.clone());
                spawned.map_err(|cause| match cause.kind() {
                    io::ErrorKind::TimedOut => Error::NotBegun { number, total },
                    _ => Error::Thread {
                        number,
                        total,
                        cause,
                    },
                })?;
            }
        }
        Ok(())
    }

    /// `members` are those that the thread works for.
    fn spawn(
        &mut self,
        thread: ThreadSpec,
        members: Vec<WorkerStatus>,
        ready: Sender<Ready>,
        ends: Sender<Ended>,
    ) -> io::Result<()> {
        let gate = Arc::clone(&self.gate);
        let name = format!("bl-{}-{}", thread.job.name, thread.thread);
        let (begins, begun) = sync_channel(1);
        let handle = Builder::new()
            // The kernel keeps 15 bytes of a name.
            .name(name.chars().take(15).collect())
            .stack_size(room::STACK)
            .spawn(move || {
                let _ = begins.send(());
                thread.serve(&gate, ready, &ends);
            })?;
        // So far the thread has done nothing and could be left behind; from here on it is waited for.
        let begun = begun.recv_timeout(BEGINS_WITHIN);
        begun.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))?;
        // The jobs of a pool share the thread; the first one has its handle.
        self.handles.push(Some(handle));
        self.handles.extend(members.iter().skip(1).map(|_| None));
        self.workers.members.extend(members);
        Ok(())
    }

    /// Waits until every thread is ready; after an error aborts all of them.
    ///
    /// # Panics
    /// When a thread panicked before it was ready.
    fn gather(
        mut self,
        ready: &Receiver<Ready>,
        mut failure: Option<Error>,
    ) -> Result<Self, Error> {
        let mut all_reported = true;
        for _ in 0..self.handles.iter().flatten().count() {
            match ready.recv() {
                Ok(Ok(notes)) => {
                    // The threads of a job report the same ones.
                    for note in notes {
                        if !self.workers.notes.contains(&note) {
                            self.workers.notes.push(note);
                        }
                    }
                }
                Ok(Err(error)) => failure = failure.or(Some(error)),
                // No sender is left: the threads that did not report have panicked.
                Err(_) => {
                    all_reported = false;
                    break;
                }
            }
        }
        if failure.is_none() && all_reported {
            return Ok(self);
        }
        let _ = self.gate.set(Order::Abort);
        let handles = self.handles.iter_mut().filter_map(Option::take);
        let joined: Vec<_> = handles.map(JoinHandle::join).collect();
        if let Some(panic) = joined.into_iter().find_map(Result::err) {
            resume_unwind(panic);
        }
        Err(failure.expect("a thread that does not report has panicked"))
    }

    /// Releases all threads at the moment at which they are to begin, and returns when that was.
    pub(crate) fn open_gate(&self, clock: Clock, control: Control<'_>) -> Nanos {
        // A single host has no agreed moment to miss.
        let prompt = (control.begin_at > clock.now()).then(Prompt::ask);
        if let Some(prompt) = &prompt {
            wait_until(control.begin_at, clock, control.interrupted, prompt);
        }
        let start = clock.now();
        let _ = self.gate.set(Order::Begin(start));
        start
    }

    /// Waits for a thread to end, for `at_most`. Returns false when none did.
    pub(crate) fn await_end(&mut self, at_most: Duration) -> bool {
        match self.endings.recv_timeout(at_most) {
            Ok(Ended {
                number,
                stopped,
                note,
            }) => {
                self.workers.members[number].ended = Some(stopped);
                self.workers.notes.extend(note);
                if let Some(handle) = self.handles[number].take() {
                    let _ = handle.join();
                }
                true
            }
            Err(RecvTimeoutError::Timeout) => false,
            Err(RecvTimeoutError::Disconnected) => {
                // Every thread is gone; one that panicked could not report its end.
                for member in &mut self.workers.members {
                    member.ended = member.ended.or(Some(Stopped::Error));
                }
                true
            }
        }
    }

    pub(crate) fn members(&self) -> &[WorkerStatus] {
        &self.workers.members
    }

    pub(crate) fn is_complete(&self) -> bool {
        self.members().iter().all(|member| member.ended.is_some())
    }

    /// Interrupts the system calls of the chosen threads that have not ended.
    pub(crate) fn interrupt(&self, is_chosen: impl Fn(&WorkerStatus) -> bool) {
        for (member, handle) in self.members().iter().zip(&self.handles) {
            if let Some(handle) = handle
                .as_ref()
                .filter(|_| member.ended.is_none() && is_chosen(member))
            {
                // SAFETY: the thread is not joined, so its id is valid; the handler does nothing.
                unsafe { libc::pthread_kill(handle.as_pthread_t(), INTERRUPT) };
            }
        }
    }
}

/// What the threads of all jobs share.
fn shared(run: Run<'_>) -> Shared {
    Shared {
        epoch_micros: epoch_micros(run.clock),
        ..Shared::new(&run.workload.jobs, run.targets.iter().map(Vec::len))
    }
}

/// How the threads of a group open their targets, with a note if that is not what the job prefers, after
/// checking that all its jobs may use them.
fn entry(
    run: Run<'_>,
    group: &ThreadGroup,
    fails_alone: bool,
) -> Result<(Entry, Option<Note>), Error> {
    // Outside of a pool, a group has one job, which `Entry::decide` checks.
    if group.job.pool.is_some() {
        for index in &group.jobs {
            permitted(&run.workload.jobs[*index], &run.targets[*index])?;
        }
    }
    match Entry::decide(&group.job, &group.files) {
        // The thread meets the same error, and fails alone.
        Err(Error::Open { .. }) if fails_alone => Ok((Entry::requested(&group.job), None)),
        decided => decided,
    }
}

/// Microseconds since 1970 at the zero of a clock.
fn epoch_micros(clock: Clock) -> u64 {
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH);
    let now = since_1970.map_or(0, |since| since.as_micros() as u64);
    now.saturating_sub(clock.now().0 / 1000)
}

/// Its default action would end the process, so no other program sends it for another purpose.
const INTERRUPT: i32 = libc::SIGUSR2;

/// Installs a handler that does nothing, so that the signal only ends a system call.
fn install_interrupt() {
    extern "C" fn nothing(_: i32) {}
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: the structure is fully set; without SA_RESTART the signal ends a wait.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = nothing as *const () as usize;
            libc::sigaction(INTERRUPT, &raw const action, std::ptr::null_mut());
        }
    });
}

/// How long a new thread may take to its first instruction. It is microseconds, and a second on a
/// machine that is much too busy; one that lacks memory may hang for ever.
const BEGINS_WITHIN: Duration = Duration::from_secs(30);

/// How long the threads busy-wait before a completion of an emulated device. It takes a processor for
/// each thread, and one for everything else; with fewer, a busy-waiting thread would delay the others.
fn busy_wait(threads: u32) -> Nanos {
    let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    if (threads as usize) < processors {
        BUSY_WAIT
    } else {
        Nanos::ZERO
    }
}
