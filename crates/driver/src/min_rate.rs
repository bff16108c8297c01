//! Rates that a job must reach.

use blocklab_record::ErrorCount;
use blocklab_units::Nanos;
use blocklab_workload::{Direction, Job, MinRate, Rate};

use super::workers::WorkerStatus;
use blocklab_worker::Window;

/// The rates of one job, judged span by span.
#[derive(Debug, Clone)]
pub(crate) struct MinRates {
    pub(crate) job: usize,
    rule: MinRate,
    measure_from: Nanos,
    /// Where the span begins that is judged next.
    last: Nanos,
    before: [(u64, u64); 3],
    /// What was done when it was looked at last.
    seen: [(u64, u64); 3],
    /// The first one that was missed.
    pub(crate) missed: Option<ErrorCount>,
}

const MOVING: [Direction; 3] = [Direction::Read, Direction::Write, Direction::Trim];

impl MinRates {
    /// One for each job that has some.
    pub(crate) fn all(jobs: &[Job], start: Nanos) -> Vec<Self> {
        let rules = jobs.iter().enumerate().filter_map(|(index, job)| {
            let measure_from = Window::of(job, start).measure_from;
            let rule = job.min_rate?;
            Some(Self {
                job: index,
                rule,
                measure_from,
                last: measure_from,
                before: [(0, 0); 3],
                seen: [(0, 0); 3],
                missed: None,
            })
        });
        rules.collect()
    }

    /// Whether a rate was missed over the span that ends now: it ends when an operation has
    /// completed, so a job that pauses is not judged meanwhile.
    pub(crate) fn look(&mut self, members: &[WorkerStatus], now: Nanos) -> bool {
        let totals = MOVING.map(|direction| self.total(members, direction));
        let has_completed = totals != std::mem::replace(&mut self.seen, totals);
        let settled = self.measure_from + self.rule.settle;
        let is_first = self.last < settled;
        let is_due = now >= settled && (is_first || now.since(self.last) >= self.rule.cycle);
        if self.missed.is_some() || !has_completed || !is_due {
            return false;
        }
        let span = now.since(self.last).0 as f64 / 1e9;
        self.last = now;
        let before = std::mem::replace(&mut self.before, totals);
        if is_first {
            return false;
        }
        self.missed = self.judge(before, span, now);
        self.missed.is_some()
    }

    fn total(&self, members: &[WorkerStatus], direction: Direction) -> (u64, u64) {
        let mine = members.iter().filter(|member| member.job == self.job);
        let tallies = mine.filter_map(|member| member.recorder.tally(direction));
        tallies.fold((0, 0), |(ios, bytes), tally| {
            (ios + tally.ios.get(), bytes + tally.bytes.get())
        })
    }

    /// The first direction that moved too little since `before`.
    fn judge(&self, before: [(u64, u64); 3], span: f64, now: Nanos) -> Option<ErrorCount> {
        MOVING.into_iter().find_map(|direction| {
            let index = direction as usize;
            let (total, before) = (self.before[index], before[index]);
            let (moved, min_rate, unit) = match self.rule.rates[index]? {
                Rate::Iops(min_rate) => (total.0 - before.0, min_rate, "operations"),
                Rate::Bytes(min_rate) => (total.1 - before.1, min_rate, "bytes"),
            };
            let rate = moved as f64 / span;
            (rate < min_rate).then(|| ErrorCount {
                kind: "rate".to_owned(),
                message: format!("{rate:.0} {unit} per second, fewer than {min_rate:.0}"),
                direction: direction.name().to_owned(),
                count: 1,
                first_at_ns: now.since(self.measure_from).0,
                first_offset: 0,
            })
        })
    }
}
