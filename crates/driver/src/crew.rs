//! The threads of a run: made, readied, released together, and if need be left behind.

use std::io;
use std::os::unix::thread::JoinHandleExt;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Once};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use blocklab_record::Stopped;
use blocklab_units::Nanos;
use blocklab_workload::{Direction, Job};

use super::Run;
use super::berths::{Groups, berths};
use super::duty::{Duty, Ready};
use super::entry::{Entry, permitted};
use super::gate::{Gate, Order};
use super::roster::{Member, Roster};
use crate::Error;
use crate::journal::Journals;
use blocklab_targets::Clock;
use blocklab_targets::WATCH;
use blocklab_worker::PriorityTable;
use blocklab_worker::Stopper;
use blocklab_worker::{Recorder, Wanted};
use blocklab_worker::{Shared, has_schedule};

/// All threads of a run.
pub(crate) struct Crew {
    pub(crate) roster: Roster,
    /// One a member, in the same order; nothing once it is joined.
    handles: Vec<Option<JoinHandle<()>>>,
    gate: Arc<Gate>,
    endings: Receiver<(usize, Stopped)>,
}

impl Crew {
    /// Starts all threads and waits until each is ready to begin.
    pub(crate) fn muster(run: Run<'_>, journals: &Journals) -> Result<Self, Error> {
        install_nudge();
        let gate = Arc::new(Gate::default());
        let (ready_sender, ready) = channel::<Ready>();
        let (end_sender, endings) = channel();
        let mut crew = Self {
            roster: Roster::default(),
            handles: Vec::new(),
            gate,
            endings,
        };
        let total: u32 = run.workload.jobs.iter().map(|job| job.threads).sum();
        let watch = watch(total);
        let shared = Shared::of(&run.workload.jobs, run.targets.iter().map(Vec::len));
        let shared = Arc::new(Shared {
            epoch_micros: epoch_micros(run.clock),
            ..shared
        });
        let mut trouble = None;
        crew.roster.direct = vec![false; run.workload.jobs.len()];
        let ends = run.workload.jobs.iter().map(|job| job.ends_others);
        crew.roster.ends_others = ends.collect();
        let mut groups = Groups::of(&run.workload.jobs);
        'jobs: for berth in berths(&run.workload.jobs, run.targets) {
            let (index, job) = (berth.index, &berth.job);
            let lanes = berth.lanes.iter();
            let mut lanes = lanes.map(|lane| (&run.workload.jobs[*lane], &run.targets[*lane]));
            let allowed = lanes.try_for_each(|(job, files)| permitted(job, files));
            let access = match allowed.and_then(|()| Entry::decide(job, &berth.files)) {
                Ok((entry, note)) => {
                    crew.roster.notes.extend(note);
                    entry
                }
                Err(error) => {
                    trouble = Some(error);
                    break;
                }
            };
            for index in berth.lanes.iter().chain([&index]) {
                crew.roster.direct[*index] = access.direct;
            }
            let stopper = Arc::new(Stopper::default());
            for thread in 0..job.threads {
                let (lanes, members) = groups.lanes(&berth, &run.workload.jobs, &stopper);
                let duty = Duty {
                    number: crew.roster.members.len(),
                    thread,
                    job: job.clone(),
                    seed: run.workload.seed,
                    files: berth.files.clone(),
                    entry: access,
                    watch,
                    clock: run.clock,
                    recorder: match members.first() {
                        Some(first) => Arc::clone(&first.recorder),
                        None => Arc::new(Recorder::new(wanted(job))),
                    },
                    stopper: Arc::clone(&stopper),
                    shared: Arc::clone(&shared),
                    journal: journals.of(job),
                    lanes,
                };
                match crew.enlist(index, duty, members, &ready_sender, &end_sender) {
                    Ok(()) => {}
                    Err(source) => {
                        let number = crew.roster.members.len() as u32 + 1;
                        trouble = Some(Error::Thread {
                            number,
                            total,
                            cause: source,
                        });
                        break 'jobs;
                    }
                }
            }
        }
        crew.gather(&ready, trouble)
    }

    /// `lanes` are the members that a pool's thread stands for; empty of a job by itself.
    fn enlist(
        &mut self,
        job: usize,
        duty: Duty,
        lanes: Vec<Member>,
        ready: &Sender<Ready>,
        ends: &Sender<(usize, Stopped)>,
    ) -> io::Result<()> {
        let (recorder, stopper) = (Arc::clone(&duty.recorder), Arc::clone(&duty.stopper));
        let (gate, ready, ends) = (Arc::clone(&self.gate), ready.clone(), ends.clone());
        let name = format!("bl-{}-{}", duty.job.name, duty.thread);
        let handle = Builder::new()
            .name(name.chars().take(15).collect())
            .stack_size(STACK)
            .spawn(move || duty.serve(&gate, &ready, &ends))?;
        self.handles.push(Some(handle));
        if lanes.is_empty() {
            self.roster.members.push(Member {
                job,
                recorder,
                stopper,
                ended: None,
            });
        } else {
            // The first one holds the thread.
            self.handles.extend(lanes.iter().skip(1).map(|_| None));
            self.roster.members.extend(lanes);
        }
        Ok(())
    }

    /// Waits for everybody's answer; after any trouble sends all home.
    fn gather(
        mut self,
        ready: &Receiver<Ready>,
        mut trouble: Option<Error>,
    ) -> Result<Self, Error> {
        for _ in 0..self.handles.iter().flatten().count() {
            match ready.recv() {
                Ok(Ok(note)) => {
                    if let Some(note) = note.filter(|note| !self.roster.notes.contains(note)) {
                        self.roster.notes.push(note);
                    }
                }
                Ok(Err(error)) => trouble = trouble.or(Some(error)),
                Err(_) => break,
            }
        }
        let Some(error) = trouble else {
            return Ok(self);
        };
        self.gate.give(Order::GoHome);
        for handle in self.handles.iter_mut().filter_map(Option::take) {
            let _ = handle.join();
        }
        Err(error)
    }

    /// Lets everybody begin, and says when that was.
    pub(crate) fn open_gate(&self, clock: Clock) -> Nanos {
        let start = clock.now();
        self.gate.give(Order::Begin(start));
        start
    }

    /// Waits for a thread to end, at most so long. Returns false when none did.
    pub(crate) fn await_end(&mut self, at_most: Duration) -> bool {
        match self.endings.recv_timeout(at_most) {
            Ok((number, stopped)) => {
                self.roster.members[number].ended = Some(stopped);
                if let Some(handle) = self.handles[number].take() {
                    let _ = handle.join();
                }
                true
            }
            Err(RecvTimeoutError::Timeout) => false,
            Err(RecvTimeoutError::Disconnected) => {
                // Every thread is gone; one that panicked has not said so.
                for member in &mut self.roster.members {
                    member.ended = member.ended.or(Some(Stopped::Error));
                }
                true
            }
        }
    }

    pub(crate) fn members(&self) -> &[Member] {
        &self.roster.members
    }

    pub(crate) fn is_complete(&self) -> bool {
        self.members().iter().all(|member| member.ended.is_some())
    }

    /// Interrupts the system calls of the threads that have not ended and are chosen.
    pub(crate) fn nudge(&self, of: impl Fn(&Member) -> bool) {
        for (member, handle) in self.members().iter().zip(&self.handles) {
            if let Some(handle) = handle
                .as_ref()
                .filter(|_| member.ended.is_none() && of(member))
            {
                // SAFETY: the thread is not joined, so its id is valid; the handler does nothing.
                unsafe { libc::pthread_kill(handle.as_pthread_t(), NUDGE) };
            }
        }
    }
}

