//! In: the completed operations of a job. Out: whether it falls below the rates that it must reach.

use blocklab_record::{ErrorCount, ErrorKind};
use blocklab_units::Nanos;
use blocklab_worker::Window;
use blocklab_workload::{Direction, Job, MinRate, Rate};

use super::workers::{WorkerStatus, members_of, moved};

/// The counts of a job at one moment, by direction.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Totals {
    ios: [u64; 3],
    bytes: [u64; 3],
}

/// The rates of one job, judged span by span.
#[derive(Debug, Clone)]
pub(crate) struct MinRates {
    pub(crate) job: usize,
    rule: MinRate,
    measure_from: Nanos,
    /// Start of the span that is judged next.
    last: Nanos,
    /// The counts at that moment.
    before: Totals,
    /// The counts at the last check, which show whether anything has completed since.
    seen: Totals,
    /// The first rate that was missed.
    pub(crate) missed: Option<ErrorCount>,
}

impl MinRates {
    /// One for each job with minimum rates.
    pub(crate) fn all(jobs: &[Job], windows: &[Window]) -> Vec<Self> {
        let rules = jobs.iter().enumerate().filter_map(|(index, job)| {
            let measure_from = windows[index].measure_from;
            let rule = job.min_rate?;
            Some(Self {
                job: index,
                rule,
                measure_from,
                last: measure_from,
                before: Totals::default(),
                seen: Totals::default(),
                missed: None,
            })
        });
        rules.collect()
    }

    /// The ramp by bytes is over, or the last window of a search has begun, so the measured time is known now.
    pub(crate) fn begin(&mut self, window: &Window) {
        self.measure_from = window.measure_from;
        self.last = window.measure_from;
        // A last window has counters of its own, which begin at zero.
        (self.before, self.seen) = Default::default();
    }

    /// Whether a rate was missed over the span that ends now. A span ends with a completion, so a job
    /// that pauses is not judged meanwhile.
    pub(crate) fn check(&mut self, members: &[WorkerStatus], now: Nanos) -> bool {
        let totals = Totals {
            ios: moved(members, self.job, |counters| counters.ios.get()),
            bytes: moved(members, self.job, |counters| counters.bytes.get()),
        };
        let has_completed = totals != std::mem::replace(&mut self.seen, totals);
        let settled = self.measure_from.saturating_add(self.rule.settle);
        let is_first = self.last < settled;
        let is_due = now >= settled && (is_first || now.since(self.last) >= self.rule.cycle);
        // What was written is read back as fast as it can be: no rate is to be reached then.
        let reads_back =
            members_of(members, self.job).any(|member| member.recorder.verify_began.get() > 0);
        if self.missed.is_some() || reads_back || !has_completed || !is_due {
            return false;
        }
        let span = now.since(self.last).0 as f64 / 1e9;
        self.last = now;
        let before = std::mem::replace(&mut self.before, totals);
        // The first check after the settling time only begins the first span.
        if is_first {
            return false;
        }
        self.missed = self.missed_since(before, span, now);
        self.missed.is_some()
    }

    /// The first direction that was too slow since `before`, in a span of this many seconds.
    fn missed_since(&self, before: Totals, span: f64, now: Nanos) -> Option<ErrorCount> {
        Direction::MOVING.into_iter().find_map(|direction| {
            let index = direction as usize;
            // `check` has set the counts of the next span, which begins where this one ends.
            let after = &self.before;
            let (moved, min_rate, unit) = match self.rule.rates[index]? {
                Rate::Iops(min_rate) => {
                    let moved = after.ios[index].saturating_sub(before.ios[index]);
                    (moved, min_rate, "operations")
                }
                Rate::Bytes(min_rate) => {
                    let moved = after.bytes[index].saturating_sub(before.bytes[index]);
                    (moved, min_rate, "bytes")
                }
            };
            let rate = moved as f64 / span;
            (rate < min_rate).then(|| ErrorCount {
                kind: ErrorKind::Rate,
                message: format!("{rate:.0} {unit} per second, fewer than {min_rate:.0}"),
                direction,
                count: 1,
                first_at_ns: now.since(self.measure_from).0,
                first_offset: 0,
            })
        })
    }
}
