//! Loads the run that the user names.

use anyhow::{Result, bail};
use blocklab_console::terminal;
use blocklab_record::Record;
use blocklab_store::{Store, Stored};

/// The run, for display. A line on the terminal tells if older runs have the same name.
pub fn record(run: &str, store: &Store) -> Result<Record> {
    Ok(announced(run, store.load(run)?))
}

/// The same with all texts as they are stored, also those that could harm a terminal.
pub fn record_unchanged(run: &str, store: &Store) -> Result<Record> {
    Ok(announced(run, store.load_unchanged(run)?))
}

/// The Record, after a line that tells which one is meant if several have the name.
fn announced(run: &str, stored: Stored) -> Record {
    if stored.runs_of_name > 1 {
        let (id, runs) = (&stored.record.id, stored.runs_of_name);
        terminal::inform(&format!(
            "`{run}` is {id}, the newest of {runs} runs of that name"
        ));
    }
    stored.record
}

/// Refuses to put a run beside itself, which shows no difference whatever happened: a pipeline that compares
/// `latest` with `latest` would always pass.
pub fn all_different(names: &[String], records: &[&Record]) -> Result<()> {
    for (place, record) in records.iter().enumerate() {
        if records[..place].iter().any(|other| other.id == record.id) {
            bail!(
                "{} name the same run {} more than once; comparing a run with itself shows nothing",
                names.join(" and "),
                record.id
            );
        }
    }
    Ok(())
}
