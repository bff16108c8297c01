//! One result of fio's normal text: its head and the lines below it.

use crate::figures::{Figures, Shape};
use crate::fio::request::{Options, requested};
use crate::fio::{check_agreement, ended_by};
use crate::record::{Found, Job};
use crate::scan::number;
use blocklab_syntax::number::power;

const HEAD: &str = ": (groupid=";

/// One job, or a group of them.
#[derive(Default)]
pub(super) struct Block {
    pub line: usize,
    pub name: String,
    pub group: String,
    pub threads: u32,
    errors: u64,
    ended_by: Option<i32>,
    pub process: String,
    pub date: String,
    directions: Vec<PrintedDirection>,
    /// Operations by direction.
    issued: Vec<u64>,
    /// All shares of depths together: flushes count there, and not among the issued.
    depths_percent: f64,
}

/// One direction as printed.
#[derive(Default)]
struct PrintedDirection {
    name: &'static str,
    iops: Option<f64>,
    bytes: f64,
    seconds: f64,
    /// From submission to completion, from the creation on, and of flushes.
    clat: Times,
    lat: Times,
    sync: Times,
    /// The list of percentiles that the next lines belong to.
    open_list: Option<PercentileList>,
}

/// The head of a list of percentiles.
#[derive(Clone, Copy)]
struct PercentileList {
    /// The latency that it is of: `clat`, `lat` or `sync`.
    name: &'static str,
    /// Nanoseconds in the unit of its values.
    unit_ns: f64,
}

/// A latency, in nanoseconds.
#[derive(Default, Clone)]
struct Times {
    /// Min, max, mean, deviation.
    moments: Option<[f64; 4]>,
    /// Shares from 0 to 1, each with the time that it does not exceed.
    percentiles: Vec<(f64, f64)>,
}

/// All directions in one, as `unified_rw_reporting` prints them.
const MIXED: &str = "mixed";
const DIRECTIONS: [&str; 4] = ["read", "write", "trim", MIXED];
const FLUSHES: &str = "sync";

/// `j: (groupid=0, jobs=1): err= 0: pid=1234: Sat Nov 28 07:00:00 2026`.
pub(super) fn head(line: &str) -> Option<Block> {
    let (name, rest) = line.split_once(HEAD)?;
    let (inside, rest) = rest.split_once("): err=")?;
    let (group, jobs) = inside.split_once(", jobs=")?;
    let (error, rest) = rest.split_once(':')?;
    // `err= 5 (file:…, func=…, error=…): pid=…`
    let (_, process) = rest.rsplit_once("pid=").unwrap_or(("", rest));
    let (process, date) = process.split_once(':').unwrap_or((process, ""));
    let error = error.trim().split(' ').next().unwrap_or_default();
    Some(Block {
        // A line of progress may end with a carriage return alone.
        name: name.rsplit('\r').next().unwrap_or(name).trim().to_owned(),
        group: group.trim().to_owned(),
        threads: jobs.trim().parse().ok()?,
        errors: u64::from(error != "0"),
        ended_by: error.parse().ok().and_then(|error| ended_by(error, None)),
        process: process.trim().to_owned(),
        date: date.trim().to_owned(),
        ..Block::default()
    })
}

/// The figure after `key=`.
fn after_key<'a>(line: &'a str, key: &str) -> Option<&'a str> {
    let (_, rest) = line.split_once(key)?;
    let end = rest.find([',', ';', ')']).unwrap_or(rest.len());
    Some(rest[..end].trim())
}

fn nanoseconds(unit: &str) -> Option<f64> {
    match unit {
        "nsec" => Some(1.0),
        "usec" => Some(1e3),
        "msec" => Some(1e6),
        "sec" => Some(1e9),
        _ => None,
    }
}

