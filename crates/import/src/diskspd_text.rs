//! DiskSpd's text, of 2.2 and of 2.0.21a.

use super::figures::Figures;
use super::record::{Case, Found, Job, random_percent};
use super::scan::{after, moment, number, size, whole};
use super::{not_a_result, not_a_result_at};
use blocklab_diskspd::{self as diskspd, Cache, Requested, Throughput, TimeSpan};
use blocklab_syntax::Mistake;
use blocklab_workload::Pattern;

/// A target of a time span, as `Input parameters:` describes it.
#[derive(Debug, Clone, Default)]
pub(super) struct Target {
    path: String,
    job: Job,
}

impl Target {
    /// What was requested of the targets of a time span, by a command line or a profile.
    pub(super) fn requested(span: &TimeSpan) -> Vec<Self> {
        let targets = span.targets.iter().map(|target| Self {
            path: target.path.clone(),
            job: requested_for(target, span),
        });
        targets.collect()
    }
}

/// A row of `Read IO` or `Write IO`.
#[derive(Debug, Clone, Default)]
pub(super) struct Row {
    pub(super) thread: u64,
    pub(super) path: String,
    pub(super) file_size: u64,
    pub(super) figures: Figures,
}

/// The results of one time span.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    pub(super) seconds: f64,
    pub(super) busy_percent: Option<f64>,
    /// Figures of reads and of writes.
    pub(super) rows: [Vec<Row>; 2],
    pub(super) tables: Vec<Table>,
    /// Index of what was requested.
    pub(super) requested: usize,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Table {
    /// The target; `None`: all targets together.
    pub(super) path: Option<String>,
    /// Percentiles of reads and of writes: shares and nanoseconds.
    pub(super) shapes: [Vec<(f64, f64)>; 2],
}

/// Where the reader is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Before,
    Parameters,
    Results,
    Total,
    /// Reads 0, writes 1.
    Direction(usize),
    Percentiles,
}

/// The lines with which parts begin.
const TITLES: [(&str, Part); 5] = [
    ("Input parameters:", Part::Parameters),
    ("System information:", Part::Before),
    ("Total IO", Part::Total),
    ("Read IO", Part::Direction(0)),
    ("Write IO", Part::Direction(1)),
];

/// A command line of DiskSpd whose results were appended to the file.
struct Command {
    line: String,
    /// Index of its first time span.
    first_span: usize,
}

#[derive(Default)]
struct Reading {
    found: Found,
    requested: Vec<Vec<Target>>,
    outcomes: Vec<Outcome>,
    columns: Vec<String>,
    /// The last line that was not empty: the title of a table.
    title: String,
    /// Time spans that earlier runs of the same file requested.
    before: usize,
    commands: Vec<Command>,
}

pub(super) fn read(text: &str) -> Result<Found, Mistake> {
    let mut reading = Reading::default();
    reading.found.tool = "DiskSpd 2.0".to_owned();
    let mut part = Part::Before;
    for (index, line) in text.lines().enumerate() {
        let next = reading.read_line(line.trim_end(), part);
        part = next.map_err(|message| not_a_result_at(index + 1, message))?;
        if !line.trim().is_empty() {
            line.trim().clone_into(&mut reading.title);
        }
    }
    reading.into_found()
}

impl Reading {
    fn read_line(&mut self, line: &str, part: Part) -> Result<Part, String> {
        let trimmed = line.trim();
        if let Some(rest) = after(line, "Command Line:") {
            // Only 2.1 and later print it.
            self.found.tool = "DiskSpd 2.2".to_owned();
            self.commands.push(Command {
                line: rest.to_owned(),
                first_span: self.outcomes.len(),
            });
            self.before = self.requested.len();
            return Ok(Part::Before);
        }
        if let Some((_, part)) = TITLES.iter().find(|(title, _)| *title == trimmed) {
            if *part == Part::Parameters {
                self.before = self.requested.len();
            }
            return Ok(*part);
        }
        if let Some(number) = trimmed.strip_prefix("Results for timespan ") {
            let number = whole(number.trim_end_matches(':')).unwrap_or(1);
            self.outcomes.push(Outcome {
                requested: self.before + number.clamp(1, 1 << 20) as usize - 1,
                ..Outcome::default()
            });
            return Ok(Part::Results);
        }
        if trimmed.starts_with("%-ile") {
            let table = Table {
                path: titled(&self.title),
                ..Table::default()
            };
            let outcome = self.outcomes.last_mut();
            outcome
                .into_iter()
                .for_each(|outcome| outcome.tables.push(table.clone()));
            return Ok(Part::Percentiles);
        }
        match part {
            Part::Before => self.read_system(trimmed),
            Part::Parameters => self.read_parameter(trimmed)?,
            Part::Results => self.read_result(trimmed)?,
            Part::Total => {}
            Part::Direction(direction) => self.row(trimmed, direction)?,
            Part::Percentiles => self.read_percentile(trimmed)?,
        }
        Ok(part)
    }

