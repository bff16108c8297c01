//! In: operations in order of time. Out: statistics of the load: mix, sizes, locality, bursts,
//! concurrency and pauses, in total and over time.
//!
//! ```text
//!   operation ─┬─▶ mix, sizes       by direction
//!              ├─▶ Bursts           counts of windows of 0.1 s, 1 s and 1 min
//!              ├─▶ Space            pages touched and written, 32 open streams
//!              ├─▶ Reuse            distances, sampled
//!              ├─▶ Flight           completions, where the trace has them; pauses
//!              ├─▶ Profile          slots of a width that grows with the trace
//!              └─▶ Mapping          sizes and places by slot, for a picture
//! ```
//!
//! Memory does not grow with the number of operations, only with the pages that are touched: each
//! takes one bit for touched and one for written.

mod bursts;
mod flight;
mod map;
mod profile;
mod reuse;
mod space;

use std::collections::BTreeMap;

use blocklab_workload::Direction;
use serde::Serialize;

use crate::Operation;

use bursts::Bursts;
pub use bursts::Peak;
use flight::Flight;
pub use flight::{Idle, InFlight};
use map::Mapping;
pub use map::TimeMap;
use profile::Profile;
pub use profile::Slot;
use reuse::Distances;
pub use reuse::{Hit, Reuse};
pub use space::{PAGE, STREAMS};
pub(crate) use space::{Space, Streams, mixed, page_key};

/// Statistics of a load.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Character {
    /// Number of operations.
    pub operations: u64,
    /// Bytes of reads and writes.
    pub bytes: u64,
    /// From the beginning of the trace to the issue of its last operation.
    pub duration_ns: u64,
    /// Operations a second over the whole duration; `None` if that is 0.
    pub iops_mean: Option<f64>,
    /// Bytes a second over the whole duration; `None` if that is 0.
    pub bytes_per_s_mean: Option<f64>,
    /// The directions that occur.
    pub directions: Vec<Mix>,
    /// Sizes of reads and writes together; `None` without any.
    pub sizes: Option<Sizes>,
    /// The busiest windows of each length.
    pub peaks: Vec<Peak>,
    /// Standard deviation of the time between operations, divided by its mean: 1 if they come
    /// independently of each other.
    pub interarrival_cv: Option<f64>,
    /// Share of reads, writes and trims that begin where one of the last [`STREAMS`] ended.
    pub sequential_percent: Option<f64>,
    /// Share of reads, writes and trims whose offset or length is no multiple of 4 KiB.
    pub unaligned_percent: Option<f64>,
    /// Size of all pages of 4 KiB that are read or written.
    pub working_set_bytes: u64,
    /// Size of all pages that are written.
    pub written_set_bytes: u64,
    /// Share of page writes to pages that an earlier write had written; `None` without writes.
    pub rewritten_percent: Option<f64>,
    /// The highest end of an operation.
    pub end_bytes: u64,
    /// Hit rates of caches; `None` if they were not requested.
    pub reuse: Option<Reuse>,
    /// Operations in flight; `None` if the trace has no completions.
    pub in_flight: Option<InFlight>,
    /// Pauses of a second or longer.
    pub idle: Idle,
    /// The load over time.
    pub profile: Vec<Slot>,
    /// Sizes and offsets over time.
    pub map: TimeMap,
    /// The devices that have operations, with the number of them.
    pub devices: Vec<Device>,
    /// What the reader has left out or assumed.
    pub remarks: Vec<String>,
}

/// A device of a trace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Device {
    /// Its name in the trace.
    pub name: String,
    /// Number of its operations.
    pub operations: u64,
}

/// One direction of a load.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Mix {
    /// The direction; a sync is a flush.
    pub direction: Direction,
    /// Number of operations.
    pub operations: u64,
    /// Share of all operations.
    pub operations_percent: f64,
    /// Their bytes.
    pub bytes: u64,
    /// Their sizes; `None` for syncs, which have none.
    pub sizes: Option<Sizes>,
}

/// Sizes of operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Sizes {
    /// The median.
    pub p50_bytes: u64,
    /// The 90th percentile.
    pub p90_bytes: u64,
    /// The largest.
    pub max_bytes: u64,
}

