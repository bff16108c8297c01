//! In: a job. Out: the moments and bytes at which it ends, and the request by which others end it.

use std::sync::OnceLock;

use blocklab_record::Stopped;
use blocklab_units::Nanos;
use blocklab_workload::{Extent, Invalid, Job, TargetOrder};

/// A request that all workers of a job end.
#[derive(Debug, Default)]
pub struct Stopper {
    first: OnceLock<Stopped>,
}

impl Stopper {
    /// Requests the end. The first reason is kept.
    pub fn request(&self, reason: Stopped) {
        // Fails if another reason came first, which is kept.
        let _ = self.first.set(reason);
    }

    #[inline]
    pub(crate) fn is_requested(&self) -> bool {
        self.first.get().is_some()
    }

    /// Whether the end is one after which nothing is read back.
    pub(crate) fn cuts_off(&self) -> bool {
        use Stopped::{Error, Interrupted, Stalled};
        matches!(self.reason(), Some(Error | Interrupted | Stalled))
    }

    /// Why the end was requested; `None` while it was not.
    pub fn reason(&self) -> Option<Stopped> {
        self.first.get().copied()
    }
}

/// The moments that bound a job, on the run's clock.
#[derive(Debug, Clone, Copy)]
pub struct Window {
    /// When the job begins to issue operations.
    pub(crate) start: Nanos,
    /// End of the ramp; [`Nanos::MAX`] as long as a ramp by bytes lasts. It moves to the beginning of
    /// the last window of a search for a depth.
    pub measure_from: Nanos,
    /// End of the measured time.
    pub deadline: Nanos,
    /// No operation begins after it: the deadline, or the end of the load that follows.
    pub load_end: Nanos,
    runtime: Nanos,
    cool_down: Nanos,
    /// The length of the last window of a search for a depth.
    last_window: Option<Nanos>,
}

impl Window {
    /// The moments of a job that starts at `start`.
    pub fn for_job(job: &Job, start: Nanos) -> Self {
        let start = start.saturating_add(job.start_delay);
        // `measured_from` replaces the three moments behind `start`.
        let window = Self {
            start,
            measure_from: start,
            deadline: start,
            load_end: start,
            runtime: job.stop.runtime.unwrap_or(Nanos::MAX),
            cool_down: job.cool_down,
            last_window: job.last_window(),
        };
        window.measured_from(match job.sized_ramp {
            // A ramp by bytes ends at a moment that is not known yet.
            Some(_) => Nanos::MAX,
            None => start.saturating_add(job.ramp),
        })
    }

    /// The same with the end of the ramp at this moment.
    pub const fn measured_from(self, measure_from: Nanos) -> Self {
        let deadline = measure_from.saturating_add(self.runtime);
        Self {
            measure_from,
            deadline,
            load_end: deadline.saturating_add(self.cool_down),
            ..self
        }
    }

    /// The same with the measured time beginning at this moment: after a ramp by bytes, or with the
    /// last window of a search for a depth, which the runtime of the job still ends.
    pub fn begun(self, measure_from: Nanos) -> Self {
        let Some(length) = self.last_window else {
            return self.measured_from(measure_from);
        };
        let deadline = measure_from.saturating_add(length).min(self.deadline);
        Self {
            measure_from,
            deadline,
            load_end: deadline.saturating_add(self.cool_down),
            ..self
        }
    }

    /// The latest end of the measured time, if the load of a job goes on after its own; else never.
    pub fn cool_from(windows: &[Self]) -> Nanos {
        let cools = windows
            .iter()
            .any(|window| window.load_end > window.deadline);
        let last = windows.iter().map(|window| window.deadline).max();
        last.filter(|_| cools).unwrap_or(Nanos::MAX)
    }

    pub(crate) const fn shifted(self, by: Nanos) -> Self {
        Self {
            start: self.start.saturating_add(by),
            ..self.measured_from(self.measure_from.saturating_add(by))
        }
    }
}

/// Bytes of one pass of a thread over targets of these sizes.
///
/// # Errors
/// [`Invalid`] when the job's region does not fit one of them.
pub(crate) fn pass(job: &Job, thread: u32, sizes: &[u64]) -> Result<u64, Invalid> {
    let block = job.least_room().0;
    let mut pass = 0;
    for (index, size) in sizes.iter().enumerate() {
        let is_of_another =
            job.target_order == TargetOrder::PerThread && thread as usize % sizes.len() != index;
        if !is_of_another {
            let extent = Extent::for_thread(job.region, *size, thread, job.threads, block)?;
            pass += extent.len / block * block;
        }
    }
    Ok(pass)
}

#[cfg(test)]
mod tests {
    use super::*;
    use blocklab_workload::Stop;

    /// The load goes on after the measured time for as long as it cools down, and counts as one that
    /// does.
    #[test]
    fn a_job_that_cools_down_is_over_later() {
        let job = |cool_down| Job {
            ramp: Nanos::from_secs(1),
            cool_down,
            stop: Stop::after(Nanos::from_secs(5)),
            ..Job::new("a")
        };
        let cooling = Window::for_job(&job(Nanos::from_secs(2)), Nanos::from_secs(10));
        assert_eq!(cooling.deadline, Nanos::from_secs(16));
        assert_eq!(cooling.load_end, Nanos::from_secs(18));
        let plain = Window::for_job(&job(Nanos::ZERO), Nanos::from_secs(10));
        assert_eq!(plain.load_end, plain.deadline);
        assert_eq!(Window::cool_from(&[plain]), Nanos::MAX);
        assert_eq!(Window::cool_from(&[plain, cooling]), Nanos::from_secs(16));
    }
}
