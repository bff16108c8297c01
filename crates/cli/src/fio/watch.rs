//! What is shown and done while jobs run.

use std::io::{self, IsTerminal};
use std::path::Path;
use std::time::Instant;

use blocklab_dialect::fio::{General, Prepared};
use blocklab_engine::Outcome;
use blocklab_record::{Interval, Record};
use blocklab_report::live::Screen;
use blocklab_store::Store;
use blocklab_study::Observer;
use blocklab_units::{Bytes, Nanos};
use blocklab_workload::Case;

use super::{ground, left, logs};
use crate::terminal;

/// Draws the live screen on a terminal, and does what jobs want before and after them.
pub struct Watcher<'a> {
    screen: Screen,
    prepared: &'a Prepared,
    store: Option<&'a Store>,
    current: usize,
    /// What the logs of each clone count from.
    epochs_ms: Vec<u64>,
    begun: Instant,
}

impl<'a> Watcher<'a> {
    /// On a terminal, where the results do not go to the same one as JSON.
    pub fn new(prepared: &'a Prepared, general: &General, store: Option<&'a Store>) -> Self {
        let terminal = io::stderr().is_terminal() && io::stdout().is_terminal();
        Self::shown(prepared, general, store, general.eta.unwrap_or(terminal))
    }

    pub fn shown(
        prepared: &'a Prepared,
        _: &General,
        store: Option<&'a Store>,
        shown: bool,
    ) -> Self {
        let planned = |case: &Case| {
            let jobs = case.workload.jobs.iter();
            let times = jobs.map(|job| job.ramp + job.stop.runtime.unwrap_or_default());
            times.max().unwrap_or_default()
        };
        let total = prepared.plan.cases.iter().map(planned);
        let total = total.fold(Nanos::ZERO, |sum, time| sum + time);
        Self {
            screen: Screen::new(shown, io::stderr().is_terminal(), total),
            prepared,
            store,
            current: 0,
            epochs_ms: Vec::new(),
            begun: now(),
        }
    }

    /// Since the beginning.
    pub fn elapsed(&self) -> Nanos {
        Nanos(self.begun.elapsed().as_nanos() as u64)
    }

    pub fn finished(&mut self) {
        self.screen.finished();
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the command's own time, beside the measured one"
)]
fn now() -> Instant {
    Instant::now()
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
        self.current = step;
        let rules = self.prepared.clones.iter().map(|clone| &clone.logs);
        self.epochs_ms = rules.map(logs::epoch_ms).collect();
        self.screen.case(&case.name, 1, 1, step + 1, steps);
        let clones = self.prepared.clones.iter();
        ground::before(
            clones.filter(|clone| clone.case == step),
            &case.workload.jobs,
        );
    }

    fn interval(&mut self, interval: &Interval, elapsed: Nanos) {
        self.screen.interval(interval, elapsed);
    }

    fn left(&mut self, case: &Case, outcome: &Outcome) {
        let clones = self.prepared.clones.iter().enumerate();
        let clones: Vec<_> = clones
            .filter(|(_, clone)| clone.case == self.current)
            .collect();
        if let Err(error) = left::leave(&clones, case, outcome, &self.epochs_ms) {
            terminal::complain(&error);
        }
    }

    fn ended(&mut self, record: &Record) {
        let clones = self.prepared.clones.iter();
        ground::after(clones.filter(|clone| clone.case == self.current));
        if let Some(Err(error)) = self.store.map(|store| store.checkpoint(record)) {
            terminal::warn(&format!("cannot keep what is measured so far: {error}"));
        }
    }
}
