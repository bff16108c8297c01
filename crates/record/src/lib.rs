//! In: what the engine measured and what the host reported.
//! Out: one versioned, self-contained value that holds all of it, and its JSON.
//! Never: a judgement, or a text for people.

#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_macros))]

mod alike;
mod anonymous;
mod detail;
mod environment;
mod fidelity;
mod fleet;
mod latency;
mod load;
mod measurement;
mod observed;
mod percentile;
mod served;
mod unknown;

use blocklab_workload::{PLAN_FORMAT, Plan};
use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer, Serialize};

pub use alike::grouped;
pub use detail::{ByPriority, Depths, DirectionDetail, Samples, SteadyRound, ThreadUse, Verified};
pub use environment::{
    BlockDevice, ClockQuality, DeviceHealth, DeviceLimit, DeviceLimitCounts, Environment,
    FileSystem, Processor, TargetFacts, TargetKind,
};
pub use fidelity::{Fidelity, Timing};
pub use fleet::{
    ClockOffset, Fleet, FleetHost, FleetPass, HostClock, HostMachine, HostRun, LostHost, NoFleet,
    merge, merge_parts,
};
pub use latency::{BadHistogram, Latency, LatencySum};
pub use load::{Carrier, ErrorKind, PaceKind};
pub use measurement::{
    Accounting, Cpu, DirectionResult, DiskUse, ErrorCount, Exceeded, Interval, IntervalDirection,
    JobResult, KnownAccounting, LimitUse, Measurement, ModelUse, Stopped, TargetUse,
};
pub use observed::{
    BurstBalance, ControlAction, ControlEvent, ObservedDirection, ObservedLoad, SizeCount,
    WaitedFor,
};
pub use percentile::{PERCENTILES, Percentile, Percentiles};
pub use served::{IntervalData, Served};
pub use unknown::{Statistic, Unknown};

/// The format that this build writes. A change of meaning or shape needs a new number and a
/// golden file of the old one under `golden/`.
pub const FORMAT: u32 = 2;

/// Where the figures come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// A real target, in real time.
    Measured,
    /// The device model in virtual time.
    Simulated,
    /// The device model in real time.
    Emulated,
    /// Another program, on any machine; its output was imported.
    Imported,
}

impl Origin {
    /// `measured`, `simulated`, `emulated`, `imported`.
    pub const fn name(self) -> &'static str {
        ["measured", "simulated", "emulated", "imported"][self as usize]
    }
}

/// How the run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Everything that was planned was measured.
    Complete,
    /// Stopped by a signal: what was measured until then is here.
    Interrupted,
    /// The device or the set-up failed: what was measured until then is here.
    Failed,
    /// Hosts of a fleet were lost: what the others measured is here, as far as they came.
    Incomplete,
    /// It has not ended yet: what it has measured so far is here. Only the store knows that, while the run
    /// lasts, so that no stored Record has this word and none with it is read.
    #[serde(skip_deserializing)]
    Running,
}

impl Status {
    /// `complete`, `interrupted`, `failed`, `incomplete`, `running`.
    pub const fn name(self) -> &'static str {
        ["complete", "interrupted", "failed", "incomplete", "running"][self as usize]
    }
}

/// Something that was understood differently from what was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// How well it was honoured.
    pub level: NoteLevel,
    /// What it is about: an option, a target, a case.
    pub subject: String,
    /// What was done instead, and why.
    pub text: String,
}

impl Note {
    /// A note of this level on this subject.
    pub fn new(level: NoteLevel, subject: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            level,
            subject: subject.into(),
            text: text.into(),
        }
    }

    /// Adds it to the others, unless it is among them.
    pub fn add_to(self, notes: &mut Vec<Self>) {
        if !notes.contains(&self) {
            notes.push(self);
        }
    }
}

/// How well a request was honoured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NoteLevel {
    /// Nearly: the text names the difference.
    Approximated,
    /// Not at all, and harmless.
    Ignored,
    /// An assumption on which figures rest.
    Assumed,
}

/// The clock that took the time stamps.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClockFacts {
    /// `tsc` or `clock_gettime`.
    pub source: String,
    /// Cost of one reading, measured at the start.
    pub read_ns: f64,
    /// Largest difference from CLOCK_MONOTONIC seen over the run, in parts per million.
    pub error_ppm: f64,
}

/// What the tool itself costs, measured with the null target before the run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Overhead {
    /// Processor time of one operation at depth 1, in nanoseconds.
    pub depth1_ns: f64,
    /// Processor time of one operation at depth 32, in nanoseconds.
    pub depth32_ns: f64,
    /// The clock of the run.
    pub clock: ClockFacts,
}

/// What was requested: it can be run again.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Requested {
    /// Name of the study or file, `quick`; with that of its system, `i3-vs-i2: i3.xlarge`.
    pub name: String,
    /// The system of the study that this run measures, where the study names several.
    #[serde(default)]
    pub system: Option<String>,
    /// What it is about, for people.
    pub description: String,
    /// The number of the plan's JSON, which is not that of the record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan_format: Option<u32>,
    /// The whole plan, as it was run. `None` for an imported run, for a plan that JSON cannot hold
    /// ([`Plan::missing_in_json`]: a note names what is missing), and in older records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<Plan>,
    /// The plan in the native format, for people. Comments name what that format has no key for.
    pub native: String,
    /// Root seed; a string, since JSON readers lose the low bits of large numbers.
    pub seed: String,
    /// `mean`, `median` or `best`.
    pub aggregate: String,
    /// Planned passes of each case.
    pub passes: u32,
    /// RFC 3339, UTC: the moment at which the first pass was to begin, where one was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_at: Option<String>,
}

