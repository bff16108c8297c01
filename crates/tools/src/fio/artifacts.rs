//! Files that jobs write besides their results: logs, traces and state files; messages about
//! miscompares; and the logs of `--bandwidth-log` and `--inflate-log`.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use anyhow::{Context, Result};
use blocklab_console::{status, terminal};
use blocklab_driver::Outcome;
use blocklab_fio::{
    CloneFacts, Epoch, Flawed, InflateError, LogKind, LogRule, Logged, Packer, Prepared, Sample,
    State, inflate, mean_speed, per_second, speed,
};
use blocklab_host::{LARGEST_REPORT, read_input};
use blocklab_record::Interval;
use blocklab_trace::iolog::{self, Traced};
use blocklab_units::Nanos;
use blocklab_worker::{JobLog, KeptMiscompare, LogEntry, LogSpan, Progress};
use blocklab_workload::{Case, Direction, Job};
use jiff::Timestamp;

use blocklab_results::output::{self, Over};

/// Writes the files of the clones of a case that has ended, each with its number from 0 among all clones.
/// `epochs_ms`: for each of all clones, the moment from which its logs count. What cannot be written is
/// reported, and everything else is written all the same.
pub fn write_all(
    clones: &[(usize, &CloneFacts)],
    case: &Case,
    outcome: &Outcome,
    epochs_ms: &[u64],
) {
    for (number, clone) in clones {
        let job = case.workload.jobs.iter().find(|job| job.name == clone.job);
        let Some(job) = job else { continue };
        if clone.logs.is_on() {
            let log = outcome.logs.iter().find(|(name, _)| *name == clone.job);
            let nothing = JobLog::default();
            let log = log.map_or(&nothing, |(_, log)| log);
            for kind in LogKind::ALL {
                if let Some(path) = clone.logs.file(kind, number + 1) {
                    let file = open(&path, clone.logs.per_job);
                    report(file.and_then(|file| {
                        write_log(BufWriter::new(file), kind, clone, log, epochs_ms[*number])
                            .with_context(|| format!("cannot write the log {path}"))
                    }));
                }
            }
            if let Some(path) = &clone.logs.trace {
                report(write_trace(path, clone, job, log));
            }
        }
        let flawed = outcome
            .miscompares
            .iter()
            .filter(|(job, _)| *job == clone.job);
        for (_, block) in flawed {
            report(report_miscompare(clone, job, block));
        }
        let progress = outcome.progress.iter().find(|(name, _)| *name == clone.job);
        if let (Some(path), Some((_, progress))) = (&clone.state, progress) {
            let state = state(*number, clone, job, progress, case.workload.seed);
            report(output::write(Path::new(path), state.encode(), Over::Files));
        }
    }
}

/// Reports what could not be written.
fn report(written: Result<()>) {
    if let Err(error) = written {
        terminal::complain(&error);
    }
}

/// Prints a miscompare, and dumps the block that was read if `verify_dump` is set.
fn report_miscompare(clone: &CloneFacts, job: &Job, block: &KeptMiscompare) -> Result<()> {
    let flawed = Flawed {
        verify: &clone.verify,
        file: job
            .targets
            .get(block.target as usize)
            .map_or("", |path| path),
        flaw: &block.miscompare,
        offset: block.offset,
        bytes: &block.bytes,
    };
    terminal::inform(&flawed.words());
    if clone.dumps && !block.bytes.is_empty() {
        let path = flawed.dump();
        output::write(Path::new(&path), &block.bytes, Over::Files)?;
        terminal::inform(&format!("       received data dumped as {path}"));
    }
    Ok(())
}

/// The state file of a clone, from which a later run knows what was written.
fn state(number: usize, clone: &CloneFacts, job: &Job, progress: &Progress, seed: u64) -> State {
    let recent = progress.recent.iter().zip(0..);
    State {
        thread: number as u64,
        name: clone.name.clone(),
        depth: job.depth,
        files: job.targets.len() as u32,
        writes: progress.writes,
        durable: progress.durable,
        seed,
        recent: recent
            .flat_map(|(offsets, file)| offsets.iter().map(move |offset| (file, *offset)))
            .collect(),
    }
}

