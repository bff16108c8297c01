//! The logs of single operations: their files, and their lines as fio writes them.
//!
//! ```text
//!   FILE_bw.1.log         ms, KiB/s, direction, block, priority
//!   FILE_lat.1.log        ms, ns, …                       also _slat and _clat
//!   FILE_iops.1.log       ms, operations a second, …
//!   FILE_clat_hist.1.log  ms, direction, block, counts of 1,856 buckets
//! ```

use std::fmt::Write;

use blocklab_stats::Histogram;
use blocklab_units::Nanos;
use blocklab_workload::{Direction, IoPriority, Job, Log};

use super::compressed::{CHUNK, Sample};
use super::spec::Spec;
use super::value::nonzero;

/// Counts in a line of a histogram: fio has 29 groups of 64 buckets.
const BUCKETS: usize = 1856;

/// What is logged of a clone, and how.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LogRule {
    /// How its files begin: throughput, latencies, operations, histograms.
    names: [Option<String>; 4],
    /// Whether `disable_lat`, `disable_slat` and `disable_clat` leave these latencies out.
    disabled_latencies: [bool; 3],
    /// Logs of single operations that stay empty: throughput, operations.
    without_single: [bool; 2],
    /// Length of the spans that one line is about; `None`: a line an operation.
    pub average: Option<Nanos>,
    /// Which latency of its span a line reports.
    pub window: WindowValue,
    /// Length of the spans of histograms; `Nanos::MAX`: none is given, and none is ever whole.
    histogram: Nanos,
    /// How many times neighbouring buckets are put together.
    coarseness: u32,
    with_offset: bool,
    with_issue: bool,
    /// Whether each clone has its own files.
    pub per_job: bool,
    /// What the times of lines count from; `None`: the end of the ramp.
    pub epoch: Option<Epoch>,
    /// The file of the trace that is written.
    pub trace: Option<String>,
    /// The names of the files in the trace.
    pub traced: Vec<String>,
    priority: Option<IoPriority>,
    whole_priority: bool,
    /// Bytes of a chunk of a compressed log; `None`: logs are left as text.
    chunk: Option<usize>,
    /// Largest blocks of reads, writes, trims.
    blocks: [u64; 3],
}

/// What a line reports of the latencies of its span.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WindowValue {
    /// Their mean.
    #[default]
    Mean,
    /// The largest.
    Largest,
    /// The mean, and after it the largest.
    Both,
}

/// What the times of lines count from, if not from the end of the ramp.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Epoch {
    /// 1970.
    Unix,
    /// The epoch of the clock of this number.
    Clock(i32),
}

/// One of the logs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogKind {
    /// Throughput.
    Bandwidth,
    /// The whole latency.
    Latency,
    /// The submission latency.
    Submission,
    /// That from submission to completion.
    Completion,
    /// Operations.
    Operations,
    /// Histograms of the completion latency.
    Histogram,
}

impl LogKind {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Bandwidth,
        Self::Latency,
        Self::Submission,
        Self::Completion,
        Self::Operations,
        Self::Histogram,
    ];

    /// Its place among the names of a [`LogRule`], and its word in the name of a file.
    const fn place_and_word(self) -> (usize, &'static str) {
        match self {
            Self::Bandwidth => (0, "bw"),
            Self::Latency => (1, "lat"),
            Self::Submission => (1, "slat"),
            Self::Completion => (1, "clat"),
            Self::Operations => (2, "iops"),
            Self::Histogram => (3, "clat_hist"),
        }
    }
}

/// What a line reports, besides its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Logged {
    /// Since the end of the ramp.
    pub at: Nanos,
    /// The direction.
    pub direction: Direction,
    /// Bytes of the operation; 0 of a span.
    pub block: u64,
    /// First byte; 0 of a span.
    pub offset: u64,
    /// When it was issued; 0 of a span, and in a log of anything but its latency.
    pub issued: Nanos,
    /// The priority it was issued with, as the kernel encodes it; 0: that of its job. `None` for a
    /// span, which has none.
    pub priority: Option<u16>,
}

