//! fio's JSON and json+, of all versions.

use std::collections::BTreeMap;

use serde::de::{Deserializer, Error as _};
use serde::{Deserialize, de};
use serde_json::{Map, Value};

use super::request::{Options, requested};
use super::{ALL_CLIENTS, check_agreement, ended_by, name_single_job_cases};
use crate::figures::{Figures, Shape};
use crate::not_a_result_at;
use crate::record::{Found, Job};
use crate::runs::{Printed, Runs};
use blocklab_syntax::Mistake;

/// What fio prints at once. Keys that are not named are passed over as they are read, so that a
/// text of many megabytes needs little more than itself.
#[derive(Deserialize)]
struct Document {
    #[serde(rename = "fio version")]
    version: Option<String>,
    timestamp: Option<f64>,
    timestamp_ms: Option<f64>,
    /// A list of hosts, where there are several.
    #[serde(rename = "global options", default)]
    global: Value,
    #[serde(default)]
    jobs: Vec<Entry>,
    #[serde(default)]
    client_stats: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    jobname: Option<String>,
    hostname: Option<String>,
    groupid: Option<u64>,
    error: Option<i64>,
    total_err: Option<u64>,
    first_error: Option<i64>,
    /// The run time of all threads added up, in ms.
    job_runtime: Option<f64>,
    #[serde(rename = "job options", default)]
    options: Map<String, Value>,
    read: Option<DirectionEntry>,
    write: Option<DirectionEntry>,
    trim: Option<DirectionEntry>,
    /// Under `unified_rw_reporting`, all directions together.
    mixed: Option<DirectionEntry>,
    sync: Option<DirectionEntry>,
}

#[derive(Deserialize)]
struct DirectionEntry {
    io_bytes: Option<f64>,
    io_kbytes: Option<f64>,
    bw_bytes: Option<f64>,
    bw: Option<f64>,
    iops: Option<f64>,
    runtime: Option<f64>,
    total_ios: Option<f64>,
    clat_ns: Option<Latency>,
    lat_ns: Option<Latency>,
    // Before 3.0, in microseconds.
    clat: Option<Latency>,
    lat: Option<Latency>,
}

#[derive(Deserialize)]
struct Latency {
    min: Option<f64>,
    max: Option<f64>,
    mean: Option<f64>,
    stddev: Option<f64>,
    #[serde(rename = "N")]
    samples: Option<f64>,
    #[serde(default, deserialize_with = "pairs")]
    percentile: Vec<(f64, f64)>,
    #[serde(default, deserialize_with = "pairs")]
    bins: Vec<(f64, f64)>,
}

/// An object whose keys are numbers, in their order.
fn pairs<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<(f64, f64)>, D::Error> {
    let mut all = Vec::new();
    for (key, value) in BTreeMap::<String, f64>::deserialize(from)? {
        let number = key.parse().map_err(|_| {
            D::Error::invalid_value(de::Unexpected::Str(&key), &"a number as a key")
        })?;
        all.push((number, value));
    }
    all.sort_by(|a: &(f64, f64), b| a.0.total_cmp(&b.0));
    all.shrink_to_fit();
    Ok(all)
}

/// All documents of a text. fio prints its warnings before them, `--status-interval` prints
/// several, and scripts append one to another or put them in an array.
pub(super) fn read(text: &str) -> Result<Vec<Found>, Mistake> {
    let mut runs = Runs::default();
    let mut at = 0;
    while let Some(start) = next_document(text, at) {
        let mut documents = serde_json::Deserializer::from_str(&text[start..]).into_iter();
        let document: Document = match documents.next() {
            Some(Ok(document)) => document,
            Some(Err(error)) => {
                let message = format!("{error}; is it fio's --output-format=json, and whole?");
                return Err(not_a_result_at(
                    lines_before(text, start) + error.line(),
                    message,
                ));
            }
            None => break,
        };
        let printed = document
            .printed()
            .map_err(|message| not_a_result_at(lines_before(text, start) + 1, message))?;
        runs.add(printed);
        at = start + documents.byte_offset();
    }
    Ok(runs.all())
}

