//! CrystalDiskMark's report, of versions 3 to 9, and KDiskMark's.
//!
//! A row is the best of several passes, rates and latency each for itself; the rows of versions
//! before 7 hold no latency. KDiskMark takes the mean of them in its default profile.

use super::figures::Figures;
use super::{not_a_result, not_a_result_at};
use blocklab_syntax::Mistake;
use blocklab_workload::Pattern;

use super::record::{Case, Found, Job};
use super::runs::{Printed, Runs};
use super::scan::{after, moment, number, size};

/// The measuring time of a test where the report gives none: the program's default.
const SECONDS: f64 = 5.0;

/// A line such as `  SEQ    1MiB (Q=  8, T= 1):   551.369 MB/s [    525.8 IOPS] < 15196.93 us>`.
struct Row {
    random: bool,
    block: u64,
    queues: u32,
    threads: u32,
    /// Share of reads; `None`: that of the section.
    reads: Option<u8>,
    mb_per_s: f64,
    iops: Option<f64>,
    latency_us: Option<f64>,
}

/// All reports of a text: those of one drive, size and version are passes of a run.
pub(super) fn read(text: &str) -> Result<Vec<Found>, Mistake> {
    let mut runs = Runs::default();
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let begins: Vec<usize> = (0..lines.len())
        .filter(|at| tool(lines[*at]).is_some())
        .collect();
    let Some(first) = begins.first() else {
        return Err(not_a_result(
            "no line `CrystalDiskMark VERSION …` or `KDiskMark (VERSION)…` in it: copy the report \
             with its head",
        ));
    };
    if let Some(at) = lines[..*first].iter().position(|line| is_row(line)) {
        return Err(not_a_result_at(
            at + 1,
            "a row before the head of a report: copy the report with its head",
        ));
    }
    for (at, begin) in begins.iter().enumerate() {
        let end = begins.get(at + 1).copied().unwrap_or(lines.len());
        runs.add(report(&lines[*begin..end], *begin)?);
    }
    Ok(runs.all())
}

/// A row of any unit: in another one than MB/s, it is refused, not passed over.
fn is_row(line: &str) -> bool {
    let label = line.split_once(':').map_or("", |(label, _)| label);
    let begins = ["seq", "rnd", "random"];
    let is_label = begins.iter().any(|word| {
        let start = label.get(..word.len());
        start.is_some_and(|start| start.eq_ignore_ascii_case(word))
    });
    (is_label || line.contains(" MB/s")) && !line.starts_with('*')
}

/// Reads the report whose first line has this index.
fn report(lines: &[&str], first: usize) -> Result<Printed, Mistake> {
    let mut found = Found {
        tool: tool(lines[0]).unwrap_or_default(),
        ..Found::default()
    };
    let mut section = None;
    // Each row with its share of reads, in per cent.
    let mut rows: Vec<(Row, u8)> = Vec::new();
    let mut foot = Foot::default();
    for (index, line) in lines.iter().enumerate() {
        let place = first + index + 1;
        if line.starts_with('[') && !line.contains(':') {
            section = section_of(line);
        } else if is_row(line) {
            let row = row(line).map_err(|message| not_a_result_at(place, message))?;
            let Some(reads) = row.reads.or(section) else {
                let outside = "a row outside of [Read], [Write] and [Mix]";
                return Err(not_a_result_at(place, outside));
            };
            rows.push((row, reads));
        } else {
            foot.read(line, &mut found);
        }
    }
    if rows.is_empty() {
        let cut = "no row of figures behind this head: it is cut off";
        return Err(not_a_result_at(first + 1, cut));
    }
    let is_kdiskmark = found.tool.starts_with("KDiskMark");
    found.note(if is_kdiskmark {
        "each row is the mean or the best of its passes: no spread is known; what KDiskMark \
             calls MB/s is 1024000 bytes/s, so its operations are counted instead"
    } else {
        "each row is the best of its passes, and latency the best for itself: no spread is \
             known"
    });
    found.note(&match foot.seconds {
        Some(_) => "the measured time is that of the settings, to the next whole operation: no \
                    rate depends on it"
            .to_owned(),
        None => format!(
            "the report does not give the measuring time of a test: about {SECONDS} s, the \
             program's default, is assumed; no rate depends on it"
        ),
    });
    let seconds = foot.seconds.unwrap_or(SECONDS);
    for (row, reads) in &rows {
        let case = row.case(*reads, seconds, is_kdiskmark);
        if found.cases.iter().any(|known| known.name == case.name) {
            let twice = format!("the report begun here has two rows of {}", case.name);
            return Err(not_a_result_at(first + 1, twice));
        }
        found.cases.push(case);
    }
    Ok(Printed {
        load: format!("{:?} {} {}", foot.drive, found.os, foot.comment),
        process: Some(found.started_at.clone()),
        found,
        ..Printed::default()
    })
}

