//! DiskSpd's text, of 2.2 and of 2.0.21a.

use super::Wrong;
use super::figures::{Figures, Shape};
use blocklab_workload::Pattern;

use super::record::{Case, Found, Job, RANDOM, random_percent};
use super::scan::{after, moment, number, size, whole};
use blocklab_diskspd::{self as diskspd, Asked, Cache, Throughput};

/// A target of a time span, as `Input parameters:` tells it.
#[derive(Debug, Clone, Default)]
struct Target {
    path: String,
    job: Job,
}

/// A row of `Read IO` or `Write IO`.
#[derive(Debug, Clone, Default)]
struct Row {
    path: String,
    file_size: u64,
    figures: Figures,
}

/// What is told of one time span after its run.
#[derive(Debug, Default)]
struct Outcome {
    seconds: f64,
    busy_percent: Option<f64>,
    read: Vec<Row>,
    write: Vec<Row>,
    tables: Vec<Table>,
    /// Index of what was asked for.
    asked: usize,
}

/// A table of percentiles.
#[derive(Debug, Default)]
struct Table {
    /// Nothing: of all targets together.
    path: Option<String>,
    /// Of reads and of writes.
    shapes: [Vec<(f64, f64)>; 2],
    /// The least and the most of them.
    edges: [[Option<f64>; 2]; 2],
}

/// Where the reader is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Before,
    Parameters,
    Results,
    Total,
    Read,
    Write,
    Percentiles,
}

#[derive(Default)]
struct Reading {
    found: Found,
    asked: Vec<Vec<Target>>,
    outcomes: Vec<Outcome>,
    /// Columns of the table at hand.
    columns: Vec<String>,
    /// The last line that was not empty: the title of a table.
    title: String,
    /// Time spans that earlier runs of the same file asked for.
    before: usize,
    /// Command lines, and how many time spans came before each.
    commands: Vec<(usize, String)>,
}

pub(super) fn read(text: &str) -> Result<Found, Wrong> {
    let mut reading = Reading::default();
    reading.found.tool = "DiskSpd 2.0".to_owned();
    let mut part = Part::Before;
    for (index, line) in text.lines().enumerate() {
        let next = reading.line(line.trim_end(), part);
        part = next.map_err(|message| Wrong::at(index + 1, message))?;
        if !line.trim().is_empty() {
            line.trim().clone_into(&mut reading.title);
        }
    }
    reading.done()
}

impl Reading {
    fn line(&mut self, line: &str, part: Part) -> Result<Part, String> {
        let trimmed = line.trim();
        if let Some(rest) = after(line, "Command Line:") {
            // Only 2.1 and later print it.
            self.found.tool = "DiskSpd 2.2".to_owned();
            self.commands.push((self.outcomes.len(), rest.to_owned()));
            self.before = self.asked.len();
            return Ok(Part::Before);
        }
        match trimmed {
            "Input parameters:" => {
                self.before = self.asked.len();
                return Ok(Part::Parameters);
            }
            "System information:" => return Ok(Part::Before),
            "Total IO" => return Ok(Part::Total),
            "Read IO" => return Ok(Part::Read),
            "Write IO" => return Ok(Part::Write),
            _ if trimmed.starts_with("Results for timespan") => {
                let number = trimmed.trim_end_matches(':').rsplit(' ').next();
                let number = number.and_then(whole).unwrap_or(1).clamp(1, 1 << 20);
                self.outcomes.push(Outcome {
                    asked: self.before + number as usize - 1,
                    ..Outcome::default()
                });
                return Ok(Part::Results);
            }
            _ if trimmed.starts_with("%-ile") => {
                let path = titled(&self.title);
                if let Some(outcome) = self.outcomes.last_mut() {
                    outcome.tables.push(Table {
                        path,
                        ..Table::default()
                    });
                }
                return Ok(Part::Percentiles);
            }
            _ => {}
        }
        match part {
            Part::Before => self.system(trimmed),
            Part::Parameters => self.parameter(trimmed)?,
            Part::Results => self.result(trimmed)?,
            Part::Total => {}
            Part::Read | Part::Write => self.row(trimmed, part == Part::Read)?,
            Part::Percentiles => self.percentile(trimmed)?,
        }
        Ok(part)
    }

    fn system(&mut self, line: &str) {
        if let Some(rest) = after(line, "start time:") {
            self.found.started_at = moment(rest);
        }
        if let Some(rest) = after(line, "cpu count:") {
            self.found.processors = whole(rest).unwrap_or(0) as u32;
        }
    }

