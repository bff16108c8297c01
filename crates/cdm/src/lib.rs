//! In: what a user of CrystalDiskMark chooses; a Record.
//! Out: a Plan as meant and Notes; CrystalDiskMark's own report.
//! Never: a file, a run, a choice dropped in silence.
//!
//! CrystalDiskMark: its tests as a plan, its report from a record.
//!
//! ```text
//!   for each test:  pass 0 (thrown away), pass 1 … N  ─▶ highest MB/s, lowest latency,
//!                   interval                              each for itself
//!   order:          all reads, all writes, all mixes
//! ```
//!
//! The two figures of a printed row need not come from one pass: that is the original's way, and
//! [`all_passes`] shows what it hides.

#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_macros))]

mod figures;
mod profile;
mod report;
#[cfg(test)]
pub(crate) mod tests;

use blocklab_record::{Note, NoteLevel};
use blocklab_units::{Bytes, Nanos};
use blocklab_workload::{
    Access, Aggregate, BlockSizes, Case, Content, Job, Mix, Order, Pattern, PauseBefore, Plan,
    Region, Stop,
};

pub use blocklab_syntax::Mistake;
pub use profile::{Profile, Test, Version};
pub use report::{RunFacts, all_passes, json, report};

/// What the user chooses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choices {
    /// CrystalDiskMark version to imitate.
    pub version: Version,
    /// Which tests.
    pub profile: Profile,
    /// Size of the test file: 16 MiB to 64 GiB.
    pub size: Bytes,
    /// Passes that count; `None`: the version's own number.
    pub loops: Option<u32>,
    /// Time of a pass; `None`: the profile's.
    pub measure: Option<Nanos>,
    /// Rest between two tests; `None`: the profile's.
    pub interval: Option<Nanos>,
    /// Mixed tests too, with this many per cent reads.
    pub mix: Option<u8>,
    /// Leave out everything that writes.
    pub read_only: bool,
    /// Write zeros instead of random bytes.
    pub zero_fill: bool,
    /// Report the mean of all passes, as KDiskMark does by default. Otherwise the first pass is thrown
    /// away, and of the others the highest MB/s and the lowest latency are reported, each for itself.
    pub average: bool,
    /// The seed of all random numbers.
    pub seed: u64,
}

/// The choices, completed by what their version and profile decide.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// What the user chose.
    pub choices: Choices,
    /// Passes that count.
    pub loops: u32,
    /// Time of a pass.
    pub measure: Nanos,
    /// Rest between two tests.
    pub interval: Nanos,
    /// The tests.
    pub tests: Vec<Test>,
    /// The mixes of reads and writes that each test is run with, in their order.
    pub mixes: Vec<Mix>,
}

/// The choices as a plan.
#[derive(Debug, Clone, PartialEq)]
pub struct Prepared {
    /// What is run.
    pub plan: Plan,
    /// What is done differently from the original.
    pub notes: Vec<Note>,
    /// For the report.
    pub settings: Settings,
}

/// Plans the tests that the choices request.
///
/// # Errors
/// [`Mistake`] for a combination that the version does not have, and for numbers out of range.
pub fn prepare(choices: &Choices) -> Result<Prepared, Mistake> {
    let settings = settings(choices)?;
    let mut cases = Vec::new();
    for mix in &settings.mixes {
        for test in &settings.tests {
            cases.push(case(test, *mix, &settings));
        }
    }
    let (aggregate, discard) = if choices.average {
        (Aggregate::Mean, 0)
    } else {
        (Aggregate::Best, 1)
    };
    let (release, profile) = (choices.version.release(), choices.profile.title());
    let plan = Plan {
        name: "cdm".to_owned(),
        description: format!("The tests of CrystalDiskMark {release}, profile {profile}."),
        cases,
        passes: settings.loops,
        discard,
        aggregate,
        order: Order::Grouped,
        pause: settings.interval,
        pause_before: PauseBefore::Case,
        system: None,
    };
    let notes = notes(choices);
    Ok(Prepared {
        plan,
        notes,
        settings,
    })
}

