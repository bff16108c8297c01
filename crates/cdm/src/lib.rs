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
    Region, Stop, Workload,
};

pub use figures::{Figures, Row, rows};
pub use profile::{Profile, Test, Version, tests};
pub use report::{Imprint, all_passes, json, report};

/// What is measured of a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// Reads.
    Read,
    /// Writes.
    Write,
    /// So many per cent reads, the rest writes.
    Mix(u8),
}

impl Way {
    const fn mix(self) -> Mix {
        match self {
            Self::Read => Mix::READ,
            Self::Write => Mix::WRITE,
            Self::Mix(read) => Mix {
                read,
                write: 100 - read,
                trim: 0,
            },
        }
    }

    /// `Read`, `Write`, `Mix`.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::Read => "Read",
            Self::Write => "Write",
            Self::Mix(_) => "Mix",
        }
    }
}

/// How the passes of a test become its figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Taking {
    /// The first pass is thrown away; of the others the highest MB/s and the lowest latency,
    /// each for itself: CrystalDiskMark.
    Best,
    /// All passes count, and their mean is taken: KDiskMark's default.
    Mean,
}

/// What the user asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wish {
    /// Whose tests and report.
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
    /// Mixed tests too, with so many per cent reads.
    pub mix: Option<u8>,
    /// Leave out everything that writes.
    pub read_only: bool,
    /// Write zeros instead of random bytes.
    pub zero_fill: bool,
    /// How passes become a figure.
    pub taking: Taking,
    /// The root of all chance.
    pub seed: u64,
}

/// What a report needs to know of a run besides its record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Form {
    /// Whose report.
    pub version: Version,
    /// Which profile.
    pub profile: Profile,
    /// Size of the test file.
    pub size: Bytes,
    /// Passes that count.
    pub loops: u32,
    /// Time of a pass.
    pub measure: Nanos,
    /// Rest between two tests.
    pub interval: Nanos,
    /// How passes become a figure.
    pub taking: Taking,
    /// Whether zeros are written.
    pub zero_fill: bool,
    /// The tests.
    pub tests: Vec<Test>,
    /// What is measured of each, in the order in which it is.
    pub ways: Vec<Way>,
}

/// A wish as a plan.
#[derive(Debug, Clone, PartialEq)]
pub struct Prepared {
    /// What is run.
    pub plan: Plan,
    /// What is done differently from the original.
    pub notes: Vec<Note>,
    /// For the report.
    pub form: Form,
}

