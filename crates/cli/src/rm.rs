use anyhow::Result;
use blocklab_store::Store;

use crate::args::RmArgs;
use crate::terminal;

/// Removes runs, and says which files are gone: also of those before one that is refused.
pub fn rm(args: &RmArgs, store: &Store) -> Result<()> {
    for run in &args.runs {
        for folder in store.remove(run)? {
            terminal::print(format!("removed {}\n", folder.display()))?;
        }
    }
    Ok(())
}