/// Microseconds since 1970 at the zero of a clock.
fn epoch_micros(clock: Clock) -> u64 {
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH);
    let now = since_1970.map_or(0, |since| since.as_micros() as u64);
    now.saturating_sub(clock.now().0 / 1000)
}

/// Its default action would end the process, so nobody else sends it for another purpose.
const NUDGE: i32 = libc::SIGUSR2;

fn install_nudge() {
    extern "C" fn nothing(_: i32) {}
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: the structure is fully set; without SA_RESTART the signal ends a wait.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = nothing as *const () as usize;
            libc::sigaction(NUDGE, &raw const action, std::ptr::null_mut());
        }
    });
}

/// Room for the loop; the default of 2 MiB would only cost address space, but 4,096 threads of it.
const STACK: usize = 256 << 10;

/// Watching the clock needs a processor for each thread, and one for everything else.
fn watch(threads: u32) -> Nanos {
    let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    if (threads as usize) < processors {
        WATCH
    } else {
        Nanos::ZERO
    }
}

pub(super) fn wanted(job: &Job) -> Wanted {
    let flush = job.flush;
    let every = [flush.fsync_every, flush.fdatasync_every, flush.range_every];
    let flushes = flush.at_end || every.iter().any(|every| *every > 0);
    let goes = |direction, share: u8| match &job.replay {
        Some(replay) => replay.goes(direction),
        None => share > 0,
    };
    let submit = job.submit_latency && job.engine.is_asynchronous();
    // What only reads back tells of no priorities.
    let by_priority = |direction, share| match goes(direction, share) {
        true => PriorityTable::of(job, direction, submit),
        false => None,
    };
    Wanted {
        directions: [
            goes(Direction::Read, job.mix.read) || job.reads_back(),
            goes(Direction::Write, job.mix.write),
            goes(Direction::Trim, job.mix.trim) || job.trim_first || job.trims_written(),
            goes(Direction::Sync, 0) || flushes,
        ],
        response: has_schedule(job),
        submit,
        depths: job.measure.depths,
        log: job.log,
        ramp: job.ramp > Nanos::ZERO,
        by_priority: [
            by_priority(Direction::Read, job.mix.read),
            by_priority(Direction::Write, job.mix.write),
        ],
    }
}