/// A wish that cannot be met, and what would work.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Mistake {
    /// Versions 5 and 6 have one set of tests.
    #[error(
        "CrystalDiskMark {0} has no profiles, only its four tests; --cdm-version 8 or 9 has them"
    )]
    NoProfiles(&'static str),
    /// Versions 5 and 6 do not mix.
    #[error("CrystalDiskMark {0} has no mixed tests; --cdm-version 8 or 9 has them")]
    NoMix(&'static str),
    /// Outside what the original takes.
    #[error("{what} must be {range}, and {given} is not")]
    Outside {
        /// The setting.
        what: &'static str,
        /// What it takes.
        range: &'static str,
        /// What was given.
        given: String,
    },
}

/// What is run for a wish.
///
/// # Errors
/// [`Mistake`] for a combination that the version does not have, and for numbers out of range.
pub fn prepare(wish: &Wish) -> Result<Prepared, Mistake> {
    let form = form(wish)?;
    let cases = form.ways.iter().flat_map(|way| {
        let case = |test: &Test| case(test, *way, &form, wish.seed);
        form.tests.iter().map(case).collect::<Vec<_>>()
    });
    let (aggregate, discard) = match form.taking {
        Taking::Best => (Aggregate::Best, 1),
        Taking::Mean => (Aggregate::Mean, 0),
    };
    let plan = Plan {
        name: "cdm".to_owned(),
        description: format!(
            "The tests of CrystalDiskMark {}, profile {}.",
            form.version.release(),
            form.profile.title()
        ),
        cases: cases.collect(),
        passes: form.loops,
        discard,
        aggregate,
        order: Order::Grouped,
        pause: form.interval,
        pause_before: PauseBefore::Case,
    };
    let notes = notes(wish);
    Ok(Prepared { plan, notes, form })
}

fn form(wish: &Wish) -> Result<Form, Mistake> {
    let release = wish.version.release();
    let tests = tests(wish.version, wish.profile).ok_or(Mistake::NoProfiles(release))?;
    if wish.mix.is_some() && !wish.version.has_profiles() {
        return Err(Mistake::NoMix(release));
    }
    let form = Form {
        version: wish.version,
        profile: wish.profile,
        size: wish.size,
        loops: wish.loops.unwrap_or(wish.version.loops()),
        measure: wish
            .measure
            .unwrap_or(Nanos::from_secs(wish.profile.measure_secs())),
        interval: wish
            .interval
            .unwrap_or(Nanos::from_secs(wish.profile.interval_secs())),
        taking: wish.taking,
        zero_fill: wish.zero_fill,
        tests,
        ways: ways(wish),
    };
    check(&form, wish)?;
    Ok(form)
}

fn ways(wish: &Wish) -> Vec<Way> {
    if wish.read_only {
        return vec![Way::Read];
    }
    let mix = wish.mix.map(Way::Mix);
    [Way::Read, Way::Write].into_iter().chain(mix).collect()
}

fn check(form: &Form, wish: &Wish) -> Result<(), Mistake> {
    let rule = |holds: bool, what, range, given: String| match holds {
        true => Ok(()),
        false => Err(Mistake::Outside { what, range, given }),
    };
    let mib = form.size.0 >> 20;
    let whole = form.size.0.is_multiple_of(1 << 20);
    rule(
        whole && (16..=64 << 10).contains(&mib),
        "the size of the test file",
        "16 MiB to 64 GiB, in whole MiB",
        form.size.to_string(),
    )?;
    let (loops, mix) = (form.loops, wish.mix.unwrap_or(50));
    rule(
        (1..=1000).contains(&loops),
        "the number of passes",
        "1 to 1000",
        loops.to_string(),
    )?;
    rule(
        (1..=99).contains(&mix),
        "the share of reads in the mix",
        "1 to 99 per cent",
        mix.to_string(),
    )?;
    rule(
        form.measure > Nanos::ZERO,
        "the time of a pass",
        "above 0",
        form.measure.to_string(),
    )
}

/// `seq1m-q8t1-read`, `rnd4k-q32t16-mix70`.
fn case_name(test: &Test, way: Way) -> String {
    let name = format!("{}-{}-{}", test.kind(), test.queue(), way.title()).to_lowercase();
    match way {
        Way::Mix(read) => format!("{name}{read}"),
        _ => name,
    }
}

fn case(test: &Test, way: Way, form: &Form, seed: u64) -> Case {
    let name = case_name(test, way);
    let job = Job {
        access: Access::DirectIfPossible,
        threads: test.threads,
        depth: test.queues,
        region: Region {
            size: Some(form.size),
            ..Region::default()
        },
        pattern: match test.random {
            true => Pattern::Random {
                every_block_once: false,
            },
            false => Pattern::Sequential,
        },
        mix: way.mix(),
        sizes: BlockSizes::fixed(test.block),
        content: match form.zero_fill {
            true => Content::Zero,
            false => Content::Random,
        },
        stop: Stop {
            runtime: Some(form.measure),
            ..Stop::default()
        },
        ..Job::new(&name)
    };
    let jobs = vec![job];
    Case {
        name,
        settings: Vec::new(),
        workload: Workload { seed, jobs },
    }
}

fn notes(wish: &Wish) -> Vec<Note> {
    let note = |level, subject: &str, text: &str| Note {
        level,
        subject: subject.to_owned(),
        text: text.to_owned(),
    };
    let mut notes = vec![
        note(
            NoteLevel::Ignored,
            "-ag",
            "threads are not bound to processors as the original binds them; the scheduler places \
             them",
        ),
        note(
            NoteLevel::Approximated,
            "test data",
            match wish.zero_fill {
                true => "zeros are written, and the file is laid out with random bytes",
                false => {
                    "the original repeats one random MiB; here no two blocks are equal, so a \
                     device cannot deduplicate them"
                }
            },
        ),
    ];
    if wish.read_only {
        let text = "the tests that write are left out: the run is read-only";
        notes.push(note(NoteLevel::Ignored, "writes", text));
    }
    notes
}