/// `CrystalDiskMark 8.0.4`, `KDiskMark 3.1.4`; `None` for another line.
fn tool(line: &str) -> Option<String> {
    if let Some(rest) = after(line, "CrystalDiskMark ") {
        let release = rest.split(' ').next()?;
        let is_version = release
            .split('.')
            .next()?
            .parse()
            .is_ok_and(|major: u32| major > 0);
        return is_version.then(|| format!("CrystalDiskMark {release}"));
    }
    let release = after(line, "KDiskMark (")?.split(')').next()?;
    Some(format!("KDiskMark {release}"))
}

/// The share of reads in per cent that the title of a section gives: `[Read]`, `[Write]`, `[Mix] Read
/// 70%/Write 30%`. `None` for another line.
fn section_of(line: &str) -> Option<u8> {
    if line.starts_with("[Read]") {
        Some(100)
    } else if line.starts_with("[Write]") {
        Some(0)
    } else {
        let rest = line.strip_prefix("[Mix] Read ")?;
        rest.split('%').next()?.parse().ok()
    }
}

/// What is printed below the rows.
#[derive(Default)]
struct Foot {
    seconds: Option<f64>,
    /// Size of the test, name and size of the drive; not how full it was.
    drive: Vec<String>,
    comment: String,
}

impl Foot {
    fn read(&mut self, line: &str, found: &mut Found) {
        if let Some(rest) = after(line, "Date") {
            found.started_at = moment(rest);
            found.note("the time of the run is that machine's local time");
        } else if let Some(rest) = after(line, "OS") {
            found.os = rest.trim_start_matches([' ', ':']).to_owned();
        } else if let Some(rest) = after(line, "Comment") {
            rest.clone_into(&mut self.comment);
        } else if let Some(rest) = after(line, "Time: Measure ") {
            let time = rest.split(' ').next().and_then(number);
            self.seconds = time.filter(|seconds| *seconds > 0.0);
        } else if let Some(rest) = after(line, "Test") {
            let rest = rest.trim_start_matches([' ', ':']);
            rest.clone_into(&mut found.command);
            let bytes = rest.split(['(', '[']).next().and_then(size);
            found.targets = vec![("the measured drive".to_owned(), bytes.unwrap_or(0))];
            // `1 GiB (x5) [C: 96% (894/932GiB)]`: `96%` and `(894` are how full the drive was.
            let parts = rest.split([' ', '/']).filter(|part| !part.contains('%'));
            let own = parts.filter(|part| !part.starts_with('(') || part.ends_with(')'));
            self.drive = own.map(str::to_owned).collect();
        }
    }
}

/// `SEQ    1MiB (Q=  8, T= 1):  3561.234 MB/s [   3396.2 IOPS] <  2353.01 us>`.
fn row(line: &str) -> Result<Row, String> {
    let wrong = || format!("no row of a report: `{line}`");
    let (head, _) = line.split_once(" MB/s").ok_or_else(wrong)?;
    let (label, _) = head.rsplit_once(':').ok_or_else(wrong)?;
    let figures = &line[label.len() + 1..];
    let (what, queue) = label.split_once('(').unwrap_or((label, ""));
    let lower = what.trim().to_ascii_lowercase();
    let random = lower.starts_with("rnd") || lower.starts_with("random");
    if !random && !lower.starts_with("seq") {
        return Err(wrong());
    }
    let [queues, queue_depth, threads] = ["Q=", "QD=", "T="].map(|key| {
        let mut settings = queue.split([',', ')']).map(str::trim);
        let value = settings.find_map(|setting| setting.strip_prefix(key));
        value.map(|value| value.trim().parse::<u32>()).transpose()
    });
    let queues = queues
        .map_err(|_| wrong())?
        .or(queue_depth.map_err(|_| wrong())?);
    let threads = threads.map_err(|_| wrong())?;
    let reads = if lower.contains("read") {
        Some(100)
    } else {
        lower.contains("write").then_some(0)
    };
    let block = block_size(what, random, queues.is_some()).ok_or_else(wrong)?;
    let mb_per_s = before(figures, "MB/s", ' ')
        .or_else(|| number(figures.split("MB/s").next()?))
        .filter(|rate| *rate >= 0.0)
        .ok_or_else(wrong)?;
    let iops = before(figures, "IOPS]", '[');
    // Some say MB/s of 1,024,000 bytes, which is within 5 %. Both figures are rounded: operations to
    // tenths, so by 0.05 blocks, and MB/s to thousandths, so by 500 bytes.
    if let Some(iops) = iops {
        let (by_rate, by_count) = (mb_per_s * 1e6, iops * block as f64);
        let rounding = 0.06 * block as f64 + 600.0;
        if (by_rate - by_count).abs() > by_count * 0.05 + rounding {
            return Err(format!(
                "{mb_per_s} MB/s, and {iops} IOPS of {block} bytes: the row contradicts itself"
            ));
        }
    }
    Ok(Row {
        random,
        block,
        queues: queues.unwrap_or(1).clamp(1, 1 << 16),
        threads: threads.unwrap_or(1).clamp(1, 1 << 16),
        reads,
        mb_per_s,
        iops,
        latency_us: before(figures, "us>", '<'),
    })
}

