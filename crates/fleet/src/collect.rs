//! In: the hosts that could not tell their run. Out: what they kept of it.
//!
//! ```text
//!   here   the host's agent ──▶ blocklab-rank --collect RUN   there
//!          Record           ◀──
//! ```
//!
//! Without MPI: a launch ends as a whole when one rank is lost, and what was kept needs no others.

use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use anyhow::{Result, anyhow};
use blocklab_console::{place, terminal};
use blocklab_record::{Record, Status};

use crate::launch::run_there;
use crate::plan::HostTask;

/// Prints the run that this host kept, as JSON. One that did not end counts as interrupted.
///
/// # Errors
/// When nothing of it is kept.
pub fn collect(run: &str, store: Option<PathBuf>) -> Result<()> {
    let stored = place::store(store)?
        .load_unchanged(run)
        .map_err(|_| anyhow!("it kept nothing of its run"))?;
    let mut record = stored.record;
    if stored.partial {
        record.status = Status::Interrupted;
    }
    terminal::print_data(record.to_json())
}

/// A host that is cut off ends its run some seconds after the others.
const TRIES: u32 = 3;
const BETWEEN: Duration = Duration::from_secs(2);
/// A Record is read and sent within this time.
const LIMIT: Duration = Duration::from_secs(8);

/// Reads the runs of hosts, all at the same time; of those that answer and kept something.
pub fn collect_from(program: &str, tasks: &[&HostTask]) -> Vec<(String, Record)> {
    thread::scope(|scope| {
        let readers = tasks.iter().map(|task| {
            let reader = scope.spawn(move || from_one(program, task));
            (task.name.clone(), reader)
        });
        let readers: Vec<_> = readers.collect();
        let found = readers
            .into_iter()
            .filter_map(|(name, reader)| Some((name, reader.join().ok()??)));
        found.collect()
    })
}

fn from_one(program: &str, task: &HostTask) -> Option<Record> {
    for again in 1..=TRIES {
        let mut arguments = vec!["--collect".to_owned(), task.run.clone()];
        if let Some(store) = &task.store {
            arguments.extend(["--store".to_owned(), store.display().to_string()]);
        }
        // An agent that does not reach the host will not reach it in a moment either.
        let output = run_there(program, &task.name, &arguments, LIMIT).ok()?;
        let record = Record::from_json(&String::from_utf8_lossy(&output.stdout))
            .ok()
            .filter(|record| !record.measurements.is_empty());
        // The rank program fails with 1 where it has nothing yet; an agent fails otherwise.
        if record.is_some() || again == TRIES || output.status.code() != Some(1) {
            return record;
        }
        thread::sleep(BETWEEN);
    }
    None
}
