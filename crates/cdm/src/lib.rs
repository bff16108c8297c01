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
    /// This many per cent reads, the rest writes.
    Mix(u8),
}

impl Way {
    /// Per cent of the operations that read.
    const fn reads(self) -> u8 {
        match self {
            Self::Read => 100,
            Self::Write => 0,
            Self::Mix(read) => read,
        }
    }

    /// `Read`, `Write`, `Mix`.
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

/// What the user requests.
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
    /// Mixed tests too, with this many per cent reads.
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

/// A wish with all that its version and profile decide.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Form {
    /// What was requested.
    pub wish: Wish,
    /// Passes that count.
    pub loops: u32,
    /// Time of a pass.
    pub measure: Nanos,
    /// Rest between two tests.
    pub interval: Nanos,
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

/// What is run for a wish.
///
/// # Errors
/// [`Mistake`] for a combination that the version does not have, and for numbers out of range.
pub fn prepare(wish: &Wish) -> Result<Prepared, Mistake> {
    let form = form(wish)?;
    let mut cases = Vec::new();
    for way in &form.ways {
        cases.extend(form.tests.iter().map(|test| case(test, *way, &form)));
    }
    let (aggregate, discard) = match wish.taking {
        Taking::Best => (Aggregate::Best, 1),
        Taking::Mean => (Aggregate::Mean, 0),
    };
    let (release, profile) = (wish.version.release(), wish.profile.title());
    let plan = Plan {
        name: "cdm".to_owned(),
        description: format!("The tests of CrystalDiskMark {release}, profile {profile}."),
        cases,
        passes: form.loops,
        discard,
        aggregate,
        order: Order::Grouped,
        pause: form.interval,
        pause_before: PauseBefore::Case,
        system: None,
    };
    let notes = notes(wish);
    Ok(Prepared { plan, notes, form })
}

fn form(wish: &Wish) -> Result<Form, Mistake> {
    let release = wish.version.release();
    let newer = "--cdm-version 8 or 9 has them";
    let no_profiles =
        format!("CrystalDiskMark {release} has no profiles, only its four tests; {newer}");
    let tests = tests(wish.version, wish.profile).ok_or_else(|| Mistake::new("", no_profiles))?;
    if wish.mix.is_some() && !wish.version.has_profiles() {
        let wrong = format!("CrystalDiskMark {release} has no mixed tests; {newer}");
        return Err(Mistake::new("", wrong));
    }
    let (measure, interval) = wish.profile.times();
    let form = Form {
        loops: wish.loops.unwrap_or(wish.version.loops()),
        measure: wish.measure.unwrap_or(measure),
        interval: wish.interval.unwrap_or(interval),
        tests,
        ways: ways(wish),
        wish: wish.clone(),
    };
    check(&form)?;
    Ok(form)
}

fn ways(wish: &Wish) -> Vec<Way> {
    if wish.read_only {
        return vec![Way::Read];
    }
    let mix = wish.mix.map(Way::Mix);
    [Way::Read, Way::Write].into_iter().chain(mix).collect()
}

/// Numbers within what the original takes.
fn check(form: &Form) -> Result<(), Mistake> {
    let (size, loops, mix) = (form.wish.size, form.loops, form.wish.mix.unwrap_or(50));
    let is_sized = size.0.is_multiple_of(1 << 20) && (16..=64 << 10).contains(&(size.0 >> 20));
    let sizes = "16 MiB to 64 GiB, in whole MiB";
    let is_timed = form.measure > Nanos::ZERO;
    #[rustfmt::skip]
    let rules = [
        (is_sized, "the size of the test file", sizes, size.to_string()),
        ((1..=1000).contains(&loops), "the number of passes", "1 to 1000", loops.to_string()),
        ((1..=99).contains(&mix), "the share of reads in the mix", "1 to 99 per cent", mix.to_string()),
        (is_timed, "the time of a pass", "above 0", form.measure.to_string()),
    ];
    match rules.into_iter().find(|(holds, ..)| !holds) {
        None => Ok(()),
        Some((_, what, range, given)) => {
            let wrong = format!("{what} must be {range}, and {given} is not");
            Err(Mistake::new("", wrong))
        }
    }
}

/// `seq1m-q8t1-read`, `rnd4k-q32t16-mix70`.
fn case_name(test: &Test, way: Way) -> String {
    let name = format!("{}-{}-{}", test.kind(), test.queue(), way.title()).to_lowercase();
    match way {
        Way::Mix(read) => format!("{name}{read}"),
        _ => name,
    }
}

fn case(test: &Test, way: Way, form: &Form) -> Case {
    let wish = &form.wish;
    let name = case_name(test, way);
    let job = Job {
        access: Access::DirectIfPossible,
        threads: test.threads,
        depth: test.queues,
        region: Region {
            size: Some(wish.size),
            ..Region::default()
        },
        pattern: if test.random {
            Pattern::RANDOM
        } else {
            Pattern::Sequential
        },
        mix: Mix::reads(way.reads()),
        sizes: BlockSizes::fixed(test.block),
        content: if wish.zero_fill {
            Content::Zero
        } else {
            Content::Random
        },
        stop: Stop {
            runtime: Some(form.measure),
            ..Stop::default()
        },
        ..Job::new(&name)
    };
    Case::new(name, wish.seed, vec![job])
}

fn notes(wish: &Wish) -> Vec<Note> {
    let data = if wish.zero_fill {
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
        (wish.read_only, NoteLevel::Ignored, "writes", no_writes),
    ];
    let applying = notes.into_iter().filter(|(applies, ..)| *applies);
    applying
        .map(|(_, level, subject, text)| Note::new(level, subject, text))
        .collect()
}
