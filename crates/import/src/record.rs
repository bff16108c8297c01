//! What a parser found, as a Record.

use blocklab_units::Bytes;
use blocklab_workload::{Access, BlockSizes, Direction, Durability, Mix, Pattern};
use std::collections::BTreeMap;

use blocklab_record::{
    Accounting, Carrier, Cpu, Environment, ErrorKind, Interval, JobResult, Measurement, Note,
    NoteLevel, Origin, PaceKind, Processor, Record, Requested, Statistic, Status, TargetFacts,
    Unknown,
};

use super::figures::Figures;
use super::not_a_result;
use blocklab_syntax::Mistake;

/// A result as the text reports it.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// `DiskSpd 2.2`.
    pub tool: String,
    /// The request, as it was typed or nearly so; empty: unknown.
    pub command: String,
    /// RFC 3339; empty: unknown.
    pub started_at: String,
    pub os: String,
    pub processors: u32,
    pub cases: Vec<Case>,
    /// The targets: path and bytes (0: unknown).
    pub targets: Vec<(String, u64)>,
    /// What the figures rest on and what the text does not hold.
    pub notes: Vec<String>,
}

/// Jobs that ran at the same time.
#[derive(Debug, Default)]
pub(super) struct Case {
    pub name: String,
    /// What loops of a study set for it.
    pub settings: Vec<(String, String)>,
    /// From 1; 0: the only one.
    pub pass: u32,
    pub jobs: Vec<Job>,
    pub series: Vec<Interval>,
    /// Share of all processors, in per cent.
    pub busy_percent: Option<f64>,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Job {
    pub name: String,
    pub engine: String,
    pub pattern: Option<Pattern>,
    /// Size in bytes; 0: unknown.
    pub block: u64,
    /// Share of reads; `None`: unknown.
    pub read_percent: Option<u8>,
    /// 0: unknown.
    pub threads: u32,
    /// Depth of a thread; 0: unknown.
    pub depth: u32,
    /// `None`: unknown.
    pub direct: Option<bool>,
    /// Whether a write is complete only once it is durable.
    pub write_through: bool,
    pub requested_iops: Option<f64>,
    pub requested_bytes_per_s: Option<f64>,
    /// Whether threads pause between their operations.
    pub think: bool,
    pub seconds: f64,
    /// Number of operations that failed.
    pub errors: u64,
    /// The number of the error that ended it.
    pub ended_by: Option<i32>,
    pub read: Figures,
    pub write: Figures,
    pub trim: Figures,
    /// Flushes.
    pub sync: Figures,
}

/// More would be no measurement but a damaged text.
const LONGEST_SECONDS: f64 = 1e9;
const MOST_OPERATIONS: u64 = 1 << 53;
const MOST_BYTES: u64 = 1 << 60;

impl Found {
    /// Adds a note once.
    pub fn note(&mut self, text: &str) {
        if !self.notes.iter().any(|known| known == text) {
            self.notes.push(text.to_owned());
        }
    }

    /// Adds a target, unless it is known; `bytes` is 0 where its size is not.
    pub fn target(&mut self, path: &str, bytes: u64) {
        if !self.targets.iter().any(|(known, _)| known == path) {
            self.targets.push((path.to_owned(), bytes));
        }
    }

    /// Adds a job to the case of this name.
    pub fn add_job(&mut self, case: String, job: Job) {
        match self.cases.iter_mut().find(|known| known.name == case) {
            Some(known) => known.jobs.push(job),
            None => self.cases.push(Case {
                name: case,
                jobs: vec![job],
                ..Case::default()
            }),
        }
    }

    /// Refuses figures that cannot be those of a measurement.
    pub fn checked(self) -> Result<Self, Mistake> {
        if self.cases.iter().all(|case| case.jobs.is_empty()) {
            return Err(not_a_result("it holds no result of a run"));
        }
        for case in &self.cases {
            for job in &case.jobs {
                check_job(job).map_err(|message| {
                    not_a_result(format!("{}, {}: {message}", case.name, job.name))
                })?;
            }
            for interval in &case.series {
                for moved in [&interval.read, &interval.write, &interval.trim] {
                    let wrong = if moved.ios > MOST_OPERATIONS {
                        format!("{} operations", moved.ios)
                    } else if moved.bytes > MOST_BYTES {
                        format!("{} bytes", moved.bytes)
                    } else {
                        continue;
                    };
                    let name = &case.name;
                    let message = format!("{name}: an interval with {wrong} is impossible");
                    return Err(not_a_result(message));
                }
            }
        }
        Ok(self)
    }

