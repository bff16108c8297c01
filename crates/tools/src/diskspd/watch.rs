//! What is shown and counted while a profile runs.

use std::io::{self, IsTerminal};
use std::path::Path;

use blocklab_diskspd::{Bucket, Processor, Profile, Served, TimeSpan};
use blocklab_driver::{DirectionInterval, IntervalData};
use blocklab_record::{Interval, Origin, Record};
use blocklab_report::live::Screen;
use blocklab_store::Store;
use blocklab_study::Observer;
use blocklab_units::{Bytes, Nanos};
use blocklab_workload::{Case, Plan};

use super::house::House;
use crate::keeping::Checkpoints;
use crate::processors::Ticks;
use blocklab_console::terminal;

/// Draws the live screen, keeps what is measured, and looks at the processors.
pub struct Watcher<'a> {
    pub screen: Screen,
    /// By time span, what each processor did in its measured time.
    pub processors: Vec<Vec<Processor>>,
    /// By time span, what was done in the intervals of `-D`.
    pub buckets: Vec<Vec<Bucket>>,
    checkpoints: Checkpoints<'a>,
    spans: Vec<Intervals>,
    current: Intervals,
    /// At the end of the warm-up.
    before: Ticks,
    /// When it was last looked at: in a cool-down nothing is.
    latest: Ticks,
}

/// The intervals of a time span.
#[derive(Clone, Copy, Default)]
struct Intervals {
    every: Option<Nanos>,
    warmup: Nanos,
    /// Load goes on after the measured time.
    cools: bool,
}

impl Intervals {
    fn of(span: &TimeSpan) -> Self {
        let every = Nanos::from_millis(span.bucket_ms.into());
        Self {
            every: span.iops_std_dev.then_some(every),
            warmup: Nanos::from_secs(span.warmup.into()),
            cools: span.cooldown > 0,
        }
    }
}

impl<'a> Watcher<'a> {
    pub fn new(house: &House, profile: &Profile, plan: &Plan, store: &'a Store) -> Self {
        let planned = |case: &Case| {
            let jobs = case.workload.jobs.iter();
            let times =
                jobs.map(|job| job.ramp + job.stop.runtime.unwrap_or_default() + job.cool_down);
            times.max().unwrap_or_default()
        };
        let total = plan.cases.iter().map(planned);
        let total = total.fold(Nanos::ZERO, |sum, time| sum + time);
        Self {
            screen: Screen::new(!house.quiet, io::stderr().is_terminal(), total),
            processors: Vec::new(),
            buckets: Vec::new(),
            spans: profile.timespans.iter().map(Intervals::of).collect(),
            current: Intervals::default(),
            checkpoints: Checkpoints::new((!house.no_save).then_some(store)),
            before: Ticks::default(),
            latest: Ticks::default(),
        }
    }
}

impl Observer for Watcher<'_> {
    fn laying_out(&mut self, path: &Path, done: Bytes, total: Bytes) {
        if done == Bytes::ZERO {
            self.screen
                .phase(&format!("laying out {} ({total})", path.display()));
        }
        self.screen.progress(done.0, total.0);
    }

    fn begins(&mut self, case: &Case, _: u32, step: usize, steps: usize) {
        self.screen.case(&case.name, 1, 1, step + 1, steps);
        self.before = Ticks::now();
        self.latest = Ticks::default();
        self.current = self.spans.get(step).copied().unwrap_or_default();
        self.buckets.push(Vec::new());
    }

    fn interval(&mut self, interval: &Interval, elapsed: Nanos) {
        self.latest = Ticks::now();
        if interval.ramp {
            self.before = self.latest.clone();
        }
        self.screen.interval(interval, elapsed);
    }

    fn interval_length(&self) -> Option<Nanos> {
        self.current.every
    }

    fn slice(&mut self, slice: &IntervalData) {
        let measured = slice.end.since(self.current.warmup);
        if slice.end <= self.current.warmup {
            return;
        }
        let served = |way: &DirectionInterval| Served {
            ios: way.ios,
            sum_ns: way.sum_ns,
            sum_squares: way.sum_squares,
            min_ns: way.min_ns,
            max_ns: way.max_ns,
        };
        let bucket = Bucket {
            end_ns: measured.0,
            length_ns: slice.length.min(measured).0,
            jobs: slice
                .jobs
                .iter()
                .map(|job| job.each_ref().map(served))
                .collect(),
        };
        if let Some(buckets) = self.buckets.last_mut() {
            buckets.push(bucket);
        }
    }

    fn ended(&mut self, record: &Record) {
        if let Some(measurement) = record.measurements.last() {
            self.screen.measured(measurement);
        }
        self.processors.push(match record.origin {
            // In virtual time no processor of ours did the work.
            Origin::Simulated => Vec::new(),
            _ if self.current.cools => self.latest.since(&self.before),
            _ => Ticks::now().since(&self.before),
        });
        self.checkpoints.keep(record);
    }
}

/// On standard error, beside the result.
pub fn tell(house: &House, record: &Record, is_kept: bool) {
    if let Some(failure) = &record.failure {
        terminal::warn(failure);
    }
    if house.quiet {
        return;
    }
    // Nobody asked for the default affinity, so it does not accompany every run; `show` has it.
    for note in record.notes.iter().filter(|note| note.subject != "-ag") {
        terminal::tell(&format!("note: {}: {}", note.subject, note.text));
    }
    if !house.no_save && is_kept {
        terminal::tell(&format!("More    blocklab show {}", record.id));
    }
}