impl Requested {
    /// The name of the study, without that of the system.
    pub fn study(&self) -> &str {
        study_of(&self.name, self.system.as_deref())
    }
}

/// The name of the study in that of a run, which its system joins: see [`Requested::study`].
pub fn study_of<'n>(name: &'n str, system: Option<&str>) -> &'n str {
    let study = system.and_then(|system| name.strip_suffix(system)?.strip_suffix(": "));
    study.unwrap_or(name)
}

/// One execution and everything that it left.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// [`FORMAT`].
    pub format: u32,
    /// Short, unique in its store.
    pub id: String,
    /// `blocklab` and its version.
    pub tool: String,
    /// RFC 3339, UTC.
    pub started_at: String,
    /// RFC 3339, UTC.
    pub finished_at: String,
    /// Where its figures come from.
    pub origin: Origin,
    /// How it ended.
    pub status: Status,
    /// Why, where it did not end as planned.
    pub failure: Option<String>,
    /// The study, its plan and its seed.
    #[serde(alias = "asked")]
    pub requested: Requested,
    /// The machine.
    pub environment: Environment,
    /// What the load went to, as it was when the run began.
    #[serde(with = "alike")]
    pub targets: Vec<TargetFacts>,
    /// The overhead of this program.
    pub overhead: Option<Overhead>,
    /// What was understood differently.
    pub notes: Vec<Note>,
    /// What somebody wrote about the run afterwards. The store keeps it in a file of its own next
    /// to the record, which is never rewritten.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The hosts whose runs were merged into this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fleet: Option<Box<Fleet>>,
    /// In the order in which they were taken.
    pub measurements: Vec<Measurement>,
}

/// A text that is no Record of a known format.
#[derive(Debug, thiserror::Error)]
pub enum BadRecord {
    /// Not JSON, or not of this shape.
    #[error("not a record: {0}")]
    Shape(#[from] serde_json::Error),
    /// Its plan was written by a newer version, in this format.
    #[error(
        "its plan has format {0}, which is newer than this version reads (up to {PLAN_FORMAT}); a \
         newer blocklab can"
    )]
    NewerPlan(u32),
    /// Written by a newer version, in this format.
    #[error("format {0} is newer than this version reads (up to {FORMAT}); a newer blocklab can")]
    Newer(u32),
    /// Written by a build from before the first release, in this format.
    #[error(
        "format {0} is older than this version reads (from {FORMAT} on); repeat the run, or read it \
         with the build that wrote it"
    )]
    Older(u32),
}

/// A complete run of measured figures that measured nothing, in the format of this version.
impl Default for Record {
    fn default() -> Self {
        Self {
            format: FORMAT,
            id: String::new(),
            tool: String::new(),
            started_at: String::new(),
            finished_at: String::new(),
            origin: Origin::Measured,
            status: Status::Complete,
            failure: None,
            requested: Requested::default(),
            environment: Environment::default(),
            targets: Vec::new(),
            overhead: None,
            notes: Vec::new(),
            note: None,
            fleet: None,
            measurements: Vec::new(),
        }
    }
}

impl Record {
    /// All jobs, in the order in which they were measured.
    pub fn jobs(&self) -> impl Iterator<Item = &JobResult> + Clone {
        let measurements = self.measurements.iter();
        measurements.flat_map(|measurement| &measurement.jobs)
    }

    /// The record as JSON, indented, with a newline at the end.
    ///
    /// # Panics
    /// Never: every field is representable in JSON.
    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("records hold no exotic keys");
        text.push('\n');
        text
    }

    /// Reads what [`Record::to_json`] wrote, of this format.
    ///
    /// # Errors
    /// [`BadRecord`] when the text is something else, newer or older.
    pub fn from_json(text: &str) -> Result<Self, BadRecord> {
        #[derive(Deserialize)]
        struct Head {
            format: u32,
            #[serde(default, alias = "asked")]
            requested: RequestedHead,
        }
        #[derive(Deserialize, Default)]
        struct RequestedHead {
            plan_format: Option<u32>,
            #[serde(default, deserialize_with = "is_there")]
            system: bool,
        }
        let head: Head = serde_json::from_str(text)?;
        check_format(head.format)?;
        if let Some(found) = head
            .requested
            .plan_format
            .filter(|plan_format| *plan_format > PLAN_FORMAT)
        {
            return Err(BadRecord::NewerPlan(found));
        }
        let mut record: Self = serde_json::from_str(text)?;
        if !head.requested.system {
            // A study joined the name of its system to that of the run before it had a field.
            let system = record.requested.name.split_once(": ");
            record.requested.system = system.map(|(_, system)| system.to_owned());
        }
        Ok(record)
    }
}

/// Whether this version reads the format.
///
/// # Errors
/// [`BadRecord::Newer`], [`BadRecord::Older`].
pub const fn check_format(format: u32) -> Result<(), BadRecord> {
    if format > FORMAT {
        Err(BadRecord::Newer(format))
    } else if format < FORMAT {
        Err(BadRecord::Older(format))
    } else {
        Ok(())
    }
}

/// True where the JSON has the field, also with `null`; without the field it is not called.
fn is_there<'de, D: Deserializer<'de>>(field: D) -> Result<bool, D::Error> {
    IgnoredAny::deserialize(field).map(|_| true)
}