/// Adds the trace of a clone to the file, in the order in which the operations were issued.
fn write_trace(path: &str, clone: &CloneFacts, job: &Job, log: &JobLog) -> Result<()> {
    let files = &clone.logs.traced;
    let mut entries: Vec<&LogEntry> = log.entries.iter().collect();
    // The trace format has no action for a flush of a range (sync_file_range), so those are left out.
    let flush = job.flush;
    let keeps_flushes =
        flush.fsync_every > 0 || flush.fdatasync_every > 0 || flush.range_every == 0;
    entries.retain(|entry| entry.direction != Direction::Sync || keeps_flushes);
    entries.sort_by_key(|entry| entry.begin);
    let operations = entries.into_iter().map(|entry| Traced {
        at: entry.begin,
        file: &files[entry.target as usize],
        action: match entry.direction {
            // A log entry does not tell fsync from fdatasync. A job that uses both is replayed with
            // fsync, which is at least as thorough.
            Direction::Sync if flush.fsync_every == 0 && flush.fdatasync_every > 0 => "datasync",
            other => other.name(),
        },
        offset: entry.offset,
        len: entry.len,
    });
    let text = iolog::render(files, operations);
    let mut file = output::append(Path::new(path))?;
    let written = file.write_all(text.as_bytes());
    written.with_context(|| format!("cannot write the trace {path}"))
}

/// Opens a log. A file that clones share is appended to, and so it is by later runs, as with fio.
fn open(path: &str, per_job: bool) -> Result<File> {
    if per_job {
        output::create(Path::new(path), Over::Files)
    } else {
        output::append(Path::new(path))
    }
}

/// Tries whether all these files can be written, before anything is measured.
pub fn try_out(prepared: &Prepared) -> Result<()> {
    for (number, clone) in prepared.clones.iter().enumerate() {
        let kinds = LogKind::ALL.into_iter();
        let logs = kinds.filter_map(|kind| clone.logs.file(kind, number + 1));
        let others = [&clone.logs.trace, &clone.state].into_iter().flatten();
        for path in logs.chain(others.cloned()) {
            output::try_out(Path::new(&path), Over::Files)?;
        }
    }
    Ok(())
}

/// The moment in ms from which a log counts, for a run that begins now; 0: from its own beginning.
pub fn epoch_ms(rule: &LogRule) -> u64 {
    match rule.epoch {
        None => 0,
        Some(Epoch::Unix) => u64::try_from(Timestamp::now().as_millisecond()).unwrap_or(0),
        Some(Epoch::Clock(id)) => clock_ms(id),
    }
}

/// The time in ms of the kernel's clock with this id; 0 if there is none.
pub fn clock_ms(id: i32) -> u64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the kernel fills the structure, or leaves it as it is.
    unsafe { libc::clock_gettime(id, &raw mut time) };
    (time.tv_sec * 1000 + time.tv_nsec / 1_000_000).unsigned_abs()
}

/// Writes a log in the format that the job requests: histograms, compressed chunks or plain lines.
fn write_log(
    mut out: impl Write,
    kind: LogKind,
    clone: &CloneFacts,
    log: &JobLog,
    epoch_ms: u64,
) -> io::Result<()> {
    let rule = &clone.logs;
    if kind == LogKind::Histogram {
        for (at, direction, histogram) in &log.histograms {
            if let Some(line) = rule.histogram_line(epoch_ms, *at, *direction, histogram) {
                out.write_all(line.as_bytes())?;
            }
        }
    } else if let Some(chunk) = rule.chunk(kind) {
        let mut packer = Packer::new(&mut out, chunk);
        samples(kind, clone, log, epoch_ms, |sample| packer.put(&sample))?;
        packer.flush()?;
    } else {
        samples(kind, clone, log, epoch_ms, |sample| {
            writeln!(out, "{sample}")
        })?;
    }
    out.flush()
}

/// Passes each sample of a log to `put`: of single operations, or the averages of time spans.
fn samples(
    kind: LogKind,
    clone: &CloneFacts,
    log: &JobLog,
    epoch_ms: u64,
    mut put: impl FnMut(Sample) -> io::Result<()>,
) -> io::Result<()> {
    let rule = &clone.logs;
    // For an engine that waits for each operation, fio knows no submission.
    if kind == LogKind::Submission && !clone.is_asynchronous {
        return Ok(());
    }
    // Single operations are also recorded for `--debug`, in a job whose log has averages.
    let has_single = rule.average.is_none() && rule.has_single(kind);
    for entry in &log.entries {
        if !has_single || entry.direction == Direction::Sync {
            continue;
        }
        let logged = Logged {
            at: entry.end,
            direction: entry.direction,
            block: entry.len.into(),
            offset: entry.offset,
            issued: match kind {
                LogKind::Submission | LogKind::Completion => entry.begin,
                _ => Nanos::ZERO,
            },
            priority: Some(entry.priority),
        };
        put(rule.sample(epoch_ms, logged, entry_value(entry, kind), None))?;
    }
    for span in &log.spans {
        if span.direction == Direction::Sync || is_tail(span, rule) {
            continue;
        }
        let Some((mean, largest)) = span_values(span, kind, rule) else {
            continue;
        };
        let logged = Logged {
            at: span.end,
            direction: span.direction,
            block: 0,
            offset: 0,
            issued: Nanos::ZERO,
            priority: None,
        };
        put(rule.sample(epoch_ms, logged, mean, Some(largest)))?;
    }
    Ok(())
}