/// Counts of one direction.
#[derive(Debug, Default)]
struct Counts {
    operations: u64,
    bytes: u64,
    /// Number of operations of each size, except those that are still counted in `in_a_row`.
    sizes: BTreeMap<u32, u64>,
    /// The size of the last operations.
    last_len: u32,
    /// How many of that size came in a row.
    in_a_row: u64,
}

impl Counts {
    /// Counts an operation of this length.
    #[inline]
    fn add(&mut self, len: u32) {
        self.operations += 1;
        self.bytes += u64::from(len);
        // The same size often comes many times in a row; the tree is updated once for all of them.
        if self.last_len == len {
            self.in_a_row += 1;
        } else {
            self.flush();
            (self.last_len, self.in_a_row) = (len, 1);
        }
    }

    /// Adds the current row of equal sizes to the tree.
    fn flush(&mut self) {
        if self.in_a_row > 0 {
            *self.sizes.entry(self.last_len).or_default() += self.in_a_row;
            self.in_a_row = 0;
        }
    }
}

/// The quantiles of sizes, given the number of operations of each.
fn sizes(counts: &BTreeMap<u32, u64>) -> Option<Sizes> {
    let all: u64 = counts.values().sum();
    let (max, _) = counts.last_key_value()?;
    let quantile = |share: f64| {
        let wanted = (all as f64 * share) as u64;
        let mut seen = 0;
        let found = counts.iter().find(|(_, count)| {
            seen += **count;
            seen > wanted
        });
        found.map_or(*max, |(size, _)| *size).into()
    };
    Some(Sizes {
        p50_bytes: quantile(0.5),
        p90_bytes: quantile(0.9),
        max_bytes: (*max).into(),
    })
}

/// Collects the statistics of operations that are added in order of time.
#[derive(Default)]
pub struct Characterizer {
    counts: [Counts; 4],
    by_device: Vec<u64>,
    bursts: Bursts,
    space: Space,
    reuse: Option<Distances>,
    flight: Flight,
    profile: Profile,
    map: Mapping,
    last_ns: u64,
}

impl Characterizer {
    /// `with_reuse`: whether hit rates of caches are calculated, which takes longer.
    pub fn new(with_reuse: bool) -> Self {
        Self {
            reuse: with_reuse.then(Distances::default),
            ..Self::default()
        }
    }

    /// Adds an operation; its time must not be before that of the last one.
    #[inline]
    pub fn add(&mut self, operation: &Operation) {
        let moves_data = matches!(operation.direction, Direction::Read | Direction::Write);
        let bytes = if moves_data { operation.len } else { 0 };
        self.last_ns = operation.at.0;
        self.counts[operation.direction as usize].add(operation.len);
        let device = operation.target as usize;
        if self.by_device.len() <= device {
            self.by_device.resize(device + 1, 0);
        }
        self.by_device[device] += 1;
        self.bursts.add(operation.at.0, bytes.into());
        self.flight.add(operation);
        if operation.direction != Direction::Sync {
            self.space.add(operation);
            self.map.add(operation);
            if let Some(reuse) = self.reuse.as_mut().filter(|_| moves_data) {
                reuse.add(operation);
            }
        }
        let touched = self.space.touched;
        self.profile.add(operation.at.0, bytes.into(), touched);
    }

