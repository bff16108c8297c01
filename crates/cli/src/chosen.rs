//! The run that a word of the command line means.

use anyhow::Result;
use blocklab_console::terminal;
use blocklab_record::Record;
use blocklab_store::{Store, Stored};

/// The run, with a line where its name could also mean an older one.
pub fn record(run: &str, store: &Store) -> Result<Record> {
    Ok(announced(run, store.load(run)?))
}

/// The record with all texts as they are stored.
pub fn record_unchanged(run: &str, store: &Store) -> Result<Record> {
    Ok(announced(run, store.load_unchanged(run)?))
}

/// The record; a line on the terminal says which one is meant, where several have its name.
fn announced(run: &str, stored: Stored) -> Record {
    if stored.of_its_name > 1 {
        let (id, runs) = (&stored.record.id, stored.of_its_name);
        terminal::inform(&format!(
            "`{run}` is {id}, the newest of {runs} runs of that name"
        ));
    }
    stored.record
}
