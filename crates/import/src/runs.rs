//! Several results of one text: which of them are runs of their own, which are passes of one load,
//! and which are the same run, printed again while it went on.

use std::collections::HashMap;

use super::figures::Figures;
use super::record::{Found, Job};

/// One result as it was printed.
#[derive(Debug, Default)]
pub(super) struct Printed {
    pub found: Found,
    /// Text in which different loads differ, besides the settings of their jobs.
    pub load: String,
    /// Text that only one process or moment prints; `None`: the program prints none.
    pub process: Option<String>,
    /// When it was printed, in ms since 1970.
    pub at_ms: Option<f64>,
}

/// The runs of a text, in the order of their first results.
#[derive(Debug, Default)]
pub(super) struct Runs {
    all: Vec<Run>,
    /// Where the runs are whose results have the same names: a text can hold thousands of others.
    by_names: HashMap<String, Vec<usize>>,
}

#[derive(Debug)]
struct Run {
    /// All its passes.
    printed: Printed,
    /// Index of the first case of the last pass.
    last: usize,
    /// Number of the last pass, from 1.
    pass: u32,
    /// Whether the last pass was printed more than once.
    is_repeated: bool,
}

/// Without a clock, a result whose time is longer by at least this factor can be a later state of
/// the one before: repeats of one load under a time limit differ by less.
const LONGER: f64 = 1.05;

impl Runs {
    /// Adds a result: to the run that it continues or repeats, else as a run of its own.
    pub fn add(&mut self, new: Printed) {
        let places = self.by_names.entry(new.names()).or_default();
        let same = places.iter().rev().find(|place| {
            let run = &self.all[**place];
            run.has_load(&new) && (run.is_earlier(&new) || run.has_directions(&new))
        });
        let Some(place) = same else {
            places.push(self.all.len());
            let mut run = Run {
                printed: new,
                last: 0,
                pass: 1,
                is_repeated: false,
            };
            run.number_last_pass();
            self.all.push(run);
            return;
        };
        let run = &mut self.all[*place];
        run.is_repeated = run.is_earlier(&new);
        let known = &mut run.printed;
        if run.is_repeated {
            known.found.cases.truncate(run.last);
        } else {
            run.last = known.found.cases.len();
            run.pass += 1;
        }
        known.at_ms = new.at_ms;
        known.process = new.process;
        known.found.cases.extend(new.found.cases);
        new.found
            .notes
            .iter()
            .for_each(|note| known.found.note(note));
        for (path, bytes) in &new.found.targets {
            known.found.target(path, *bytes);
        }
        run.number_last_pass();
    }

    pub fn all(self) -> Vec<Found> {
        self.all.into_iter().map(|run| run.printed.found).collect()
    }
}

impl Printed {
    /// The names of the program, the cases and their jobs.
    fn names(&self) -> String {
        let mut names = self.found.tool.clone();
        for case in &self.found.cases {
            names.push('\n');
            names.push_str(&case.name);
            for job in &case.jobs {
                names.push('\t');
                names.push_str(&job.name);
            }
        }
        names
    }
}

impl Run {
    fn number_last_pass(&mut self) {
        for case in &mut self.printed.found.cases[self.last..] {
            case.pass = self.pass;
        }
    }

    /// The jobs of the last pass, each with the name of its case.
    fn jobs(&self) -> impl Iterator<Item = (&str, &Job)> {
        let cases = self.printed.found.cases[self.last..].iter();
        cases.flat_map(|case| case.jobs.iter().map(|job| (&*case.name, job)))
    }

    /// Each job of the last pass with the one at its place in `new`.
    fn pairs<'a>(&'a self, new: &'a Printed) -> impl Iterator<Item = (&'a Job, &'a Job)> {
        let jobs = new.found.cases.iter().flat_map(|case| case.jobs.iter());
        self.jobs().map(|(_, job)| job).zip(jobs)
    }

    /// Whether the settings are the same.
    fn has_load(&self, new: &Printed) -> bool {
        let cases = new.found.cases.iter();
        let theirs: Vec<_> = cases
            .flat_map(|case| case.jobs.iter().map(|job| (&*case.name, job)))
            .collect();
        self.printed.load == new.load
            && self.printed.found.tool == new.found.tool
            && self.jobs().count() == theirs.len()
            && self
                .jobs()
                .zip(theirs)
                .all(|(mine, its)| mine.0 == its.0 && mine.1.is_set_as(its.1))
    }

    /// Whether the same directions moved.
    fn has_directions(&self, new: &Printed) -> bool {
        self.pairs(new).all(|(mine, its)| {
            let [mine, its] = [mine, its].map(|job| job.directions().map(|moved| moved.ios > 0));
            mine == its
        })
    }

    /// Whether the last pass is an earlier state of this result: nothing in it may be more than
    /// there, and it must have begun before the last pass was printed.
    fn is_earlier(&self, new: &Printed) -> bool {
        let is_less = self.pairs(new).all(|(mine, its)| {
            let mut pairs = mine.directions().into_iter().zip(its.directions());
            mine.seconds <= its.seconds && pairs.all(|(mine, its)| can_have_become(mine, its))
        });
        if !is_less {
            return false;
        }
        if let (Some(mine), Some(its)) = (&self.printed.process, &new.process) {
            return mine == its;
        }
        for (mine, its) in self.pairs(new) {
            if mine.directions() == its.directions()
                && mine.directions().iter().any(|moved| moved.ios > 0)
            {
                return true;
            }
        }
        let times = self.jobs().map(|(_, job)| job.seconds);
        let mine = times.fold(0.0, f64::max);
        let times = self.pairs(new).map(|(_, job)| job.seconds);
        let its = times.fold(0.0, f64::max);
        match (self.printed.at_ms, new.at_ms) {
            // It began before the middle of the time that the last pass had when it was printed.
            (Some(printed), Some(now)) => now - its * 1e3 < printed - mine * 500.0,
            _ => self.is_repeated || its >= mine * LONGER,
        }
    }
}

/// Whether the figures of a run can have become these while it went on.
fn can_have_become(before: &Figures, after: &Figures) -> bool {
    // More operations can only raise the maximum and lower the minimum.
    let raised = before.max.zip(after.max);
    let lowered = before.min.zip(after.min);
    before.ios == 0
        || (before.ios <= after.ios
            && before.bytes <= after.bytes
            && raised.is_none_or(|(before, after)| before <= after)
            && lowered.is_none_or(|(before, after)| after <= before))
}

impl Job {
    /// Whether another one was asked to do the same. A block that was worked out from bytes and
    /// operations is not exact.
    fn is_set_as(&self, other: &Self) -> bool {
        let [mine, its] = [self, other].map(|job| Self {
            read: Figures::default(),
            write: Figures::default(),
            trim: Figures::default(),
            sync: Figures::default(),
            seconds: 0.0,
            errors: 0,
            ended_by: None,
            block: 0,
            ..job.clone()
        });
        let (small, large) = (self.block.min(other.block), self.block.max(other.block));
        (small == 0 || large - small <= small / 10) && mine == its
    }
}