/// Whether a text holds a document at all.
pub(super) fn is_json(text: &str) -> bool {
    next_document(text, 0).is_some()
}

/// Where the next document begins: after the last one, or at the beginning of a line.
fn next_document(text: &str, at: usize) -> Option<usize> {
    let rest = &text[at..];
    if let Some(found) = begins(rest) {
        return Some(at + found);
    }
    let breaks = rest.match_indices('\n').map(|(found, _)| at + found + 1);
    for line in breaks {
        let end = text[line..].find('\n').map_or(text.len(), |end| line + end);
        // A brace alone on its line has its first key on the next one.
        let is_open = text[line..end].trim_start().starts_with(['{', '[']);
        if is_open && let Some(found) = begins(&text[line..]) {
            return Some(line + found);
        }
    }
    None
}

/// How far into `part` an object begins, if nothing but blanks, commas and brackets precede it.
fn begins(part: &str) -> Option<usize> {
    let object = part.trim_start_matches(|c: char| c.is_whitespace() || ",[]".contains(c));
    let inside = object.strip_prefix('{')?.trim_start();
    let is_object = inside.starts_with(['"', '}']);
    is_object.then_some(part.len() - object.len())
}

/// The lines before a place. Counted for a mistake only: a text can hold thousands of documents.
fn lines_before(text: &str, end: usize) -> usize {
    text[..end].matches('\n').count()
}

impl Document {
    fn printed(self) -> Result<Printed, String> {
        let version = self
            .version
            .ok_or("no `fio version` in it: not fio's JSON")?;
        let mut found = Found {
            tool: version.replacen("fio-", "fio ", 1),
            ..Found::default()
        };
        let global = match self.global.as_array() {
            Some(hosts) => strings(hosts.first().and_then(Value::as_object)),
            None => strings(self.global.as_object()),
        };
        let mut entries = self.jobs;
        entries.extend(self.client_stats);
        let sum = Some(ALL_CLIENTS);
        if entries.iter().any(|entry| entry.jobname.as_deref() != sum) {
            entries.retain(|entry| entry.jobname.as_deref() != sum);
        }
        // Documents with other options are other loads, not passes of this one.
        let mut load = String::new();
        let mut count: BTreeMap<_, u32> = BTreeMap::new();
        for entry in &entries {
            *count.entry(entry.identity()).or_default() += 1;
        }
        for entry in &entries {
            let mut options = global.clone();
            options.extend(strings(Some(&entry.options)));
            load += &format!("{options:?}");
            let path = match (options.get("directory"), options.get("filename")) {
                (Some(directory), Some(name)) if !name.starts_with('/') => {
                    Some(format!("{}/{name}", directory.trim_end_matches('/')))
                }
                (directory, name) => name.or(directory).cloned(),
            };
            if let Some(path) = path {
                found.target(&path, 0);
            }
            let job = entry.job(&options, count[&entry.identity()], &mut found)?;
            refuse_copies(&found, &job)?;
            found.add_job(format!("group-{}", entry.groupid.unwrap_or(0)), job);
        }
        name_single_job_cases(&mut found.cases);
        // The timestamp is that of the output, when the jobs had run for this long.
        let jobs = found.cases.iter().flat_map(|case| &case.jobs);
        let longest = jobs.map(|job| job.seconds).fold(0.0, f64::max);
        found.started_at = started(self.timestamp.map(|printed| printed - longest));
        Ok(Printed {
            found,
            load,
            process: None,
            at_ms: self
                .timestamp_ms
                .or(self.timestamp.map(|seconds| seconds * 1e3)),
        })
    }
}

