//! What a cap passes beyond its rate after a rest: how much it has saved up, and how fast at most.
//!
//! ```text
//!   rate ▲ peak ┌──────────┬──┐               the saved operations of successive measurements add up
//!        │      │ first    │  │ second        until one of them ends at the rate; a measurement that
//!        │ rate │          │  └───────        ends before that has run at the peak
//!        └──────┴──────────┴──────────▶ time
//! ```

use blocklab_device::{Accounting, Covers, Rate};
use blocklab_units::Nanos;

use super::cells::{Load, LoadDirection, Start};

/// A shorter bucket, in seconds, is the error of the rate.
const SHORTEST: f64 = 0.05;
/// A longer one is none of a limiter: burst credits, or a rate that was wrong.
const LONGEST: f64 = 5.0;
/// A rate that is higher by less than this share is the same rate, as for plateaus.
const SAME: f64 = 0.025;
/// A medium that does less than this many times a rate may itself be what holds it there.
const CLEARLY: f64 = 1.25;
/// The fewest measurements that show a peak: one alone may have met another limit.
const FEWEST: usize = 2;

/// What one cap passes after a rest.
#[derive(Debug, PartialEq)]
pub(super) struct Burst {
    /// In time of the cap's own rate.
    pub bucket: Nanos,
    /// In the unit of the rate; `None`: as fast as the medium takes it.
    pub peak: Option<f64>,
}

impl Burst {
    /// What measurements in a row (`starts`) show of a cap at `rate`: the most that they moved beyond it
    /// until one of them ended at the rate, and how fast they moved before. `medium` gives what a load
    /// would reach without caps, in operations a second.
    pub(super) fn seen_in(
        starts: &[Start],
        covers: Covers,
        rate: Rate,
        accounting: Accounting,
        medium: impl Fn(Load) -> f64,
    ) -> Self {
        // In seconds of the rate: what the measurements since the last full bucket have spent of
        // it, and the most that was ever spent.
        let (mut spent, mut most) = (0.0f64, 0.0f64);
        let mut before: Option<(&Start, f64)> = None;
        let mut peaks = Vec::new();
        for start in starts {
            let is_counted = counts(covers, start.load.direction);
            let charge = start.load.charged(accounting);
            let units = if rate.counts_bytes() {
                charge.bytes
            } else {
                charge.ops
            };
            // How many times its rate the cap let pass on average.
            let times = start.ops * units / rate.per_second() / start.seconds;
            // It ended with an empty bucket, or ran below the rate and filled it: counting starts anew.
            if is_counted && times <= 1.0 + SAME {
                (spent, before) = (0.0, None);
                continue;
            }
            // What is saved up again in between.
            spent = (spent - start.rest).max(0.0);
            // The cap rests during a load of the other direction. A mixed load counts as one, too: so
            // the bucket is found too small rather than too large.
            if !is_counted {
                spent = (spent - start.seconds).max(0.0);
                continue;
            }
            // This one still found something saved up, so the one before ran at the peak to its end.
            peaks.extend(before.filter(|_| spent > 0.0));
            spent += (times - 1.0) * start.seconds;
            most = most.max(spent);
            before = Some((start, times));
        }
        let is_bucket = (SHORTEST..LONGEST).contains(&most);
        let millis = if is_bucket { (most * 1e3).round() } else { 0.0 };
        // Where the medium is hardly faster than the peak, it may itself have held the peak there.
        peaks.retain(|(peak, _)| medium(peak.load) > CLEARLY * peak.ops / peak.seconds);
        let peaks: Vec<f64> = peaks.into_iter().map(|(_, times)| times).collect();
        let peak = common(&peaks).filter(|_| is_bucket);
        Self {
            bucket: Nanos::from_millis(millis as u64),
            peak: peak.map(|times| times * rate.per_second()),
        }
    }
}

fn counts(covers: Covers, direction: LoadDirection) -> bool {
    match covers {
        Covers::All => true,
        Covers::Reads => direction == LoadDirection::Read,
        Covers::Writes => direction == LoadDirection::Write,
    }
}

/// The mean of rates that are all the same.
fn common(rates: &[f64]) -> Option<f64> {
    let most = rates.iter().copied().fold(0.0, f64::max);
    let agree = rates.iter().all(|rate| *rate >= most * (1.0 - SAME));
    (rates.len() >= FEWEST && agree).then(|| rates.iter().sum::<f64>() / rates.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    const REST: f64 = f64::INFINITY;

    /// Writes of 4 KiB against 1,000 a second: `starts` are rates over two seconds, and rests before.
    #[track_caller]
    fn check(starts: &[(f64, f64)], bucket_ms: u64, peak: Option<f64>) {
        let start = |(iops, rest): &(f64, f64)| Start {
            load: Load {
                direction: LoadDirection::Write,
                sequential: false,
                block: 4096,
                depth: 64,
            },
            ops: iops * 2.0,
            seconds: 2.0,
            rest: *rest,
        };
        let starts: Vec<Start> = starts.iter().map(start).collect();
        let of = |covers, medium| {
            let rate = Rate::Iops(1000.0);
            Burst::seen_in(&starts, covers, rate, Accounting::Plain, |_| medium)
        };
        let bucket = Nanos::from_millis(bucket_ms);
        assert_eq!(of(Covers::Writes, 1e6), Burst { bucket, peak });
        let slow = of(Covers::Writes, 1300.0);
        assert_eq!(slow, Burst { bucket, peak: None }, "the medium holds it");
        let none = Burst {
            bucket: Nanos::ZERO,
            peak: None,
        };
        assert_eq!(of(Covers::Reads, 1e6), none);
    }

    /// Only the first measurement after a rest counted: of 900 ms that I3 saves up for writes, 701
    /// were found, and no peak, so that mixed loads had the wrong rate by 13 % and latency by 51 %.
    #[test]
    fn a_bucket_that_outlasts_a_measurement() {
        let once = [(1280.0, REST), (1170.0, 0.0), (1000.0, 0.0)];
        check(&once, 900, None);
        check(&[once, once].concat(), 900, Some(1280.0));
        check(&[(1280.0, 0.0), (1170.0, 0.3), (1000.0, 0.0)], 600, None);
    }

    #[test]
    fn a_bucket_that_one_measurement_empties() {
        check(&[(1450.0, REST), (1000.0, 0.0)], 900, None);
    }

    #[test]
    fn rates_that_are_not_a_peak() {
        let differ = [(1400.0, REST), (1100.0, 0.0), (1000.0, 0.0)];
        let other = [(1200.0, REST), (1100.0, 0.0), (1000.0, 0.0)];
        check(&[differ, other].concat(), 1000, None);
    }

    #[test]
    fn what_is_no_bucket() {
        check(&[(1000.0, REST), (1020.0, 0.0)], 0, None);
        // Faster for longer than a limiter saves up.
        check(&[(2000.0, 0.0); 5], 0, None);
    }
}