    fn read_system(&mut self, line: &str) {
        if let Some(rest) = after(line, "start time:") {
            self.found.started_at = moment(rest);
        }
        if let Some(rest) = after(line, "cpu count:") {
            self.found.processors = whole(rest).unwrap_or(0) as u32;
        }
    }

    fn read_parameter(&mut self, line: &str) -> Result<(), String> {
        if line.starts_with("timespan:") {
            self.requested.push(Vec::new());
            return Ok(());
        }
        let Some(span) = self.requested.last_mut() else {
            return Ok(());
        };
        if let Some(path) = after(line, "path:") {
            span.push(Target {
                path: path.trim_matches('\'').to_owned(),
                job: Job::default(),
            });
        }
        match span.last_mut() {
            Some(target) => setting(&mut target.job, line),
            None => Ok(()),
        }
    }

    fn read_result(&mut self, line: &str) -> Result<(), String> {
        let Some(outcome) = self.outcomes.last_mut() else {
            return Ok(());
        };
        if line.starts_with("The test was interrupted") {
            return Err("the test was interrupted before it measured anything".to_owned());
        }
        if let Some(rest) = after(line, "actual test time:") {
            let seconds = number(rest.trim_end_matches('s'));
            outcome.seconds = seconds.ok_or_else(|| format!("`{rest}` is no time"))?;
        }
        // Later versions print `cpu count:` before the results, too.
        if let Some(rest) = after(line, "proc count:") {
            let count = whole(rest).unwrap_or(0) as u32;
            self.found.processors = self.found.processors.max(count);
        }
        if let Some(rest) = line.strip_prefix("avg.|") {
            outcome.busy_percent = rest.split('|').next().and_then(number);
        }
        Ok(())
    }

    /// Reads a row of `Read IO` (direction 0) or `Write IO` (1).
    fn row(&mut self, line: &str, direction: usize) -> Result<(), String> {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        if cells[0] == "thread" {
            self.columns = cells.iter().map(|cell| (*cell).to_owned()).collect();
            return Ok(());
        }
        if let Some(bytes) = line.strip_prefix("total:") {
            self.compare_total(bytes, &cells, direction);
            return Ok(());
        }
        let thread = whole(cells[0]).filter(|_| cells.len() > 4);
        let Some((outcome, thread)) = self.outcomes.last_mut().zip(thread) else {
            return Ok(());
        };
        let [ios, bytes, mean, stddev] = ["I/Os", "bytes", "AvgLat", "LatStdDev"].map(|name| {
            let place = self.columns.iter().position(|column| column == name);
            place.and_then(|place| cells.get(place).copied())
        });
        // The path may hold any character, `|` among them, and is in the last column.
        let file = line.splitn(self.columns.len().max(1), '|').last();
        let (path, file_size) = file_and_size(file.unwrap_or_default());
        let rows = &mut outcome.rows[direction];
        if rows
            .iter()
            .any(|row| (row.thread, &row.path) == (thread, &path))
        {
            let table = ["Read IO", "Write IO"][direction];
            return Err(format!(
                "{table} has two rows of thread {thread} and {path}"
            ));
        }
        let row = Row {
            thread,
            path,
            file_size,
            figures: Figures {
                ios: ios
                    .and_then(whole)
                    .ok_or_else(|| format!("a row without `I/Os`: `{line}`"))?,
                bytes: bytes
                    .and_then(whole)
                    .ok_or_else(|| format!("a row without `bytes`: `{line}`"))?,
                mean: mean.and_then(number).map(|ms| ms * 1e6),
                stddev: stddev.and_then(number).map(|ms| ms * 1e6),
                ..Figures::default()
            },
        };
        rows.push(row);
        Ok(())
    }

