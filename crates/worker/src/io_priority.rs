//! In: the operations of a job with `io_priority_shares`. Out: the priority of each, and their
//! latencies by priority. The operations of all other jobs have priority 0, which means that of
//! their thread.

use blocklab_random::Stream;
use blocklab_record::ByPriority;
use blocklab_units::Nanos;
use blocklab_workload::{Direction, IoPriority, Job, PriorityShare};

use crate::latency::{LatencyHistogram, latency_sum};

/// Draws the priority of each operation of a thread.
#[derive(Debug)]
pub(crate) struct IoPriorityDraw {
    shares: Vec<PriorityShare>,
    /// The priority of the thread. An operation that draws it has none of its own.
    own: u16,
    chance: Stream,
}

impl IoPriorityDraw {
    /// The draw of a thread of a job; `None`: all its operations have the priority of the thread.
    pub(crate) fn for_job(job: &Job, seed: u64, thread: u32) -> Option<Box<Self>> {
        if job.priority_shares.is_empty() {
            return None;
        }
        Some(Box::new(Self {
            shares: job.priority_shares.clone(),
            own: thread_priority(job),
            chance: job.chance(seed, "priority", thread.into()),
        }))
    }

    /// The priority of the next operation in the kernel's encoding; 0 means that of its thread.
    pub(crate) fn draw(&mut self, direction: Direction, len: u32) -> u16 {
        let drawn = self.chance.below(100);
        let mut passed = 0;
        let chosen = self.shares.iter().find(|share| {
            let may_be = share.covers(direction, len.into());
            passed += if may_be { u64::from(share.percent) } else { 0 };
            may_be && drawn < passed
        });
        match chosen.map(|share| share.priority.encoded()) {
            Some(priority) if priority != self.own => priority,
            _ => 0,
        }
    }
}

/// The priority of the threads of a job in the kernel's encoding; 0: none.
fn thread_priority(job: &Job) -> u16 {
    job.priority.io.map_or(0, IoPriority::encoded)
}

/// Latencies of one direction by priority. The first row has the priority of the thread.
#[derive(Debug)]
pub struct PriorityTable(Vec<Row>);

#[derive(Debug)]
struct Row {
    /// The value in [`Io::priority`](blocklab_workload::Io::priority).
    carried: u16,
    priority: Option<IoPriority>,
    service: LatencyHistogram,
    completion: Option<LatencyHistogram>,
}

impl Row {
    /// `split`: submission and completion latency are measured separately.
    fn new(carried: u16, priority: Option<IoPriority>, split: bool) -> Self {
        Self {
            carried,
            priority,
            service: LatencyHistogram::new(),
            completion: split.then(LatencyHistogram::new),
        }
    }
}

impl PriorityTable {
    /// `None` if all operations of the direction have the priority of their thread. `split`:
    /// submission and completion latency are measured separately.
    pub fn for_job(job: &Job, direction: Direction, split: bool) -> Option<Self> {
        let mut rows = vec![Row::new(0, job.priority.io, split)];
        let own = thread_priority(job);
        let shares = job.priority_shares.iter();
        for share in shares.filter(|share| share.direction == direction && share.percent > 0) {
            let carried = share.priority.encoded();
            if carried != own && rows.iter().all(|row| row.carried != carried) {
                rows.push(Row::new(carried, Some(share.priority), split));
            }
        }
        (rows.len() > 1).then_some(Self(rows))
    }

    /// A table of the same priorities at zero.
    pub(crate) fn fresh(&self) -> Self {
        let rows = self.0.iter();
        let rows = rows.map(|row| Row::new(row.carried, row.priority, row.completion.is_some()));
        Self(rows.collect())
    }

    /// An operation completed.
    pub(crate) fn served(&self, carried: u16, service: Nanos, completion: Option<Nanos>) {
        let Some(row) = self.0.iter().find(|row| row.carried == carried) else {
            return;
        };
        row.service.record(service.0);
        if let (Some(histogram), Some(completion)) = (&row.completion, completion) {
            histogram.record(completion.0);
        }
    }