impl LogRule {
    pub(super) fn for_job(spec: &Spec, job: &Job) -> Self {
        let options = &spec.options;
        let sizes = [&job.sizes.read, &job.sizes.write, &job.sizes.trim];
        let [takes_submission, takes_completion, takes_whole] = options.taken_latencies();
        Self {
            names: [
                &options.write_bw_log,
                &options.write_lat_log,
                &options.write_iops_log,
                &options.write_hist_log,
            ]
            .map(|given| match given.as_deref()? {
                "" => Some(spec.name.clone()),
                given => Some(given.to_owned()),
            }),
            disabled_latencies: [!takes_whole, !takes_submission, !takes_completion],
            without_single: [
                options
                    .disable_bw_measurement
                    .unwrap_or(options.gtod_reduce),
                options.gtod_reduce,
            ],
            average: nonzero(Nanos::from_millis(options.log_avg_msec.into())),
            window: match options.log_window_value {
                "both" => WindowValue::Both,
                "max" | "1" => WindowValue::Largest,
                _ if options.log_max_value => WindowValue::Largest,
                _ => WindowValue::Mean,
            },
            histogram: nonzero(Nanos::from_millis(options.log_hist_msec.into()))
                .unwrap_or(Nanos::MAX),
            coarseness: options.log_hist_coarseness,
            with_offset: options.log_offset,
            with_issue: options.log_offset && options.log_issue_time,
            per_job: options.per_job_logs,
            epoch: match (options.log_unix_epoch, options.log_alternate_epoch) {
                (true, _) => Some(Epoch::Unix),
                (_, true) => Some(Epoch::Clock(options.log_alternate_epoch_clock_id as i32)),
                _ => None,
            },
            trace: options.write_iolog.clone(),
            traced: job.targets.clone(),
            priority: job.priority.io,
            whole_priority: options.log_prio,
            chunk: options.log_store_compressed.then(|| {
                let chunk = usize::try_from(options.log_compression).ok();
                chunk.and_then(nonzero).unwrap_or(CHUNK)
            }),
            blocks: sizes.map(|mix| mix.largest().0),
        }
    }

    /// What the worker must record for these logs; `None`: nothing.
    pub(super) fn kept(&self) -> Option<Log> {
        let [bandwidth, latency, operations, histogram] =
            [0, 1, 2, 3].map(|index| self.names[index].is_some());
        let lines = bandwidth || latency || operations;
        // Without a length there is one span that never ends, and fio writes whole ones only.
        let histogram = histogram && self.histogram < Nanos::MAX;
        let traced = self.trace.is_some();
        (lines || histogram || traced).then_some(Log {
            entries: traced || lines && self.average.is_none(),
            average: self.average.filter(|_| lines),
            histogram: histogram.then_some(self.histogram),
        })
    }

    /// Whether anything is logged.
    pub fn is_on(&self) -> bool {
        self.trace.is_some() || self.names.iter().any(Option::is_some)
    }

    /// The file of this log of clone `number`, from 1.
    pub fn file(&self, kind: LogKind, number: usize) -> Option<String> {
        let latencies = [LogKind::Latency, LogKind::Submission, LogKind::Completion];
        let mut latencies = latencies.iter().zip(self.disabled_latencies);
        if latencies.any(|(latency, is_disabled)| is_disabled && *latency == kind) {
            return None;
        }
        let (place, word) = kind.place_and_word();
        let name = self.names[place].as_ref()?;
        let own = if self.per_job {
            format!(".{number}")
        } else {
            String::new()
        };
        let packed = self.chunk(kind).map_or("", |_| ".fz");
        Some(format!("{name}_{word}{own}.log{packed}"))
    }

    /// Whether this log has a line for each operation, where it has no averages.
    pub const fn has_single(&self, kind: LogKind) -> bool {
        let [no_bandwidth, no_operations] = self.without_single;
        match kind {
            LogKind::Bandwidth => !no_bandwidth,
            LogKind::Operations => !no_operations,
            _ => true,
        }
    }

