//! In: the operations of a worker. Out: its counters, histograms, failures and miscompares.
//!
//! One thread writes, others may read at any moment: all counters are relaxed atomics that only
//! their worker stores to, at the cost of plain memory. The live view and the series therefore cost
//! the hot path nothing, and the figures of a worker that hangs in the kernel are not lost.

use std::sync::{Arc, Mutex, OnceLock};

use blocklab_record::{Accounting, Depths, ThreadUse};
use blocklab_units::Nanos;
use blocklab_verify::{ExpectedBlock, Miscompare};
use blocklab_workload::{Direction, Log, Replay};

use crate::counter::Counter;
use crate::in_flight::Outstanding;
use crate::io_priority::PriorityTable;
use crate::issue_times::IssueTimes;
use crate::latency::LatencyHistogram;
use crate::log::LogBook;

/// One direction of one worker.
#[derive(Debug)]
pub struct DirectionCounters {
    /// Completed operations.
    pub ios: Counter,
    /// Their bytes.
    pub bytes: Counter,
    /// From submission to completion.
    pub service: LatencyHistogram,
    /// From the moment that an operation was due to its completion.
    pub response: Option<LatencyHistogram>,
    /// The submitting call.
    pub submit: Option<LatencyHistogram>,
    /// From the return of the submitting call to the completion.
    pub completion: Option<LatencyHistogram>,
    /// The latencies by priority, if operations have priorities of their own.
    pub by_priority: Option<PriorityTable>,
}

impl DirectionCounters {
    /// Counters of the same kinds at zero.
    fn fresh(&self) -> Self {
        let histogram = |_: &LatencyHistogram| LatencyHistogram::new();
        Self {
            ios: Counter::default(),
            bytes: Counter::default(),
            service: LatencyHistogram::new(),
            response: self.response.as_ref().map(histogram),
            submit: self.submit.as_ref().map(histogram),
            completion: self.completion.as_ref().map(histogram),
            by_priority: self.by_priority.as_ref().map(PriorityTable::fresh),
        }
    }

    /// The longest service latency so far.
    pub fn longest(&self) -> u64 {
        self.service.longest()
    }

    /// Counts a completed operation.
    #[inline(always)]
    pub(crate) fn served(&self, len: u32, service: Nanos) {
        self.ios.add(1);
        self.bytes.add(u64::from(len));
        self.service.record(service.0);
    }
}

/// The distributions that a job needs; unused ones cost no memory.
#[derive(Debug, Default)]
pub struct RecorderSpec {
    /// Read, write, trim, sync.
    pub directions: [bool; 4],
    /// Response latency.
    pub response: bool,
    /// Submission and completion latency, separately.
    pub submit: bool,
    /// Depths and batches.
    pub depths: bool,
    /// A log of operations.
    pub log: Option<Log>,
    /// The recorded operations that are replayed.
    pub replay: Option<Arc<Replay>>,
    /// The priorities of reads and writes.
    pub by_priority: [Option<PriorityTable>; 2],
    /// Whether there is a ramp.
    pub ramp: bool,
}

/// Operations by queue depth, and calls by the number of their operations: see [`Depths`].
#[derive(Debug, Default)]
pub struct DepthCounters {
    pub(crate) in_flight: [Counter; 7],
    pub(crate) submitted: [Counter; 7],
    pub(crate) completed: [Counter; 7],
}

impl DepthCounters {
    /// Counts an issued operation by the queue depth that it makes.
    #[inline]
    pub(crate) fn issued(&self, in_flight: usize) {
        let class = (in_flight.max(1).ilog2() as usize).min(6);
        self.in_flight[class].add(1);
    }

    /// Counts a call by the number of operations that it submitted or reaped.
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
        add_counters(&mut sum.in_flight, &self.in_flight);
        add_counters(&mut sum.submitted, &self.submitted);
        add_counters(&mut sum.completed, &self.completed);
    }
}

fn add_counters(sums: &mut [u64; 7], counters: &[Counter; 7]) {
    for (sum, counter) in sums.iter_mut().zip(counters) {
        *sum += counter.get();
    }
}

/// Failed operations of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Failure {
    /// errno, or 0 for a short transfer.
    pub errno: i32,
    /// Their direction.
    pub direction: Direction,
    /// Their number.
    pub count: u64,
    /// When the first one failed.
    pub first_at: Nanos,
    /// Offset of the first one.
    pub first_offset: u64,
}

impl Failure {
    /// One operation with this result: a negated errno, or too few bytes.
    pub(crate) fn new(result: i32, direction: Direction, at: Nanos, offset: u64) -> Self {
        Self {
            errno: if result < 0 { -result } else { 0 },
            direction,
            count: 1,
            first_at: at,
            first_offset: offset,
        }
    }