    /// The `total:` row is a sum of the rows above it, which are the measurement: where it is another
    /// one, the threads count, and a note states it.
    fn compare_total(&mut self, bytes: &str, cells: &[&str], direction: usize) {
        let Some(outcome) = self.outcomes.last() else {
            return;
        };
        let bytes = bytes.split('|').next().and_then(whole);
        let ios = cells.get(1).and_then(|cell| whole(cell));
        let (Some(bytes), Some(ios)) = (bytes, ios) else {
            return;
        };
        let sum = sum(outcome.rows[direction].iter().map(|row| &row.figures));
        let table = ["Read IO", "Write IO"][direction];
        if (sum.ios, sum.bytes) != (ios, bytes) {
            let text = format!(
                "timespan-{}, {table}: the total: row shows {ios} operations and {bytes} bytes, its \
                 threads add up to {} and {}; the threads count, since the total is only their sum",
                self.outcomes.len(),
                sum.ios,
                sum.bytes
            );
            self.found.note(&text);
        }
    }

    /// `   50th |      0.081 |      0.019 |      0.064`.
    fn read_percentile(&mut self, line: &str) -> Result<(), String> {
        let outcome = self.outcomes.last_mut();
        let Some(table) = outcome.and_then(|outcome| outcome.tables.last_mut()) else {
            return Ok(());
        };
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let [label, read, write, ..] = cells[..] else {
            return Ok(());
        };
        let share = share(label).ok_or_else(|| format!("`{label}` is no percentile"))?;
        for (shape, cell) in table.shapes.iter_mut().zip([read, write]) {
            shape.extend(number(cell).map(|ms| (share, ms * 1e6)));
        }
        Ok(())
    }

    fn into_found(mut self) -> Result<Found, Mistake> {
        if self.outcomes.is_empty() {
            return Err(not_a_result(
                "no `Results for timespan` in it: not DiskSpd's text, or cut off before its end",
            ));
        }
        for (index, outcome) in self.outcomes.iter().enumerate() {
            if outcome.seconds == 0.0 || outcome.rows.iter().all(Vec::is_empty) {
                let message = format!("the results of timespan {} are cut off", index + 1);
                return Err(not_a_result(message));
            }
            let mut commands = self.commands.iter().rev();
            let command = commands.find(|command| command.first_span <= index);
            let requested = self
                .requested
                .get(outcome.requested)
                .cloned()
                .or_else(|| command.map(|command| targets_of(&command.line)))
                .unwrap_or_default();
            let jobs = outcome.jobs(&requested, &mut self.found);
            self.found.cases.push(Case {
                name: format!("timespan-{}", index + 1),
                jobs,
                busy_percent: outcome.busy_percent,
                ..Case::default()
            });
        }
        self.note_commands();
        Ok(self.found)
    }

    /// Sets the command line of the run, or adds one note for each of several runs in the file.
    fn note_commands(&mut self) {
        match &self.commands[..] {
            [] => {}
            [only] => self.found.command.clone_from(&only.line),
            all => {
                self.found.command = format!("{} runs in one text", all.len());
                for Command { line, first_span } in all {
                    let run = format!("timespan-{}: {line}", first_span + 1);
                    self.found.notes.push(run);
                }
            }
        }
    }
}

/// The targets of a command line, where the text has no `Input parameters:`; none where it is not
/// understood.
fn targets_of(line: &str) -> Vec<Target> {
    let words: Vec<String> = words(line).into_iter().skip(1).collect();
    match diskspd::parse(&words).map(|parsed| parsed.requested) {
        Ok(Requested::Load(profile)) => profile
            .timespans
            .iter()
            .flat_map(Target::requested)
            .collect(),
        _ => Vec::new(),
    }
}

/// Words between blanks; quotes hold them together.
fn words(line: &str) -> Vec<String> {
    let mut quoted = false;
    let parts = line.split(|letter: char| {
        quoted ^= letter == '"';
        letter.is_whitespace() && !quoted
    });
    let words = parts.map(|part| part.replace('"', ""));
    words.filter(|word| !word.is_empty()).collect()
}