    /// The statistics of all operations that were added.
    pub fn end(mut self, targets: &[String], remarks: Vec<String>) -> Character {
        self.counts.iter_mut().for_each(Counts::flush);
        let operations: u64 = self.counts.iter().map(|counts| counts.operations).sum();
        // Reads and writes are the first two directions; the others move no data.
        let moving = &self.counts[..2];
        let bytes = moving.iter().map(|counts| counts.bytes).sum();
        let mut together = BTreeMap::new();
        for (size, count) in moving.iter().flat_map(|counts| &counts.sizes) {
            *together.entry(*size).or_default() += count;
        }
        let seconds = self.last_ns as f64 / 1e9;
        let by_time = |amount: u64| (seconds > 0.0).then(|| amount as f64 / seconds);
        // A flush has no offset, by which it could be sequential or aligned.
        let placed = operations - self.counts[Direction::Sync as usize].operations;
        let percent = |part: u64, of: u64| (of > 0).then(|| 100.0 * part as f64 / of as f64);
        // A name without an operation is in the trace for another reason: an iolog may add a file that
        // it does not use.
        let devices = targets
            .iter()
            .zip(&self.by_device)
            .filter(|(_, operations)| **operations > 0);
        Character {
            operations,
            bytes,
            duration_ns: self.last_ns,
            iops_mean: by_time(operations),
            bytes_per_s_mean: by_time(bytes),
            directions: mixes(&self.counts, operations),
            sizes: sizes(&together),
            interarrival_cv: self.bursts.interarrival_cv(),
            peaks: self.bursts.peaks(),
            sequential_percent: percent(self.space.sequential, placed),
            unaligned_percent: percent(self.space.unaligned, placed),
            working_set_bytes: self.space.touched * PAGE,
            written_set_bytes: self.space.written * PAGE,
            rewritten_percent: percent(self.space.rewrites(), self.space.page_writes),
            end_bytes: self.space.end,
            reuse: self.reuse.map(Distances::end),
            in_flight: self.flight.in_flight(),
            idle: self.flight.idle,
            profile: self.profile.slots(self.last_ns),
            map: self.map.end(),
            devices: devices
                .map(|(name, operations)| Device {
                    name: name.clone(),
                    operations: *operations,
                })
                .collect(),
            remarks,
        }
    }
}

/// The directions that occur, each with its share of the operations.
fn mixes(counts: &[Counts; 4], operations: u64) -> Vec<Mix> {
    let known = Direction::ALL.into_iter().zip(counts);
    let present = known.filter(|(_, counts)| counts.operations > 0);
    present
        .map(|(direction, counts)| Mix {
            direction,
            operations: counts.operations,
            operations_percent: 100.0 * counts.operations as f64 / operations as f64,
            bytes: counts.bytes,
            sizes: sizes(&counts.sizes).filter(|sizes| sizes.max_bytes > 0),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{at, character};

    #[test]
    fn a_trace_of_nothing_has_no_figures() {
        let nothing = character(&[]);
        assert_eq!((nothing.operations, nothing.iops_mean), (0, None));
        assert_eq!((nothing.sizes, nothing.rewritten_percent), (None, None));
    }

    /// A file that an iolog adds and does not use was a device with 0 operations, but only if it came
    /// before one that is used.
    #[test]
    fn a_device_without_operations_is_none() {
        let mut all = Characterizer::new(false);
        all.add(&Operation { target: 1, ..at(0) });
        let names = ["a", "b", "c"].map(str::to_owned);
        let devices = all.end(&names, Vec::new()).devices;
        let devices: Vec<_> = devices.iter().map(|device| &*device.name).collect();
        assert_eq!(devices, ["b"]);
    }

    #[test]
    fn a_mix_is_counted_by_direction() {
        let write = |us, offset, len| Operation {
            direction: Direction::Write,
            offset,
            len,
            ..at(us)
        };
        let sync = Operation {
            direction: Direction::Sync,
            len: 0,
            ..at(3_000_000)
        };
        let found = character(&[
            at(0),
            write(10, 4096, 8192),
            write(500_000, 8192, 4096),
            sync,
            write(4_000_000, 100, 100),
        ]);
        assert_eq!(
            (found.operations, found.bytes, found.iops_mean),
            (5, 16_484, Some(1.25))
        );
        let named: Vec<_> = found
            .directions
            .iter()
            .map(|mix| (mix.direction, mix.operations))
            .collect();
        assert_eq!(
            named,
            [
                (Direction::Read, 1),
                (Direction::Write, 3),
                (Direction::Sync, 1)
            ]
        );
        let sizes = found.sizes.expect("some");
        assert_eq!((sizes.p50_bytes, sizes.max_bytes), (4096, 8192));
        // The write at 4096 follows the read, and nothing ended at 8192 or 100.
        assert_eq!(found.sequential_percent, Some(25.0));
        assert_eq!(found.unaligned_percent, Some(25.0));
        assert_eq!(found.working_set_bytes, 3 * PAGE);
        // Four pages were written, one of them twice.
        assert_eq!(found.rewritten_percent, Some(25.0));
        assert_eq!((found.idle.gaps, found.idle.longest_ns), (2, 2_500_000_000));
    }
}
