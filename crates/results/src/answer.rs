//! In: a Request, and the options for its output.
//! Out: its runs: progress while they last, then the result printed, stored and judged; an exit code.

use anyhow::{Context, Result};
use blocklab_console::status::INTERRUPTED;
use blocklab_console::terminal;
use blocklab_record::{Record, Status};
use blocklab_runner::{Finished, Prepared, Request, Setting};
use blocklab_store::Store;
use blocklab_units::plural;

use crate::conclusion::{Run, conclude};
use crate::live_view::{LiveView, View};
use crate::study_end::{conclude_study, offers};
use crate::{Wanted, gate};

/// Runs a request to its end and gives the exit code.
///
/// # Errors
/// When an address is unknown, nothing can be measured, the lines after the result cannot be printed, or
/// the saved progress of a finished study cannot be removed.
pub fn answer(request: &Request, wanted: &Wanted, setting: Setting<'_>) -> Result<u8> {
    // Every address is looked up before anything is measured.
    let offers = offers(&request.study.publication.systems, setting.catalog)?;
    let prepared = Prepared::new(request, setting)?;
    let view = View {
        is_shown: !wanted.is_quiet,
        has_end: request.until.is_none(),
        in_lines: wanted.in_lines,
    };
    let store = wanted.is_kept.then_some(setting.store);
    let mut live = LiveView::new(view, &prepared.plans(), store);
    let finished = prepared.run(&mut live);
    // Also after an error: the screen must be cleared before its message is printed.
    live.finished();
    match finished? {
        Finished::Run(mut record) => {
            // Of a run that broke off, the missed precision is no news: its status says why it ended.
            let missed = request.until.and_then(|until| until.missed(&record));
            if let Some(missed) = missed.filter(|_| record.status == Status::Complete) {
                terminal::warn(&missed);
            }
            conclude_run(&mut record, wanted, setting.store)
        }
        Finished::Systems {
            earlier,
            measured,
            progress,
        } => {
            let (study, store) = (&request.study, setting.store);
            let code = conclude_study(study, wanted, &earlier, measured, &offers, store)?;
            // The saved progress is removed last: until the runs are stored, a crash would lose them
            // without it.
            if wanted.is_kept {
                let removed = progress.remove(setting.store.root());
                removed.context(
                    "the study is finished, but its saved progress could not be removed",
                )?;
            }
            Ok(code)
        }
        Finished::Stopped { resumable } => {
            let message = if resumable == 0 {
                "interrupted; nothing is kept".to_owned()
            } else {
                format!(
                    "interrupted after {}; the same command continues it, --fresh restarts it",
                    plural(resumable, "measurement")
                )
            };
            terminal::warn(&message);
            Ok(INTERRUPTED)
        }
    }
}

/// Prints, stores and judges a run, and gives the exit code.
///
/// # Errors
/// When the lines after the result cannot be printed.
pub fn conclude_run(record: &mut Record, wanted: &Wanted, store: &Store) -> Result<u8> {
    // The id must be final before it is printed.
    if wanted.is_kept {
        store.settle(record);
    }
    let assessment = blocklab_findings::assess(record);
    let gate = gate::of_runs(&wanted.conditions, &[(record, &assessment)]);
    let mut run = Run {
        record,
        assessment,
        gate,
    };
    conclude(&mut run, wanted, store)
}
