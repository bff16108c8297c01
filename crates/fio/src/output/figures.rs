//! The figures of one reported job: of one clone, or of all clones of a group.

use blocklab_record::{
    Depths, ErrorCount, ErrorKind, JobResult, Measurement, SteadyRound, ThreadUse, Verified,
};
use blocklab_workload::{Direction, errno};

use super::super::plan::CloneFacts;
use super::flow::{Flow, LatencySummary};
use super::style::Unified;

/// The depths at which operations are counted.
pub(super) const DEPTHS: [&str; 7] = ["1", "2", "4", "8", "16", "32", ">=64"];
/// The sizes of batches, each up to this.
pub(super) const BATCHES: [&str; 7] = ["0", "4", "8", "16", "32", "64", ">=64"];
/// Latencies below these, in ns, us and ms; only ms go beyond 1000.
pub(super) const EDGES: [&str; 12] = [
    "2", "4", "10", "20", "50", "100", "250", "500", "750", "1000", "2000", ">=2000",
];

/// The failed operations of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Errors {
    pub count: u64,
    /// The error number of the first one; 0: none failed.
    pub first: i32,
}

/// One entry of the report.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Figures<'a> {
    /// The first of its clones.
    pub clone: &'a CloneFacts,
    /// The last one, whose options are reported.
    pub last: &'a CloneFacts,
    /// How many they are.
    pub members: u32,
    pub error: i32,
    pub errors: Errors,
    /// Reads, writes, trims.
    pub flows: [Flow; 3],
    pub syncs: LatencySummary,
    pub runtime_ms: u64,
    pub used: ThreadUse,
    pub depths: Depths,
    /// What a search for a latency found; 0: no depth allows it.
    pub found_depth: Option<u32>,
    /// Whether it ran at all.
    pub ran: bool,
    /// Whether it ended because it was steady.
    pub stopped_steady: bool,
    /// What that was judged by.
    pub rounds: Vec<SteadyRound>,
}

/// All entries of a report. With `group_reporting` a clone goes into the entry before it, where
/// that is of the same group.
pub(super) fn report_entries<'a>(
    clones: &'a [CloneFacts],
    measurements: &[Measurement],
) -> Vec<Figures<'a>> {
    let mut entries: Vec<Figures<'a>> = Vec::new();
    for clone in clones.iter().filter(|clone| clone.style.shown) {
        let mut jobs = measurements.iter().flat_map(|measured| &measured.jobs);
        let figures = clone_figures(clone, jobs.find(|job| job.name == clone.job));
        let last = entries
            .last_mut()
            .filter(|last| clone.grouped && last.clone.group == clone.group);
        match last {
            Some(last) => last.merge(&figures),
            None => entries.push(figures),
        }
    }
    for entry in &mut entries {
        entry.unify();
    }
    entries
}

/// What a clone did; only its facts if it has no result.
fn clone_figures<'a>(clone: &'a CloneFacts, result: Option<&JobResult>) -> Figures<'a> {
    let mut figures = Figures::without_result(clone);
    let Some(result) = result else {
        return figures;
    };
    // A job that ended within its first millisecond still took time.
    let runtime_ms = (result.elapsed_ns / 1_000_000).max(1);
    figures.runtime_ms = runtime_ms;
    let all = result.errors.iter().map(|error| error.count).sum();
    figures.errors = Errors {
        count: all,
        first: result.errors.first().map_or(0, errno_of),
    };
    figures.error = failure(result);
    for (direction, flow) in Direction::ALL.iter().zip(&mut figures.flows) {
        if let Some(moved) = result.directions.get(direction) {
            *flow = Flow::new(moved, runtime_ms, clone);
        }
        let errors = result.errors.iter();
        let short = errors.filter(|e| e.kind == ErrorKind::Short && e.direction == *direction);
        flow.short = short.map(|error| error.count).sum();
    }
    if let Some(verified) = &result.verified {
        figures.count_verification(verified);
    }
    let syncs = result.directions.get(&Direction::Sync);
    if let Some(sync) = syncs.filter(|_| clone.times_flushes) {
        figures.syncs = LatencySummary::from_latency(&sync.service);
    }
    figures.used = result.threads_use.unwrap_or_default();
    figures.depths = result.depths.unwrap_or_default();
    if clone.engine == "null" && !clone.is_asynchronous {
        // fio counts no calls where there is nothing to call.
        figures.depths = Depths {
            in_flight: figures.depths.in_flight,
            ..Depths::default()
        };
    }
    figures.found_depth = result.found_depth;
    figures.ran = true;
    figures.stopped_steady = result.stopped == blocklab_record::Stopped::Steady;
    figures.rounds.clone_from(&result.steady_rounds);
    figures
}

impl<'a> Figures<'a> {
    /// The figures of a clone that has done nothing.
    pub(super) fn without_result(clone: &'a CloneFacts) -> Self {
        Self {
            clone,
            last: clone,
            members: 1,
            error: clone.failed.unwrap_or(0),
            errors: Errors::default(),
            flows: Default::default(),
            syncs: LatencySummary::default(),
            runtime_ms: 0,
            used: ThreadUse::default(),
            depths: Depths::default(),
            found_depth: None,
            ran: clone.failed.is_some(),
            stopped_steady: false,
            rounds: Vec::new(),
        }
    }

    /// Counts the writes that a verification takes for done, as fio does, and parts the time into that
    /// of the writes and that of the reads which check them.
    fn count_verification(&mut self, verified: &Verified) {
        let [read, write, _] = &mut self.flows;
        write.ios += verified.assumed_writes;
        write.bytes += verified.assumed_bytes;
        if let Some(began) = verified.began_ns
            && read.ios > 0
            && self.clone.reads_back
        {
            let writing_ms = (began / 1_000_000).max(1);
            read.runtime_ms = self.runtime_ms.saturating_sub(writing_ms).max(1);
            write.runtime_ms = writing_ms;
        }
    }

