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
    pub directions: [DirectionRows; 3],
    /// Whether lines are windows; `None`: it is empty.
    pub averaged: Option<bool>,
    pub first_ms: f64,
    pub last_ms: f64,
}

/// No first operation takes longer: a later first line is by another clock than that of the job
/// (`log_unix_epoch`, `log_alternate_epoch`).
const LATEST_START_MS: f64 = 600_000.0;

/// The mean of a window (`log_avg_msec`).
#[derive(Debug, Clone, Copy)]
pub(super) struct Window {
    pub end_ms: f64,
    pub value: f64,
}

/// The operations of one second, added up.
#[derive(Debug, Default)]
pub(super) struct SecondSums {
    pub ios: f64,
    pub bytes: f64,
    pub values: f64,
}

/// Reads, writes or trims of a log.
#[derive(Debug, Default)]
pub(super) struct DirectionRows {
    pub windows: Vec<Window>,
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
    /// By second after [`Rows::clock_start_ms`].
    pub seconds: BTreeMap<u64, SecondSums>,
    /// Of bandwidths in KiB/s: how long the operations took by them, in seconds.
    pub seconds_by_rate: f64,
}

struct Line {
    ms: f64,
    value: f64,
    /// With `log_window_value=both`, the largest value of the window.
    largest: Option<f64>,
    /// 0: read, 1: write, 2: trim.
    direction: usize,
    block: u64,
}

/// The last line of a direction, by which the next one is judged.
#[derive(Clone, Copy)]
struct LastLine {
    ms: f64,
    /// Whether the line before it had the same time.
    is_repeated: bool,
}

impl Rows {
    /// # Errors
    /// The index of a line and what is wrong with it.
    pub fn read(text: &str) -> Result<Self, (usize, String)> {
        let mut rows = Self::default();
        let mut last_lines = [None; 3];
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
            rows.add(&line, &mut last_lines[line.direction])
                .map_err(|message| (index, message))?;
        }
        Ok(rows)
    }

    /// Adds a line, and sets `last` to it. The times of a log must not go back.
    fn add(&mut self, line: &Line, last: &mut Option<LastLine>) -> Result<(), String> {
        let is_window = line.block == 0;
        match self.averaged {
            Some(averaged) if averaged != is_window => {
                return Err("one log holds both single operations and windows".to_owned());
            }
            Some(_) => {}
            None => (self.averaged, self.first_ms) = (Some(is_window), line.ms),
        }
        // The rest of the last window has the time of the end, too, so one repetition is allowed.
        let is_repeated = last.is_some_and(|last| last.ms == line.ms);
        let goes_back =
            last.is_some_and(|last| line.ms < last.ms || (is_window && last.is_repeated));
        if goes_back {
            return Err(
                "the times go back: logs of several jobs or runs in one file (per_job_logs=0) \
                 cannot be told apart; give a file for each job"
                    .to_owned(),
            );
        }
        *last = Some(LastLine {
            ms: line.ms,
            is_repeated,
        });
        self.last_ms = self.last_ms.max(line.ms);
        let clock_start_ms = self.clock_start_ms();
        let direction = &mut self.directions[line.direction];
        if is_window {
            direction.windows.push(Window {
                end_ms: line.ms,
                value: line.value,
            });
            direction.max = direction.max.max(line.largest.unwrap_or(0.0));
        } else {
            direction.add_operation(line, clock_start_ms);
        }
        Ok(())
    }

    /// Where the clock of the log begins: at 0, or at the first line if it is another clock than the job's.
    pub fn clock_start_ms(&self) -> f64 {
        if self.first_ms > LATEST_START_MS {
            self.first_ms
        } else {
            0.0
        }
    }
}

impl DirectionRows {
    /// Adds the line of a single operation.
    fn add_operation(&mut self, line: &Line, clock_start_ms: f64) {
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
        // The end of a second is its own, so that an operation at the end of the run is in its last.
        let second = ((line.ms - clock_start_ms - 1.0).max(0.0) / 1e3) as u64;
        let second = self.seconds.entry(second).or_default();
        second.ios += 1.0;
        second.bytes += bytes;
        second.values += line.value;
    }
}

/// `ms, value[, largest], direction, block[, …]`; `None` for any other line. Directions are 0 to 2.
fn line(text: &str) -> Option<Line> {
    let fields: Vec<&str> = text.split(',').map(str::trim).collect();
    let is_both = whole(fields.get(2)?).is_some_and(|whole| whole > 2);
    let at = if is_both { 3 } else { 2 };
    let direction = whole(fields.get(at)?).filter(|direction| *direction < 3)?;
    if fields.len() > at + 5 {
        return None;
    }
    let [ms, value, largest] =
        [0, 1, 2].map(|place| number(fields[place]).filter(|number| *number >= 0.0));
    Some(Line {
        ms: ms?,
        value: value?,
        largest: largest.filter(|_| is_both),
        direction: direction as usize,
        block: whole(fields.get(at + 1)?)?,
    })
}
