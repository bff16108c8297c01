//! What a worker counts while it runs.
//!
//! One thread writes, others may read at any moment: all counters are relaxed atomics that only
//! their worker stores to, which costs what plain memory costs. So the live view and the
//! series take nothing from the hot path, and a worker that hangs in the kernel leaves
//! its figures behind.

use std::sync::{Arc, Mutex, OnceLock};

use blocklab_record::{Accounting, Depths, ThreadUse};
use blocklab_units::Nanos;
use blocklab_verify::{ExpectedBlock, Miscompare};
use blocklab_workload::{Direction, Log};

use crate::counter::Counter;
use crate::in_flight::Outstanding;
use crate::io_priority::PriorityTable;
use crate::latency::LatencyHistogram;
use crate::log::LogBook;

/// One direction of one worker.
#[derive(Debug)]
pub struct DirectionCounters {
    /// Completed operations.
    pub ios: Counter,
    /// Bytes of them.
    pub bytes: Counter,
    /// From submission to completion.
    pub service: LatencyHistogram,
    /// From the moment an operation was due to its completion.
    pub response: Option<LatencyHistogram>,
    /// The submitting call.
    pub submit: Option<LatencyHistogram>,
    /// From the return of the submitting call to the completion.
    pub completion: Option<LatencyHistogram>,
    /// Where operations carry priorities of their own.
    pub by_priority: Option<PriorityTable>,
}

impl DirectionCounters {
    /// The longest service latency so far.
    pub fn longest(&self) -> u64 {
        self.service.longest()
    }

    /// An operation of so many bytes took so long.
    #[inline(always)]
    pub(crate) fn served(&self, len: u32, service: Nanos) {
        self.ios.add(1);
        self.bytes.add(u64::from(len));
        self.service.record(service.0);
    }
}

/// Which distributions a job needs: unused ones cost no memory.
#[derive(Debug, Default)]
pub struct Wanted {
    /// Read, write, trim, sync.
    pub directions: [bool; 4],
    /// Response latency.
    pub response: bool,
    /// Submission latency by itself.
    pub submit: bool,
    /// Depths and batches.
    pub depths: bool,
    /// A log of operations.
    pub log: Option<Log>,
    /// Of reads and writes.
    pub by_priority: [Option<PriorityTable>; 2],
    /// Whether there is a ramp.
    pub ramp: bool,
}

/// Operations and calls by how many they were: see [`Depths`].
#[derive(Debug, Default)]
pub struct DepthCounters {
    pub(crate) in_flight: [Counter; 7],
    pub(crate) submitted: [Counter; 7],
    pub(crate) completed: [Counter; 7],
}

impl DepthCounters {
    /// So many were in flight when one more was issued, itself included.
    #[inline]
    pub(crate) fn issued(&self, in_flight: usize) {
        let class = (in_flight.max(1).ilog2() as usize).min(6);
        self.in_flight[class].add(1);
    }

    /// A call handed over or brought so many.
    #[inline]
    pub(crate) fn moved(counters: &[Counter; 7], operations: usize) {
        let class = match operations {
            0 => 0,
            1..=4 => 1,
            more => (more - 1).ilog2() as usize,
        };
        counters[class.min(6)].add(1);
    }

    pub fn add_to(&self, sum: &mut Depths) {
        let add = |sum: &mut [u64; 7], counters: &[Counter; 7]| {
            for (sum, counter) in sum.iter_mut().zip(counters) {
                *sum += counter.get();
            }
        };
        add(&mut sum.in_flight, &self.in_flight);
        add(&mut sum.submitted, &self.submitted);
        add(&mut sum.completed, &self.completed);
    }
}

/// A failure as the worker saw it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Failure {
    /// errno, or 0 for a short transfer.
    pub errno: i32,
    /// What failed.
    pub direction: Direction,
    /// How many.
    pub count: u64,
    /// When the first failed.
    pub first_at: Nanos,
    /// Where the first was.
    pub first_offset: u64,
}

impl Failure {
    /// Of an operation that gave this result: a negated errno, or too few bytes.
    pub(crate) fn of(result: i32, direction: Direction, at: Nanos, offset: u64) -> Self {
        Self {
            errno: if result < 0 { -result } else { 0 },
            direction,
            count: 1,
            first_at: at,
            first_offset: offset,
        }
    }
}