/// The request of a command line or a profile for a target of a time span.
fn requested_for(target: &diskspd::Target, span: &TimeSpan) -> Job {
    // With `-F`, all threads work on all targets, and with `-O`, a thread has its depth on all together.
    let threads = match span.thread_count {
        0 => target.threads,
        all => all,
    };
    let depth = match (span.request_count, span.targets.len()) {
        (0, _) => target.requests,
        (all, 1) => all,
        _ => 0,
    };
    let factor = f64::from(threads);
    let (iops, bytes) = match target.throughput {
        Some(Throughput::Iops(iops)) => (Some(f64::from(iops) * factor), None),
        Some(Throughput::BytesPerMs(bytes)) => (None, Some(f64::from(bytes) * 1000.0 * factor)),
        None => (None, None),
    };
    Job {
        pattern: Some(random_percent(f64::from(target.random_ratio))),
        block: target.block,
        read_percent: Some((100 - target.write_ratio.min(100)) as u8),
        threads,
        depth,
        direct: match target.cache {
            Cache::None => Some(true),
            Cache::Cached => Some(false),
            Cache::NotLocal => None,
        },
        write_through: target.write_through,
        requested_iops: iops,
        requested_bytes_per_s: bytes,
        think: target.think_ms > 0,
        ..Job::default()
    }
}

/// The target whose percentiles a title announces; `None` for those of all.
fn titled(title: &str) -> Option<String> {
    if matches!(title, "total:" | "Total latency distribution:") {
        return None;
    }
    let path = title.strip_prefix("Latency distribution:").unwrap_or(title);
    Some(path.trim().to_owned())
}

/// What a line below `path:` begins with, what the rest of it has to be, and what that sets; nothing
/// where it is something else.
type Setting = (&'static str, &'static str, fn(&mut Job, &str) -> Option<()>);

/// The first row that fits is taken.
#[rustfmt::skip]
const SETTINGS: [Setting; 9] = [
    ("block size:", "size", |job, rest| size(rest).map(|bytes| job.block = bytes)),
    ("number of outstanding I/O operations per thread:", "number", depth),
    ("number of outstanding I/O operations:", "number", depth),
    ("threads per file:", "number", |job, rest| whole(rest).map(|count| job.threads = count as u32)),
    ("performing ", "mix", |job, rest| { job.read_percent = mix(rest); Some(()) }),
    ("using software cache", "end", |job, _| { job.direct = Some(false); Some(()) }),
    ("using ", "pattern", |job, rest| { job.pattern = pattern(rest).or(job.pattern.take()); Some(()) }),
    ("throughput rate-limited to ", "rate", limit),
    ("think time:", "time", |job, rest| { job.think = rest != "0ms"; Some(()) }),
];

/// Reads a line below `path:`.
fn setting(job: &mut Job, line: &str) -> Result<(), String> {
    for (label, wanted, set) in SETTINGS {
        if let Some(rest) = after(line, label) {
            return set(job, rest).ok_or_else(|| format!("`{rest}` is no {wanted}"));
        }
    }
    if line.contains("software cache disabled") && !line.contains("local software") {
        job.direct = Some(true);
    } else if line.starts_with("software and hardware") && line.ends_with("disabled") {
        // Before 2.0.17.
        (job.direct, job.write_through) = (Some(true), true);
    } else if line.contains("writethrough on") {
        job.write_through = true;
    }
    Ok(())
}

fn depth(job: &mut Job, rest: &str) -> Option<()> {
    whole(rest).map(|count| job.depth = count as u32)
}

/// `100 IOPS`, `1024 B/ms` of each thread.
fn limit(job: &mut Job, rest: &str) -> Option<()> {
    let (value, unit) = rest.split_once(' ').unwrap_or((rest, ""));
    let all = number(value).map(|each| each * f64::from(job.threads.max(1)));
    match unit {
        "IOPS" => job.requested_iops = all,
        _ => job.requested_bytes_per_s = all.map(|rate| rate * 1000.0),
    }
    Some(())
}

/// The percentage of reads in `read test` or `mix test (read/write ratio: 70/30)`.
fn mix(text: &str) -> Option<u8> {
    match text {
        "read test" => Some(100),
        "write test" => Some(0),
        _ => {
            let ratio = text.split(": ").nth(1)?.trim_end_matches(')');
            ratio.split('/').next()?.parse().ok()
        }
    }
}

/// The pattern of `random I/O (alignment: …)` or `mixed random/sequential I/O (30% random)`; `None`: another
/// line that begins with `using`. Interlocked threads share one position, and are read as sequential.
fn pattern(text: &str) -> Option<Pattern> {
    if let Some(rest) = text.strip_prefix("mixed random/sequential I/O (") {
        return rest.split('%').next()?.parse().ok().map(random_percent);
    }
    match text {
        _ if text.starts_with("random I/O") => Some(Pattern::RANDOM),
        _ if text.starts_with("sequential I/O") => Some(Pattern::Sequential),
        _ if text.starts_with("interlocked sequential") => Some(Pattern::Sequential),
        _ => None,
    }
}

