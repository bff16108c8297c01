//! In: what the driver, or another program's output, says of one pass of a case. Out: its jobs,
//! directions, intervals and counts as a Record keeps them.
//!
//! A file of its own: the part of a Record that is measured; what was asked for and where it ran
//! are other files.

use std::collections::BTreeMap;

use blocklab_device::LimitName;
use blocklab_workload::{Access, BlockSizes, Direction, Durability, Mix, Pattern, Runs};
use serde::{Deserialize, Deserializer, Serialize};

use crate::unknown::{stored, zero_is_null};
use crate::{
    Carrier, Depths, DirectionDetail, ErrorKind, Fidelity, Latency, LatencySum, ObservedLoad,
    Origin, PaceKind, SteadyRound, ThreadUse, Verified,
};

/// Why a job ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stopped {
    /// Its time was over.
    #[default]
    Runtime,
    /// Its bytes were moved.
    Bytes,
    /// Its passes over the region were made.
    Loops,
    /// The steady state was reached.
    Steady,
    /// The target failed.
    Error,
    /// A signal.
    Interrupted,
    /// In-flight operations did not come back in time and were given up.
    Stalled,
}

/// The count of operations: issued = completed + failed + in flight.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Accounting {
    /// Handed to the target, ramp included, all directions.
    pub issued: u64,
    /// Came back with all their bytes, ramp included.
    pub completed: u64,
    /// Completed operations that ended during the ramp: they are in no histogram.
    pub completed_in_ramp: u64,
    /// Came back with an error or short.
    pub failed: u64,
    /// Did not come back before the end.
    pub in_flight: u64,
    /// How long the oldest of those had waited when it was given up; it enters the greatest latency
    /// of its direction, and no histogram.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub oldest_in_flight_ns: Option<u64>,
    /// Operations of a paced job that were due and never issued, for want of a free slot.
    pub overdue: u64,
}

impl Accounting {
    /// The law of conservation.
    pub const fn balances(&self) -> bool {
        self.issued == self.completed + self.failed + self.in_flight
    }
}

/// What is known of an [`Accounting`]; `None`: another program did not report it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct KnownAccounting {
    /// As in [`Accounting`].
    pub issued: Option<u64>,
    /// As in [`Accounting`].
    pub completed: u64,
    /// As in [`Accounting`].
    pub completed_in_ramp: Option<u64>,
    /// As in [`Accounting`].
    pub failed: Option<u64>,
    /// As in [`Accounting`].
    pub in_flight: Option<u64>,
    /// As in [`Accounting`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub oldest_in_flight_ns: Option<u64>,
    /// As in [`Accounting`].
    pub overdue: Option<u64>,
}

impl Accounting {
    /// What is known in a run of this origin. Another program prints what was completed, and
    /// failures where there were any.
    pub fn known(self, origin: Origin) -> KnownAccounting {
        let own = origin != Origin::Imported;
        KnownAccounting {
            issued: own.then_some(self.issued),
            completed: self.completed,
            completed_in_ramp: own.then_some(self.completed_in_ramp),
            failed: (own || self.failed > 0).then_some(self.failed),
            in_flight: own.then_some(self.in_flight),
            oldest_in_flight_ns: self.oldest_in_flight_ns,
            overdue: own.then_some(self.overdue),
        }
    }
}

/// Failures of one kind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorCount {
    /// What went wrong.
    pub kind: ErrorKind,
    /// The kernel's words for it.
    pub message: String,
    /// What the operations did.
    pub direction: Direction,
    /// How many.
    pub count: u64,
    /// When the first came, since the measurement's start.
    pub first_at_ns: u64,
    /// Where the first was.
    pub first_offset: u64,
}

/// What one direction of a job did in the measured time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DirectionResult {
    /// Completed operations.
    pub ios: u64,
    /// Bytes of them.
    pub bytes: u64,
    /// Submission to completion.
    pub service: Latency,
    /// From the moment an operation was due to its completion, under a rate or a replay that keeps
    /// time. A closed loop under a rate does not make up for a stall: the operations that it gave
    /// up are included, with the time that they had waited then.
    pub response: Option<Latency>,
    /// The submitting call; only where it was measured separately.
    pub submit: Option<Latency>,
    /// Further figures, where they were requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<Box<DirectionDetail>>,
}

impl DirectionResult {
    /// Operations and their bytes, of which only the service latency was measured.
    pub const fn new(ios: u64, bytes: u64, service: Latency) -> Self {
        Self {
            ios,
            bytes,
            service,
            response: None,
            submit: None,
            detail: None,
        }
    }
}

