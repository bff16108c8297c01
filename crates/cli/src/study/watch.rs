//! What is seen of a study while it lasts.

use std::io::{self, IsTerminal};
use std::path::Path;

use blocklab_record::{Interval, Origin, Record};
use blocklab_report::live::Screen;
use blocklab_store::Store;
use blocklab_study::{Observer, Part};
use blocklab_units::{Bytes, Nanos};
use blocklab_workload::{Case, Plan};

use crate::args::RunArgs;
use crate::asked_study::planned;
use blocklab_tools::keeping::Checkpoints;

/// Shows which system is measured, and keeps what was measured in real time.
pub struct Watch<'a> {
    screen: Screen,
    checkpoints: Checkpoints<'a>,
    systems: Vec<System>,
    current: usize,
    /// Planned time of the measurements before the current one.
    before: Nanos,
    now: Nanos,
    laying_out: Option<String>,
}

struct System {
    name: String,
    passes: u32,
}

impl<'a> Watch<'a> {
    pub fn new(args: &RunArgs, parts: &[(&str, Part<'_>)], store: &'a Store) -> Self {
        let plans = || parts.iter().map(|(_, part)| &part.assignment.plan);
        let total = Nanos(plans().map(length).sum());
        let system = |(name, part): &(&str, Part<'_>)| System {
            name: (*name).to_owned(),
            passes: part.assignment.plan.passes,
        };
        Self {
            screen: Screen::new(!args.quiet, io::stderr().is_terminal(), total),
            checkpoints: Checkpoints::new((!args.no_save).then_some(store)),
            systems: parts.iter().map(system).collect(),
            current: 0,
            before: Nanos::ZERO,
            now: Nanos::ZERO,
            laying_out: None,
        }
    }

    pub fn finished(&mut self) {
        self.screen.finished();
    }
}

/// Planned time of all measurements.
fn length(plan: &Plan) -> u64 {
    let once: u64 = plan
        .cases
        .iter()
        .map(|case| planned(case).0 + plan.pause.0)
        .sum();
    once * u64::from(plan.rounds())
}

impl Observer for Watch<'_> {
    fn turns_to(&mut self, part: usize) {
        self.current = part;
    }

    fn laying_out(&mut self, path: &Path, done: Bytes, total: Bytes) {
        let path = path.display().to_string();
        if self.laying_out.as_ref() != Some(&path) {
            self.screen.phase(&format!("laying out {path} ({total})"));
            self.laying_out = Some(path);
        }
        self.screen.progress(done.0, total.0);
    }

    fn begins(&mut self, case: &Case, pass: u32, step: usize, steps: usize) {
        self.before = self.before + self.now;
        self.now = planned(case);
        let system = &self.systems[self.current];
        let name = format!("{}: {}", system.name, case.name);
        self.screen
            .case(&name, pass, system.passes, step + 1, steps);
    }

    fn interval(&mut self, interval: &Interval, elapsed: Nanos) {
        self.screen.interval(interval, self.before + elapsed);
    }

    fn ended(&mut self, record: &Record) {
        if let Some(measurement) = record.measurements.last() {
            self.screen.measured(measurement);
        }
        // What was simulated can be simulated again.
        if record.origin != Origin::Simulated {
            self.checkpoints.keep(record);
        }
    }
}