/// `E:\dummy.dat (20GiB)`.
fn file_and_size(cell: &str) -> (String, u64) {
    let (path, rest) = cell.trim().rsplit_once(" (").unwrap_or((cell.trim(), ""));
    let bytes = size(rest.trim_end_matches(')')).unwrap_or(0);
    (path.to_owned(), bytes)
}

/// `min`, `95th`, `3-nines`, `max`.
fn share(label: &str) -> Option<f64> {
    if let Some(nines) = label.strip_suffix("-nines") {
        let nines: i32 = nines.parse().ok()?;
        return (1..=12).contains(&nines).then(|| 1.0 - 10f64.powi(-nines));
    }
    let percent: f64 = match label {
        "min" => 0.0,
        "max" => 100.0,
        _ => label.strip_suffix("th")?.parse().ok()?,
    };
    (0.0..=100.0).contains(&percent).then_some(percent / 100.0)
}

/// Notes that a run without `-L` has no latency.
fn note_missing_latency(jobs: &[Job], found: &mut Found) {
    let mut means = jobs.iter().map(|job| job.read.mean.or(job.write.mean));
    if means.any(|mean| mean.is_none()) {
        found.note("run without -L: no latency is known");
    }
}

/// Rows of the same path as one.
fn sum<'a>(rows: impl Iterator<Item = &'a Figures>) -> Figures {
    let (mut total, mut time, mut square) = (Figures::default(), 0.0, 0.0);
    let (mut timed, mut spread) = (true, true);
    for row in rows {
        total.ios = total.ios.saturating_add(row.ios);
        total.bytes = total.bytes.saturating_add(row.bytes);
        timed &= row.ios == 0 || row.mean.is_some();
        spread &= row.ios == 0 || row.stddev.is_some();
        let mean = row.mean.unwrap_or(0.0);
        let deviation = row.stddev.unwrap_or(0.0);
        time += mean * row.ios as f64;
        square += (deviation * deviation + mean * mean) * row.ios as f64;
    }
    if total.ios > 0 && timed {
        let mean = time / total.ios as f64;
        total.mean = Some(mean);
        let variance = (square / total.ios as f64 - mean * mean).max(0.0);
        total.stddev = spread.then(|| variance.sqrt());
    }
    total
}

impl Outcome {
    /// A job for each target. What was requested of the first target holds for those that nothing
    /// describes.
    pub(super) fn jobs(&self, requested: &[Target], found: &mut Found) -> Vec<Job> {
        let mut paths: Vec<(String, u64)> = Vec::new();
        for row in self.rows.iter().flatten() {
            if !paths.iter().any(|(path, _)| *path == row.path) {
                paths.push((row.path.clone(), row.file_size));
            }
        }
        let is_only_target = paths.len() == 1;
        let jobs = paths.iter().enumerate().map(|(index, (path, _))| {
            let own = requested.iter().find(|target| target.path == *path);
            let described = own.or(requested.first());
            let mut job = described
                .map(|target| target.job.clone())
                .unwrap_or_default();
            job.engine = "diskspd".to_owned();
            job.name = format!("target{index}");
            job.seconds = self.seconds;
            [job.read, job.write] = self.rows.each_ref().map(|rows| {
                let own = rows.iter().filter(|row| row.path == *path);
                sum(own.map(|row| &row.figures))
            });
            let own = self
                .tables
                .iter()
                .find(|table| table.path.as_ref() == Some(path));
            let all = self.tables.iter().find(|table| table.path.is_none());
            if let Some(table) = own.or(all.filter(|_| is_only_target)) {
                let [reads, writes] = table.shapes.clone();
                job.read.set_percentiles(reads);
                job.write.set_percentiles(writes);
            }
            job
        });
        let jobs: Vec<Job> = jobs.collect();
        let is_known = jobs
            .iter()
            .any(|job| job.read.shape.is_known() || job.write.shape.is_known());
        if !self.tables.is_empty() && !is_only_target && !is_known {
            found.note(
                "percentiles are reported for all targets together: those of each are unknown",
            );
        }
        note_missing_latency(&jobs, found);
        for (path, bytes) in &paths {
            found.target(path, *bytes);
        }
        jobs
    }
}
