//! fio's terse output, versions 2 to 5: a line for each job, fields between semicolons.
//!
//! ```text
//! v2    2;name;group;error; read 41; write 41; trim 41; …
//! v3    3;fio-3.33;name;group;error; read 41; write 41; …
//! v4    4;fio-…;name;group;error; read 41; write 41; trim 41; …
//! v5    5;fio-…;name;group;error; read 47; write 47; trim 47; …
//! ```
//!
//! Sizes in KiB, latencies in microseconds. They are followed by figures of the processor, depths,
//! latencies, and the counts of disks, which all lines of one run share.

use super::{ALL_CLIENTS, check_agreement, ended_by, name_single_job_cases};
use crate::figures::{Figures, Shape};
use crate::not_a_result_at;
use crate::record::{Found, Job};
use crate::runs::{Printed, Runs};
use crate::scan::number;
use blocklab_syntax::Mistake;

/// The places of the figures among the fields of a direction.
const KIB: usize = 0;
const RATE: usize = 1;
const IOPS: usize = 2;
const RUNTIME_MS: usize = 3;
/// Least, most, mean and deviation of the time from submission to completion.
const COMPLETION: usize = 8;
const PERCENTILES: std::ops::Range<usize> = 12..32;
/// Fields of the processor (5), of depths (7), and of latencies (10 and 12).
const OTHERS: usize = 34;

pub(super) fn is_terse(text: &str) -> bool {
    lines(text).any(|line| Layout::announced(line).is_some())
}

/// The lines of a text. Before one of them, fio's client may print its progress, which ends with a carriage
/// return alone.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines()
        .map(|line| line.rsplit('\r').next().unwrap_or(line))
}

/// How the fields of a line are arranged.
struct Layout {
    version: u32,
    /// Fields before the first direction.
    head: usize,
    /// Fields of a direction.
    width: usize,
    /// How many; with 1, it is that of all operations together.
    directions: usize,
}

impl Layout {
    /// The layout that a line announces; `None` for a line that is no terse output.
    fn announced(line: &str) -> Option<Self> {
        let version = line.split(';').next()?.trim().parse().ok()?;
        let known = (2..=5).contains(&version) && line.contains(';');
        known.then_some(Self {
            version,
            head: if version == 2 { 4 } else { 5 },
            width: if version == 5 { 47 } else { 41 },
            directions: if version == 3 { 2 } else { 3 },
        })
    }

    /// The layout of these fields, by the percentiles, which only a direction has and which contain `=`:
    /// under `unified_rw_reporting`, one direction stands for all, and each `;` in a name moves them.
    fn for_fields(self, fields: &[&str]) -> Self {
        let first = fields.iter().position(|field| field.contains("%="));
        let head = first.map_or(0, |at| at.saturating_sub(PERCENTILES.start));
        let head = head.max(self.head);
        let second = fields.get(head + self.width + PERCENTILES.start);
        let is_unified = second.is_some_and(|field| !field.contains('='));
        Self {
            directions: if is_unified { 1 } else { self.directions },
            head,
            ..self
        }
    }

    /// The name of the job: it is behind the versions and before the group and the error.
    fn name(&self, fields: &[&str]) -> String {
        let versions = if self.version == 2 { 1 } else { 2 };
        fields[versions..self.head - 2].join(";")
    }
}

/// The runs in a text of terse lines. Lines with the same disks belong to one run, as each line of
/// a run ends with the disks of all.
pub(super) fn read(text: &str) -> Result<Vec<Found>, Mistake> {
    let mut runs = Runs::default();
    let mut disks = None;
    let mut open: Option<Found> = None;
    let mut has_job = false;
    for (index, line) in lines(text).enumerate() {
        let Some(layout) = Layout::announced(line) else {
            continue;
        };
        let fields: Vec<&str> = line.split(';').map(str::trim).collect();
        let layout = layout.for_fields(&fields);
        let Layout { version, head, .. } = layout;
        let before_others = head + layout.directions * layout.width;
        if fields.len() < before_others {
            let message = format!(
                "{} fields, and terse version {version} has {before_others} before the \
                 processor's: cut off",
                fields.len(),
            );
            return Err(not_a_result_at(index + 1, message));
        }
        let is_sum = layout.name(&fields) == ALL_CLIENTS;
        if is_sum && has_job {
            continue;
        }
        has_job |= !is_sum;
        let tool = match version {
            2 => "fio".to_owned(),
            _ => fields[1].replacen("fio-", "fio ", 1),
        };
        let these = counts_of_disks(&fields[before_others..]);
        if (these.is_none() || these != disks)
            && let Some(found) = open.take()
        {
            add(&mut runs, found);
        }
        disks = these;
        let found = open.get_or_insert_with(|| new_run(tool));
        let job =
            job(&fields, &layout, found).map_err(|message| not_a_result_at(index + 1, message))?;
        found.add_job(format!("group-{}", fields[head - 2]), job);
    }
    if let Some(found) = open {
        add(&mut runs, found);
    }
    Ok(runs.all())
}

/// A run of this program, without results.
fn new_run(tool: String) -> Found {
    let mut found = Found {
        tool,
        ..Found::default()
    };
    found.note(
        "terse output holds neither pattern, depth, threads nor engine; block sizes are bytes by \
         operations",
    );
    found.note(
        "only lines with the same counts of disks are known to be of one run: other lines are runs \
         of their own, or passes where they are alike",
    );
    found
}

fn add(runs: &mut Runs, mut found: Found) {
    name_single_job_cases(&mut found.cases);
    runs.add(Printed {
        found,
        ..Printed::default()
    });
}