/// What devices of the model counted during a measurement, its ramp included: the model knows what
/// came to each target, and for which limit operations waited.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ModelUse {
    /// Each modelled target.
    pub targets: Vec<TargetUse>,
    /// Each limit that counted something or held something back.
    pub limits: Vec<LimitUse>,
}

/// What came to a modelled target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TargetUse {
    /// Its place among the targets of the record.
    pub target: u32,
    /// Operations.
    pub ios: u64,
    /// Bytes of them.
    pub bytes: u64,
    /// The times from arrival to answer of all operations together.
    pub in_device_ns: u64,
}

/// What a limit of the model counted and held back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LimitUse {
    /// The targets that it binds, by their places among those of the record. Several: an instance to
    /// which all of them are attached.
    pub targets: Vec<u32>,
    /// Which limit.
    #[serde(flatten)]
    pub limit: LimitName,
    /// Operations or bytes, as the limit counts them; of equal volumes, all of them together.
    pub units: u64,
    /// Of several equal volumes, what the one counted that had most to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub busiest_units: Option<u64>,
    /// The waits of all operations for it together.
    pub waited_ns: u64,
    /// The moments at which a bucket of credits ran empty, so that this baseline was left. Since
    /// the measurement's start.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub emptied_at_ns: Vec<u64>,
}

/// What a job left, all threads together.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct JobResult {
    /// Name of the job.
    pub name: String,
    /// Engine, or the program that has it.
    pub engine: Carrier,
    /// Where operations go; `None`, as below, where another program did not report it.
    pub pattern: Option<Pattern>,
    /// Several operations for each offset of the pattern.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runs: Option<Runs>,
    /// How big they are.
    pub block_sizes: Option<BlockSizes>,
    /// Shares of the directions.
    pub mix: Option<Mix>,
    /// The page cache, as requested.
    pub access: Option<Access>,
    /// What a completed write promises, as requested.
    pub durability: Durability,
    /// When operations begin.
    pub pace: PaceKind,
    /// Whether threads pause between operations: the depth is then not always full.
    pub think: bool,
    /// Threads; 0: another program did not report it.
    #[serde(with = "zero_is_null")]
    pub threads: u32,
    /// Depth requested, per thread; 0: another program did not report it.
    #[serde(with = "zero_is_null")]
    pub depth: u32,
    /// Depth that this engine can have, per thread; 0: another program did not report it.
    #[serde(with = "zero_is_null")]
    pub effective_depth: u32,
    /// Whether O_DIRECT was in force; `None`: another program did not report it.
    pub direct: Option<bool>,
    /// Requested operations per second, under a pace by operations.
    #[serde(alias = "asked_iops")]
    pub requested_iops: Option<f64>,
    /// Requested bytes per second, under a pace by bytes.
    #[serde(alias = "asked_bytes_per_s")]
    pub requested_bytes_per_s: Option<f64>,
    /// Measured time: from the end of the ramp to the last completion, and of a job that ran out its
    /// time, was given up or was ended by a signal, at least to that moment.
    pub elapsed_ns: u64,
    /// Why it ended; the most severe reason of its threads.
    pub stopped: Stopped,
    /// By direction; only those that occurred. A map reserves room for eleven of them: boxes keep
    /// that small in a record of many passes.
    pub directions: BTreeMap<Direction, Box<DirectionResult>>,
    /// Failures by kind.
    pub errors: Vec<ErrorCount>,
    /// The count of its operations.
    pub accounting: Accounting,
    /// Processor use of its threads; `None` for a simulated job and in older records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threads_use: Option<ThreadUse>,
    /// Depths and batches, where they were requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub depths: Option<Depths>,
    /// Depth that the search for a latency found, all threads together; 0: no depth allows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found_depth: Option<u32>,
    /// Whether what was written came back, where it was requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verified: Option<Verified>,
    /// How far it was what was recorded, of a replay.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fidelity: Option<Box<Fidelity>>,
    /// What its steady state was judged by: the last rounds, as many as the rule looks at.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steady_rounds: Vec<SteadyRound>,
    /// The host that ran it, in a run of a fleet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// Jobs of one pool share one thread and its operations in flight.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pool: Option<String>,
}

impl JobResult {
    /// Operations per second of reads, writes and trims together.
    pub fn iops(&self) -> f64 {
        self.per_second(|d| d.ios)
    }

    /// Bytes per second of reads, writes and trims together.
    pub fn bytes_per_s(&self) -> f64 {
        self.per_second(|d| d.bytes)
    }