    /// The Record; `source` names the text that it was read from.
    pub fn record(self, source: &str) -> Record {
        let text = format!("read from {source}: only what that text holds is known");
        let mut notes = vec![Note::new(NoteLevel::Assumed, "import", text)];
        for text in self.notes {
            notes.push(Note::new(NoteLevel::Approximated, "import", text));
        }
        let started_at = self.started_at;
        let passes = self.cases.iter().map(|case| case.pass).max();
        let mut jobs = self.cases.iter().flat_map(|case| &case.jobs);
        let failure = jobs.find_map(|job| {
            let error = ErrorKind::Errno(job.ended_by?);
            Some(format!("job {} ended early: {error}", job.name))
        });
        let measurements: Vec<Measurement> =
            self.cases.into_iter().map(Case::measurement).collect();
        let name = self.tool.split(' ').next().unwrap_or("import");
        Record {
            tool: self.tool.clone(),
            finished_at: started_at.clone(),
            started_at,
            origin: Origin::Imported,
            status: if failure.is_some() {
                Status::Failed
            } else {
                Status::Complete
            },
            failure,
            requested: Requested {
                name: name.to_lowercase(),
                description: if self.command.is_empty() {
                    format!("A result of {}.", self.tool)
                } else {
                    self.command
                },
                seed: "0".to_owned(),
                aggregate: "mean".to_owned(),
                passes: passes.unwrap_or(1).max(1),
                ..Requested::default()
            },
            environment: Environment {
                os: self.os,
                processor: Processor {
                    count: self.processors,
                    ..Processor::default()
                },
                ..Environment::default()
            },
            targets: self.targets.into_iter().map(facts).collect(),
            notes,
            measurements,
            ..Record::default()
        }
    }
}

fn facts((path, bytes): (String, u64)) -> TargetFacts {
    TargetFacts {
        path,
        size_bytes: Bytes(bytes),
        ..TargetFacts::default()
    }
}

/// Refuses figures that no run can have.
fn check_job(job: &Job) -> Result<(), String> {
    if !(job.seconds > 0.0 && job.seconds <= LONGEST_SECONDS) {
        return Err(format!("a measured time of {} s cannot be", job.seconds));
    }
    if job.errors > MOST_OPERATIONS {
        return Err(format!("{} errors cannot be", job.errors));
    }
    for figures in job.directions() {
        if figures.ios > MOST_OPERATIONS {
            return Err(format!("{} operations cannot be", figures.ios));
        }
        if figures.bytes > MOST_BYTES {
            return Err(format!("{} bytes cannot be", figures.bytes));
        }
        let counted = figures.shape.counted();
        if counted > MOST_OPERATIONS as f64 {
            return Err(format!("{counted} operations in a histogram cannot be"));
        }
        let times = [figures.mean, figures.stddev, figures.min, figures.max];
        for ns in times.into_iter().flatten() {
            if !(0.0..=1e18).contains(&ns) {
                return Err(format!("a latency of {ns} ns cannot be"));
            }
        }
    }
    Ok(())
}

impl Case {
    fn measurement(self) -> Measurement {
        let longest = self.jobs.iter().map(|job| job.seconds).fold(0.0, f64::max);
        Measurement {
            case: self.name,
            settings: self.settings,
            pass: self.pass.max(1),
            elapsed_ns: nanos(longest),
            jobs: self.jobs.into_iter().map(Job::result).collect(),
            series: self.series,
            cpu: Cpu {
                machine_busy_percent: self.busy_percent.unwrap_or(0.0).clamp(0.0, 100.0) as u32,
                unknown: match self.busy_percent {
                    Some(_) => Unknown::from_iter([Statistic::Process]),
                    None => Unknown::from_iter([Statistic::Process, Statistic::MachineBusy]),
                },
                ..Cpu::default()
            },
            ..Measurement::default()
        }
    }
}

/// The pattern of `percent` random operations in 100; the others are sequential.
pub(super) fn random_percent(percent: f64) -> Pattern {
    match percent.round() as u8 {
        0 => Pattern::Sequential,
        100.. => Pattern::RANDOM,
        percent => Pattern::PercentRandom(percent),
    }
}

pub(super) fn nanos(seconds: f64) -> u64 {
    (seconds * 1e9).round() as u64
}

impl Job {
    /// Its figures, in the order of [`Direction`].
    pub fn directions(&self) -> [&Figures; 4] {
        [&self.read, &self.write, &self.trim, &self.sync]
    }

    /// Whether the distribution of any latency of reads or writes is known.
    pub fn knows_shape(&self) -> bool {
        self.read.shape.is_known() || self.write.shape.is_known()
    }

    fn result(self) -> JobResult {
        let all = Direction::ALL.into_iter().zip(self.directions());
        let moved = all.filter(|(_, figures)| figures.ios > 0);
        let directions: BTreeMap<_, _> = moved
            .map(|(direction, figures)| (direction, Box::new(figures.result())))
            .collect();
        let completed = directions.values().map(|result| result.ios).sum();
        let is_capped = self.requested_iops.is_some() || self.requested_bytes_per_s.is_some();
        JobResult {
            mix: self.mix(),
            block_sizes: (self.block > 0).then(|| BlockSizes::fixed(Bytes(self.block))),
            access: self.direct.map(|direct| {
                if direct {
                    Access::Direct
                } else {
                    Access::Buffered
                }
            }),
            durability: if self.write_through {
                Durability::Dsync
            } else {
                Durability::None
            },
            pace: if is_capped {
                PaceKind::Capped
            } else {
                PaceKind::Closed
            },
            think: self.think,
            threads: self.threads,
            depth: self.depth,
            effective_depth: self.depth,
            direct: self.direct,
            requested_iops: self.requested_iops,
            requested_bytes_per_s: self.requested_bytes_per_s,
            elapsed_ns: nanos(self.seconds),
            directions,
            accounting: Accounting {
                issued: completed + self.errors,
                completed,
                failed: self.errors,
                ..Accounting::default()
            },
            name: self.name,
            engine: Carrier::named(&self.engine),
            pattern: self.pattern,
            ..JobResult::default()
        }
    }

    /// The mix that was requested, or the one that shows in what was done; `None`: unknown.
    fn mix(&self) -> Option<Mix> {
        let done = match (self.read.ios, self.write.ios, self.trim.ios) {
            (1.., 0, 0) => Some(100),
            (0, 1.., 0) => Some(0),
            _ => None,
        };
        Some(Mix::reads(self.read_percent.or(done)?.min(100)))
    }
}