/// Whether a span is only the rest after the last whole one, shorter than a hundredth of it. Its few
/// operations would show as a spike in a chart.
fn is_tail(span: &LogSpan, rule: &LogRule) -> bool {
    let whole = rule.average.unwrap_or_default();
    span.end > whole && span.length.0 < whole.0 / 100
}

/// What a log of this kind shows of one operation: times in ns, a bandwidth as fio's logs have it.
fn entry_value(entry: &LogEntry, kind: LogKind) -> u64 {
    let completion = entry.service.since(entry.submit);
    match kind {
        LogKind::Bandwidth => speed(entry.len.into(), completion),
        LogKind::Latency => entry.service.0,
        LogKind::Submission => entry.submit.0,
        LogKind::Completion => completion.0,
        LogKind::Operations | LogKind::Histogram => 1,
    }
}

/// The mean and the largest value of a span. `None` for the rate of an incomplete span at the end: fio
/// prints only those of whole spans.
fn span_values(span: &LogSpan, kind: LogKind, rule: &LogRule) -> Option<(u64, u64)> {
    let is_whole = Some(span.length) == rule.average;
    let (sum, max) = match kind {
        LogKind::Bandwidth | LogKind::Operations if is_whole => {
            let rate = match kind {
                LogKind::Bandwidth => mean_speed(span.bytes, span.length),
                _ => per_second(span.operations, span.length),
            };
            return Some((rate, rate));
        }
        LogKind::Bandwidth | LogKind::Operations | LogKind::Histogram => return None,
        LogKind::Latency => (span.service_sum, span.service_max),
        LogKind::Submission => (span.submit_sum, span.submit_max),
        LogKind::Completion => (span.completion_sum(), span.completion_max),
    };
    Some((sum.0 / span.operations.max(1), max.0))
}

/// The files of `--bandwidth-log`: the throughput of all jobs together, by direction.
const AGGREGATES: [&str; 3] = ["agg-read_bw.log", "agg-write_bw.log", "agg-trim_bw.log"];

/// The files of `--bandwidth-log`, in the order of [`AGGREGATES`], open for the whole run.
pub struct Aggregate([File; 3]);

impl Aggregate {
    /// Creates the files in the current directory, as fio does.
    pub fn open() -> Result<Self> {
        let [read, write, trim] =
            AGGREGATES.map(|path| output::create(Path::new(path), Over::Files));
        Ok(Self([read?, write?, trim?]))
    }

    /// Writes a line into each file with the mean throughput of the interval that ends now.
    pub fn add(&mut self, interval: &Interval, elapsed: Nanos) -> io::Result<()> {
        let flows = [&interval.read, &interval.write, &interval.trim];
        for (direction, (file, flow)) in self.0.iter_mut().zip(flows).enumerate() {
            let speed = mean_speed(flow.bytes, Nanos(interval.length_ns));
            let ms = elapsed.0 / 1_000_000;
            writeln!(file, "{ms}, {speed}, {direction}, 0, 0")?;
        }
        Ok(())
    }
}

/// Fio's exit code for a log that is not in its compressed format.
const FOREIGN: u8 = 253;

/// `--inflate-log`: prints the text of a compressed log, and returns the exit code.
pub fn print_inflated(path: &str) -> Result<u8> {
    let log = read_input(Path::new(path), LARGEST_REPORT)
        .with_context(|| format!("--inflate-log: cannot read {path}"))?;
    let mut out = BufWriter::new(terminal::Data);
    let read = inflate(&log, &mut out);
    let read = match out.flush() {
        Ok(()) => read,
        Err(error) => Err(error.into()),
    };
    match read {
        Ok(true) => Ok(status::DONE),
        Ok(false) => {
            terminal::warn(&format!("{path} is cut off: what it holds was printed"));
            Ok(status::DONE)
        }
        // A closed pipe is no failure: with `| head`, the reader has got what it wanted.
        Err(InflateError::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
            Ok(status::DONE)
        }
        Err(error) => {
            terminal::inform(&format!("fio: {path}: {error}"));
            Ok(match error {
                InflateError::NotCompressed(_) => FOREIGN,
                _ => status::FAILED,
            })
        }
    }
}
