//! The observer of a profile's run: it counts what DiskSpd reports and the Record does not have.

use blocklab_diskspd::{Bucket, Processor, Profile, TimeSpan};
use blocklab_record::{Interval, IntervalData, Origin, Record};
use blocklab_results::LiveView;
use blocklab_runner::{Event, Observer, Questions};
use blocklab_store::Store;
use blocklab_units::Nanos;
use blocklab_workload::Plan;

use super::own_options::OwnOptions;
use crate::processors::Ticks;
use crate::tool_run::live_view;

/// Shows progress, and reads the counters of the processors and the intervals of `-D`.
pub struct Watcher<'a> {
    pub view: LiveView,
    /// For each time span: use of each processor in the measured time.
    pub processors: Vec<Vec<Processor>>,
    /// For each time span: what was done in the intervals of `-D`.
    pub buckets: Vec<Vec<Bucket>>,
    spans: &'a [TimeSpan],
    /// Index of the current time span.
    at: usize,
    /// The counters at the end of the warm-up.
    before: Ticks,
    /// The counters at the end of the last interval. There are no intervals in a cool-down, so they
    /// are those at the end of the measured time then.
    latest: Ticks,
}

impl<'a> Watcher<'a> {
    pub fn new(own: &OwnOptions, profile: &'a Profile, plan: &Plan, store: &Store) -> Self {
        Self {
            view: live_view(!own.quiet, plan, (!own.no_save).then_some(store)),
            processors: Vec::new(),
            buckets: Vec::new(),
            spans: &profile.timespans,
            at: 0,
            before: Ticks::default(),
            latest: Ticks::default(),
        }
    }

    /// The current time span.
    const fn span(&self) -> &TimeSpan {
        &self.spans[self.at]
    }
}

impl Questions for Watcher<'_> {
    fn interval_length(&self) -> Option<Nanos> {
        let every = Nanos::from_millis(self.span().bucket_ms.into());
        self.span().iops_std_dev.then_some(every)
    }

    fn keeps_frames(&self) -> bool {
        self.view.keeps_frames()
    }
}

impl Observer for Watcher<'_> {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Begins { step, .. } => self.begins(step),
            Event::Interval { interval, .. } => self.interval(interval),
            Event::Slice(slice) => self.slice(slice),
            Event::Ended(record) => self.ended(record),
            _ => {}
        }
        self.view.event(event);
    }
}

impl Watcher<'_> {
    fn interval(&mut self, interval: &Interval) {
        self.latest = Ticks::now();
        if interval.ramp {
            self.before = self.latest.clone();
        }
    }

    fn slice(&mut self, slice: &IntervalData) {
        let warmup = Nanos::from_secs(self.span().warmup.into());
        if slice.end <= warmup {
            return;
        }
        // An interval that began in the warm-up counts with its rest.
        let measured = slice.end.since(warmup);
        if let Some(buckets) = self.buckets.last_mut() {
            buckets.push(Bucket {
                end_ns: measured.0,
                length_ns: slice.length.min(measured).0,
                jobs: slice.jobs.clone(),
            });
        }
    }

    fn begins(&mut self, step: usize) {
        self.before = Ticks::now();
        self.latest = Ticks::default();
        self.at = step;
        self.buckets.push(Vec::new());
    }

    fn ended(&mut self, record: &Record) {
        let cools = self.span().cooldown > 0;
        self.processors.push(match record.origin {
            // In virtual time, the processors of this machine did not do the work.
            Origin::Simulated => Vec::new(),
            _ if cools => self.latest.since(&self.before),
            _ => Ticks::now().since(&self.before),
        });
    }
}
