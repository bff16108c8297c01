//! The last minutes of a run on the live screen: figures of each direction, the course of rate and
//! latency, and what is left of the burst credits.

use std::collections::VecDeque;

use blocklab_device::{CreditBalance, CreditUnit};
use blocklab_record::{Interval, IntervalDirection};
use blocklab_units::{Nanos, count, latency, visible};

use crate::observed::{LONGEST_S, amount_left};
use crate::words::facts::{DIRECTIONS, directions, mb_per_s, per_second};

/// How many intervals a line of blocks shows.
const WIDTH: usize = 48;
/// The most lines of a panel: three directions, one for the ramp, two lines of blocks, and two for
/// credits.
pub const LINES: usize = 8;

/// The last intervals of the measurement under way, and the credits.
#[derive(Default)]
pub struct Panel {
    latest: Interval,
    rates: VecDeque<f64>,
    tails: VecDeque<u64>,
    credits: Vec<Credit>,
    now: Nanos,
}

/// What is left in a burst bucket.
struct Credit {
    name: String,
    left: f64,
    unit: CreditUnit,
    /// Credits spent per second; below 0 while the bucket fills.
    spent_per_s: f64,
    at: Nanos,
}

impl Panel {
    /// A measurement begins. Earlier intervals are dropped; credits stay, as the device keeps them.
    pub fn clear(&mut self) {
        let credits = std::mem::take(&mut self.credits);
        *self = Self {
            credits,
            now: self.now,
            ..Self::default()
        };
    }

    /// An interval has ended; `elapsed` is the time of the whole run so far.
    pub fn add(&mut self, interval: &Interval, elapsed: Nanos) {
        self.latest = *interval;
        self.now = elapsed;
        let moved = directions(interval);
        let ios: u64 = moved.iter().map(|direction| direction.ios).sum();
        keep(&mut self.rates, per_second(ios, interval.length_ns));
        // Percentiles of several directions cannot be added, so the slowest one is shown.
        let tail = moved.iter().map(|direction| direction.p99_ns).max();
        keep(&mut self.tails, tail.unwrap_or(0));
    }

    /// What is left in every bucket now, in operations or bytes.
    pub fn credits(&mut self, balances: &[CreditBalance]) {
        let now = self.now;
        let before = std::mem::take(&mut self.credits);
        self.credits = balances
            .iter()
            .map(
                |CreditBalance {
                     name, left, unit, ..
                 }| {
                    // Without time in between there is no rate.
                    let known = before
                        .iter()
                        .find(|bucket| bucket.name == *name)
                        .filter(|bucket| now > bucket.at);
                    let spent = known
                        .map(|bucket| (bucket.left - left) * 1e9 / now.since(bucket.at).0 as f64);
                    Credit {
                        name: name.clone(),
                        left: *left,
                        unit: *unit,
                        spent_per_s: spent.unwrap_or(0.0),
                        at: now,
                    }
                },
            )
            .collect();
    }

    /// The lines of the panel, at most [`LINES`], none wider than 80 columns.
    pub fn lines(&self) -> Vec<String> {
        let named = DIRECTIONS.into_iter().zip(directions(&self.latest));
        let moved = named.filter(|(_, direction)| direction.ios > 0);
        let mut lines: Vec<String> = moved
            .map(|(name, direction)| figures(name, direction, self.latest.length_ns))
            .collect();
        if lines.is_empty() {
            lines.push("no operation completed".to_owned());
        }
        // The figures leave no room for it in 80 columns. The line stays when it is empty, so that
        // the lines below do not jump.
        let ramp = if self.latest.ramp {
            "ramp: not counted"
        } else {
            ""
        };
        lines.push(ramp.to_owned());
        let most = self.rates.iter().copied().fold(0.0, f64::max);
        let slowest = self.tails.iter().copied().max().unwrap_or(0);
        let rates: String = self.rates.iter().map(|rate| block(*rate, most)).collect();
        let tails = self
            .tails
            .iter()
            .map(|tail| block(*tail as f64, slowest as f64));
        let tails: String = tails.collect();
        lines.push(format!("IOPS   {rates:WIDTH$}  to {}", count(most)));
        lines.push(format!(
            "p99    {tails:WIDTH$}  to {}",
            latency(slowest as f64)
        ));
        lines.extend(self.credits.iter().map(Credit::text));
        if lines.len() > LINES {
            let more = lines.len() - LINES + 1;
            lines.truncate(LINES - 1);
            lines.push(format!("       and {more} more with credits"));
        }
        lines
    }
}

impl Credit {
    /// `left   5,390,120  gp2: burst credits, empty in 31 min 0 s`
    fn text(&self) -> String {
        let empties_soon = self.spent_per_s > self.left / LONGEST_S && self.left > 0.0;
        let end = if empties_soon {
            let left = Nanos::from_secs_f64(self.left / self.spent_per_s);
            format!(", empty in {left}")
        } else if self.left < 1.0 {
            ", empty".to_owned()
        } else {
            String::new()
        };
        let left = match self.unit {
            CreditUnit::Operations => count(self.left),
            CreditUnit::Bytes => amount_left(self.left, self.unit.text()),
        };
        format!("left   {left}  {}{end}", visible(&self.name))
    }
}

