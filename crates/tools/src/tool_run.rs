//! One run for the front end of another tool's language: run, kept, its page written.

use std::sync::atomic::AtomicBool;

use anyhow::Result;
use blocklab_host::guard::Guard;
use blocklab_record::{Note, Record, Status};
use blocklab_runner::{Finished, Missing, Observer, Prepared, Request, Setting, Study};
use blocklab_store::Store;
use blocklab_workload::Plan;

use blocklab_console::{chance, place, status, terminal};
use blocklab_results::keeping::NoStore;

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
    /// The id that the run gets; nothing: a new one.
    pub id: Option<String>,
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
    let study = Study {
        notes: tool_run.notes,
        // The foreign tools know nothing of Linux engines: nobody insisted on one.
        may_replace_engine: true,
        ..Study::of_plan(tool_run.plan)
    };
    let request = Request {
        missing: tool_run.missing,
        fails_alone: tool_run.fails_alone,
        id: tool_run.id,
        ..Request::once(study, tool_run.targets.to_vec())
    };
    let setting = Setting {
        store,
        guard: tool_run.guard,
        catalog: &place::load_catalog()?,
        interrupted,
    };
    match Prepared::new(&request, setting)?.run(observer)? {
        Finished::Run(record) => Ok(Some(*record)),
        _ => {
            terminal::warn("interrupted before anything was measured; nothing is kept");
            Ok(None)
        }
    }
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
    if error.is::<NoStore>() {
        status::MISTAKE
    } else {
        otherwise
    }
}

/// The common codes: 0 done, 1 failed, 130 interrupted.
pub const fn exit_code(record: &Record) -> u8 {
    match record.status {
        Status::Complete => status::DONE,
        Status::Interrupted => status::INTERRUPTED,
        Status::Failed => status::FAILED,
        Status::Incomplete => status::INCOMPLETE,
    }
}