    /// The depth that a search for a latency has found, or 1 if it found none; else the requested one.
    pub(super) fn depth(&self) -> u32 {
        match self.found_depth {
            Some(found) => found.max(1),
            None => self.clone.engine_depth(),
        }
    }
}

/// The least share in per cent that fio prints of depths and batches, and of latencies: what occurred at
/// all is not 0.
pub(super) const LEAST_OF_DEPTHS: f64 = 0.1;
const LEAST_OF_LATENCIES: f64 = 0.01;

/// Shares of the whole, in per cent: of what occurred, at least `least`.
pub(super) fn shares<const N: usize>(counts: &[u64; N], least: f64) -> [f64; N] {
    let total = counts.iter().sum::<u64>().max(1) as f64;
    counts.map(|count| match count {
        0 => 0.0,
        count => (count as f64 * 100.0 / total).max(least),
    })
}

/// The error number with which a job ended; 0: none.
fn failure(result: &JobResult) -> i32 {
    use blocklab_record::Stopped;
    if !matches!(result.stopped, Stopped::Error | Stopped::Stalled) {
        // A job that continues after a miscompare still ends with an error.
        let mut errors = result.errors.iter();
        return errors
            .find(|error| error.kind == ErrorKind::Verify)
            .map_or(0, errno_of);
    }
    result.errors.first().map_or(errno::EIO, errno_of)
}

/// The number of the C library for an error.
fn errno_of(error: &ErrorCount) -> i32 {
    match error.kind {
        ErrorKind::Errno(number) => number,
        ErrorKind::Verify => errno::EILSEQ,
        ErrorKind::Short | ErrorKind::Rate => errno::EIO,
    }
}

impl<'a> Figures<'a> {
    fn merge(&mut self, other: &Self) {
        self.add(other);
        self.last = other.last;
    }

    /// Adds the figures of other jobs; the options that are reported stay those of the first.
    pub(super) fn add(&mut self, other: &Figures<'_>) {
        for (flow, more) in self.flows.iter_mut().zip(&other.flows) {
            flow.merge(more);
        }
        self.syncs.merge(&other.syncs);
        for (own, other) in [
            (&mut self.error, other.error),
            (&mut self.errors.first, other.errors.first),
        ] {
            // The first error of the group is reported.
            *own = if *own == 0 { other } else { *own };
        }
        self.errors.count += other.errors.count;
        self.runtime_ms += other.runtime_ms;
        self.used = self.used + other.used;
        for index in 0..DEPTHS.len() {
            self.depths.in_flight[index] += other.depths.in_flight[index];
            self.depths.submitted[index] += other.depths.submitted[index];
            self.depths.completed[index] += other.depths.completed[index];
        }
        self.members += other.members;
    }

    /// Makes the directions one where only their sum is requested.
    fn unify(&mut self) {
        if self.clone.style.unified == Unified::Mixed {
            self.flows = [self.mixed(), Flow::default(), Flow::default()];
        }
    }

    /// Shares of the running time in user mode and in the kernel, in per cent.
    pub(super) fn processor(&self) -> [f64; 2] {
        let used = &self.used;
        [used.user_ns, used.system_ns].map(|ns| ns as f64 * 100.0 / used.running_ns.max(1) as f64)
    }

    pub(super) const fn switches(&self) -> u64 {
        self.used.voluntary_switches + self.used.involuntary_switches
    }

    /// The figures of all directions together.
    pub(super) fn mixed(&self) -> Flow {
        let mut mixed = Flow::default();
        for flow in &self.flows {
            mixed.merge(flow);
        }
        mixed
    }

    /// Per cent of the operations by completion latency, where it is taken: below 2, 4, 10, 20, 50, 100, 250, 500, 750 and
    /// 1000 ns, the same in us, then 2 to 1000 and 2000 ms, and above. Edges that cut a bucket are
    /// within 1/64 of their value.
    pub(super) fn latencies(&self) -> [f64; 32] {
        let mut counts = [0u64; 32];
        let is_taken = self.clone.style.latencies[1];
        for flow in self.flows.iter().filter(|_| is_taken) {
            for (low, high, count) in flow.clat.histogram.edges() {
                counts[slot(u64::midpoint(low, high))] += count;
            }
        }
        shares(&counts, LEAST_OF_LATENCIES)
    }
}

/// The index of a latency among those of [`Figures::latencies`].
fn slot(ns: u64) -> usize {
    const EDGES: [u64; 10] = [2, 4, 10, 20, 50, 100, 250, 500, 750, 1000];
    for (decade, unit) in [1, 1_000, 1_000_000].into_iter().enumerate() {
        if let Some(index) = EDGES.iter().position(|edge| ns < edge * unit) {
            return decade * 10 + index;
        }
    }
    if ns < 2_000_000_000 { 30 } else { 31 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The story: fio 3.33 prints `1=0.1%` for the three operations that begin a job of depth 4, and
    /// `"20" : 0.010000` for one slow operation of 15,000; here they were 0.0 and 0.006828.
    #[test]
    fn what_occurred_has_the_share_that_fio_gives_it() {
        assert_eq!(shares(&[1, 0, 99_999], LEAST_OF_DEPTHS), [0.1, 0.0, 99.999]);
        assert_eq!(shares(&[1, 14_999], LEAST_OF_LATENCIES)[0], 0.01);
        assert_eq!(shares(&[1, 3], LEAST_OF_DEPTHS), [25.0, 75.0]);
    }
}
