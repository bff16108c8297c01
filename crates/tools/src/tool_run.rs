//! What the commands of all imitated tools share: running a plan, notes on standard error, exit codes.

use std::sync::atomic::AtomicBool;

use anyhow::Result;
use blocklab_host::guard::Guard;
use blocklab_record::{Note, Record, Status};
use blocklab_runner::{Finished, Missing, Observer, Prepared, Request, Setting, Study};
use blocklab_store::Store;
use blocklab_workload::Plan;

use blocklab_console::{chance, place, status, terminal};
use blocklab_results::keeping::NoStore;
use blocklab_results::{LiveView, View};

/// A request to run another tool's load on the targets that its jobs name. `notes` are on settings
/// that were approximated or ignored; `missing` says what to do about a target that does not exist.
pub fn tool_request(plan: Plan, notes: Vec<Note>, missing: Missing) -> Request {
    let study = Study {
        notes,
        // The load of another tool is run with another engine, and a note, if there is no io_uring.
        may_replace_engine: true,
        ..Study::of_plan(plan)
    };
    Request {
        missing,
        ..Request::once(study, Vec::new())
    }
}

/// The view of a tool's load. `store`: `None` when the run is not stored.
pub fn live_view(is_shown: bool, plan: &Plan, store: Option<&Store>) -> LiveView {
    LiveView::new(View::progress(is_shown), &[(None, plan)], store)
}

/// The requested seed, or a random one of 32 bits, which every format can hold and a person can copy.
pub fn seed(requested: Option<u64>) -> Result<u64> {
    match requested {
        Some(seed) => Ok(seed),
        None => Ok(chance()? & 0xffff_ffff),
    }
}

/// Runs a load and gives its Record; `None` if a signal came before the first measurement. `guard`
/// decides what may be written to.
pub fn run_tool(
    request: &Request,
    guard: &Guard,
    interrupted: &AtomicBool,
    store: &Store,
    observer: &mut dyn Observer,
) -> Result<Option<Record>> {
    let setting = Setting {
        store,
        guard,
        catalog: &place::load_catalog()?,
        interrupted,
    };
    match Prepared::new(request, setting)?.run(observer)? {
        Finished::Run(record) => Ok(Some(*record)),
        // A tool's load is that of one system.
        Finished::Systems { .. } | Finished::Stopped { .. } => {
            terminal::warn("interrupted before anything was measured; nothing is kept");
            Ok(None)
        }
    }
}

/// Prints to standard error what failed, then the notes and the command that shows a run, if it is kept
/// in a store. With `is_quiet`, only what failed.
pub fn print_outcome<'n>(
    record: &Record,
    notes: impl Iterator<Item = &'n Note>,
    is_quiet: bool,
    kept_in: Option<&Store>,
) {
    record.failure.iter().for_each(|text| terminal::warn(text));
    if is_quiet {
        return;
    }
    print_notes(notes);
    if let Some(store) = kept_in {
        let option = place::store_option(store);
        terminal::inform(&format!("More    blocklab show {}{option}", record.id));
    }
}

/// Prints notes to standard error.
pub fn print_notes<'n>(notes: impl Iterator<Item = &'n Note>) {
    notes.for_each(|note| terminal::inform(&format!("note: {}: {}", note.subject, note.text)));
}

/// The exit code of a command that ends with `code`: failed instead of done if the run or its page could not
/// be stored (`is_well` is false).
pub const fn with_keeping(code: u8, is_well: bool) -> u8 {
    match code {
        status::DONE if !is_well => status::FAILED,
        code => code,
    }
}

/// The exit code for an error. A store that cannot be written to is an invalid request for every tool.
pub fn code_of(error: &anyhow::Error) -> u8 {
    if error.is::<NoStore>() {
        status::MISTAKE
    } else {
        status::FAILED
    }
}

/// The exit code for the status of a run, as blocklab's own commands have it.
pub const fn exit_code(record: &Record) -> u8 {
    match record.status {
        Status::Complete => status::DONE,
        Status::Interrupted | Status::Running => status::INTERRUPTED,
        Status::Failed => status::FAILED,
        Status::Incomplete => status::INCOMPLETE,
    }
}