impl Block {
    /// Reads a line below the head.
    pub fn read_line(&mut self, line: &str) -> Result<(), String> {
        if let Some((label, rest)) = line.split_once(':') {
            let label = label.trim_end();
            if let Some(name) = DIRECTIONS.iter().find(|name| **name == label) {
                self.directions.push(direction_line(name, rest)?);
            } else if label.starts_with("fsync/fdatasync") {
                self.directions.push(PrintedDirection {
                    name: FLUSHES,
                    ..PrintedDirection::default()
                });
            } else if label == "IO depths" {
                self.depths_percent = rest
                    .split(',')
                    .filter_map(|part| number(part.split_once('=')?.1.trim().strip_suffix('%')?))
                    .sum();
            } else if label == "errors" {
                self.survived_errors(rest);
            } else if label.starts_with("issued") {
                self.issued = issued_counts(rest);
            } else if let Some(direction) = self.directions.last_mut() {
                direction.read_latency(label, rest)?;
            }
        } else if let (Some(list), Some(direction)) =
            (line.strip_prefix('|'), self.directions.last_mut())
        {
            direction.read_percentiles(list)?;
        }
        Ok(())
    }

    /// Reads `total=2, first_error=84/<Invalid or incomplete multibyte or wide character>`: errors after
    /// which the job went on. The head has the first one, too, which then did not end the job.
    fn survived_errors(&mut self, errors: &str) {
        let count = after_key(errors, "total=").and_then(|count| count.parse().ok());
        self.errors = count.filter(|count| *count > 0).unwrap_or(self.errors);
        let first = after_key(errors, "first_error=").and_then(|first| first.split('/').next());
        let first = first.and_then(|number| number.parse().ok());
        self.ended_by = self
            .ended_by
            .and_then(|error| ended_by(error.into(), first));
    }

    /// The job; `options` are those that its request line shows, if the block is about that job alone.
    pub fn job(&self, options: Option<&Options>, found: &mut Found) -> Result<Job, String> {
        if self
            .directions
            .iter()
            .all(|direction| direction.name == FLUSHES)
            && self.errors == 0
        {
            return Err(format!(
                "no line of `read`, `write` or `trim` behind the head of {}: it is cut off",
                self.name
            ));
        }
        let times = self.directions.iter().map(|direction| direction.seconds);
        let mut job = Job {
            name: self.name.clone(),
            engine: "fio".to_owned(),
            seconds: times.fold(0.0, f64::max).max(1e-3),
            errors: self.errors,
            ended_by: self.ended_by,
            ..Job::default()
        };
        let mut mixed = Figures::default();
        let is_split = self
            .directions
            .iter()
            .any(|direction| ![MIXED, FLUSHES].contains(&direction.name));
        for direction in &self.directions {
            // With `unified_rw_reporting=both`, fio 3.33 prints zeros for all directions together.
            if is_split && direction.name == MIXED {
                continue;
            }
            let place = match direction.name {
                "read" => &mut job.read,
                "write" => &mut job.write,
                "trim" => &mut job.trim,
                FLUSHES => &mut job.sync,
                _ => &mut mixed,
            };
            *place = match direction.name {
                FLUSHES => self.flushes(direction, found)?,
                _ => self.figures(direction, found)?,
            };
        }
        let is_one_job = options.is_some();
        let options = options.cloned().unwrap_or_default();
        let mut job = if is_one_job {
            requested(job, &options, self.threads, found)
        } else {
            job
        };
        job.threads = self.threads;
        job.direct = None;
        if options.get("rw").is_some_and(|rw| rw.contains("rw")) {
            job.read_percent = None;
        }
        if mixed.ios > 0 {
            job.divide(mixed, found);
        }
        Ok(job)
    }

    fn figures(&self, direction: &PrintedDirection, found: &mut Found) -> Result<Figures, String> {
        let issued = if direction.name == MIXED {
            Some(self.all_issued())
        } else {
            let at = DIRECTIONS.iter().position(|name| *name == direction.name);
            at.and_then(|at| self.issued.get(at).copied())
        };
        let issued = issued.filter(|count| *count > 0);
        // The text gives whole milliseconds.
        let seconds = direction.seconds.max(1e-3);
        if let (Some(issued), Some(iops)) = (issued, direction.iops)
            && direction.seconds > 0.0
        {
            let what = ["IOPS", "issued", "msec"];
            check_agreement(what, iops, issued as f64, seconds)
                .map_err(|message| format!("{}, {}: {message}", self.name, direction.name))?;
        }
        let by_rate = (direction.iops.unwrap_or(0.0) * seconds).round() as u64;
        let lists = [&direction.clat, &direction.lat].map(|times| !times.percentiles.is_empty());
        let times = match lists {
            [false, true] => {
                found.note(
                    "the text has percentiles of the whole latency alone, from the creation of an \
                     operation on: all latencies are of that",
                );
                &direction.lat
            }
            _ if direction.clat.moments.is_some() => &direction.clat,
            _ => &direction.lat,
        };
        Ok(times.figures(issued.unwrap_or(by_rate), direction.bytes.round() as u64))
    }

