//! In: the events of a run.
//! Out: the live screen, and what is kept of the run while it lasts.

use std::path::{Path, PathBuf};

use blocklab_console::terminal;
use blocklab_record::{Origin, Record};
use blocklab_report::json;
use blocklab_report::live::Screen;
use blocklab_runner::{Event, Observer, Questions, planned, planned_run};
use blocklab_store::Store;
use blocklab_units::{Bytes, Nanos};
use blocklab_workload::{Case, Plan};

use crate::spooling::Spooling;

/// What every command shows of a run, and keeps of it, while it lasts.
pub struct LiveView {
    screen: Screen,
    spooling: Spooling,
    parts: Vec<Part>,
    current: usize,
    /// Planned time of the measurements before the current one, and of that.
    before: Nanos,
    now: Nanos,
    laying_out: Option<PathBuf>,
    in_lines: bool,
}

/// How a run is seen.
#[derive(Debug, Clone, Copy)]
pub struct View {
    /// Whether its progress is drawn.
    pub is_shown: bool,
    /// Whether it is known how many passes there will be.
    pub has_end: bool,
    /// Whether each measurement becomes a line on standard output.
    pub in_lines: bool,
}

impl View {
    /// The view of a run that ends by itself: its progress, if `is_shown`.
    pub const fn progress(is_shown: bool) -> Self {
        Self {
            is_shown,
            has_end: true,
            in_lines: false,
        }
    }
}

/// A plan, and the system of a study that it is run on.
struct Part {
    system: Option<String>,
    cases: Vec<String>,
    passes: u32,
}

impl LiveView {
    /// A view of plans that take turns, each with the name of its system where there are several.
    /// `store`: where runs are kept, if they are.
    pub fn new(view: View, plans: &[(Option<&str>, &Plan)], store: Option<&Store>) -> Self {
        let parts = plans.iter().map(|(system, plan)| Part {
            system: system.map(str::to_owned),
            cases: plan.cases.iter().map(|case| case.name.clone()).collect(),
            passes: plan.passes,
        });
        let total = if view.has_end {
            let times = plans.iter().map(|(_, plan)| planned_run(plan));
            times.fold(Nanos::ZERO, Nanos::saturating_add)
        } else {
            Nanos::ZERO
        };
        Self {
            screen: Screen::new(view.is_shown, terminal::size(), total),
            spooling: Spooling::new(store),
            parts: parts.collect(),
            current: 0,
            before: Nanos::ZERO,
            now: Nanos::ZERO,
            laying_out: None,
            in_lines: view.in_lines,
        }
    }

    /// The system of a study that is measured now.
    fn system(&self) -> Option<&str> {
        self.parts[self.current].system.as_deref()
    }

    /// The run is over: the screen is cleared, and its spool can go.
    pub fn finished(&mut self) {
        self.spooling = Spooling::new(None);
        self.screen.finished();
    }

    fn laying_out(&mut self, path: &Path, done: Bytes, total: Bytes) {
        if self.laying_out.as_deref() != Some(path) {
            let text = format!("laying out {} ({total})", path.display());
            self.screen.phase(&text);
            self.laying_out = Some(path.to_owned());
        }
        self.screen.progress(done.0, total.0);
    }

    fn begins(&mut self, case: &Case, pass: u32) {
        self.before = self.before + self.now;
        self.now = planned(case);
        let part = &self.parts[self.current];
        let name = match &part.system {
            Some(system) => format!("{system}: {}", case.name),
            None => case.name.clone(),
        };
        let place = part.cases.iter().position(|known| *known == case.name);
        let number = place.unwrap_or(0) + 1;
        self.screen
            .case(&name, pass, part.passes.max(pass), number, part.cases.len());
    }

    /// A study simulates again what it simulated. All else is kept before it is shown as measured.
    fn spool(&mut self, event: Event<'_>) {
        let record = match event {
            Event::Begins { so_far, .. } => Some(so_far),
            Event::Ended(record) => Some(record),
            _ => None,
        };
        let is_simulated = record.is_some_and(|record| record.origin == Origin::Simulated);
        if !(is_simulated && self.system().is_some()) {
            self.spooling.event(event);
        }
    }

    fn ended(&mut self, record: &Record) {
        if let Some(measurement) = record.measurements.last() {
            self.screen.measured(measurement);
            if self.in_lines {
                // A reader who has gone is noticed when the result is printed.
                let _ = terminal::print(json::measured(&record.id, self.system(), measurement));
            }
        }
    }
}

impl Questions for LiveView {
    fn keeps_frames(&self) -> bool {
        self.spooling.is_kept()
    }
}

impl Observer for LiveView {
    fn event(&mut self, event: Event<'_>) {
        self.spool(event);
        match event {
            Event::Turn(part) => self.current = part,
            Event::LayingOut { path, done, total } => self.laying_out(path, done, total),
            Event::Begins { case, pass, .. } => self.begins(case, pass),
            Event::Interval {
                interval,
                elapsed,
                credits,
            } => {
                if !credits.is_empty() {
                    self.screen.credits(credits);
                }
                self.screen.interval(interval, self.before + elapsed);
            }
            Event::Ended(record) => self.ended(record),
            Event::Slice(_) | Event::Status(_) | Event::Frame { .. } | Event::Left { .. } => {}
        }
    }
}
