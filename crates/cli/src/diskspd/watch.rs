//! What is shown and counted while a profile runs.

use std::io::{self, IsTerminal};
use std::path::Path;

use blocklab_dialect::diskspd::Processor;
use blocklab_record::{Interval, Origin, Record};
use blocklab_report::live::Screen;
use blocklab_store::Store;
use blocklab_study::Observer;
use blocklab_units::{Bytes, Nanos};
use blocklab_workload::{Case, Plan};

use super::house::House;
use crate::processors::Ticks;
use crate::terminal;

/// Draws the live screen, keeps what is measured, and looks at the processors.
pub struct Watcher<'a> {
    pub screen: Screen,
    /// By time span, what each processor did in its measured time.
    pub processors: Vec<Vec<Processor>>,
    store: Option<&'a Store>,
    /// At the end of the warm-up.
    before: Ticks,
}

impl<'a> Watcher<'a> {
    pub fn new(house: &House, plan: &Plan, store: &'a Store) -> Self {
        let planned = |case: &Case| {
            let jobs = case.workload.jobs.iter();
            let times = jobs.map(|job| job.ramp + job.stop.runtime.unwrap_or_default());
            times.max().unwrap_or_default()
        };
        let total = plan.cases.iter().map(planned);
        let total = total.fold(Nanos::ZERO, |sum, time| sum + time);
        Self {
            screen: Screen::new(!house.quiet, io::stderr().is_terminal(), total),
            processors: Vec::new(),
            store: (!house.no_save).then_some(store),
            before: Ticks::default(),
        }
    }
}

impl Observer for Watcher<'_> {
    fn laying_out(&mut self, path: &Path, done: Bytes, total: Bytes) {
        if done == Bytes::ZERO {
            self.screen
                .phase(&format!("laying out {} ({total})", path.display()));
        }
        self.screen.progress(done.0, total.0);
    }

    fn begins(&mut self, case: &Case, _: u32, step: usize, steps: usize) {
        self.screen.case(&case.name, 1, 1, step + 1, steps);
        self.before = Ticks::now();
    }

    fn interval(&mut self, interval: &Interval, elapsed: Nanos) {
        if interval.ramp {
            self.before = Ticks::now();
        }
        self.screen.interval(interval, elapsed);
    }

    fn ended(&mut self, record: &Record) {
        self.processors.push(match record.origin {
            // In virtual time no processor of ours did the work.
            Origin::Simulated => Vec::new(),
            _ => Ticks::now().since(&self.before),
        });
        if let Some(Err(error)) = self.store.map(|store| store.checkpoint(record)) {
            terminal::warn(&format!("cannot keep what is measured so far: {error}"));
        }
    }
}

/// On standard error, beside the result.
pub fn tell(house: &House, record: &Record) {
    if let Some(failure) = &record.failure {
        terminal::warn(failure);
    }
    if house.quiet {
        return;
    }
    for note in &record.notes {
        terminal::tell(&format!("note: {}: {}", note.subject, note.text));
    }
    if !house.no_save {
        terminal::tell(&format!("More    blocklab show {}", record.id));
    }
}