    /// Reads, writes and trims together.
    fn all_issued(&self) -> u64 {
        let issued = self.issued.iter().take(3);
        issued.fold(0, |sum, count| sum.saturating_add(*count))
    }

    /// The text does not count flushes: the shares of depths do, whose whole is what was issued
    /// without them.
    fn flushes(&self, direction: &PrintedDirection, found: &mut Found) -> Result<Figures, String> {
        let issued = self.all_issued();
        let more = (self.depths_percent / 100.0 - 1.0).max(0.0);
        let count = self.issued.get(3).copied().filter(|count| *count > 0);
        if count.is_none() && (issued == 0 || self.depths_percent <= 0.0) {
            return Err(format!(
                "{} flushed, and without the lines `IO depths` and `issued` nothing tells how often",
                self.name
            ));
        }
        let count = count.unwrap_or_else(|| {
            found.note(
                "the text does not count flushes: their number is worked out from its shares of \
                 depths",
            );
            (issued as f64 * more).round() as u64
        });
        Ok(direction.sync.figures(count.max(1), 0))
    }
}

/// The operations by direction: `total=0,455,0,0 short=…`, or `total=r=1/w=2/d=0, short=…`.
fn issued_counts(rest: &str) -> Vec<u64> {
    let total = rest.split_once("total=").map_or("", |(_, total)| total);
    let end = total.find(" short").unwrap_or(total.len());
    let numbers = total[..end].split(|c: char| !c.is_ascii_digit());
    numbers.filter_map(|text| text.parse().ok()).collect()
}

/// The line of a direction.
fn direction_line(name: &'static str, line: &str) -> Result<PrintedDirection, String> {
    let wrong = || format!("`{name}:{line}` is no line of fio's text");
    let (iops, moved, ms, rate) = match after_key(line, "IOPS=") {
        Some(iops) => {
            let (rates, moved) = line.rsplit_once('(').ok_or_else(wrong)?;
            let (moved, ms) = moved.split_once('/').ok_or_else(wrong)?;
            let ms = ms.split_once("msec").ok_or_else(wrong)?.0;
            let (_, rates) = rates.split_once("BW=").ok_or_else(wrong)?;
            let rates = rates.split(['(', ')']).filter_map(|rate| bytes(rate, 1e3));
            let rate = rates.fold(0.0, f64::max);
            (scaled(iops), bytes(moved, 1e3), number(ms), rate)
        }
        None => {
            let [rate, moved] =
                ["bw=", "io="].map(|key| after_key(line, key).and_then(|text| bytes(text, 1024.0)));
            let ms = after_key(line, "runt=").and_then(|text| text.strip_suffix("msec"));
            let iops = after_key(line, "iops=").and_then(scaled);
            (iops, moved, ms.and_then(number), rate.unwrap_or(0.0))
        }
    };
    let seconds = ms.ok_or_else(wrong)? / 1e3;
    let (moved, by_rate) = (moved.ok_or_else(wrong)?, rate * seconds);
    // Both are rounded, and so is a short time.
    if rate > 0.0 && moved > by_rate * (1.05 + 1.5e-3 / seconds.max(1e-3)) {
        return Err(format!(
            "{name}: it moved {moved} bytes, and its bandwidth by its time gives {by_rate:.0}: the \
             result contradicts itself"
        ));
    }
    Ok(PrintedDirection {
        name,
        iops: Some(iops.ok_or_else(wrong)?),
        // fio prints 21.998 as `21.0`; a rate with more digits is more exact.
        bytes: if by_rate > moved * 1.005 {
            by_rate
        } else {
            moved
        },
        seconds,
        ..PrintedDirection::default()
    })
}