    fn parameter(&mut self, line: &str) -> Result<(), String> {
        if line.starts_with("timespan:") {
            self.asked.push(Vec::new());
            return Ok(());
        }
        let Some(span) = self.asked.last_mut() else {
            return Ok(());
        };
        if let Some(path) = after(line, "path:") {
            span.push(Target {
                path: path.trim_matches('\'').to_owned(),
                job: Job {
                    engine: "diskspd".to_owned(),
                    ..Job::default()
                },
            });
        }
        match span.last_mut() {
            Some(target) => setting(&mut target.job, line),
            None => Ok(()),
        }
    }

    fn result(&mut self, line: &str) -> Result<(), String> {
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
        if let Some(rest) = line.strip_prefix("avg.|") {
            outcome.busy_percent = rest.split('|').next().and_then(number);
            self.found.processors = self.found.processors.max(1);
        }
        Ok(())
    }

    fn row(&mut self, line: &str, reads: bool) -> Result<(), String> {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        if cells[0] == "thread" {
            self.columns = cells.iter().map(|cell| (*cell).to_owned()).collect();
            return Ok(());
        }
        if let Some(bytes) = line.strip_prefix("total:") {
            self.compare_total(bytes, &cells, reads);
            return Ok(());
        }
        let is_row = cells.len() > 4 && whole(cells[0]).is_some();
        let Some(outcome) = self.outcomes.last_mut().filter(|_| is_row) else {
            return Ok(());
        };
        let of = |name: &str| {
            let place = self.columns.iter().position(|column| column == name)?;
            cells.get(place).copied()
        };
        let count = |name: &str| {
            let cell = of(name).and_then(whole);
            cell.ok_or_else(|| format!("a row without `{name}`: `{line}`"))
        };
        let ms = |name: &str| of(name).and_then(number).map(|ms| ms * 1e6);
        // The path may hold anything but stands last.
        let file = line.splitn(self.columns.len().max(1), '|').last();
        let (path, file_size) = file_and_size(file.unwrap_or_default());
        let row = Row {
            path,
            file_size,
            figures: Figures {
                ios: count("I/Os")?,
                bytes: count("bytes")?,
                mean: ms("AvgLat"),
                stddev: ms("LatStdDev"),
                ..Figures::default()
            },
        };
        match reads {
            true => outcome.read.push(row),
            false => outcome.write.push(row),
        }
        Ok(())
    }

    /// The `total:` row is a sum of the rows above it, which are the measurement: where it is another
    /// one, the threads count, and a note says so.
    fn compare_total(&mut self, bytes: &str, cells: &[&str], reads: bool) {
        let Some(outcome) = self.outcomes.last() else {
            return;
        };
        let (table, rows) = match reads {
            true => ("Read IO", &outcome.read),
            false => ("Write IO", &outcome.write),
        };
        let bytes = bytes.split('|').next().and_then(whole);
        let ios = cells.get(1).and_then(|cell| whole(cell));
        let (Some(bytes), Some(ios)) = (bytes, ios) else {
            return;
        };
        let sum = sum(rows.iter().map(|row| &row.figures));
        if (sum.ios, sum.bytes) != (ios, bytes) {
            let text = format!(
                "timespan-{}, {table}: the total: row tells {ios} operations and {bytes} bytes, its \
                 threads add up to {} and {}; the threads are taken, since the total is only their \
                 sum",
                self.outcomes.len(),
                sum.ios,
                sum.bytes
            );
            self.found.note(&text);
        }
    }

    fn percentile(&mut self, line: &str) -> Result<(), String> {
        let outcome = self.outcomes.last_mut();
        let Some(table) = outcome.and_then(|outcome| outcome.tables.last_mut()) else {
            return Ok(());
        };
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let [label, read, write, ..] = cells[..] else {
            return Ok(());
        };
        let values = [read, write].map(|cell| number(cell).map(|ms| ms * 1e6));
        match label {
            "min" => (0..2).for_each(|way| table.edges[way][0] = values[way]),
            "max" => (0..2).for_each(|way| table.edges[way][1] = values[way]),
            _ => {
                let share = share(label).ok_or_else(|| format!("`{label}` is no percentile"))?;
                for (shape, ns) in table.shapes.iter_mut().zip(values) {
                    shape.extend(ns.map(|ns| (share, ns)));
                }
            }
        }
        Ok(())
    }

