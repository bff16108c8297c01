//! What is seen of a run while it lasts.

use blocklab_console::terminal;
use blocklab_record::Record;
use blocklab_report::json;
use blocklab_results::LiveView;
use blocklab_runner::{Event, Observer, Questions};
use blocklab_store::Store;
use blocklab_workload::{Case, Plan};

use crate::args::RunArgs;
use crate::repeat::Repeat;

/// Shows what is measured, keeps it after every measurement, and adds passes where they are wanted.
pub struct Watch<'a> {
    view: LiveView<'a>,
    repeat: Option<Repeat>,
    /// Whether each measurement becomes a line on standard output.
    in_lines: bool,
}

impl<'a> Watch<'a> {
    /// Plans that take turns, each with the name of its system where there are several.
    pub fn new(args: &RunArgs, plans: &[(Option<&str>, &Plan)], store: &'a Store) -> Self {
        let repeat = Repeat::of(args);
        let store = (!args.no_save).then_some(store);
        Self {
            view: LiveView::new(!args.quiet, plans, store, repeat.is_none()),
            repeat,
            in_lines: args.json_lines,
        }
    }

    pub fn finished(&mut self) {
        self.view.finished();
    }
}

impl Questions for Watch<'_> {
    fn wants_again(&self, case: &Case, so_far: &Record) -> bool {
        self.repeat
            .is_some_and(|repeat| repeat.wants(&case.name, so_far))
    }
}

impl Observer for Watch<'_> {
    fn event(&mut self, event: Event<'_>) {
        self.view.event(&event);
        if let Event::Ended(record) = event
            && let Some(measurement) = record.measurements.last()
            && self.in_lines
        {
            // A reader who has gone is noticed when the result is printed.
            let _ = terminal::print(json::measured(&record.id, self.view.system(), measurement));
        }
    }
}