impl PrintedDirection {
    /// `clat (usec): min=2, max=…`, and the head of a list of percentiles.
    fn read_latency(&mut self, label: &str, rest: &str) -> Result<(), String> {
        let Some((what, unit)) = label.split_once(" (") else {
            return Ok(());
        };
        let Some(unit) = unit.strip_suffix(')').map(str::trim).and_then(nanoseconds) else {
            // `clat prio 0/0 (47.68% of IOs) percentiles (usec)`: its list is not of all operations.
            self.open_list = None;
            return Ok(());
        };
        let (what, is_list) = match what.strip_suffix(" percentiles") {
            Some(what) => (what, true),
            None => (what, false),
        };
        let known = ["clat", "lat", "sync"]
            .into_iter()
            .find(|name| *name == what);
        if is_list {
            self.open_list = known.map(|name| PercentileList {
                name,
                unit_ns: unit,
            });
            return Ok(());
        }
        self.open_list = None;
        let Some(name) = known.filter(|_| rest.contains("min=")) else {
            return Ok(());
        };
        let wrong = || format!("`{label}:{rest}` is no line of latencies");
        let mut moments = [0.0; 4];
        for (moment, key) in moments.iter_mut().zip(["min=", "max=", "avg=", "stdev="]) {
            let value = after_key(rest, key).and_then(scaled).ok_or_else(wrong)?;
            *moment = value * unit;
        }
        match self.times(name).moments.replace(moments) {
            Some(_) => Err(format!(
                "two lines `{name} (…)` under one direction, {}: the head of the next direction is missing",
                self.name
            )),
            None => Ok(()),
        }
    }

    fn times(&mut self, name: &str) -> &mut Times {
        match name {
            "clat" => &mut self.clat,
            "lat" => &mut self.lat,
            _ => &mut self.sync,
        }
    }

    /// ` 1.00th=[    3],  5.00th=[    4],`
    fn read_percentiles(&mut self, line: &str) -> Result<(), String> {
        let Some(list) = self.open_list else {
            return Ok(());
        };
        for part in line.split("],").filter(|part| !part.trim().is_empty()) {
            let wrong = || format!("`{}` is no percentile", part.trim());
            let (percent, value) = part.split_once("th=[").ok_or_else(wrong)?;
            let value = scaled(value.trim_end_matches(']')).ok_or_else(wrong)?;
            let percent = number(percent).ok_or_else(wrong)?;
            if percent > 0.0 && percent <= 100.0 {
                let percentile = (percent / 100.0, value * list.unit_ns);
                self.times(list.name).percentiles.push(percentile);
            }
        }
        Ok(())
    }
}

impl Times {
    fn figures(&self, ios: u64, bytes: u64) -> Figures {
        Figures {
            ios,
            bytes,
            min: self.moments.map(|[min, ..]| min),
            max: self.moments.map(|[_, max, ..]| max),
            mean: self.moments.map(|[_, _, mean, _]| mean),
            stddev: self.moments.map(|[.., stddev]| stddev),
            shape: Shape::percentiles(self.percentiles.clone()),
        }
    }
}

/// `364KiB`, `12.3MB`, `1024B`, `4096`, `3486kbit` (`unit_base=1`): the unit without an `i` is `base`
/// (1000 in version 3).
pub(super) fn bytes(text: &str, base: f64) -> Option<f64> {
    let text = text.trim().trim_end_matches("/s");
    let unit = text
        .find(|c: char| c.is_ascii_alphabetic())
        .unwrap_or(text.len());
    let (amount, unit) = text.split_at(unit);
    let power = match unit.chars().next() {
        None | Some('B' | 'b') => 0,
        Some(letter) => power(letter)?,
    };
    let (prefix, bits_per_unit) = match unit.strip_suffix("bit") {
        Some(prefix) => (prefix, 1.0),
        None => (unit, 8.0),
    };
    let base = if prefix.contains('i') { 1024.0 } else { base };
    Some(number(amount)? * base.powi(power as i32) * bits_per_unit / 8.0)
}

/// A decimal number such as `15.2k`, `1993.5k`, `2125.2K` or `102`.
fn scaled(text: &str) -> Option<f64> {
    let text = text.trim();
    let last = text.chars().last()?;
    match power(last) {
        Some(power) => Some(number(&text[..text.len() - 1])? * 1e3_f64.powi(power as i32)),
        None => number(text),
    }
}