    fn done(mut self) -> Result<Found, Wrong> {
        if self.outcomes.is_empty() {
            return Err(Wrong::whole(
                "no `Results for timespan` in it: not DiskSpd's text, or cut off before its end",
            ));
        }
        for (index, outcome) in self.outcomes.iter().enumerate() {
            if outcome.seconds == 0.0 || (outcome.read.is_empty() && outcome.write.is_empty()) {
                let message = format!("the results of timespan {} are cut off", index + 1);
                return Err(Wrong::whole(message));
            }
            let command = self
                .commands
                .iter()
                .rev()
                .find(|(before, _)| *before <= index);
            let typed = || command.map(|(_, line)| typed(line)).unwrap_or_default();
            let asked = self.asked.get(outcome.asked).cloned().unwrap_or_else(typed);
            let jobs = outcome.jobs(&asked, &mut self.found);
            self.found.cases.push(Case {
                name: format!("timespan-{}", index + 1),
                jobs,
                busy_percent: outcome.busy_percent,
                ..Case::default()
            });
        }
        self.tell_commands();
        Ok(self.found)
    }

    /// Files to which several runs were appended tell which is which.
    fn tell_commands(&mut self) {
        let Some((_, first)) = self.commands.first() else {
            return;
        };
        self.found.command.clone_from(first);
        if self.commands.len() > 1 {
            let runs = self.commands.iter();
            let runs = runs.map(|(before, line)| format!("timespan-{}: {line}", before + 1));
            self.found.command = format!("{} runs in one text", self.commands.len());
            self.found.notes.extend(runs);
        }
    }
}

/// The targets of a command line, where the text has no `Input parameters:`; none where it is not
/// understood.
fn typed(line: &str) -> Vec<Target> {
    let words: Vec<String> = words(line).into_iter().skip(1).collect();
    match diskspd::parse(&words).map(|parsed| parsed.asked) {
        Ok(Asked::Load(profile)) => {
            let spans = profile.timespans.iter();
            spans
                .flat_map(|span| span.targets.iter().map(asked_for))
                .collect()
        }
        _ => Vec::new(),
    }
}