/// Appends a value, and drops the oldest one of a full line.
fn keep<T>(all: &mut VecDeque<T>, one: T) {
    if all.len() == WIDTH {
        all.pop_front();
    }
    all.push_back(one);
}

/// A value as a block letter, relative to the highest one. Any value above 0 is visible.
fn block(value: f64, most: f64) -> char {
    const BLOCKS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    // Not divided by 0 while nothing moves.
    let eighths = (8.0 * value / most.max(f64::MIN_POSITIVE)).ceil();
    BLOCKS[(eighths as usize).min(8)]
}

/// The figures of a direction in columns, so that the lines of several align.
fn figures(name: &str, direction: IntervalDirection, length_ns: u64) -> String {
    format!(
        "{name:<6} {:>10} IOPS {:>8} MB/s  p50 {:<8} p99 {:<8} max {}",
        count(per_second(direction.ios, length_ns)),
        mb_per_s(per_second(direction.bytes, length_ns)),
        latency(direction.p50_ns as f64),
        latency(direction.p99_ns as f64),
        latency(direction.max_ns as f64),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slice(ios: u64) -> Interval {
        let moved = IntervalDirection {
            ios,
            bytes: ios * 4096,
            p50_ns: 90_000,
            p99_ns: 250_000 * (1 + ios % 3),
            max_ns: 300_000_000,
            ..IntervalDirection::default()
        };
        Interval {
            length_ns: 1_000_000_000,
            read: moved,
            write: moved,
            ..Interval::default()
        }
    }

    /// The story: the screen said "left 809,999,991,821", of the bytes of a bucket.
    #[test]
    fn a_bucket_of_bytes_has_its_unit() {
        let mut panel = Panel::default();
        panel.add(&slice(1000), Nanos::from_secs(1));
        panel.credits(&[CreditBalance {
            name: "m5.xlarge: EBS throughput".to_owned(),
            left: 810e9,
            capacity: 810e9,
            unit: CreditUnit::Bytes,
        }]);
        let lines = panel.lines();
        let last = lines.last().expect("a line");
        assert_eq!(last, "left   754 GiB  m5.xlarge: EBS throughput");
    }

    /// The story: a bucket that lasted for less than a second was "empty in 0 ns".
    #[test]
    fn the_last_second_of_a_bucket_has_a_length() {
        let credit = Credit {
            name: "gp2: burst credits".to_owned(),
            left: 1_500.0,
            unit: CreditUnit::Operations,
            spent_per_s: 3_000.0,
            at: Nanos::ZERO,
        };
        let expected = "left   1,500  gp2: burst credits, empty in 500 ms";
        assert_eq!(credit.text(), expected);
    }

    /// The story: at 80 columns a mixed load lost the latencies of its writes.
    #[test]
    fn all_of_a_mixed_load_fits_into_80_columns() {
        let mut panel = Panel::default();
        for second in 1..=100 {
            panel.add(&slice(1_234_567 + second), Nanos::from_secs(second));
            let left = 5.4e6 - 2_900.0 * second as f64;
            panel.credits(&[CreditBalance {
                name: "gp2: burst credits".to_owned(),
                left,
                capacity: 5.4e6,
                unit: CreditUnit::Operations,
            }]);
        }
        let lines = panel.lines();
        assert!(lines.len() <= LINES);
        for line in &lines {
            assert!(line.chars().count() <= 80, "{line}");
        }
        assert_eq!(
            lines[1],
            "write   1,234,667 IOPS    5,057 MB/s  p50 90.0 µs  p99 750 µs   max 300 ms"
        );
        assert_eq!(lines[3].matches('█').count(), WIDTH, "{}", lines[3]);
        assert_eq!(
            lines[5],
            "left   5,110,000  gp2: burst credits, empty in 29 min 22 s"
        );
    }

    /// The story: the word stood after the figures, and 80 columns cut it to "ram".
    #[test]
    fn the_ramp_is_named_in_80_columns() {
        let mut panel = Panel::default();
        let ramp = Interval {
            ramp: true,
            ..slice(1_234_567)
        };
        panel.add(&ramp, Nanos::from_secs(1));
        let lines = panel.lines();
        assert!(lines[..2].iter().all(|line| line.chars().count() <= 74));
        assert_eq!(lines[2], "ramp: not counted");
    }

    #[test]
    fn a_new_measurement_begins_without_the_old_one() {
        let mut panel = Panel::default();
        panel.add(&slice(100), Nanos::from_secs(1));
        panel.clear();
        assert_eq!(panel.lines()[0], "no operation completed");
    }

    #[test]
    fn blocks_are_as_high_as_their_share() {
        let shown: String = [0.0, 0.1, 5.0, 10.0]
            .map(|value| block(value, 10.0))
            .into_iter()
            .collect();
        assert_eq!(shown, " ▁▄█");
        assert_eq!(block(0.0, 0.0), ' ');
    }
}