/// The bytes of an operation, from `SEQ    1MiB`, `Random Write 512KB` or `Sequential Read`. `None`
/// where they are not readable.
fn block_size(what: &str, random: bool, has_queue: bool) -> Option<u64> {
    // Before version 5, KB are KiB.
    let words: String = what.split_whitespace().collect();
    let words = words.replace("KB", "KiB");
    match words.find(|c: char| c.is_ascii_digit()) {
        Some(at) => size(&words[at..]).filter(|bytes| *bytes > 0),
        None if random => None,
        // Before version 7, sequential rows give no size: 128 KiB with a queue, 1 MiB without one.
        None => Some(if has_queue { 128 << 10 } else { 1 << 20 }),
    }
}

/// The number between `open` and `unit`.
fn before(figures: &str, unit: &str, open: char) -> Option<f64> {
    let (value, _) = figures.split_once(unit)?;
    number(value.rsplit(open).next()?)
}

impl Row {
    /// The case of a row with this share of reads in per cent, measured for about this time. `is_kdiskmark`: the
    /// report is KDiskMark's, whose MB/s are not 10^6 bytes.
    fn case(&self, reads: u8, seconds: f64, is_kdiskmark: bool) -> Case {
        let word = if self.random { "random" } else { "sequential" };
        let direction = match reads {
            100 => "read",
            0 => "write",
            _ => "mixed",
        };
        let size = blocklab_units::Bytes(self.block)
            .to_string()
            .replace(' ', "");
        let name = format!(
            "{word}-{size}-q{}t{}-{direction}",
            self.queues, self.threads
        );
        let per_second = match self.iops.filter(|_| is_kdiskmark) {
            Some(iops) => iops * self.block as f64,
            None => self.mb_per_s * 1e6,
        };
        let iops = self.iops.unwrap_or(per_second / self.block as f64);
        // Whole operations, in the time that they take at the rate of the report.
        let (ios, seconds) = if iops > 0.0 {
            let ios = (iops * seconds).round().max(1.0);
            (ios, ios / iops)
        } else {
            (0.0, seconds)
        };
        let share = f64::from(reads) / 100.0;
        let reads_done = (ios * f64::from(reads) / 100.0).round();
        let directions = [(share, reads_done), (1.0 - share, ios - reads_done)];
        let [read, write] = directions.map(|(share, ios)| Figures {
            ios: ios as u64,
            bytes: (per_second * share * seconds).round() as u64,
            mean: self.latency_us.filter(|us| *us > 0.0).map(|us| us * 1e3),
            ..Figures::default()
        });
        let job = Job {
            name: name.clone(),
            engine: if is_kdiskmark { "fio" } else { "diskspd" }.to_owned(),
            pattern: Some(if self.random {
                Pattern::RANDOM
            } else {
                Pattern::Sequential
            }),
            block: self.block,
            read_percent: Some(reads),
            threads: self.threads,
            depth: self.queues,
            // KDiskMark has a setting for it, which its report does not show.
            direct: (!is_kdiskmark).then_some(true),
            seconds,
            read,
            write,
            ..Job::default()
        };
        Case {
            name,
            jobs: vec![job],
            ..Case::default()
        }
    }
}