/// No two jobs have the same figures to the last digit.
fn refuse_copies(found: &Found, job: &Job) -> Result<(), String> {
    let mut known = found.cases.iter().flat_map(|case| &case.jobs);
    let is_known =
        known.any(|other| other.name == job.name && other.directions() == job.directions());
    let mut spreads = job
        .directions()
        .into_iter()
        .filter_map(|figures| figures.stddev);
    if is_known && spreads.any(|ns| ns > 0.0) {
        Err(format!(
            "job `{}` is in it twice, with the same figures: which of them count is unclear",
            job.name
        ))
    } else {
        Ok(())
    }
}

/// A moment in seconds since 1970 as RFC 3339; empty if it is unknown or beyond all calendars.
fn started(unix_seconds: Option<f64>) -> String {
    let sound = unix_seconds.filter(|seconds| (0.0..250_000_000_000.0).contains(seconds));
    let moment = sound.and_then(|second| jiff::Timestamp::from_second(second as i64).ok());
    moment.map(|moment| moment.to_string()).unwrap_or_default()
}

fn strings(object: Option<&Map<String, Value>>) -> Options {
    let pairs = object.into_iter().flatten();
    pairs
        .filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned())))
        .collect()
}

/// The time that is assumed for a result with rates alone.
const ASSUMED_SECONDS: f64 = 60.0;

impl Entry {
    /// Without `group_reporting`, each clone of a job has an entry of this identity.
    fn identity(&self) -> (Option<u64>, Option<&str>, Option<&str>) {
        let name = self.jobname.as_deref();
        (self.groupid, name, self.hostname.as_deref())
    }

    /// All that it holds, flushes as well.
    fn all(&self) -> impl Iterator<Item = &DirectionEntry> {
        self.timed().chain(&self.sync)
    }

    /// The directions that move data.
    fn timed(&self) -> impl Iterator<Item = &DirectionEntry> {
        let directions = [&self.read, &self.write, &self.trim, &self.mixed];
        directions.into_iter().flatten()
    }

    /// The job of an entry, with the figures of its directions. `entries`: how many entries of
    /// this job the file has.
    fn job(&self, options: &Options, entries: u32, found: &mut Found) -> Result<Job, String> {
        let name = self.jobname.as_deref().unwrap_or("job");
        if self.timed().next().is_none() {
            return Err(format!(
                "job `{name}` has none of `read`, `write`, `trim` and `mixed`"
            ));
        }
        let runtimes = self.all().filter_map(DirectionEntry::seconds);
        let longest = runtimes.fold(0.0, f64::max);
        let seconds = if longest > 0.0 {
            longest
        } else if self.all().any(|entry| entry.total_ios > Some(0.0))
            || !self.all().any(|entry| entry.iops > Some(0.0))
        {
            // All was over in less than a millisecond, or failed before its first operation.
            1e-3
        } else {
            found.note(&format!(
                "the result of {name} does not tell how long it ran: {ASSUMED_SECONDS} s is \
                 assumed; no rate depends on it"
            ));
            ASSUMED_SECONDS
        };
        let figures = |key: &str, entry: &Option<DirectionEntry>| match entry {
            None => Ok(Figures::default()),
            Some(entry) => entry
                .figures(seconds)
                .map_err(|message| format!("job `{name}`, {key}: {message}")),
        };
        let mut job = Job {
            name: name.to_owned(),
            engine: "fio".to_owned(),
            seconds,
            errors: match (self.total_err, self.error) {
                (Some(count), _) if count > 0 => count,
                (_, Some(error)) => u64::from(error != 0),
                _ => 0,
            },
            ended_by: self
                .error
                .and_then(|error| ended_by(error, self.first_error)),
            read: figures("read", &self.read)?,
            write: figures("write", &self.write)?,
            trim: figures("trim", &self.trim)?,
            sync: self
                .sync
                .as_ref()
                .map_or_else(Figures::default, DirectionEntry::flushes),
            ..Job::default()
        };
        let mixed = figures("mixed", &self.mixed)?;
        let is_split = job.directions()[..3].iter().any(|figures| figures.ios > 0);
        if self.timed().any(DirectionEntry::has_whole_shape_alone) {
            found.note(
                "the file has percentiles of the whole latency alone, from the creation of an \
                 operation on: all latencies are of that",
            );
        }
        let grouped = self.threads(options, entries, seconds);
        job = requested(job, options, grouped, found);
        if mixed.ios > 0 && !is_split {
            job.divide(mixed, found);
        }
        Ok(job)
    }