    /// Bytes of a chunk of this log; `None`: it is left as text. Histograms always are: a sample
    /// has no room for one.
    pub fn chunk(&self, kind: LogKind) -> Option<usize> {
        self.chunk.filter(|_| kind != LogKind::Histogram)
    }

    /// A line of the log. Its time counts from `epoch_ms`. `largest`: the largest value of the
    /// averaged window that ends here.
    pub fn sample(
        &self,
        epoch_ms: u64,
        logged: Logged,
        value: u64,
        largest: Option<u64>,
    ) -> Sample {
        let priority = match logged.priority {
            // The operation has none of its own: that of its job.
            Some(0) => self.priority.map_or(0, IoPriority::encoded),
            own => own.unwrap_or(0),
        };
        Sample {
            ms: epoch_ms + logged.at.0 / 1_000_000,
            value: match self.window {
                WindowValue::Largest => largest.unwrap_or(value),
                WindowValue::Mean | WindowValue::Both => value,
            },
            largest: (self.window == WindowValue::Both).then(|| largest.unwrap_or(0)),
            direction: logged.direction as u32,
            block: logged.block,
            offset: self.with_offset.then_some(logged.offset),
            priority,
            whole_priority: self.whole_priority,
            issued_ns: self.with_issue.then_some(logged.issued.0),
        }
    }

    /// A line of a histogram over a span that ends `at`; `None` where that span is not whole.
    pub fn histogram_line(
        &self,
        epoch_ms: u64,
        at: Nanos,
        direction: Direction,
        histogram: &Histogram,
    ) -> Option<String> {
        if !at.0.is_multiple_of(self.histogram.0) {
            return None;
        }
        // Each step of coarseness joins two buckets that lie side by side.
        let mut counts = vec![0u64; BUCKETS >> self.coarseness];
        let last = counts.len() - 1;
        for (low, _, count) in histogram.edges() {
            let bucket = Histogram::index(low) >> self.coarseness;
            counts[bucket.min(last)] += count;
        }
        let block = self.blocks.get(direction as usize).copied().unwrap_or(0);
        let ms = epoch_ms + at.0 / 1_000_000;
        let mut line = format!("{ms}, {}, {block}", direction as u8);
        for count in counts {
            let _ = write!(line, ", {count}");
        }
        line.push('\n');
        Some(line)
    }
}

/// Throughput of one operation in units of 1,000 bytes a second, as fio logs it.
pub const fn speed(bytes: u64, completion: Nanos) -> u64 {
    per_second(bytes, completion) / 1000
}

/// Throughput over a span in KiB a second.
pub const fn mean_speed(bytes: u64, span: Nanos) -> u64 {
    per_second(bytes, span) >> 10
}