fn settings(choices: &Choices) -> Result<Settings, Mistake> {
    let release = choices.version.release();
    let newer = "--cdm-version 8 or 9 has them";
    let no_profiles =
        format!("CrystalDiskMark {release} has no profiles, only its four tests; {newer}");
    let tests = profile::tests(choices.version, choices.profile)
        .ok_or_else(|| Mistake::new("", no_profiles))?;
    if choices.mix.is_some() && !choices.version.has_profiles() {
        let wrong = format!("CrystalDiskMark {release} has no mixed tests; {newer}");
        return Err(Mistake::new("", wrong));
    }
    let (measure, interval) = choices.profile.times();
    let loops = choices.loops.unwrap_or(choices.version.loops());
    let measure = choices.measure.unwrap_or(measure);
    check_ranges(choices, loops, measure)?;
    Ok(Settings {
        loops,
        measure,
        interval: choices.interval.unwrap_or(interval),
        tests,
        mixes: mixes(choices),
        choices: choices.clone(),
    })
}

fn mixes(choices: &Choices) -> Vec<Mix> {
    if choices.read_only {
        return vec![Mix::READ];
    }
    let mixed = choices.mix.map(Mix::reads);
    [Mix::READ, Mix::WRITE].into_iter().chain(mixed).collect()
}

/// `Read`, `Write`, `Mix`.
const fn mix_title(mix: Mix) -> &'static str {
    match mix.read {
        100 => "Read",
        0 => "Write",
        _ => "Mix",
    }
}

/// Checks the numbers against the ranges of the original.
fn check_ranges(choices: &Choices, loops: u32, measure: Nanos) -> Result<(), Mistake> {
    let Choices { size, mix, .. } = choices;
    let is_allowed = size.0.is_multiple_of(1 << 20) && (16..=64 << 10).contains(&(size.0 >> 20));
    let wrong = if !is_allowed {
        let size = size.exact();
        format!(
            "the size of the test file must be 16 MiB to 64 GiB, in whole MiB, and {size} is not"
        )
    } else if !(1..=1000).contains(&loops) {
        format!("the number of passes must be 1 to 1000, and {loops} is not")
    } else if let Some(read) = mix.filter(|read| !(1..=99).contains(read)) {
        format!("the share of reads in the mix must be 1 to 99 per cent, and {read} is not")
    } else if measure == Nanos::ZERO {
        format!("the time of a pass must be above 0, and {measure} is not")
    } else {
        return Ok(());
    };
    Err(Mistake::new("", wrong))
}

/// `seq1m-q8t1-read`, `rnd4k-q32t16-mix70`.
fn case_name(test: &Test, mix: Mix) -> String {
    let name = format!("{}-{}-{}", test.kind(), test.queue(), mix_title(mix)).to_lowercase();
    match mix.read {
        0 | 100 => name,
        read => format!("{name}{read}"),
    }
}

/// The case of a test at a mix of reads and writes.
fn case(test: &Test, mix: Mix, settings: &Settings) -> Case {
    let choices = &settings.choices;
    let name = case_name(test, mix);
    let job = Job {
        access: Access::DirectIfPossible,
        threads: test.threads,
        depth: test.queues,
        region: Region {
            size: Some(choices.size),
            ..Region::default()
        },
        pattern: if test.random {
            Pattern::RANDOM
        } else {
            Pattern::Sequential
        },
        mix,
        sizes: BlockSizes::fixed(test.block),
        content: if choices.zero_fill {
            Content::Zero
        } else {
            Content::Random
        },
        stop: Stop::after(settings.measure),
        ..Job::new(&name)
    };
    Case::new(name, choices.seed, vec![job])
}

fn notes(choices: &Choices) -> Vec<Note> {
    let data = if choices.zero_fill {
        "zeros are written, and the file is laid out with random bytes"
    } else {
        "the original repeats one random MiB; here no two blocks are equal, so a device cannot \
             deduplicate them"
    };
    let affinity =
        "threads are not bound to processors as the original binds them; the scheduler places them";
    let no_writes = "the tests that write are left out: the run is read-only";
    let notes = [
        (true, NoteLevel::Ignored, "-ag", affinity),
        (true, NoteLevel::Approximated, "test data", data),
        (choices.read_only, NoteLevel::Ignored, "writes", no_writes),
    ];
    let applying = notes.into_iter().filter(|(applies, ..)| *applies);
    applying
        .map(|(_, level, subject, text)| Note::new(level, subject, text))
        .collect()
}