    /// How many threads the entry is about; 0: unknown. fio does not write `group_reporting`
    /// where it was given without a value, so it shows in what is there: one entry where there
    /// would be as many as clones.
    fn threads(&self, options: &Options, entries: u32, seconds: f64) -> u32 {
        let clones = match options.get("numjobs") {
            Some(text) => text.trim().parse().unwrap_or(0),
            None => 1,
        };
        let threads = match clones {
            clones if clones == entries || clones <= 1 => clones.min(1),
            clones if entries == 1 => clones,
            _ => 0,
        };
        // A group of several sections has one entry too, with the options of the first; the time
        // of all its threads shows that.
        let unlike = ["ramp_time", "verify", "loops"];
        let is_plain = !unlike.iter().any(|option| options.contains_key(*option));
        let all = self.job_runtime.filter(|_| is_plain).unwrap_or(0.0) / 1e3;
        let is_more = seconds > 0.1 && all > seconds * (f64::from(threads) + 0.5);
        if is_more { 0 } else { threads }
    }
}

/// The figure, unless it is 0: fio prints zeros for what it does not know.
fn unless_zero(value: Option<f64>) -> Option<f64> {
    value.filter(|value| *value > 0.0)
}

impl DirectionEntry {
    /// Bytes a second.
    fn bandwidth(&self) -> Option<f64> {
        unless_zero(self.bw_bytes).or(unless_zero(self.bw).map(|kib| kib * 1024.0))
    }

    /// Before 3.0, `io_bytes` is in KiB.
    fn bytes(&self) -> Option<f64> {
        let is_new = self.io_kbytes.is_some() || self.bw_bytes.is_some();
        let unit = if is_new { 1.0 } else { 1024.0 };
        let stated = unless_zero(self.io_bytes).map(|bytes| bytes * unit);
        stated.or(unless_zero(self.io_kbytes).map(|kib| kib * 1024.0))
    }

    /// How long it ran: `runtime`, which is in ms, or else an amount divided by its rate.
    fn seconds(&self) -> Option<f64> {
        let ms_per_second = Some(1e3);
        [
            (self.runtime, ms_per_second),
            (self.total_ios, self.iops),
            (self.bytes(), self.bandwidth()),
        ]
        .into_iter()
        .find_map(|(amount, rate)| Some(unless_zero(amount)? / unless_zero(rate)?))
    }

    /// The figures of reads, writes or trims. `job_seconds`: the time of an entry that has none.
    fn figures(&self, job_seconds: f64) -> Result<Figures, String> {
        let (ios, iops) = (unless_zero(self.total_ios), unless_zero(self.iops));
        let (bytes, bandwidth) = (self.bytes(), self.bandwidth());
        if ios.or(iops).or(bytes).or(bandwidth).is_none() {
            return Ok(Figures::default());
        }
        // fio counts an operation that failed: of a job whose first one did, nothing else is there.
        if bytes.or(bandwidth).is_none() && self.io_bytes == Some(0.0) {
            return Ok(Figures::default());
        }
        // An amount that the entry lacks follows from its rate.
        let seconds = self.seconds().unwrap_or(job_seconds);
        let count = ios.or(iops.map(|iops| iops * seconds));
        let moved = bytes.or(bandwidth.map(|bandwidth| bandwidth * seconds));
        let count = count.ok_or("neither `total_ios` nor `iops` tells how many operations")?;
        let moved = moved.ok_or("neither `io_bytes` nor `bw` tells how many bytes")?;
        // Where amount, rate and time are all there, they must fit together.
        if unless_zero(self.runtime).is_some() {
            if let (Some(ios), Some(iops)) = (ios, iops) {
                check_agreement(["iops", "total_ios", "runtime"], iops, ios, seconds)?;
            }
            if let (Some(bytes), Some(bandwidth)) = (bytes, unless_zero(self.bw_bytes)) {
                check_agreement(
                    ["bw_bytes", "io_bytes", "runtime"],
                    bandwidth,
                    bytes,
                    seconds,
                )?;
            }
        }
        let moments = self.latency().map(Sampled::figures).unwrap_or_default();
        Ok(Figures {
            // A very low rate over a short time is still that of one operation.
            ios: (count.round() as u64).max(1),
            bytes: moved.round() as u64,
            ..moments
        })
    }