/// Everything one worker counts.
#[derive(Debug, Default)]
pub struct Recorder {
    tallies: [Option<DirectionCounters>; 4],
    /// What ended during the ramp: in the series, and in no result.
    warm: Option<Box<Self>>,
    /// Operations handed to the target, ramp included.
    pub issued: Counter,
    /// Completed during the ramp.
    pub completed_in_ramp: Counter,
    /// Came back with an error, or short.
    pub failed: Counter,
    /// Were due and never issued.
    pub overdue: Counter,
    /// One more than the depth that a search found; 0 before.
    pub found_depth: Counter,
    /// First submission and last completion, as moments of the run's clock.
    pub first_issue: Counter,
    /// When the last operation came back.
    pub last_completion: Counter,
    /// Depths and batches, where they are wanted.
    pub depths: Option<DepthCounters>,
    /// How far a verifying job's writes came, set when the thread ends.
    progress: OnceLock<Progress>,
    /// What the thread used, set when it ends.
    thread_use: OnceLock<ThreadUse>,
    /// When reading back began, as a moment of the run's clock; 0: it has not.
    pub verify_began: Counter,
    /// Blocks compared.
    pub verified: Counter,
    /// Writes that were not made, for they are only read back, and their bytes.
    pub assumed_writes: Counter,
    /// See above.
    pub assumed_bytes: Counter,
    failures: Mutex<Vec<Failure>>,
    miscompares: Mutex<Miscompares>,
    /// Of each worker that counts here: what it has in flight.
    outstanding: Mutex<Vec<Arc<Outstanding>>>,
    /// The log, where one is wanted.
    pub log: Option<Mutex<LogBook>>,
}

/// How far the writes of one thread have come.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Progress {
    /// Writes issued.
    pub writes: u64,
    /// Of these, from the first on, those that had come back when a flush was submitted that then
    /// came back well.
    pub durable: u64,
    /// Of each target: first bytes of the last writes that came back, the newest first, at most as
    /// many as the job's depth.
    pub recent: Vec<Vec<u64>>,
}

/// What of a worker's data came back otherwise than it was written.
#[derive(Debug, Clone, Default)]
pub struct Miscompares {
    /// How many.
    pub count: u64,
    /// The first ones.
    pub kept: Vec<KeptMiscompare>,
}

/// One of them.
#[derive(Debug, Clone)]
pub struct KeptMiscompare {
    /// What is wrong, and where.
    pub miscompare: Miscompare,
    /// When it was found.
    pub at: Nanos,
    /// Index of the target in the job's list.
    pub target: u32,
    /// First byte of the block that was read.
    pub offset: u64,
    /// What was read, of as many blocks as the job keeps; empty of the others.
    pub bytes: Vec<u8>,
}

/// Looks at the counters of a worker that may be at work.
const TRIES: usize = 10;
/// Miscompares that are kept one by one; the others are counted.
const TOLD: usize = 100;

impl Recorder {
    /// Counts what is wanted.
    pub fn new(mut wanted: Wanted) -> Self {
        let warm = wanted.ramp.then(|| {
            Box::new(Self::new(Wanted {
                directions: wanted.directions,
                ..Wanted::default()
            }))
        });
        let mut tally = |direction: usize| {
            let by_priority = wanted.by_priority.get_mut(direction);
            wanted.directions[direction].then(|| DirectionCounters {
                ios: Counter::default(),
                bytes: Counter::default(),
                service: LatencyHistogram::new(),
                response: wanted.response.then(LatencyHistogram::new),
                submit: wanted.submit.then(LatencyHistogram::new),
                completion: wanted.submit.then(LatencyHistogram::new),
                by_priority: by_priority.and_then(Option::take),
            })
        };
        let recorder = Self {
            tallies: [tally(0), tally(1), tally(2), tally(3)],
            warm,
            depths: wanted.depths.then(DepthCounters::default),
            log: wanted.log.map(|rule| Mutex::new(LogBook::new(rule))),
            ..Self::default()
        };
        recorder.first_issue.set(u64::MAX);
        recorder
    }

    /// Counts nothing: for load that is in no result.
    pub(crate) fn discarding() -> Self {
        Self::new(Wanted::default())
    }

