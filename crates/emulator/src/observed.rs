//! What other programs did to a volume.

use blocklab_device::Direction;
use blocklab_record::LatencySum;
use blocklab_units::Nanos;

use crate::Failure;

/// Classes of sizes: up to 512 bytes, 1 KiB, 2 KiB and so on up to 64 MiB and more.
pub const SIZES: usize = 18;

/// The operations of one direction.
#[derive(Debug, Clone, Default)]
pub struct OperationCounter {
    /// Done without an error.
    pub ios: u64,
    /// Bytes of those.
    pub bytes: u64,
    /// Done with an error.
    pub failed: u64,
    /// Completed operations that began where the one before them ended.
    pub sequential: u64,
    /// Completed operations by size: up to 512 bytes, up to 1 KiB and so on.
    pub sizes: [u64; SIZES],
    /// From arrival to reply.
    pub latency: LatencySum,
}

/// Operations of one direction that failed in one way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FailureCounter {
    /// In which way.
    pub failure: Failure,
    /// Of which direction.
    pub direction: Direction,
    /// How many.
    pub count: u64,
    /// When the first one got its reply.
    pub first_at: Nanos,
    /// Where it was.
    pub first_offset: u64,
}

/// All operations on a volume since its start.
#[derive(Debug, Clone, Default)]
pub struct Observed {
    directions: [OperationCounter; 4],
    /// Lateness of replies after the model's moment.
    pub late: LatencySum,
    /// Operations by how many others were in flight when they came: none, 1, 2-3, 4-7, 8-15, 16-31,
    /// 32 and more.
    pub depths: [u64; 7],
    /// What failed: one for each failure and direction that occurred.
    pub failures: Vec<FailureCounter>,
    /// The first arrival.
    pub first: Option<Nanos>,
    /// The last reply.
    pub last: Nanos,
}

/// One operation that has its reply.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Done {
    pub direction: Direction,
    pub len: u32,
    pub arrived: Nanos,
    pub due: Nanos,
    pub at: Nanos,
    pub failure: Option<Failure>,
    pub offset: u64,
    /// It began where the one before it ended.
    pub follows: bool,
    /// How many others were in flight when it came.
    pub others: u32,
}

impl Observed {
    /// The operations of one direction.
    pub const fn direction(&self, direction: Direction) -> &OperationCounter {
        &self.directions[direction as usize]
    }

    /// The operations of each direction.
    pub(crate) const fn counters(&self) -> &[OperationCounter; 4] {
        &self.directions
    }

    /// From the first arrival to the last reply; `None`: no time passed between them.
    pub(crate) fn active(&self) -> Option<Nanos> {
        let active = self.last.since(self.first?);
        (active > Nanos::ZERO).then_some(active)
    }

    /// Counts an operation that has its reply.
    pub(crate) fn record(&mut self, done: Done) {
        let counter = &mut self.directions[done.direction as usize];
        self.late.record(done.at.since(done.due));
        // Classes of the number of others: 0, 1, 2 to 3, 4 to 7 and so on.
        let class = (u32::BITS - done.others.leading_zeros()).min(6);
        self.depths[class as usize] += 1;
        self.first = Some(
            self.first
                .map_or(done.arrived, |first| first.min(done.arrived)),
        );
        self.last = self.last.max(done.at);
        if let Some(failure) = done.failure {
            counter.failed += 1;
            let mut failures = self.failures.iter_mut();
            match failures
                .find(|known| (known.failure, known.direction) == (failure, done.direction))
            {
                Some(same) => same.count += 1,
                None => self.failures.push(FailureCounter {
                    failure,
                    direction: done.direction,
                    count: 1,
                    first_at: done.at,
                    first_offset: done.offset,
                }),
            }
            return;
        }
        counter.ios += 1;
        counter.bytes += u64::from(done.len);
        counter.sequential += u64::from(done.follows);
        counter.sizes[size_class(done.len)] += 1;
        counter.latency.record(done.at.since(done.arrived));
    }
}

/// The index of a size among [`OperationCounter::sizes`].
const fn size_class(len: u32) -> usize {
    let sectors = len.div_ceil(512).next_power_of_two();
    let class = sectors.trailing_zeros() as usize;
    if class < SIZES { class } else { SIZES - 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_of_sizes() {
        let got = [0, 1, 512, 513, 4096, 65_536, u32::MAX - 511].map(size_class);
        assert_eq!(got, [0, 0, 0, 1, 3, 7, SIZES - 1]);
    }

    /// One operation that took no time was reported as a rate of 1,000,000,000 IOPS.
    #[test]
    fn one_operation_without_a_delay_has_no_rate() {
        let mut observed = Observed::default();
        assert_eq!(observed.active(), None);
        let mut done = Done {
            direction: Direction::Read,
            len: 4096,
            arrived: Nanos(100),
            due: Nanos(100),
            at: Nanos(100),
            failure: None,
            offset: 0,
            follows: false,
            others: 0,
        };
        observed.record(done);
        assert_eq!(observed.active(), None);
        done.at = Nanos(300);
        observed.record(done);
        assert_eq!(observed.active(), Some(Nanos(200)));
    }

    #[test]
    fn failures_have_no_latency_and_no_bytes() {
        let mut observed = Observed::default();
        let done = Done {
            direction: Direction::Read,
            len: 4096,
            arrived: Nanos(100),
            due: Nanos(1000),
            at: Nanos(1100),
            failure: None,
            offset: 0,
            follows: true,
            others: 5,
        };
        observed.record(done);
        observed.record(Done {
            failure: Some(Failure::Io),
            others: 0,
            ..done
        });
        assert_eq!(observed.failures[0].count, 1);
        let reads = observed.direction(Direction::Read);
        assert_eq!((reads.ios, reads.bytes, reads.failed), (1, 4096, 1));
        assert_eq!(reads.latency.max, 1000);
        assert_eq!(observed.depths, [1, 0, 0, 1, 0, 0, 0]);
        assert_eq!(observed.late.max, 100);
    }
}