    /// The figures of flushes. fio 3.33 prints no count of them but that of their samples.
    fn flushes(&self) -> Figures {
        let latency = self.whole();
        let samples = latency.and_then(|sampled| sampled.latency.samples);
        Figures {
            ios: unless_zero(self.total_ios).or(samples).unwrap_or(0.0) as u64,
            ..latency.map(Sampled::figures).unwrap_or_default()
        }
    }

    /// The whole of an operation is `lat`, and `clat` has the percentiles, unless they were
    /// requested of `lat` alone.
    fn latency(&self) -> Option<Sampled<'_>> {
        if self.has_whole_shape_alone() {
            self.whole()
        } else {
            self.completion().or(self.whole())
        }
    }

    /// From submission to completion.
    fn completion(&self) -> Option<Sampled<'_>> {
        sampled(&self.clat_ns, 1.0).or(sampled(&self.clat, 1e3))
    }

    /// From the creation of an operation to its completion.
    fn whole(&self) -> Option<Sampled<'_>> {
        sampled(&self.lat_ns, 1.0).or(sampled(&self.lat, 1e3))
    }

    /// Whether percentiles or buckets were requested of `lat` and not of `clat`.
    fn has_whole_shape_alone(&self) -> bool {
        let has_shape = |sampled: Sampled<'_>| sampled.latency.shape(1.0).is_known();
        self.completion().is_some_and(|clat| !has_shape(clat))
            && self.whole().is_some_and(has_shape)
    }
}

/// A latency with samples.
#[derive(Clone, Copy)]
struct Sampled<'a> {
    latency: &'a Latency,
    /// Nanoseconds in the unit of its figures.
    unit_ns: f64,
}

/// A latency, unless it has no samples: `gtod_reduce` or `disable_clat` leave zeros without any.
fn sampled(latency: &Option<Latency>, unit_ns: f64) -> Option<Sampled<'_>> {
    let latency = latency.as_ref()?;
    (latency.samples != Some(0.0)).then_some(Sampled { latency, unit_ns })
}

impl Sampled<'_> {
    /// Figures with its latencies in nanoseconds, and without amounts.
    fn figures(self) -> Figures {
        let Self { latency, unit_ns } = self;
        let [mean, stddev, min, max] = [latency.mean, latency.stddev, latency.min, latency.max]
            .map(|printed| Some(printed? * unit_ns));
        Figures {
            mean,
            stddev,
            min,
            max,
            shape: latency.shape(unit_ns),
            ..Figures::default()
        }
    }
}

impl Latency {
    fn shape(&self, unit_ns: f64) -> Shape {
        if !self.bins.is_empty() {
            let bins = self.bins.iter();
            let counts = bins.map(|(at, count)| (at * unit_ns, count.max(0.0) as u64));
            return Shape::Counts(counts.collect());
        }
        let percentiles = self.percentile.iter();
        let sound = percentiles.filter(|(percent, _)| *percent > 0.0 && *percent <= 100.0);
        Shape::percentiles(
            sound
                .map(|(percent, at)| (percent / 100.0, at * unit_ns))
                .collect(),
        )
    }
}