    fn per_second(&self, what: impl Fn(&DirectionResult) -> u64) -> f64 {
        let all = self.directions.iter();
        let moved = all.filter(|(direction, _)| **direction != Direction::Sync);
        let sum: u64 = moved.map(|(_, direction)| what(direction)).sum();
        sum as f64 * 1e9 / self.elapsed_ns.max(1) as f64
    }
}

const UNKNOWN: &str = "unknown";

/// The names by which tables and exports call the load.
impl JobResult {
    /// `random`, `sequential`, `80 % random`.
    pub fn pattern_name(&self) -> String {
        let Some(pattern) = &self.pattern else {
            return UNKNOWN.to_owned();
        };
        match self.runs {
            Some(Runs { follow_percent, .. }) if follow_percent > 0 => {
                format!("{} % {pattern}", 100 - follow_percent)
            }
            _ => pattern.to_string(),
        }
    }

    /// `4 KiB`, `read 4 KiB, write 64 KiB`.
    pub fn block_size_name(&self) -> String {
        // Another program may report one size and no mix.
        let mix = self.mix.unwrap_or(Mix::READ);
        let sizes = self.block_sizes.as_ref();
        sizes.map_or_else(|| UNKNOWN.to_owned(), |sizes| sizes.text(mix))
    }

    /// The size of all operations in bytes; `None`: they have several sizes, or it is unknown.
    pub fn block_bytes(&self) -> Option<u64> {
        let common = self
            .block_sizes
            .as_ref()?
            .common(self.mix.unwrap_or(Mix::READ))?;
        (common.smallest() == common.largest()).then(|| common.largest().0)
    }

    /// `read`, `70 % read, 30 % write`.
    pub fn mix_name(&self) -> String {
        let mix = self.mix;
        mix.map_or_else(|| "mixed".to_owned(), |mix| mix.to_string())
    }

    /// `direct`, `buffered`.
    pub fn access_name(&self) -> &'static str {
        self.access.map_or(UNKNOWN, Access::name)
    }

    /// The pattern, where it alone decides where operations go.
    pub fn plain_pattern(&self) -> Option<&Pattern> {
        let goes_on = self.runs.is_some_and(|runs| runs.follow_percent > 0);
        self.pattern.as_ref().filter(|_| !goes_on)
    }

    /// Uniformly random all over the region, whether blocks may be hit twice or not.
    pub fn is_random(&self) -> bool {
        matches!(self.plain_pattern(), Some(Pattern::Random { .. }))
    }

    /// Each operation where the one before it ended.
    pub fn is_sequential(&self) -> bool {
        self.plain_pattern() == Some(&Pattern::Sequential)
    }
}

stored! {
    /// One direction in one interval.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
    #[serde(into = "IntervalDirectionForm", from = "IntervalDirectionForm")]
    pub struct IntervalDirection, stored as IntervalDirectionForm {
        /// Completed.
        pub ios: u64,
        [
            /// Bytes of them.
            pub bytes: u64 = Bytes,
            /// Mean service latency; 0 without operations, as the quantiles.
            pub mean_ns: u64 = Mean,
            /// Median service latency.
            pub p50_ns: u64 = P50,
            /// 99th percentile.
            pub p99_ns: u64 = P99,
            /// Upper edge of the highest bucket hit.
            pub max_ns: u64 = Max,
        ]
    }
}

impl IntervalDirection {
    /// The operations between two moments: their number, their bytes, and all latencies by the end
    /// and by the beginning.
    pub fn between(ios: u64, bytes: u64, end: &LatencySum, beginning: &LatencySum) -> Self {
        let histogram = end.histogram.since(&beginning.histogram);
        let quantiles = histogram.quantiles(&[0.5, 0.99]);
        let count = histogram.count().max(1) as f64;
        Self {
            ios,
            bytes,
            mean_ns: ((end.sum - beginning.sum) / count) as u64,
            p50_ns: quantiles[0],
            p99_ns: quantiles[1],
            max_ns: histogram.bounds().1,
            ..Self::default()
        }
    }
}

/// A slice of a measurement, all jobs together. One second, more in a run of over an hour, and less
/// in one of a few seconds; the last one of the ramp and of the run have a length of their own. The
/// slices after the ramp add up to the totals of the jobs; those of a killed run to less, since the
/// slice that was open is not in them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Interval {
    /// End of the slice, since the measurement's start (the ramp included).
    pub end_ns: u64,
    /// Length of the slice.
    pub length_ns: u64,
    /// It lies in the ramp, before any job is measured, and enters no total.
    pub ramp: bool,
    /// Reads.
    pub read: IntervalDirection,
    /// Writes.
    pub write: IntervalDirection,
    /// Trims.
    pub trim: IntervalDirection,
    /// Processor time of this whole process, kernel and its I/O workers included.
    pub cpu_ns: u64,
    /// Threads that io_uring had to hand operations to, at the end of the slice.
    pub uring_workers: u32,
}