    /// Adds the failures to those of the same kind, or as a new kind.
    pub fn add_to(self, all: &mut Vec<Self>) {
        let mut known = all.iter_mut();
        match known.find(|known| (known.errno, known.direction) == (self.errno, self.direction)) {
            Some(known) => {
                known.count += self.count;
                if self.first_at < known.first_at {
                    (known.first_at, known.first_offset) = (self.first_at, self.first_offset);
                }
            }
            None => all.push(self),
        }
    }
}

/// The counters of the last window of a search for a depth, which alone are its result.
#[derive(Debug)]
struct LastWindow {
    directions: [Option<DirectionCounters>; 4],
    depths: Option<DepthCounters>,
}

/// Everything one worker counts.
#[derive(Debug, Default)]
pub struct Recorder {
    directions: [Option<DirectionCounters>; 4],
    /// Completions during the ramp, which are in the series and in no result.
    warm: Option<Box<Self>>,
    /// Operations handed to the target, ramp included.
    pub issued: Counter,
    /// Operations that completed during the ramp.
    pub completed_in_ramp: Counter,
    /// Operations that came back with an error, or short.
    pub failed: Counter,
    /// Operations that were due and never issued.
    pub overdue: Counter,
    /// One more than the depth that a search has found; 0 before.
    found_depth: Counter,
    /// When its thread began, on the run's clock; `u64::MAX` as long as it has not.
    pub begun: Counter,
    /// When the last operation completed.
    pub last_completion: Counter,
    /// Depths and batches, if the job records them.
    depths: Option<DepthCounters>,
    /// The counters of the last window of a search for a depth; unset before it begins.
    last_window: OnceLock<Box<LastWindow>>,
    /// When operations of a replay were issued.
    pub issue_times: Option<Box<IssueTimes>>,
    /// Operations of a replay that were issued after one that was due later.
    pub reordered: Counter,
    /// Operations of a replay that touched what another one in flight wrote or was to write.
    pub conflicts: Counter,
    /// How far the writes of a verifying job came; set when the thread ends.
    progress: OnceLock<Progress>,
    /// The resources that the thread used; set when it ends.
    thread_use: OnceLock<ThreadUse>,
    /// When reading back began, on the run's clock; 0: not yet.
    pub verify_began: Counter,
    /// When a ramp by bytes was over, or a search for a depth and its last window began; 0 before.
    pub ramp_over: Counter,
    /// Blocks compared.
    pub verified: Counter,
    /// Writes that a job which only reads back assumes an earlier run made.
    pub assumed_writes: Counter,
    /// Bytes of the assumed writes.
    pub assumed_bytes: Counter,
    failures: Arc<Mutex<Vec<Failure>>>,
    miscompares: Mutex<Miscompares>,
    /// The operations in flight of each worker that counts here.
    outstanding: Mutex<Vec<Arc<Outstanding>>>,
    /// The log, if the job has one.
    pub log: Option<Mutex<LogBook>>,
}

/// How far the writes of one thread have come.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Progress {
    /// Writes issued.
    pub writes: u64,
    /// How many of them, from the first on, a successful flush has made durable, because they had
    /// completed when it was submitted.
    pub durable: u64,
    /// The offsets of the last completed writes of each target, newest first; at most as many as the
    /// depth of the job.
    pub recent: Vec<Vec<u64>>,
}

/// The miscompares of one worker.
#[derive(Debug, Clone, Default)]
pub struct Miscompares {
    /// Their number.
    pub count: u64,
    /// The first ones.
    pub kept: Vec<KeptMiscompare>,
}

/// A miscompare that is kept with its details.
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
    /// The data that was read, for as many blocks as the job saves; else empty.
    pub bytes: Vec<u8>,
}

/// Miscompares of which details are kept; all others are only counted.
const KEPT: usize = 100;

impl Recorder {
    /// A recorder with these distributions.
    pub fn new(mut wanted: RecorderSpec) -> Self {
        // The ramp is in the series alone, which needs the counters of the directions and no more.
        let warm = wanted.ramp.then(|| {
            Box::new(Self::new(RecorderSpec {
                directions: wanted.directions,
                ..RecorderSpec::default()
            }))
        });
        let directions = std::array::from_fn(|direction| {
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
        });
        let recorder = Self {
            directions,
            warm,
            depths: wanted.depths.then(DepthCounters::default),
            issue_times: (wanted.replay.as_ref())
                .and_then(|replay| IssueTimes::for_replay(replay).map(Box::new)),
            log: wanted.log.map(|rule| Mutex::new(LogBook::new(rule))),
            ..Self::default()
        };
        recorder.begun.set(u64::MAX);
        recorder
    }

