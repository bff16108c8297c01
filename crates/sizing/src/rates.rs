//! In: a table of rates, and the model of a device. Out: between what and what the load would have done
//! there.
//!
//! A table knows the interval and not its inside. So it is played twice: spread evenly over each
//! interval, and with all of it in one burst at its beginning. How dense a burst is follows from the
//! index of dispersion of counts by second: with a mean rate m, bursts at m + D have the index D.
//!
//! ```text
//!   even    ││││││││││││││││││││││││       burst   ║║║║
//!           └──────── interval ────┘               └──────── interval ────┘
//! ```

use blocklab_device::{DeviceSpec, Invalid};
use blocklab_trace::Operation;
use blocklab_trace::rates::{RateInterval, RateTable};
use blocklab_units::Nanos;
use blocklab_workload::Direction;
use serde::Serialize;

use crate::{Outcome, Replay};

/// Index of dispersion of a bursty load: 60 to 2,000 at a second were seen in four recordings of
/// servers, and the worst of them counts.
pub const DISPERSION: f64 = 2000.0;
/// Bytes of an operation where the table has none.
pub const ASSUMED_BYTES: u64 = 4096;
/// No operation moves more.
const LARGEST: u64 = 1 << 30;

/// What a table of rates would have done on a device.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RatesOutcome {
    /// With the operations of an interval spread evenly over it.
    pub even: Outcome,
    /// With all of them in a burst.
    pub bursty: Outcome,
    /// The balance of the table against that of the model.
    pub balance: Option<BalanceCheck>,
}

/// A measured balance of credits against the modelled one.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct BalanceCheck {
    /// The lowest one of the table.
    pub table_min_percent: f64,
    /// The lowest one of the model.
    pub model_min_percent: f64,
    /// The largest difference of both in an interval, in points.
    pub difference_max_points: f64,
    /// Where that is.
    pub at_ns: u64,
}

/// How many operations a table stands for.
pub fn operations_in(table: &RateTable) -> f64 {
    let seconds = table.interval_ns as f64 / 1e9;
    let rates = table.intervals.iter().filter_map(|interval| interval.iops);
    rates.map(|iops| iops * seconds).sum()
}

/// Plays a table in both ways. An operation may wait for at most `tolerated`.
///
/// # Errors
/// The first rule that the specification of the device breaks.
pub fn play_rates(
    table: &RateTable,
    spec: &DeviceSpec,
    tolerated: Nanos,
) -> Result<RatesOutcome, Invalid> {
    let mut even = Replay::new(spec, tolerated)?;
    let mut bursty = Replay::new(spec, tolerated)?;
    // Each has its own, so that both replays get the same operations at other times.
    let mut even_maker = Maker::new(spec);
    let mut bursty_maker = Maker::new(spec);
    let mut balance: Option<BalanceCheck> = None;
    for interval in &table.intervals {
        let rate = interval.iops.unwrap_or(0.0);
        even_maker.make(interval, table.interval_ns, rate, &mut even);
        let burst_rate = rate + DISPERSION;
        bursty_maker.make(interval, table.interval_ns, burst_rate, &mut bursty);
        let end = Nanos(interval.from_ns + table.interval_ns);
        if let Some((measured, modelled)) = interval.balance_percent.zip(even.balance_percent(end))
        {
            let check = balance.get_or_insert(BalanceCheck {
                table_min_percent: measured,
                model_min_percent: modelled,
                difference_max_points: 0.0,
                at_ns: interval.from_ns,
            });
            check.table_min_percent = check.table_min_percent.min(measured);
            check.model_min_percent = check.model_min_percent.min(modelled);
            let difference = (measured - modelled).abs();
            if difference > check.difference_max_points {
                (check.difference_max_points, check.at_ns) = (difference, interval.from_ns);
            }
        }
    }
    Ok(RatesOutcome {
        even: even.end(),
        bursty: bursty.end(),
        balance,
    })
}