/// Words between blanks; quotes hold them together.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quoted = false;
    for letter in line.chars() {
        match letter {
            '"' => quoted = !quoted,
            blank if blank.is_whitespace() && !quoted => words.push(String::new()),
            other => words
                .last_mut()
                .into_iter()
                .for_each(|word| word.push(other)),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

fn asked_for(target: &diskspd::Target) -> Target {
    let threads = f64::from(target.threads);
    let (iops, bytes) = match target.throughput {
        Some(Throughput::Iops(iops)) => (Some(f64::from(iops) * threads), None),
        Some(Throughput::BytesPerMs(bytes)) => (None, Some(f64::from(bytes) * 1000.0 * threads)),
        None => (None, None),
    };
    let job = Job {
        engine: "diskspd".to_owned(),
        pattern: Some(random_percent(f64::from(target.random_ratio))),
        block: target.block,
        read_percent: Some((100 - target.write_ratio.min(100)) as u8),
        threads: target.threads,
        depth: target.requests,
        direct: match target.cache {
            Cache::None => Some(true),
            Cache::Cached => Some(false),
            Cache::NotLocal => None,
        },
        write_through: target.write_through,
        asked_iops: iops,
        asked_bytes_per_s: bytes,
        think: target.think_ms > 0,
        ..Job::default()
    };
    Target {
        path: target.path.clone(),
        job,
    }
}

/// The target whose percentiles a title announces; nothing for those of all.
fn titled(title: &str) -> Option<String> {
    if matches!(title, "total:" | "Total latency distribution:") {
        return None;
    }
    let path = title.strip_prefix("Latency distribution:").unwrap_or(title);
    Some(path.trim().to_owned())
}

/// A line below `path:`.
fn setting(job: &mut Job, line: &str) -> Result<(), String> {
    let bytes = |text: &str| size(text).ok_or_else(|| format!("`{text}` is no size"));
    if let Some(rest) = after(line, "block size:") {
        job.block = bytes(rest)?;
    } else if let Some(rest) = after(line, "number of outstanding I/O operations") {
        let value = rest.rsplit(':').next().unwrap_or_default();
        job.depth = whole(value).ok_or_else(|| format!("`{value}` is no number"))? as u32;
    } else if let Some(rest) = after(line, "threads per file:") {
        job.threads = whole(rest).ok_or_else(|| format!("`{rest}` is no number"))? as u32;
    } else if let Some(rest) = after(line, "performing ") {
        job.read_percent = mix(rest);
    } else if line == "using software cache" {
        job.direct = Some(false);
    } else if let Some(rest) = after(line, "using ") {
        job.pattern = pattern(rest).or(job.pattern.take());
    } else if let Some(rest) = after(line, "throughput rate-limited to ") {
        let mut words = rest.split(' ');
        let value = words.next().and_then(number);
        match words.next() {
            Some("IOPS") => job.asked_iops = value.map(|it| it * f64::from(job.threads.max(1))),
            _ => {
                let threads = f64::from(job.threads.max(1));
                job.asked_bytes_per_s = value.map(|it| it * 1000.0 * threads);
            }
        }
    } else if let Some(rest) = after(line, "think time:") {
        job.think = rest != "0ms";
    } else if line.contains("software cache disabled") && !line.contains("local software") {
        job.direct = Some(true);
    } else if line.starts_with("software and hardware") && line.ends_with("disabled") {
        // Before 2.0.17.
        (job.direct, job.write_through) = (Some(true), true);
    } else if line.contains("writethrough on") {
        job.write_through = true;
    }
    Ok(())
}

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

fn pattern(text: &str) -> Option<Pattern> {
    if text.starts_with("random I/O") {
        Some(RANDOM)
    } else if text.starts_with("sequential I/O") || text.starts_with("interlocked sequential") {
        Some(Pattern::Sequential)
    } else if let Some(rest) = text.strip_prefix("mixed random/sequential I/O (") {
        rest.split('%').next()?.parse().ok().map(random_percent)
    } else {
        None
    }
}

/// `E:\dummy.dat (20GiB)`.
fn file_and_size(cell: &str) -> (String, u64) {
    let cell = cell.trim();
    match cell.rsplit_once(" (") {
        Some((path, rest)) => {
            let bytes = size(rest.trim_end_matches(')')).unwrap_or(0);
            (path.to_owned(), bytes)
        }
        None => (cell.to_owned(), 0),
    }
}

/// `95th`, `3-nines`.
fn share(label: &str) -> Option<f64> {
    if let Some(nines) = label.strip_suffix("-nines") {
        let nines: i32 = nines.parse().ok()?;
        return (1..=12).contains(&nines).then(|| 1.0 - 10f64.powi(-nines));
    }
    let percent: f64 = label.strip_suffix("th")?.parse().ok()?;
    (0.0..=100.0).contains(&percent).then_some(percent / 100.0)
}

/// Rows of the same path as one.
pub(super) fn sum<'a>(rows: impl Iterator<Item = &'a Figures>) -> Figures {
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
    fn jobs(&self, asked: &[Target], found: &mut Found) -> Vec<Job> {
        let mut paths: Vec<(String, u64)> = Vec::new();
        for row in self.read.iter().chain(&self.write) {
            if !paths.iter().any(|(path, _)| *path == row.path) {
                paths.push((row.path.clone(), row.file_size));
            }
        }
        let alone = paths.len() == 1;
        let jobs = paths.iter().enumerate().map(|(index, (path, _))| {
            let told = asked.iter().find(|target| target.path == *path);
            let mut job = told.or(asked.first()).map_or_else(
                || Job {
                    engine: "diskspd".to_owned(),
                    ..Job::default()
                },
                |target| target.job.clone(),
            );
            job.name = format!("target{index}");
            job.seconds = self.seconds;
            let of = |rows: &[Row]| {
                let own = rows.iter().filter(|row| row.path == *path);
                sum(own.map(|row| &row.figures))
            };
            (job.read, job.write) = (of(&self.read), of(&self.write));
            let own = self.tables.iter().find(|it| it.path.as_ref() == Some(path));
            let all = self.tables.iter().find(|it| it.path.is_none());
            if let Some(table) = own.or(all.filter(|_| alone)) {
                table.shape(&mut job);
            }
            job
        });
        let jobs: Vec<Job> = jobs.collect();
        let told = |job: &Job| job.read.shape.is_known() || job.write.shape.is_known();
        if !self.tables.is_empty() && !jobs.iter().any(told) {
            found.note("percentiles are told for all targets together: none are known of one");
        }
        if jobs
            .iter()
            .any(|job| job.read.mean.or(job.write.mean).is_none())
        {
            found.note("run without -L: no latency is known");
        }
        for (path, bytes) in paths {
            if !found.targets.iter().any(|(known, _)| *known == path) {
                found.targets.push((path, bytes));
            }
        }
        jobs
    }
}

impl Table {
    fn shape(&self, job: &mut Job) {
        let ways = [&mut job.read, &mut job.write];
        for ((figures, shape), edges) in ways.into_iter().zip(&self.shapes).zip(self.edges) {
            if !shape.is_empty() {
                figures.shape = Shape::Percentiles(shape.clone());
            }
            [figures.min, figures.max] = edges;
        }
    }
}