    /// The counters of a direction that occurs.
    #[inline]
    pub fn tally(&self, direction: Direction) -> Option<&DirectionCounters> {
        self.tallies[direction as usize].as_ref()
    }

    /// What counts during the ramp, where there is one.
    #[inline]
    pub fn warm(&self) -> Option<&Self> {
        self.warm.as_deref()
    }

    /// An operation ended during the ramp.
    #[inline]
    pub(crate) fn served_in_ramp(&self, direction: Direction, len: u32, service: Nanos) {
        self.completed_in_ramp.add(1);
        if let Some(tally) = self.warm().and_then(|warm| warm.tally(direction)) {
            tally.served(len, service);
        }
    }

    /// A worker of so many slots counts here: where it tells what it has in flight.
    pub(crate) fn admit(&self, slots: usize) -> Arc<Outstanding> {
        let outstanding = Arc::new(Outstanding::new(slots));
        let mut all = self.outstanding.lock().expect("no panic under this lock");
        all.push(Arc::clone(&outstanding));
        outstanding
    }

    /// Direction and age of each operation in flight.
    pub fn ages(&self, now: Nanos) -> Vec<(Direction, Nanos)> {
        let all = self.outstanding.lock().expect("no panic under this lock");
        all.iter().flat_map(|one| one.ages(now)).collect()
    }

    /// The census. What was issued, what came back and what is in flight are counted apart, so that
    /// it can be seen where an operation is lost on its way.
    pub fn accounting(&self) -> Accounting {
        let mut census = self.count();
        // A worker that is at work changes one number after the other.
        for _ in 0..TRIES {
            let again = self.count();
            if census == again {
                break;
            }
            census = again;
        }
        census
    }

    fn count(&self) -> Accounting {
        let completed_in_ramp = self.completed_in_ramp.get();
        let tallies = self.tallies.iter().flatten();
        let measured: u64 = tallies.map(|tally| tally.ios.get()).sum();
        let all = self.outstanding.lock().expect("no panic under this lock");
        Accounting {
            issued: self.issued.get(),
            completed: measured + completed_in_ramp,
            completed_in_ramp,
            failed: self.failed.get(),
            in_flight: all.iter().map(|one| one.count()).sum(),
            oldest_in_flight_ns: None,
            overdue: self.overdue.get(),
        }
    }

    /// Once, by the thread itself.
    pub fn has_used(&self, used: ThreadUse) {
        let _ = self.thread_use.set(used);
    }

    /// Once, by the thread itself.
    pub(crate) fn has_written(&self, progress: Progress) {
        let _ = self.progress.set(progress);
    }

    /// Nothing while the thread works.
    pub fn progress(&self) -> Option<&Progress> {
        self.progress.get()
    }

    /// Nothing while the thread works, and of a simulated one.
    pub fn thread_use(&self) -> Option<&ThreadUse> {
        self.thread_use.get()
    }

    /// An operation failed.
    pub fn fail(&self, failure: Failure) {
        self.failed.add(1);
        let mut failures = self.failures.lock().expect("no panic under this lock");
        let same = |known: &&mut Failure| {
            known.errno == failure.errno && known.direction == failure.direction
        };
        match failures.iter_mut().find(same) {
            Some(known) => known.count += 1,
            None => failures.push(failure),
        }
    }

    /// Data is not what was written; `bytes` of the whole block are kept for the first `keep`.
    pub(crate) fn miscompared(
        &self,
        miscompare: Miscompare,
        block: ExpectedBlock,
        at: Nanos,
        bytes: &[u8],
        keep: u32,
    ) {
        let mut all = self.miscompares.lock().expect("no panic under this lock");
        all.count += 1;
        if all.kept.len() < TOLD {
            let keeps = all.kept.len() < keep as usize;
            all.kept.push(KeptMiscompare {
                miscompare,
                at,
                target: block.target,
                offset: block.offset,
                bytes: if keeps { bytes.to_vec() } else { Vec::new() },
            });
        }
    }

    /// Data that came back otherwise than it was written.
    pub fn miscompares(&self) -> Miscompares {
        let all = self.miscompares.lock().expect("no panic under this lock");
        all.clone()
    }

    /// Failures by kind.
    pub fn failures(&self) -> Vec<Failure> {
        self.failures
            .lock()
            .expect("no panic under this lock")
            .clone()
    }
}
