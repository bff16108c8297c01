//! In: the events of a run.
//! Out: the progress on the terminal, and the run's spool in the store.

use std::path::{Path, PathBuf};

use blocklab_console::terminal;
use blocklab_record::{Origin, Record};
use blocklab_report::json;
use blocklab_report::live::Screen;
use blocklab_runner::{
    Event, Observer, Questions, pause_between, planned, planned_run, planned_steps,
};
use blocklab_store::Store;
use blocklab_units::{Bytes, Nanos};
use blocklab_workload::{Case, Plan};

use crate::spooling::Spooling;

/// The observer that all measuring commands use: it shows progress and writes the spool.
pub struct LiveView {
    screen: Screen,
    spooling: Spooling,
    parts: Vec<Part>,
    /// The part that is measured now.
    current: usize,
    /// Planned time of the measurements before the current one.
    ended_steps: Nanos,
    /// Planned time of the current measurement.
    this_step: Nanos,
    /// The file that is being laid out.
    laying_out: Option<PathBuf>,
    in_lines: bool,
}

/// What is shown while a run lasts.
#[derive(Debug, Clone, Copy)]
pub struct View {
    /// Whether progress is drawn.
    pub is_shown: bool,
    /// Whether the number of passes is known, so that the rest of the time can be shown.
    pub has_end: bool,
    /// Whether each finished measurement is printed to standard output as a line of JSON.
    pub in_lines: bool,
}

impl View {
    /// The view of a run with a known number of passes and no JSON lines.
    pub const fn progress(is_shown: bool) -> Self {
        Self {
            is_shown,
            has_end: true,
            in_lines: false,
        }
    }
}

/// A plan that is shown.
struct Part {
    /// The system of a multi-system study on which it runs.
    system: Option<String>,
    plan: Plan,
    /// The case that began last.
    latest: Option<String>,
}

impl LiveView {
    /// A view of plans that run in turns. Each has the name of its system, if there are several.
    /// `store`: `None` when the runs are not stored.
    pub fn new(view: View, plans: &[(Option<&str>, &Plan)], store: Option<&Store>) -> Self {
        let parts = plans.iter().map(|(system, plan)| Part {
            system: system.map(str::to_owned),
            plan: (*plan).clone(),
            latest: None,
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
            ended_steps: Nanos::ZERO,
            this_step: Nanos::ZERO,
            laying_out: None,
            in_lines: view.in_lines,
        }
    }

    /// The system of a study that is measured now.
    fn system(&self) -> Option<&str> {
        self.parts[self.current].system.as_deref()
    }

    /// Ends the view: the screen is cleared and the thread that writes the spool has ended.
    pub fn finished(&mut self) {
        // Dropping the old one waits for its thread, which must not write any more once the run is
        // stored and the spool removed.
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

    /// Shows the case that begins, with its number and pass.
    fn begins(&mut self, case: &Case, pass: u32) {
        let part = &mut self.parts[self.current];
        let plan = &part.plan;
        let passed = match part.latest.replace(case.name.clone()) {
            Some(latest) => pause_between(plan, &latest, &case.name),
            // A study that continues begins behind what it has kept; a pass that was added ends the plan.
            None => {
                let mut steps = plan.steps();
                let before = steps.position(|(index, number)| {
                    number == pass && plan.cases[index].name == case.name
                });
                let count = before.map_or(usize::MAX, |before| before + 1);
                planned_steps(plan, count).since(planned(case))
            }
        };
        self.ended_steps = self.ended_steps + self.this_step + passed;
        self.this_step = planned(case);
        let name = match &part.system {
            Some(system) => format!("{system}: {}", case.name),
            None => case.name.clone(),
        };
        let cases = &plan.cases;
        let index = cases.iter().position(|known| known.name == case.name);
        let number = index.unwrap_or(0) + 1;
        // A run until a precision is reached may need more passes than planned.
        let passes = plan.passes.max(pass);
        self.screen.case(&name, pass, passes, number, cases.len());
    }

    /// Passes an event to the spool. This comes before the screen, so that what is shown as measured
    /// is already stored. The simulated systems of a study are left out: a study that continues
    /// simulates them again.
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
                // A closed pipe must not end the run; it is reported when the result is printed.
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
                self.screen.interval(interval, self.ended_steps + elapsed);
            }
            Event::Ended(record) => self.ended(record),
            Event::Slice(_) | Event::Status(_) | Event::Frame { .. } | Event::Left { .. } => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The story: the time that was left counted all pauses of the plan to the end of the run, and in a study
    /// that continued what it had measured before.
    #[test]
    fn what_is_over_is_no_time_left() {
        let case = Case::new("a", 1, Vec::new());
        let plan = Plan {
            passes: 3,
            pause: Nanos::from_secs(5),
            ..Plan::once("pauses", "", vec![case.clone()])
        };
        let before_last = |first_pass: u32| {
            let mut view = LiveView::new(View::progress(false), &[(None, &plan)], None);
            (first_pass..=3).for_each(|pass| view.begins(&case, pass));
            view.ended_steps
        };
        assert_eq!(before_last(1), Nanos::from_secs(10));
        assert_eq!(before_last(2), Nanos::from_secs(10));
    }
}