/// What a line says of disks: name, eight counts, share of busy time. `None`: nothing that would
/// tell one run from another. The fields of processor, depths and latencies precede them.
fn counts_of_disks(others: &[&str]) -> Option<String> {
    let disks = others.get(OTHERS..)?;
    let counts = disks.iter().skip(1);
    let is_telling = counts
        .clone()
        .any(|count| number(count).is_some_and(|number| number > 0.0));
    is_telling.then(|| disks.join(";"))
}

fn whole(field: &str) -> Option<i64> {
    field.trim().parse().ok()
}

/// How many errors a job went on after, and the number of the first, which follow the figures of latencies
/// and disks; `None` without `continue_on_error`.
fn errors_passed_over(fields: &[&str]) -> Option<(u64, i64)> {
    let last = fields
        .iter()
        .rposition(|field| field.trim().ends_with('%'))?;
    let count = fields.get(last + 1)?.trim().parse().ok()?;
    Some((count, whole(fields.get(last + 2)?)?))
}

/// The job of a line, which has been seen to reach its last direction.
fn job(fields: &[&str], layout: &Layout, found: &mut Found) -> Result<Job, String> {
    let head = layout.head;
    let directions = fields[head..].chunks(layout.width).take(layout.directions);
    let directions: Vec<&[&str]> = directions.collect();
    let runtimes = directions
        .iter()
        .filter_map(|fields| number(fields[RUNTIME_MS]));
    let longest = runtimes.map(|ms| ms / 1e3).fold(0.0, f64::max);
    let directions: Vec<Figures> = directions
        .into_iter()
        .map(figures)
        .collect::<Result<_, _>>()?;
    let passed_over = errors_passed_over(fields);
    let first_error = passed_over.map(|(_, first)| first);
    let mut job = Job {
        name: layout.name(fields),
        engine: "fio".to_owned(),
        block: mean_block(&directions, longest),
        // fio counts whole ms: a run of 0 ms lasted less than one.
        seconds: longest.max(1e-3),
        // The field before the figures has the number of the error, and not how many there were.
        errors: match passed_over {
            Some((count, _)) if count > 0 => count,
            _ => u64::from(number(fields[head - 1]).unwrap_or(0.0) != 0.0),
        },
        ended_by: whole(fields[head - 1]).and_then(|error| ended_by(error, first_error)),
        ..Job::default()
    };
    let mut directions = directions.into_iter();
    if layout.directions == 1 {
        job.divide(directions.next().unwrap_or_default(), found);
    } else {
        job.read = directions.next().unwrap_or_default();
        job.write = directions.next().unwrap_or_default();
        job.trim = directions.next().unwrap_or_default();
    }
    Ok(job)
}

/// The mean size of an operation; 0 without operations. fio cuts off the fractions of KiB and IOPS, so of all
/// sizes that it can be the roundest is taken: a multiple of a high power of 2, or of 1000 (`kb_base=1000`).
fn mean_block(directions: &[Figures], seconds: f64) -> u64 {
    let moved = directions.iter().filter(|figures| figures.ios > 0);
    let count = moved.clone().count() as f64;
    let ios: f64 = moved.clone().map(|figures| figures.ios as f64).sum();
    let bytes: f64 = moved.map(|figures| figures.bytes as f64).sum();
    if ios <= 0.0 {
        return 0;
    }
    let least = bytes / (ios + count * seconds);
    let most = (bytes + count * 1024.0) / ios;
    let powers_of_two = (9..=30).rev().map(|power| f64::from(1_u32 << power));
    let units = powers_of_two.chain([1000.0]);
    let mut sizes = units.map(|unit| (most / unit).floor() * unit);
    let sectors = (bytes / ios / 512.0).round();
    sizes.find(|size| *size >= least).unwrap_or(sectors * 512.0) as u64
}

/// The figures of a direction from its part of the fields.
fn figures(fields: &[&str]) -> Result<Figures, String> {
    let seconds = value(fields[RUNTIME_MS])? / 1e3;
    if seconds > 0.0 {
        let what = ["KiB/s", "KiB", "ms"];
        check_agreement(what, value(fields[RATE])?, value(fields[KIB])?, seconds)?;
    }
    let ios = (value(fields[IOPS])? * seconds).round() as u64;
    let mut list = Vec::new();
    for field in &fields[PERCENTILES] {
        let Some((percent, us)) = field.split_once('=') else {
            return Err(format!("`{field}` is no percentile"));
        };
        let pair = number(percent).zip(number(us));
        let (percent, us) = pair.ok_or_else(|| format!("`{field}` is no percentile"))?;
        if percent > 0.0 && percent <= 100.0 {
            list.push((percent / 100.0, us * 1e3));
        }
    }
    // Zeros of all, as `gtod_reduce` leaves them, are no latency.
    let is_timed = ios > 0 && value(fields[COMPLETION + 2])? > 0.0;
    let mut moments = [None; 4];
    for (moment, field) in moments.iter_mut().zip(&fields[COMPLETION..]) {
        let us = value(field)?;
        *moment = is_timed.then_some(us * 1e3);
    }
    let [min, max, mean, stddev] = moments;
    Ok(Figures {
        ios,
        bytes: (value(fields[KIB])? * 1024.0) as u64,
        min,
        max,
        mean,
        stddev,
        shape: Shape::percentiles(list),
    })
}

fn value(text: &str) -> Result<f64, String> {
    number(text)
        .filter(|number| *number >= 0.0)
        .ok_or_else(|| format!("`{text}` is no figure"))
}
