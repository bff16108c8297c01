//! The lines of one log of fio.
//!
//! ```text
//! 250, 344378, 1, 0, 0                   ms, value, direction, block size, priority
//! 2, 146664, 0, 4096, 774144, 0x0000     with `log_offset`, the offset before the priority
//! 250, 344378, 900000, 1, 0, 0           `log_window_value=both`: mean and largest
//! ```
//!
//! A block size of 0 marks the mean of a window (`log_avg_msec`); else a line is one operation.

use std::collections::BTreeMap;

use crate::scan::{number, whole};
use blocklab_stats::Histogram;

/// One log, by direction.
#[derive(Debug, Default)]
pub(super) struct Rows {
    pub ways: [Way; 3],
    /// Whether lines are windows; `None`: it is empty.
    pub averaged: Option<bool>,
    pub first_ms: f64,
    pub last_ms: f64,
}

/// Reads, writes or trims of a log.
#[derive(Debug, Default)]
pub(super) struct Way {
    /// The ends of windows in ms, and their values.
    pub windows: Vec<(f64, f64)>,
    /// The number of operations.
    pub ios: u64,
    pub bytes: f64,
    /// Block size of all of them; `None`: they differ.
    pub block: Option<u64>,
    pub sum: f64,
    pub squares: f64,
    pub min: f64,
    pub max: f64,
    /// A value of each bucket of our histograms, and how many are in it.
    pub counts: BTreeMap<usize, (f64, u64)>,
    /// By second: operations, bytes, sum of values.
    pub seconds: BTreeMap<u64, [f64; 3]>,
    /// Of bandwidths in KiB/s: how long the operations took by them, in seconds.
    pub seconds_by_rate: f64,
}

struct Line {
    ms: f64,
    value: f64,
    largest: Option<f64>,
    way: usize,
    block: u64,
}

impl Rows {
    /// # Errors
    /// The index of a line and what is wrong with it.
    pub fn read(text: &str) -> Result<Self, (usize, String)> {
        let mut rows = Self::default();
        let mut known = [None; 3];
        for (index, text) in text.lines().enumerate() {
            if text.trim().is_empty() {
                continue;
            }
            let Some(line) = line(text) else {
                let message = format!(
                    "`{}` is no line of a log of fio: time in ms, value, direction, block size",
                    text.trim()
                );
                return Err((index, message));
            };
            rows.add(&line, &mut known[line.way])
                .map_err(|message| (index, message))?;
        }
        Ok(rows)
    }

    /// `known`: the end of the last window of this direction, and whether it was repeated.
    fn add(&mut self, line: &Line, known: &mut Option<(f64, bool)>) -> Result<(), String> {
        let is_window = line.block == 0;
        match self.averaged {
            Some(averaged) if averaged != is_window => {
                return Err("one log holds both single operations and windows".to_owned());
            }
            Some(_) => {}
            None => (self.averaged, self.first_ms) = (Some(is_window), line.ms),
        }
        // The rest of the last window has the time of the end, too.
        let is_again = known.is_some_and(|(end, _)| end == line.ms);
        let is_back = known.is_some_and(|(end, again)| line.ms < end || (is_window && again));
        if is_back {
            return Err(
                "the times go back: logs of several jobs or runs in one file (per_job_logs=0) \
                 cannot be told apart; give a file for each job"
                    .to_owned(),
            );
        }
        *known = Some((line.ms, is_again));
        self.last_ms = self.last_ms.max(line.ms);
        let way = &mut self.ways[line.way];
        if is_window {
            way.windows.push((line.ms, line.value));
            way.max = way.max.max(line.largest.unwrap_or(0.0));
        } else {
            way.operation(line);
        }
        Ok(())
    }
}

impl Way {
    fn operation(&mut self, line: &Line) {
        let (is_first, bytes) = (self.ios == 0, line.block as f64);
        self.block = if is_first {
            Some(line.block)
        } else {
            self.block.filter(|known| *known == line.block)
        };
        self.min = if is_first {
            line.value
        } else {
            self.min.min(line.value)
        };
        self.max = self.max.max(line.value);
        self.ios += 1;
        self.bytes += bytes;
        self.sum += line.value;
        self.squares += line.value * line.value;
        if line.value > 0.0 {
            self.seconds_by_rate += bytes / 1024.0 / line.value;
        }
        let bucket = Histogram::index(line.value.min(1e18) as u64);
        self.counts.entry(bucket).or_insert((line.value, 0)).1 += 1;
        let second = self.seconds.entry((line.ms / 1e3) as u64).or_default();
        for (sum, more) in second.iter_mut().zip([1.0, bytes, line.value]) {
            *sum += more;
        }
    }
}

fn line(text: &str) -> Option<Line> {
    let fields: Vec<&str> = text.split(',').map(str::trim).collect();
    let is_both = whole(fields.get(2)?).is_some_and(|whole| whole > 2);
    let at = if is_both { 3 } else { 2 };
    let way = whole(fields.get(at)?).filter(|way| *way < 3)?;
    if fields.len() > at + 5 {
        return None;
    }
    let [ms, value, largest] =
        [0, 1, 2].map(|at| number(fields[at]).filter(|number| *number >= 0.0));
    Some(Line {
        ms: ms?,
        value: value?,
        largest: largest.filter(|_| is_both),
        way: way as usize,
        block: whole(fields.get(at + 1)?)?,
    })
}