/// The rate by the second of this many in a span.
pub const fn per_second(count: u64, span: Nanos) -> u64 {
    if span.0 == 0 {
        return 0;
    }
    (count as u128 * 1_000_000_000 / span.0 as u128) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn logged() -> Logged {
        Logged {
            at: Nanos::from_millis(12),
            direction: Direction::Write,
            block: 4096,
            offset: 8192,
            issued: Nanos(11_999_000),
            priority: Some(0),
        }
    }

    /// The story: with `gtod_reduce`, fio 3.33 leaves the logs of single operations empty; here they had a
    /// line for each.
    #[test]
    fn a_clock_that_is_read_seldom_leaves_logs_of_single_operations_empty() {
        let has = |options: &str| {
            let text = format!("[a]\nioengine=null\nsize=4k\n{options}\n");
            let plan = crate::tests::planned(&text).expect("a job");
            let rule = &plan.clones[0].logs;
            [LogKind::Bandwidth, LogKind::Operations].map(|kind| rule.has_single(kind))
        };
        assert_eq!(has(""), [true, true]);
        assert_eq!(has("gtod_reduce=1"), [false, false]);
        assert_eq!(has("disable_bw=1"), [false, true]);
        assert_eq!(has("gtod_reduce=1\ndisable_bw=0"), [true, false]);
    }

    #[test]
    fn lines_are_those_of_fio() {
        let mut rule = LogRule::default();
        let line = |rule: &LogRule, ms| rule.sample(ms, logged(), 7, Some(9)).to_string();
        assert_eq!(line(&rule, 0), "12, 7, 1, 4096, 0");
        rule.window = WindowValue::Largest;
        assert_eq!(line(&rule, 0), "12, 9, 1, 4096, 0");
        rule.window = WindowValue::Both;
        assert_eq!(line(&rule, 0), "12, 7, 9, 1, 4096, 0");
        rule.window = WindowValue::Mean;
        rule.with_offset = true;
        rule.priority = Some(IoPriority { class: 1, level: 3 });
        assert_eq!(line(&rule, 0), "12, 7, 1, 4096, 8192, 1");
        rule.whole_priority = true;
        assert_eq!(line(&rule, 1000), "1012, 7, 1, 4096, 8192, 0x2003");
        rule.with_issue = true;
        let issued = "12, 7, 1, 4096, 8192, 0x2003, 11999000";
        assert_eq!(line(&rule, 0), issued);
        rule.with_issue = false;
        let carried = |priority| {
            let logged = Logged {
                priority,
                ..logged()
            };
            rule.sample(0, logged, 7, None).to_string()
        };
        assert_eq!(carried(Some(0x6001)), "12, 7, 1, 4096, 8192, 0x6001");
        assert_eq!(carried(None), "12, 7, 1, 4096, 8192, 0x0000");
    }

    #[test]
    fn files_are_called_as_those_of_fio() {
        let mut rule = LogRule {
            names: [Some("x".to_owned()), Some("y".to_owned()), None, None],
            per_job: true,
            ..LogRule::default()
        };
        let file = |rule: &LogRule, kind| rule.file(kind, 2);
        assert_eq!(
            file(&rule, LogKind::Bandwidth).as_deref(),
            Some("x_bw.2.log")
        );
        assert_eq!(
            file(&rule, LogKind::Completion).as_deref(),
            Some("y_clat.2.log")
        );
        assert_eq!(file(&rule, LogKind::Operations), None);
        rule.per_job = false;
        assert_eq!(file(&rule, LogKind::Bandwidth).as_deref(), Some("x_bw.log"));
        rule.chunk = Some(1024);
        rule.names[3] = Some("h".to_owned());
        assert_eq!(
            file(&rule, LogKind::Bandwidth).as_deref(),
            Some("x_bw.log.fz")
        );
        assert_eq!(
            file(&rule, LogKind::Histogram).as_deref(),
            Some("h_clat_hist.log")
        );
    }

    #[test]
    fn histograms_have_one_column_a_bucket() {
        let mut rule = LogRule {
            histogram: Nanos::from_millis(100),
            ..LogRule::default()
        };
        let mut histogram = Histogram::new();
        histogram.record(5);
        let at = Nanos::from_millis(100);
        let line = rule
            .histogram_line(0, at, Direction::Read, &histogram)
            .expect("a whole span");
        assert_eq!(line.split(", ").count(), 1859);
        assert!(
            line.starts_with("100, 0, 0, 0, 0, 0, 0, 0, 1, 0,"),
            "{line}"
        );
        rule.coarseness = 6;
        let line = rule
            .histogram_line(0, at, Direction::Read, &histogram)
            .expect("a whole span");
        assert_eq!(line.split(", ").count(), 32);
        let rest = Nanos::from_millis(130);
        assert_eq!(
            rule.histogram_line(0, rest, Direction::Read, &histogram),
            None
        );
    }

    #[test]
    fn speeds() {
        assert_eq!(speed(4096, Nanos(252_220)), 16_239);
        assert_eq!(speed(4096, Nanos::ZERO), 0);
        assert_eq!(mean_speed(4 << 20, Nanos::from_millis(500)), 8192);
    }
}
