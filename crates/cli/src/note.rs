//! `blocklab note`: what somebody wants to remember of a run.

use anyhow::{Result, bail};
use blocklab_analysis::assess;
use blocklab_console::terminal;
use blocklab_report::html;
use blocklab_store::{Store, Stored};
use blocklab_tools::output::{self, Over};

use crate::args::NoteArgs;

/// Shows, keeps or deletes the note of a run.
pub fn note(args: &NoteArgs, store: &Store) -> Result<()> {
    let text = args.text.join(" ");
    if args.text.is_empty() && !args.delete {
        let record = store.load(&args.run)?.record;
        return terminal::print_styled(match record.note {
            Some(note) => format!("{note}\n"),
            None => format!(
                "{} has no note; `blocklab note {0} TEXT` makes one\n",
                record.id
            ),
        });
    }
    if text.trim().is_empty() && !args.delete {
        bail!("the note is empty; --delete takes away the one that is there");
    }
    let stored = store.annotate(&args.run, (!args.delete).then_some(text.trim()))?;
    refresh(&stored)?;
    let done = if args.delete {
        "deleted the note of"
    } else {
        "noted with"
    };
    terminal::print_styled(format!("{done} {}\n", stored.record.id))
}

/// The page that the run left beside its record shows the note as well. A page that somebody
/// changed, or deleted, stays as it is.
fn refresh(stored: &Stored) -> Result<()> {
    let Some(folder) = stored.file.parent() else {
        return Ok(());
    };
    let path = Store::page(folder);
    if !path.is_file() || output::try_out(&path, Over::forced(false)).is_err() {
        return Ok(());
    }
    let page = html::page(&[(&stored.record, &assess(&stored.record))]);
    output::write(&path, page, Over::forced(false))
}
