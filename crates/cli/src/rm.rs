use anyhow::Result;
use blocklab_store::{Removal, Store};

use crate::args::RmArgs;
use blocklab_console::terminal;

/// Removes runs, all that are named or none, and says what is gone and what stays.
pub fn rm(args: &RmArgs, store: &Store) -> Result<()> {
    // All are found before any is removed: `latest latest` is one run.
    let removals = store.removals(&args.runs)?;
    for removal in &removals {
        let gone = match args.dry_run {
            true => removal.stays().is_empty(),
            false => store.remove(removal)?,
        };
        terminal::print(told(removal, gone, args.dry_run))?;
    }
    Ok(())
}

fn told(removal: &Removal, gone: bool, dry_run: bool) -> String {
    let folder = removal.path().display();
    let removed = if dry_run { "would remove" } else { "removed" };
    if gone {
        return format!("{removed} {folder}\n");
    }
    let stays = removal
        .stays()
        .iter()
        .map(|name| name.display().to_string());
    let stays = stays.collect::<Vec<_>>().join(", ");
    format!(
        "{removed} the run in {folder}; the folder stays, with what blocklab did not write: {stays}\n"
    )
}
