//! One run for the front end of another tool's language: run, kept, its page written.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use anyhow::Result;
use blocklab_host::guard::Guard;
use blocklab_record::{Note, Record, Status};
use blocklab_report::live::Screen;
use blocklab_store::Store;
use blocklab_study::{Assignment, Error, Missing, Observer, run_plan};
use blocklab_units::{Bytes, Nanos};
use blocklab_workload::{Case, Plan};
use jiff::Timestamp;

use blocklab_console::{chance, status, terminal};
use blocklab_results::keeping::{Checkpoints, NoStore};

/// What is run, and on what.
pub struct ToolRun<'a> {
    /// What is run.
    pub plan: Plan,
    /// What was understood differently from what was written.
    pub notes: Vec<Note>,
    /// Targets of the jobs that name none.
    pub targets: &'a [String],
    /// Decides what may be written to.
    pub guard: &'a Guard,
    /// What becomes of a target that does not exist.
    pub missing: Missing,
    /// Whether a job that cannot open its targets fails alone.
    pub fails_alone: bool,
}

/// A seed for a run whose user named none.
pub fn seed(requested: Option<u64>) -> Result<u64> {
    match requested {
        Some(seed) => Ok(seed),
        None => Ok(chance()? & 0xffff_ffff),
    }
}

/// Runs it; nothing when a signal came before the first measurement.
pub fn run_tool(
    tool_run: ToolRun<'_>,
    interrupted: &AtomicBool,
    store: &Store,
    observer: &mut dyn Observer,
) -> Result<Option<Record>> {
    let catalog = blocklab_console::place::load_catalog()?;
    let assignment = Assignment {
        id: store.new_id(Timestamp::now(), chance()?),
        tool: concat!("blocklab ", env!("CARGO_PKG_VERSION")).to_owned(),
        notes: tool_run.notes,
        targets: tool_run.targets,
        guard: tool_run.guard,
        missing: tool_run.missing,
        // The foreign tools know nothing of Linux engines: nobody insisted on one.
        may_replace_engine: true,
        fails_alone: tool_run.fails_alone,
        catalog: &catalog,
        interrupted,
        plan: tool_run.plan,
    };
    match run_plan(assignment, observer) {
        Ok(record) => Ok(Some(record)),
        Err(Error::Interrupted) => {
            terminal::warn("interrupted before anything was measured; nothing is kept");
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}

/// What the run of any tool shows on the live screen, and keeps, while it lasts.
pub struct LiveView<'a> {
    /// What is drawn.
    pub screen: Screen,
    checkpoints: Checkpoints<'a>,
}

impl<'a> LiveView<'a> {
    /// Nothing is kept without a store.
    pub fn new(is_shown: bool, plan: &Plan, store: Option<&'a Store>) -> Self {
        let times = plan.cases.iter().map(planned);
        let total = times.fold(Nanos::ZERO, |sum, time| sum + time);
        Self {
            screen: Screen::new(is_shown, terminal::size(), total),
            checkpoints: Checkpoints::new(store),
        }
    }

    /// So much of a file is laid out.
    pub fn laying_out(&mut self, path: &Path, done: Bytes, total: Bytes) {
        if done == Bytes::ZERO {
            let phase = format!("laying out {} ({total})", path.display());
            self.screen.phase(&phase);
        }
        self.screen.progress(done.0, total.0);
    }

    /// A measurement has ended, and the record holds it.
    pub fn ended(&mut self, record: &Record) {
        if let Some(measurement) = record.measurements.last() {
            self.screen.measured(measurement);
        }
        self.checkpoints.keep(record);
    }
}

/// The longest job's time; zero where none has one.
pub fn planned(case: &Case) -> Nanos {
    let times = case.workload.jobs.iter().map(|job| {
        let measured = job.stop.runtime.unwrap_or_default();
        job.start_delay + job.ramp + measured + job.cool_down
    });
    times.max().unwrap_or_default()
}

/// Prints on standard error what failed, and unless all is to be quiet these notes, and the command
/// that shows a saved run.
pub fn print_more<'n>(
    record: &Record,
    notes: impl Iterator<Item = &'n Note>,
    is_quiet: bool,
    is_saved: bool,
) {
    record.failure.iter().for_each(|text| terminal::warn(text));
    if is_quiet {
        return;
    }
    print_notes(notes);
    if is_saved {
        terminal::inform(&format!("More    blocklab show {}", record.id));
    }
}

/// On standard error.
pub fn print_notes<'n>(notes: impl Iterator<Item = &'n Note>) {
    notes.for_each(|note| terminal::inform(&format!("note: {}: {}", note.subject, note.text)));
}

/// The exit code of a command whose run was kept so.
pub const fn with_keeping(code: u8, is_well: bool) -> u8 {
    match code {
        status::DONE if !is_well => status::FAILED,
        code => code,
    }
}

/// The exit code of an error: a store that cannot be written to is the user's mistake in every
/// language.
pub fn code_of(error: &anyhow::Error, otherwise: u8) -> u8 {
    match error.is::<NoStore>() {
        true => status::MISTAKE,
        false => otherwise,
    }
}

/// The common codes: 0 done, 1 failed, 130 interrupted.
pub const fn exit_code(record: &Record) -> u8 {
    match record.status {
        Status::Complete => status::DONE,
        Status::Interrupted => status::INTERRUPTED,
        Status::Failed => status::FAILED,
    }
}