    /// A recorder that counts nothing, for load that is in no result. What fails in it is reported here all
    /// the same, as it may end the job.
    pub(crate) fn discarding(&self) -> Self {
        Self {
            failures: Arc::clone(&self.failures),
            ..Self::new(RecorderSpec::default())
        }
    }

    /// The counters of a direction, whose figures are the result; `None` for one that the job does
    /// not have.
    #[inline]
    pub fn counters(&self, direction: Direction) -> Option<&DirectionCounters> {
        let directions = match self.last_window.get() {
            Some(last_window) => &last_window.directions,
            None => &self.directions,
        };
        directions[direction as usize].as_ref()
    }

    /// The counters of a direction that grow for as long as the job runs: those of a search for a
    /// depth, and those of its last window. Every other job has one.
    pub fn all_counters(&self, direction: Direction) -> impl Iterator<Item = &DirectionCounters> {
        let last_window = self.last_window.get().map(|last| &last.directions);
        let both = std::iter::once(&self.directions).chain(last_window);
        both.filter_map(move |directions| directions[direction as usize].as_ref())
    }

    /// Depths and batches, if the job records them.
    #[inline]
    pub fn depths(&self) -> Option<&DepthCounters> {
        match self.last_window.get() {
            Some(last_window) => last_window.depths.as_ref(),
            None => self.depths.as_ref(),
        }
    }

    /// Whether a search for a depth has ended and its last window has begun.
    pub fn is_in_last_window(&self) -> bool {
        self.last_window.get().is_some()
    }

    /// The counters of a direction before the measured time: those of a search for a depth that has
    /// ended, else those of the ramp.
    pub fn counters_before(&self, direction: Direction) -> Option<&DirectionCounters> {
        if self.is_in_last_window() {
            self.directions[direction as usize].as_ref()
        } else {
            self.warm()?.counters(direction)
        }
    }

    /// Begins the last window of a search for a depth: from here on, everything is counted anew.
    pub(crate) fn begin_last_window(&self, now: Nanos) {
        let directions = self.directions.each_ref();
        let last_window = LastWindow {
            directions: directions.map(|counters| counters.as_ref().map(DirectionCounters::fresh)),
            depths: self.depths.as_ref().map(|_| DepthCounters::default()),
        };
        // One thread counts here, and its search ends once.
        let _ = self.last_window.set(Box::new(last_window));
        self.ramp_over.set(now.0);
    }

    /// The counters of the ramp, if there is one.
    #[inline]
    pub fn warm(&self) -> Option<&Self> {
        self.warm.as_deref()
    }

    /// Counts an operation that completed during the ramp.
    #[inline]
    pub(crate) fn served_in_ramp(&self, direction: Direction, len: u32, service: Nanos) {
        self.completed_in_ramp.add(1);
        if let Some(counters) = self.warm().and_then(|warm| warm.counters(direction)) {
            counters.served(len, service);
        }
    }

    /// Registers a worker with this many slots. Returns the list of its operations in flight.
    pub(crate) fn register(&self, slots: usize) -> Arc<Outstanding> {
        let outstanding = Arc::new(Outstanding::new(slots));
        let mut all = self.outstanding.lock().expect("no panic under this lock");
        all.push(Arc::clone(&outstanding));
        outstanding
    }

    /// Direction and age of each operation in flight.
    pub fn ages(&self, now: Nanos) -> Vec<(Direction, Nanos)> {
        let all = self.outstanding.lock().expect("no panic under this lock");
        all.iter()
            .flat_map(|of_worker| of_worker.ages(now))
            .collect()
    }

    /// Issued, completed and in-flight operations are counted separately, so that a lost one shows
    /// as an imbalance.
    pub fn accounting(&self) -> Accounting {
        settled(|| self.count())
    }

    /// The counters as they are now, which a running worker may change between two reads.
    fn count(&self) -> Accounting {
        let of_job = Direction::ALL.map(|direction| self.all_counters(direction));
        let all_ios: u64 = (of_job.into_iter().flatten())
            .map(|counters| counters.ios.get())
            .sum();
        // Once the depth is found, what the search itself completed is outside the result, like a ramp.
        let in_search: u64 = if self.is_in_last_window() {
            let of_search = self.directions.iter().flatten();
            of_search.map(|counters| counters.ios.get()).sum()
        } else {
            0
        };
        let in_ramp = self.completed_in_ramp.get();
        let all = self.outstanding.lock().expect("no panic under this lock");
        Accounting {
            issued: self.issued.get(),
            completed: all_ios + in_ramp,
            completed_in_ramp: in_search + in_ramp,
            failed: self.failed.get(),
            in_flight: all.iter().map(|of_worker| of_worker.count()).sum(),
            oldest_in_flight_ns: None,
            overdue: self.overdue.get(),
        }
    }