/// Makes operations from rates.
struct Maker {
    /// Blocks of 4 KiB that they are on, scattered so that no two follow each other.
    blocks: u64,
    random: u64,
    /// Parts of an operation that earlier intervals left.
    rest: f64,
    writes: f64,
}

impl Maker {
    fn new(spec: &DeviceSpec) -> Self {
        Self {
            blocks: (spec.capacity().0 / 4096).max(1),
            random: 0,
            rest: 0.0,
            writes: 0.0,
        }
    }

    /// Replays the operations of an interval from its start on, at `rate` a second: at its own rate
    /// they fill it, at a higher one they are a burst. The fraction of an operation and of a
    /// write that is left is carried over to the next interval.
    fn make(&mut self, interval: &RateInterval, length_ns: u64, rate: f64, replay: &mut Replay) {
        let Some(iops) = interval.iops.filter(|iops| *iops > 0.0) else {
            return;
        };
        let exact = iops * length_ns as f64 / 1e9 + self.rest;
        let count = exact as u64;
        self.rest = exact - count as f64;
        let share = match (interval.read_iops, interval.write_iops) {
            (_, Some(writes)) => writes / iops,
            (Some(reads), None) => 1.0 - reads / iops,
            (None, None) => 0.5,
        };
        let sizes = [
            size(interval.read_bytes_per_s, interval.read_iops),
            size(interval.write_bytes_per_s, interval.write_iops),
        ];
        // A rate of both directions comes with bytes of each.
        let mixed = size(interval.bytes_per_s(), Some(iops));
        let gap = 1e9 / rate;
        for index in 0..count {
            self.writes += share;
            let is_write = self.writes >= 1.0;
            self.writes -= f64::from(u8::from(is_write));
            let own = sizes[usize::from(is_write)].or(mixed);
            let len = own.unwrap_or(ASSUMED_BYTES);
            // Knuth's linear congruential generator: the same offsets in every run. Its low bits
            // repeat soon, so they are not used.
            self.random = self
                .random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            let last = self.blocks.saturating_sub(len.div_ceil(4096)).max(1);
            let at = Nanos(interval.from_ns + (index as f64 * gap) as u64);
            let direction = if is_write {
                Direction::Write
            } else {
                Direction::Read
            };
            let offset = (self.random >> 16) % last * 4096;
            replay.add(&Operation::new(at, direction, offset, len as u32));
        }
    }
}

/// Bytes of an operation in the mean, rounded to whole sectors; `None` if one of the rates is not known.
fn size(bytes: Option<f64>, iops: Option<f64>) -> Option<u64> {
    let (bytes, iops) = bytes.zip(iops).filter(|(_, iops)| *iops > 0.0)?;
    Some(((bytes / iops / 512.0).round() as u64 * 512).clamp(512, LARGEST))
}

#[cfg(test)]
mod tests {
    use blocklab_device::{Accounting, Cap, Covers, Origin, Rate};

    use super::*;
    use crate::demand::limited;

    /// The story: of a table that has only reads, every other operation was played as a write, so a limit
    /// of reads let twice the rate pass that it allows.
    #[test]
    fn a_table_of_reads_alone_is_played_as_reads() {
        let caps = vec![Cap {
            covers: Covers::Reads,
            ..Cap::new("reads", Rate::Iops(100.0), Origin::Given)
        }];
        let interval = RateInterval {
            read_iops: Some(150.0),
            iops: Some(150.0),
            ..RateInterval::default()
        };
        let table = RateTable {
            interval_ns: 60_000_000_000,
            intervals: vec![interval],
            ..RateTable::default()
        };
        let spec = limited(caps, Accounting::Plain);
        let found = play_rates(&table, &spec, Nanos::from_secs(1)).expect("a sound device");
        // 9,000 reads take 90 s at 100 a second, and the last one comes after 60 s.
        assert!(found.even.wait_max_ns > 29_000_000_000, "{found:?}");
    }
}
