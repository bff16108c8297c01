//! CrystalDiskMark's report, of versions 3 to 9, and KDiskMark's.
//!
//! A row is the best of several passes, rates and latency each for itself; the rows of versions
//! before 7 hold no latency. KDiskMark takes the mean of them in its default profile.

use super::figures::Figures;
use super::{not_a_result, not_a_result_at};
use blocklab_syntax::Mistake;
use blocklab_workload::Pattern;

use super::record::{Case, Found, Job};
use super::scan::{after, moment, number, size};

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

pub(super) fn read(text: &str) -> Result<Found, Mistake> {
    let mut found = Found::default();
    let mut section = None;
    let mut rows: Vec<(Row, u8)> = Vec::new();
    let mut seconds = None;
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        let wrong = |message| not_a_result_at(index + 1, message);
        if let Some(tool) = tool(line).filter(|_| found.tool.is_empty()) {
            found.tool = tool;
        } else if line.starts_with('[') && !line.contains(':') {
            section = section_of(line);
        } else if line.contains(" MB/s") && !line.starts_with('*') {
            let row = row(line).map_err(wrong)?;
            let outside = || wrong("a row outside of [Read], [Write] and [Mix]".to_owned());
            let reads = row.reads.or(section).ok_or_else(outside)?;
            rows.push((row, reads));
        } else {
            foot(line, &mut found, &mut seconds);
        }
    }
    if found.tool.is_empty() {
        return Err(not_a_result(
            "no line `CrystalDiskMark VERSION …` or `KDiskMark (VERSION)…` in it: copy the report \
             with its head",
        ));
    }
    if rows.is_empty() {
        return Err(not_a_result("no row of figures in it: it is cut off"));
    }
    let kde = found.tool.starts_with("KDiskMark");
    found.note(match kde {
        true => {
            "each row is the mean or the best of its passes: no spread is known; what KDiskMark \
             calls MB/s is 1024000 bytes/s, so its operations are counted instead"
        }
        false => {
            "each row is the best of its passes, and latency the best for itself: no spread is \
             known"
        }
    });
    if seconds.is_none() {
        found.notes.push(format!(
            "the report does not give the measuring time of a test: {SECONDS} s, the program's \
             default, is assumed; no rate depends on it"
        ));
    }
    let seconds = seconds.unwrap_or(SECONDS);
    let cases = rows
        .iter()
        .map(|(row, reads)| row.case(*reads, seconds, kde));
    found.cases = cases.collect();
    Ok(found)
}

/// `CrystalDiskMark 8.0.4`, `KDiskMark 3.1.4`; nothing of another line.
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

/// `[Read]`, `[Write]`, `[Mix] Read 70%/Write 30%`: the share of reads.
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

fn foot(line: &str, found: &mut Found, seconds: &mut Option<f64>) {
    if let Some(rest) = after(line, "Date") {
        found.started_at = moment(rest);
        found
            .notes
            .push("the time of the run is that machine's local time".to_owned());
    } else if let Some(rest) = after(line, "OS") {
        found.os = rest.trim_start_matches([' ', ':']).to_owned();
    } else if let Some(rest) = after(line, "Time: Measure ") {
        let time = rest.split(' ').next().and_then(number);
        *seconds = time.filter(|it| *it > 0.0);
    } else if let Some(rest) = after(line, "Test") {
        let rest = rest.trim_start_matches([' ', ':']);
        found.command = rest.to_owned();
        let bytes = rest.split(['(', '[']).next().and_then(size);
        found.targets = vec![("the measured drive".to_owned(), bytes.unwrap_or(0))];
    }
}

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
    let setting = |key: &str| {
        let all = queue.split([',', ')']).map(str::trim);
        let value = all.filter_map(|it| it.strip_prefix(key)).next();
        value
            .map(|value| value.trim().parse().map_err(|_| wrong()))
            .transpose()
    };
    let queues: Option<u32> = setting("Q=")?.or(setting("QD=")?);
    let threads: Option<u32> = setting("T=")?;
    let reads = match () {
        () if lower.contains("read") => Some(100),
        () if lower.contains("write") => Some(0),
        () => None,
    };
    // Before version 5, KB are KiB.
    let glued: String = what.split_whitespace().collect();
    let glued = glued.replace("KB", "KiB");
    let digits = glued.find(|c: char| c.is_ascii_digit());
    let block = digits.and_then(|at| size(&glued[at..]));
    // Before version 7, sequential rows give no size: 128 KiB with a queue, 1 MiB without one.
    let block = block.unwrap_or(if queues.is_some() { 128 << 10 } else { 1 << 20 });
    let before = |unit: &str, open: char| {
        let (value, _) = figures.split_once(unit)?;
        number(value.rsplit(open).next()?)
    };
    Ok(Row {
        random,
        block,
        queues: queues.unwrap_or(1).clamp(1, 1 << 16),
        threads: threads.unwrap_or(1).clamp(1, 1 << 16),
        reads,
        mb_per_s: before("MB/s", ' ')
            .or_else(|| number(figures.split("MB/s").next()?))
            .ok_or_else(wrong)?,
        iops: before("IOPS]", '['),
        latency_us: before("us>", '<'),
    })
}

impl Row {
    fn case(&self, reads: u8, seconds: f64, kde: bool) -> Case {
        let word = if self.random { "random" } else { "sequential" };
        let way = match reads {
            100 => "read",
            0 => "write",
            _ => "mixed",
        };
        let size = blocklab_units::Bytes(self.block).to_string();
        let size = size.replace(' ', "");
        let name = format!("{word}-{size}-q{}t{}-{way}", self.queues, self.threads);
        let per_second = match self.iops.filter(|_| kde) {
            Some(iops) => iops * self.block as f64,
            None => self.mb_per_s * 1e6,
        };
        let iops = self.iops.unwrap_or(per_second / self.block as f64);
        let figures = |share: f64| Figures {
            ios: (iops * share * seconds).round() as u64,
            bytes: (per_second * share * seconds).round() as u64,
            mean: self.latency_us.filter(|us| *us > 0.0).map(|us| us * 1e3),
            ..Figures::default()
        };
        let share = f64::from(reads) / 100.0;
        let job = Job {
            name: name.clone(),
            engine: "diskspd".to_owned(),
            pattern: Some(match self.random {
                true => Pattern::RANDOM,
                false => Pattern::Sequential,
            }),
            block: self.block,
            read_percent: Some(reads),
            threads: self.threads,
            depth: self.queues,
            // KDiskMark has a setting for it, which its report does not show.
            direct: (!kde).then_some(true),
            seconds,
            read: figures(share),
            write: figures(1.0 - share),
            ..Job::default()
        };
        Case {
            name,
            jobs: vec![job],
            ..Case::default()
        }
    }
}
