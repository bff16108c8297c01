//! What is seen of a run while it lasts.

use std::path::{Path, PathBuf};

use blocklab_console::terminal;
use blocklab_record::{Interval, Origin, Record};
use blocklab_report::json;
use blocklab_report::live::Screen;
use blocklab_results::keeping::Checkpoints;
use blocklab_store::Store;
use blocklab_study::{Observer, Tap, planned, planned_run};
use blocklab_units::{Bytes, Nanos};
use blocklab_workload::{Case, Plan};

use crate::args::RunArgs;
use crate::repeat::Repeat;

/// Shows what is measured, and keeps it after every measurement.
pub struct Watch<'a> {
    screen: Screen,
    checkpoints: Checkpoints<'a>,
    parts: Vec<Part>,
    current: usize,
    /// Planned time of the measurements before the current one.
    before: Nanos,
    now: Nanos,
    laying_out: Option<PathBuf>,
    repeat: Option<Repeat>,
    /// Whether each measurement becomes a line on standard output.
    in_lines: bool,
}

/// A plan, and the system of a study that it is run on.
struct Part {
    system: Option<String>,
    cases: Vec<String>,
    passes: u32,
}

impl<'a> Watch<'a> {
    /// Plans that take turns, each with the name of its system where there are several.
    pub fn new(args: &RunArgs, plans: &[(Option<&str>, &Plan)], store: &'a Store) -> Self {
        let part = |(system, plan): &(Option<&str>, &Plan)| Part {
            system: system.map(str::to_owned),
            cases: plan.cases.iter().map(|case| case.name.clone()).collect(),
            passes: plan.passes,
        };
        let repeat = Repeat::of(args);
        let total = match repeat {
            // Nobody knows how many passes it takes.
            Some(_) => Nanos::ZERO,
            None => {
                let times = plans.iter().map(|(_, plan)| planned_run(plan));
                times.fold(Nanos::ZERO, Nanos::saturating_add)
            }
        };
        Self {
            screen: Screen::new(!args.quiet, terminal::size(), total),
            checkpoints: Checkpoints::new((!args.no_save).then_some(store)),
            parts: plans.iter().map(part).collect(),
            current: 0,
            before: Nanos::ZERO,
            now: Nanos::ZERO,
            laying_out: None,
            repeat,
            in_lines: args.json_lines,
        }
    }

    pub fn finished(&mut self) {
        self.screen.finished();
    }
}

impl Tap for Watch<'_> {
    fn interval(&mut self, interval: &Interval, elapsed: Nanos) {
        self.screen.interval(interval, self.before + elapsed);
    }
}

impl Observer for Watch<'_> {
    fn turns_to(&mut self, part: usize) {
        self.current = part;
    }

    fn laying_out(&mut self, path: &Path, done: Bytes, total: Bytes) {
        if self.laying_out.as_deref() != Some(path) {
            let text = format!("laying out {} ({total})", path.display());
            self.screen.phase(&text);
            self.laying_out = Some(path.to_owned());
        }
        self.screen.progress(done.0, total.0);
    }

    fn begins(&mut self, case: &Case, pass: u32, _step: usize, _steps: usize) {
        self.before = self.before + self.now;
        self.now = planned(case);
        let part = &self.parts[self.current];
        let name = match &part.system {
            Some(system) => format!("{system}: {}", case.name),
            None => case.name.clone(),
        };
        let place = part.cases.iter().position(|it| *it == case.name);
        let number = place.unwrap_or(0) + 1;
        self.screen
            .case(&name, pass, part.passes.max(pass), number, part.cases.len());
    }

    fn credits(&mut self, left: &[(String, f64)]) {
        self.screen.credits(left);
    }

    fn wants_again(&self, case: &Case, record: &Record) -> bool {
        self.repeat.is_some_and(|it| it.wants(&case.name, record))
    }

    fn ended(&mut self, record: &Record) {
        // A study simulates again what it simulated. What is shown as measured is kept by then.
        let is_cheap =
            self.parts[self.current].system.is_some() && record.origin == Origin::Simulated;
        if !is_cheap {
            self.checkpoints.keep(record);
        }
        if let Some(measurement) = record.measurements.last() {
            self.screen.measured(measurement);
            if self.in_lines {
                let system = self.parts[self.current].system.as_deref();
                // A reader who has gone is noticed when the result is printed.
                let _ = terminal::print(json::measured(&record.id, system, measurement));
            }
        }
    }
}
