//! In: the hosts that could not send their run. Out: what they have stored of it.
//!
//! ```text
//!   here   the host's agent ──▶ blocklab-rank --collect RUN   there
//!          Record           ◀──
//! ```
//!
//! This goes without MPI, whose launch ends as a whole when one rank is lost.

use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow};
use blocklab_console::{place, terminal};
use blocklab_record::{Record, Status};
use blocklab_store::Store;

use crate::launch::run_there;
use crate::plan::HostTask;

/// On the host: prints the stored run as JSON. A run that did not end counts as interrupted.
///
/// # Errors
/// When nothing of it is stored.
pub fn collect(run: &str, store: Option<PathBuf>) -> Result<()> {
    let store = place::store(store)?;
    let is_running = is_still_running(&store, run);
    let stored = store
        .load_unchanged(run)
        .map_err(|_| anyhow!("it kept nothing of its run"))?;
    let mut record = stored.record;
    if stored.partial {
        record.status = Status::Interrupted;
        // When this is read it may have ended long ago; the launcher knows why the host was lost.
        if is_running {
            record.failure = None;
        }
    }
    terminal::print_data(record.to_json())
}

/// How long a host waits for its run to end. A look at a long run takes time as well.
const WAIT: Duration = Duration::from_secs(5);
/// Pause between two looks.
const BETWEEN_LOOKS: Duration = Duration::from_millis(100);

/// Waits for the end of a run that was stopped, and returns whether it is still running: the launch may be
/// over before all of its ranks have stored their runs.
fn is_still_running(store: &Store, run: &str) -> bool {
    let began = Instant::now();
    while began.elapsed() < WAIT {
        let stored = store.load(run);
        if !stored.is_ok_and(|stored| stored.record.status == Status::Running) {
            return false;
        }
        thread::sleep(BETWEEN_LOOKS);
    }
    true
}

/// How often a host is asked: one that was cut off ends its run some seconds after the others.
const TRIES: u32 = 3;
/// Pause between two tries.
const BETWEEN: Duration = Duration::from_secs(2);
/// Time for one try, more than a host waits for the end of its run.
const LIMIT: Duration = Duration::from_secs(8);

/// Reads the stored runs of hosts, all at the same time. Hosts that do not answer or have stored
/// nothing are left out.
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

/// Fetches the Record of a host; `None` if the host cannot be reached or has measured nothing.
fn from_one(program: &str, task: &HostTask) -> Option<Record> {
    let mut arguments = vec!["--collect".to_owned(), task.run.clone()];
    if let Some(store) = &task.store {
        arguments.extend(["--store".to_owned(), store.display().to_string()]);
    }
    for attempt in 1..=TRIES {
        // If its agent cannot be started or gives no answer in time, a second try would not help.
        let output = run_there(program, &task.name, &arguments, LIMIT).ok()?;
        let record = Record::from_json(&String::from_utf8_lossy(&output.stdout)).ok();
        // In the first second of its first measurement, a run has a Record without any figures.
        let measured = record.filter(|record| !record.measurements.is_empty());
        // The rank program exits with 0 if it prints a Record, and with 1 if nothing is stored yet.
        // Any other code is that of an agent, and final.
        let may_come = matches!(output.status.code(), Some(0 | 1));
        if measured.is_some() || !may_come {
            return measured;
        }
        if attempt < TRIES {
            thread::sleep(BETWEEN);
        }
    }
    None
}