    /// The sum over the threads of a job, which all have the same rows.
    pub fn sum(tables: &[&Self]) -> Vec<ByPriority> {
        let Some(first) = tables.first() else {
            return Vec::new();
        };
        (0..first.0.len())
            .filter_map(|index| {
                let rows: Vec<_> = tables.iter().filter_map(|t| t.0.get(index)).collect();
                sum_rows(&rows)
            })
            .collect()
    }
}

/// The sum over the rows of one priority; `None` if it had no operations.
fn sum_rows(rows: &[&Row]) -> Option<ByPriority> {
    let first = rows.first()?;
    let service = latency_sum(rows.iter().map(|row| &row.service)).to_latency();
    if service.count == 0 {
        return None;
    }
    let completions = rows.iter().filter_map(|row| row.completion.as_ref());
    let completion = latency_sum(completions);
    Some(ByPriority {
        class: first.priority.map_or(0, |priority| priority.class),
        level: first.priority.map_or(0, |priority| priority.level),
        service,
        completion: first.completion.as_ref().map(|_| completion.to_latency()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use blocklab_units::Bytes;
    use blocklab_workload::Priority;

    const FIRST: IoPriority = IoPriority { class: 1, level: 0 };
    const IDLE: IoPriority = IoPriority { class: 3, level: 7 };

    fn share(size: Option<u64>, percent: u8, priority: IoPriority) -> PriorityShare {
        PriorityShare {
            direction: Direction::Read,
            size: size.map(Bytes),
            percent,
            priority,
        }
    }

    fn job(shares: &[PriorityShare]) -> Job {
        Job {
            priority_shares: shares.to_vec(),
            ..Job::new("a")
        }
    }

    /// How many of 1000 operations of this size carry each priority.
    fn drawn(job: &Job, direction: Direction, len: u32) -> Vec<(u16, u32)> {
        let mut io_priority = IoPriorityDraw::for_job(job, 1, 0).expect("there are shares");
        let mut counts = std::collections::BTreeMap::new();
        for _ in 0..1000 {
            *counts.entry(io_priority.draw(direction, len)).or_default() += 1;
        }
        counts.into_iter().collect()
    }

    #[test]
    fn shares_are_drawn_by_size_and_direction() {
        let job = job(&[share(Some(4096), 30, FIRST), share(Some(4096), 70, IDLE)]);
        let of_4k = drawn(&job, Direction::Read, 4096);
        let [(0x2000, first), (0x6007, idle)] = of_4k[..] else {
            panic!("{of_4k:?}");
        };
        assert!((250..350).contains(&first) && first + idle == 1000);
        assert_eq!(drawn(&job, Direction::Read, 8192), [(0, 1000)]);
        assert_eq!(drawn(&job, Direction::Write, 4096), [(0, 1000)]);
    }

    #[test]
    fn what_the_thread_has_is_none_of_its_own() {
        let mut job = job(&[share(None, 100, FIRST)]);
        assert_eq!(drawn(&job, Direction::Read, 512), [(0x2000, 1000)]);
        job.priority = Priority {
            io: Some(FIRST),
            ..Priority::default()
        };
        assert_eq!(drawn(&job, Direction::Read, 512), [(0, 1000)]);
        assert!(PriorityTable::for_job(&job, Direction::Read, false).is_none());
    }

    #[test]
    fn tables_hold_what_was_carried() {
        let job = job(&[share(None, 50, FIRST), share(None, 10, IDLE)]);
        assert!(PriorityTable::for_job(&job, Direction::Write, true).is_none());
        let table = PriorityTable::for_job(&job, Direction::Read, true).expect("two priorities");
        table.served(0, Nanos(1000), Some(Nanos(900)));
        table.served(0x2000, Nanos(3000), Some(Nanos(2500)));
        table.served(0x2000, Nanos(5000), Some(Nanos(4500)));
        let sums = PriorityTable::sum(&[&table, &table]);
        let counts: Vec<_> = sums
            .iter()
            .map(|row| (row.class, row.level, row.service.count, row.service.max_ns))
            .collect();
        assert_eq!(counts, [(0, 0, 2, 1000), (1, 0, 4, 5000)]);
        let completion = sums[1].completion.as_ref().map(|latency| latency.max_ns);
        assert_eq!(completion, Some(4500));
    }
}