    /// Called once, by the thread itself.
    pub fn set_thread_use(&self, used: ThreadUse) {
        let _ = self.thread_use.set(used);
    }

    /// Called once, by the thread itself.
    pub(crate) fn set_progress(&self, progress: Progress) {
        let _ = self.progress.set(progress);
    }

    /// `None` while the thread runs.
    pub fn progress(&self) -> Option<&Progress> {
        self.progress.get()
    }

    /// `None` while the thread runs, and in virtual time.
    pub fn thread_use(&self) -> Option<&ThreadUse> {
        self.thread_use.get()
    }

    /// Keeps the depth that a search has found.
    pub(crate) fn set_found_depth(&self, depth: u32) {
        self.found_depth.set(u64::from(depth) + 1);
    }

    /// The depth that a search has found; 0: even depth 1 misses the target; `None`: none has ended.
    pub fn found_depth(&self) -> Option<u32> {
        let one_more = self.found_depth.get();
        one_more.checked_sub(1).map(|depth| depth as u32)
    }

    /// Counts a failed operation.
    pub fn fail(&self, failure: Failure) {
        self.failed.add(1);
        let mut failures = self.failures.lock().expect("no panic under this lock");
        failure.add_to(&mut failures);
    }

    /// Counts a miscompare. The data of the whole block is kept for the first `keep` ones.
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
        if all.kept.len() < KEPT {
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

    /// The miscompares so far.
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

/// Attempts to read consistent counters of a worker that is running.
const TRIES: usize = 10;

/// The first count that equals the one before it, because a running worker changes one counter after
/// the other. The last count if the worker is too fast for any two to agree.
fn settled<T: PartialEq>(mut count: impl FnMut() -> T) -> T {
    let mut counted = count();
    for _ in 0..TRIES {
        let again = count();
        if counted == again {
            break;
        }
        counted = again;
    }
    counted
}

#[cfg(test)]
mod tests {
    use blocklab_verify::{Generation, MiscompareKind};

    use super::*;

    /// A worker that goes on is counted until two counts agree, and one that never rests does not
    /// keep the supervising thread from its other work.
    #[test]
    fn a_worker_that_goes_on_is_counted_ten_times_again_at_most() {
        let counts_until_rest = |changes: u64| {
            let mut counts = 0;
            let last = settled(|| {
                counts += 1;
                changes.min(counts)
            });
            (last, counts)
        };
        assert_eq!(counts_until_rest(1), (1, 2));
        assert_eq!(counts_until_rest(10), (10, 11));
        assert_eq!(counts_until_rest(1_000_000), (11, 11));
    }

    /// The rows that fio prints: nothing, up to 4, up to 8, and so on to more than 64.
    #[test]
    fn calls_are_counted_by_the_operations_that_they_moved() {
        for (operations, row) in [
            (0, 0),
            (1, 1),
            (4, 1),
            (5, 2),
            (8, 2),
            (9, 3),
            (64, 5),
            (65, 6),
            (1000, 6),
        ] {
            let counters: [Counter; 7] = Default::default();
            DepthCounters::moved(&counters, operations);
            let counted = counters.iter().position(|counter| counter.get() == 1);
            assert_eq!(counted, Some(row), "{operations}");
        }
    }

    /// A device that answers with zeros makes a miscompare of every read: each is counted, and a
    /// hundred are enough to see what they have in common.
    #[test]
    fn a_hundred_miscompares_are_kept_and_all_are_counted() {
        let kept_of = |found: u64| {
            let recorder = Recorder::default();
            for index in 0..found {
                let miscompare = Miscompare {
                    offset: index * 4096,
                    len: 4096,
                    kind: MiscompareKind::NoHeader,
                };
                let block = ExpectedBlock {
                    target: 0,
                    offset: index * 4096,
                    generation: Generation::Any,
                };
                recorder.miscompared(miscompare, block, Nanos(index), &[0; 8], 3);
            }
            let all = recorder.miscompares();
            let with_data = all.kept.iter().filter(|kept| !kept.bytes.is_empty());
            (all.count, all.kept.len(), with_data.count())
        };
        assert_eq!(kept_of(100), (100, 100, 3));
        assert_eq!(kept_of(1000), (1000, 100, 3));
    }
}
