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
    last: Nanos,
    before: [(u64, u64); 3],
    /// The first one that was missed.
    pub(crate) missed: Option<ErrorCount>,
}

const MOVING: [Direction; 3] = [Direction::Read, Direction::Write, Direction::Trim];

impl MinRates {
    /// One for each job that has some.
    pub(crate) fn all(jobs: &[Job], start: Nanos) -> Vec<Self> {
        let rules = jobs.iter().enumerate().filter_map(|(index, job)| {
            let measure_from = Window::of(job, start).measure_from;
            Some(Self {
                job: index,
                rule: job.min_rate?,
                measure_from,
                last: measure_from,
                before: [(0, 0); 3],
                missed: None,
            })
        });
        rules.collect()
    }

    /// Whether a rate was missed over the span that ends now.
    pub(crate) fn look(&mut self, members: &[WorkerStatus], now: Nanos) -> bool {
        if now.since(self.last) < self.rule.cycle || self.missed.is_some() {
            return false;
        }
        let span = now.since(self.last).0 as f64 / 1e9;
        self.last = now;
        for direction in MOVING {
            let index = direction as usize;
            let mine = members.iter().filter(|member| member.job == self.job);
            let tallies = mine.filter_map(|member| member.recorder.tally(direction));
            let total = tallies.fold((0, 0), |(ios, bytes), tally| {
                (ios + tally.ios.get(), bytes + tally.bytes.get())
            });
            let before = std::mem::replace(&mut self.before[index], total);
            let (moved, min_rate, unit) = match self.rule.rates[index] {
                Some(Rate::Iops(min_rate)) => (total.0 - before.0, min_rate, "operations"),
                Some(Rate::Bytes(min_rate)) => (total.1 - before.1, min_rate, "bytes"),
                None => continue,
            };
            let rate = moved as f64 / span;
            if rate < min_rate && self.missed.is_none() {
                self.missed = Some(ErrorCount {
                    kind: "rate".to_owned(),
                    message: format!("{rate:.0} {unit} per second, fewer than {min_rate:.0}"),
                    direction: direction.name().to_owned(),
                    count: 1,
                    first_at_ns: now.since(self.measure_from).0,
                    first_offset: 0,
                });
            }
        }
        self.missed.is_some()
    }
}
