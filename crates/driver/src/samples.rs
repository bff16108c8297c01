//! In: the counters of a job. Out: samples of its bandwidth and operations per second at even
//! intervals.

use blocklab_record::Samples;
use blocklab_units::Nanos;
use blocklab_worker::Window;
use blocklab_workload::{Direction, Job};

use super::workers::{WorkerStatus, members_of, moved};

/// Samples of one quantity of a job, by direction.
#[derive(Debug, Clone)]
struct Quantity {
    every: Nanos,
    due: Nanos,
    last: Nanos,
    before: [u64; 3],
    values: [Vec<f64>; 3],
}

impl Quantity {
    fn new(every: Nanos, from: Nanos) -> Self {
        Self {
            every,
            due: from.saturating_add(every),
            last: from,
            before: [0; 3],
            values: [Vec::new(), Vec::new(), Vec::new()],
        }
    }

    /// Takes a sample when it is due. It may be late, so the rate is computed over the actual time.
    fn sample_due(&mut self, now: Nanos, totals: impl Fn() -> [u64; 3]) {
        if now < self.due {
            return;
        }
        let span = now.since(self.last).0 as f64 / 1e9;
        let totals = totals();
        for (direction, total) in totals.iter().enumerate() {
            // The last window of a search for a depth counts anew, a moment before `begin` is called.
            let moved = total.saturating_sub(self.before[direction]);
            // As in fio, a span in which nothing completed is no sample.
            if moved > 0 {
                self.values[direction].push(moved as f64 / span);
            }
        }
        self.before = totals;
        self.last = now;
        let missed = now.since(self.due).0 / self.every.0;
        self.due = self.due.saturating_add(Nanos(self.every.0 * (missed + 1)));
    }
}

/// The samples of one job.
#[derive(Debug, Clone)]
pub(crate) struct Sampler {
    job: usize,
    window: Window,
    bandwidth: Option<Quantity>,
    iops: Option<Quantity>,
}

impl Sampler {
    /// One for each job that requests samples.
    pub(crate) fn all(jobs: &[Job], windows: &[Window]) -> Vec<Self> {
        jobs.iter()
            .zip(windows)
            .enumerate()
            .filter_map(|(index, (job, window))| Self::for_job(index, job, window))
            .collect()
    }

    /// The samples of a job by its index in the run; `None`: it takes none.
    fn for_job(job: usize, spec: &Job, window: &Window) -> Option<Self> {
        let [bandwidth, iops] = [spec.measure.bandwidth_every, spec.measure.iops_every]
            .map(|every| every.map(|every| Quantity::new(every, window.measure_from)));
        (bandwidth.is_some() || iops.is_some()).then_some(Self {
            job,
            window: *window,
            bandwidth,
            iops,
        })
    }

    /// The ramp by bytes is over, or the last window of a search has begun, so the measured time is known now.
    pub(crate) fn begin(&mut self, window: &Window) {
        self.window = *window;
        for quantity in [&mut self.bandwidth, &mut self.iops].into_iter().flatten() {
            *quantity = Quantity::new(quantity.every, window.measure_from);
        }
    }

    /// When the next sample is due; `None` after the end of the job's time.
    pub(crate) fn next(&self) -> Option<Nanos> {
        let quantities = [&self.bandwidth, &self.iops].into_iter().flatten();
        let next = quantities.map(|quantity| quantity.due).min()?;
        (next <= self.window.deadline).then_some(next)
    }

    /// Takes the samples that are due, unless the job has ended.
    pub(crate) fn sample_due(&mut self, members: &[WorkerStatus], now: Nanos) {
        if members_of(members, self.job).all(|member| member.ended.is_some()) {
            return;
        }
        // A cool-down would lower a sample that reaches into it.
        let now = now.min(Window::cool_from(&[self.window]));
        if let Some(bandwidth) = &mut self.bandwidth {
            bandwidth.sample_due(now, || {
                moved(members, self.job, |counters| counters.bytes.get())
            });
        }
        if let Some(iops) = &mut self.iops {
            iops.sample_due(now, || {
                moved(members, self.job, |counters| counters.ios.get())
            });
        }
    }

    /// Whether it is of this job.
    pub(crate) const fn is_of(&self, job: usize) -> bool {
        self.job == job
    }

    /// Bytes and operations per second of a direction.
    pub(crate) fn of_direction(&self, direction: Direction) -> (Samples, Samples) {
        let [bandwidth, iops] = [&self.bandwidth, &self.iops].map(|quantity| {
            let values = quantity.as_ref()?.values.get(direction as usize)?;
            Some(Samples::new(values))
        });
        (bandwidth.unwrap_or_default(), iops.unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The story: a job that pauses had samples of 0, and a lowest rate of 0, where fio has neither. So had
    /// the reads that only follow the writes of a job, and every direction in a cool-down.
    #[test]
    fn a_span_without_a_completion_is_no_sample() {
        let mut writes = Quantity::new(Nanos::from_millis(500), Nanos::ZERO);
        for (ms, total) in [(500, 10), (1000, 10), (1500, 30)] {
            writes.sample_due(Nanos::from_millis(ms), || [0, total, 0]);
        }
        assert_eq!(writes.values, [vec![], vec![20.0, 40.0], vec![]]);
    }
}
