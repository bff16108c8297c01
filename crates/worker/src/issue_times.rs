//! In: when operations of a replay were due and issued. Out: how late they were, and in which spans of
//! time they came.
//!
//! Lateness is counted here and not by direction, because it is not a latency of the target.

use blocklab_units::Nanos;
use blocklab_workload::Replay;

use crate::counter::Counter;
use crate::latency::LatencyHistogram;

/// Spans are longer than a second where there would be more of them than this.
const MOST_SPANS: u64 = 100_000;
const SECOND: u64 = 1_000_000_000;

/// When the operations of a replay were issued.
#[derive(Debug)]
pub struct IssueTimes {
    /// From the moment that an operation was due to its issue.
    pub late: LatencyHistogram,
    /// Length of a span in nanoseconds.
    pub span: u64,
    /// Operations that were due in each span; what comes beyond the last one counts in it.
    due: Box<[Counter]>,
    /// Operations that were issued in each.
    issued: Box<[Counter]>,
    /// When the last one was due, since the beginning.
    pub last_due: Counter,
    /// How late the last one was.
    pub drift: Counter,
    /// Operations that waited because as many were in flight as may be.
    pub waited_for_room: Counter,
}

impl IssueTimes {
    /// The counters for a replay that keeps the moments of its trace; `None` for any other.
    pub(crate) fn for_replay(replay: &Replay) -> Option<Self> {
        let last = replay.operations.last().filter(|_| replay.keeps_time)?;
        let span = SECOND.max(last.at.0 / MOST_SPANS);
        let spans = last.at.0 / span + 1;
        let counters = || (0..spans).map(|_| Counter::default()).collect();
        Some(Self {
            late: LatencyHistogram::new(),
            span,
            due: counters(),
            issued: counters(),
            last_due: Counter::default(),
            drift: Counter::default(),
            waited_for_room: Counter::default(),
        })
    }

    /// Counts an operation by the moments at which it was due and issued, since the beginning.
    #[inline]
    pub(crate) fn count(&self, due: Nanos, issued: Nanos, had_no_room: bool) {
        let late = issued.since(due).0;
        self.late.record(late);
        self.at(&self.due, due).add(1);
        self.at(&self.issued, issued).add(1);
        if due.0 >= self.last_due.get() {
            self.last_due.set(due.0);
            self.drift.set(late);
        }
        self.waited_for_room.add(u64::from(had_no_room));
    }

    /// The spans of the replay.
    pub fn spans(&self) -> usize {
        self.due.len()
    }

    /// How many operations were due in a span, and how many were issued in it.
    pub fn counts(&self, span: usize) -> (u64, u64) {
        let due = self.due.get(span).map_or(0, Counter::get);
        (due, self.issued.get(span).map_or(0, Counter::get))
    }

    fn at<'a>(&self, counters: &'a [Counter], moment: Nanos) -> &'a Counter {
        let last = counters.len() - 1;
        &counters[((moment.0 / self.span) as usize).min(last)]
    }
}
