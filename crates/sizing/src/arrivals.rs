//! In: operations; devices. Out: the most that comes within windows of any length, and what each device
//! lets pass within the same: one picture that says who carries the load.
//!
//! A device whose line lies above that of the load everywhere holds nothing back for long. Reads and writes
//! count as they were recorded: where a volume merges or splits them, [`Gates`](crate::Gates) give the
//! exact answer. As no limit counts flushes or the bytes of trims, they do not count here.

use blocklab_device::{Cap, Covers, Credit, DeviceSpec, Rate};
use blocklab_trace::Operation;
use blocklab_units::Nanos;
use serde::Serialize;

use crate::Envelope;
use crate::bounds::as_io;

/// What is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Quantity {
    /// Operations.
    Operations,
    /// Bytes.
    Bytes,
}

/// The most that comes within a window.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Window {
    /// Its length.
    pub window_ns: u64,
    /// Operations.
    pub operations: f64,
    /// Bytes of the operations before the last one: a limiter lets an operation go once those before it
    /// are paid for.
    pub bytes: f64,
}

/// Collects a load.
#[derive(Debug, Default)]
pub struct Arrivals {
    operations: Envelope,
    bytes: Envelope,
    last: Nanos,
}

/// Lengths of windows: three a decade, from 10 ms on.
const FIRST_NS: u64 = 10_000_000;
const STEPS: [u64; 3] = [1, 2, 5];

impl Arrivals {
    /// Takes an operation in.
    pub fn add(&mut self, operation: &Operation) {
        let io = as_io(operation);
        if Covers::All.counts(io.direction) {
            self.operations.add(operation.at, 1);
            self.bytes.add(operation.at, io.moved());
        }
        self.last = operation.at;
    }

    /// The most within windows up to the length of the load.
    pub fn windows(self) -> Vec<Window> {
        let (operations, bytes) = (self.operations.consolidated(), self.bytes.consolidated());
        let decades = std::iter::successors(Some(FIRST_NS), |decade| decade.checked_mul(10));
        let lengths = decades
            .flat_map(|decade| STEPS.map(|step| decade.checked_mul(step)))
            .flatten()
            .take_while(|window_ns| *window_ns <= self.last.0.max(FIRST_NS));
        let windows = lengths.map(|window_ns| Window {
            window_ns,
            // The hull counts the work before an operation. The operation itself is one more; how many
            // bytes it has, the hull does not keep.
            operations: operations.within(Nanos(window_ns)) + 1.0,
            bytes: bytes.within(Nanos(window_ns)),
        });
        windows.collect()
    }
}

/// What a device lets pass within a window, from a rest; `None` where no limit counts that for all
/// directions, several volumes share the load, or a cache of the host answers a part of it.
pub fn passes(spec: &DeviceSpec, quantity: Quantity, window_ns: u64) -> Option<f64> {
    let [volume] = &spec.volumes[..] else {
        return None;
    };
    if spec.cache().is_some() {
        return None;
    }
    let seconds = window_ns as f64 / 1e9;
    let own = (&volume.caps[..], &volume.credits[..]);
    let machine = spec.instance.as_ref();
    let machine = machine.map(|machine| (&machine.caps[..], &machine.credits[..]));
    let lists = [Some(own), machine].into_iter().flatten();
    let found = lists.flat_map(|(caps, credits)| {
        let caps = caps.iter().filter_map(|cap| of_cap(cap, quantity, seconds));
        let credits = credits.iter();
        caps.chain(credits.filter_map(|credit| of_credit(credit, quantity, seconds)))
    });
    found.reduce(f64::min)
}

/// What a cap lets pass within a time; `None` if it does not hold for all operations or counts
/// another quantity.
fn of_cap(cap: &Cap, quantity: Quantity, seconds: f64) -> Option<f64> {
    if cap.covers != Covers::All {
        return None;
    }
    let rate = per_second(cap.rate, quantity)?;
    let saved = rate * (seconds + cap.bucket.0 as f64 / 1e9);
    let peak = cap.peak.and_then(|peak| per_second(peak, quantity));
    Some(peak.map_or(saved, |peak| saved.min(peak * seconds)))
}

fn of_credit(credit: &Credit, quantity: Quantity, seconds: f64) -> Option<f64> {
    let base = per_second(credit.baseline, quantity)?;
    let burst = per_second(credit.burst, quantity)?;
    let saved = credit.capacity * credit.initial_share;
    Some((saved + base * seconds).min(burst * seconds))
}

/// The rate in units a second; `None` if it counts another quantity.
fn per_second(rate: Rate, quantity: Quantity) -> Option<f64> {
    let counts_it = rate.counts_bytes() == (quantity == Quantity::Bytes);
    counts_it.then(|| rate.per_second())
}

#[cfg(test)]
mod tests {
    use blocklab_device::{Accounting, Origin};
    use blocklab_workload::Direction;

    use super::*;
    use crate::demand::limited;

    #[test]
    fn a_load_and_a_device_are_two_lines() {
        let mut arrivals = Arrivals::default();
        for index in 0..1000 {
            let at = Nanos(index * 1_000_000);
            arrivals.add(&Operation::new(at, Direction::Read, 0, 4096));
        }
        let windows = arrivals.windows();
        let second = windows
            .iter()
            .find(|window| window.window_ns == 500_000_000);
        let second = second.expect("half a second");
        // Operations at both ends of the window; of bytes, those before the last operation.
        assert!((second.operations - 501.0).abs() < 1e-6, "{second:?}");
        assert!((second.bytes - 500.0 * 4096.0).abs() < 1e-6, "{second:?}");
        let cap = Cap {
            bucket: Nanos::from_secs(1),
            ..Cap::new("operations", Rate::Iops(100.0), Origin::Given)
        };
        let device = limited(vec![cap], Accounting::default());
        assert_eq!(
            passes(&device, Quantity::Operations, 500_000_000),
            Some(150.0)
        );
        assert_eq!(passes(&device, Quantity::Bytes, 500_000_000), None);
    }

    /// The story: trims counted with their length and flushes as operations, which no limit counts, so that
    /// a load beside volumes that carry it asked for a hundred times what they let pass.
    #[test]
    fn trims_move_nothing_and_flushes_count_nowhere() {
        let mut arrivals = Arrivals::default();
        for direction in [Direction::Trim, Direction::Sync, Direction::Write] {
            arrivals.add(&Operation::new(Nanos::ZERO, direction, 0, 4096));
        }
        let windows = arrivals.windows();
        // The trim before the write, and the write itself.
        assert_eq!((windows[0].operations, windows[0].bytes), (2.0, 0.0));
    }

    /// The story: after its window of 10,000,000,000 s, a trace in a wrong unit of time had one of
    /// 1,553,255,926 s, and a debug build panicked.
    #[test]
    fn windows_grow_to_the_end_of_the_clock() {
        let mut arrivals = Arrivals::default();
        for at in [0, u64::MAX] {
            arrivals.add(&Operation::new(Nanos(at), Direction::Read, 0, 4096));
        }
        let windows = arrivals.windows();
        let last = windows.last().map(|window| window.window_ns);
        assert_eq!(last, Some(10_000_000_000_000_000_000));
    }
}