stored! {
    /// Processor use of the whole process over a measurement, its kernel workers included.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
    #[serde(into = "CpuForm", from = "CpuForm")]
    pub struct Cpu, stored as CpuForm {
        [
            /// In user mode.
            pub user_ns: u64 = Process,
            /// In the kernel.
            pub system_ns: u64 = Process,
            /// Voluntary context switches.
            pub voluntary_switches: u64 = Process,
            /// Involuntary context switches.
            pub involuntary_switches: u64 = Process,
            /// Page faults without I/O.
            pub minor_faults: u64 = Process,
            /// Page faults with I/O.
            pub major_faults: u64 = Process,
            /// The share of all processors of the machine that was not idle, in per cent.
            pub machine_busy_percent: u32 = MachineBusy,
            /// The busiest of our own threads, in per cent of one processor.
            pub busiest_thread_percent: u32 = Process,
        ]
    }
}

/// What the block layer did for a device during a measurement.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct DiskUse {
    /// Kernel name.
    pub name: String,
    /// Requests completed.
    pub read_ios: u64,
    /// Requests merged into others.
    pub read_merges: u64,
    /// Bytes.
    pub read_bytes: u64,
    /// Milliseconds that requests spent, summed.
    pub read_ticks_ms: u64,
    /// Requests completed.
    pub write_ios: u64,
    /// Requests merged into others.
    pub write_merges: u64,
    /// Bytes.
    pub write_bytes: u64,
    /// Milliseconds that requests spent, summed.
    pub write_ticks_ms: u64,
    /// Milliseconds in which at least one request was in flight.
    pub busy_ms: u64,
    /// Milliseconds of all requests, summed.
    pub queue_ms: u64,
    /// How long an EBS volume was driven beyond its limits, where it reports that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exceeded: Option<Exceeded>,
}

/// The time in which the load on an EBS volume or its instance exceeded their limits, in
/// microseconds, from the volume's own statistics.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Exceeded {
    /// More IOPS than the volume has.
    pub volume_iops_us: u64,
    /// More bytes a second than the volume has.
    pub volume_throughput_us: u64,
    /// More IOPS than the instance has for all its volumes.
    pub instance_iops_us: u64,
    /// More bytes a second than the instance has for all its volumes.
    pub instance_throughput_us: u64,
}

/// The jobs of a pass: a list grows to room for four, and most passes have one job.
fn without_spare_room<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<JobResult>, D::Error> {
    let mut jobs = Vec::deserialize(from)?;
    jobs.shrink_to_fit();
    Ok(jobs)
}

/// One pass of one case.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Measurement {
    /// Name of the case.
    pub case: String,
    /// What the sweep set for it.
    pub settings: Vec<(String, String)>,
    /// From 1; 0: a pass that was run before the others and enters no figure.
    pub pass: u32,
    /// Since the run's start.
    pub started_ns: u64,
    /// The time of day at that moment, in microseconds since 1970; `None`: virtual time, another
    /// program's run, or an older record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_unix_us: Option<u64>,
    /// From the first thread's start to the last one's end, ramp included.
    pub elapsed_ns: u64,
    /// From the start of the set-up until the first operation was issued.
    pub setup_ns: u64,
    /// In the order of the workload.
    #[serde(deserialize_with = "without_spare_room")]
    pub jobs: Vec<JobResult>,
    /// Slices of the time, the ramp included.
    pub series: Vec<Interval>,
    /// Our processor use.
    pub cpu: Cpu,
    /// The devices below the targets.
    pub disks: Vec<DiskUse>,
    /// The devices that carry the backing file of a loop device. What other programs do there
    /// counts as well.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub backing_disks: Vec<DiskUse>,
    /// Most io_uring worker threads seen at once: above 0, the kernel could not do the work
    /// without blocking and handed it to threads.
    pub uring_workers_max: u32,
    /// Time in which the whole process did not run although it was runnable, where that was a second
    /// or more at once: stopped by a signal, or together with its machine. `None`: never seen, or
    /// not watched (simulated, imported, older records).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stood_still_ns: Option<u64>,
    /// Time, summed over its processors, in which the quota of its control group throttled this
    /// process. `None`: nothing counts that, or it is an older record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throttled_ns: Option<u64>,
    /// What the devices of modelled targets counted; `None`: no target is modelled, or it is an older
    /// record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<Box<ModelUse>>,
    /// What other programs did to a volume that was served. The jobs then hold the results and no
    /// load that was requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed: Option<Box<ObservedLoad>>,
}
